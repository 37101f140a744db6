//! The anomalies that matter, one card a kind: what differs, when, why, seen and heard.

use std::fmt::{self, Formatter};

use auscult::plural;
use auscult_page::{Escaped, number};

use crate::{
    ReportClip, ReportSound,
    charts::{Comparison, ModulationMap},
    encode::flac_address,
    kinds::{Kind, MOST_KINDS},
    page::Page,
    sections::quality::level_words,
    text::{optional_number, verdict_sign},
};

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    if page.kinds.is_empty() {
        return Ok(());
    }
    out.write_str(&page.section("kinds", "What differs"))?;
    let (shown, rest) = page.kinds.split_at(page.kinds.len().min(MOST_KINDS));
    for (index, kind) in shown.iter().enumerate() {
        write_card(out, page, index + 1, kind)?;
    }
    if !rest.is_empty() {
        let clips: usize = rest.iter().map(|kind| kind.clips().len()).sum();
        writeln!(
            out,
            "<p>{} more, {}, are in the <a href=\"#{}\">table of all clips</a>.</p>",
            plural(rest.len(), "kind"),
            plural(clips, "clip"),
            page.id("clips")
        )?;
    }
    writeln!(out, "</section>")
}

fn write_card(out: &mut Formatter<'_>, page: &Page<'_>, number: usize, kind: &Kind) -> fmt::Result {
    let clip = &page.input.clips[kind.leader()];
    let (id, sign) = (page.id(&format!("kind-{number}")), verdict_sign(clip.verdict()));
    write!(
        out,
        "<article class=\"card kind\" id=\"{id}\" aria-labelledby=\"{id}-name\">\n\
         <h3 id=\"{id}-name\"><span class=\"sign anomalous\" aria-hidden=\"true\">{sign}</span> {}</h3>\n\
         <p>{}</p>\n",
        Escaped(&kind.name(&page.input.clips)),
        Escaped(&when(page, kind))
    )?;
    write_facts(out, page, clip)?;
    if let Some(sound) = &clip.sound {
        write_players(out, (&id, clip), sound)?;
        let chart = Comparison {
            id: &format!("{id}-picture"),
            label: &clip.name(),
            sound,
            difference: clip.difference.as_ref(),
            explanation: clip.explanation.as_ref(),
        };
        write!(out, "{chart}")?;
        write_modulation(out, &id, (clip, sound))?;
    }
    write_reasons(out, page, clip)?;
    write_times(out, page, kind)?;
    writeln!(out, "</article>")
}

/// How many clips, and from when to when.
fn when(page: &Page<'_>, kind: &Kind) -> String {
    let count = plural(kind.clips().len(), "clip");
    let mut clips = kind.clips().to_vec();
    clips.sort_by_key(|clip| page.visits.order.iter().position(|other| other == clip));
    match clips[..] {
        [only] => format!("{count}, {}", page.moment(only)),
        [first, .., last] => {
            format!("{count}, from {} to {}", page.moment(first), page.moment(last))
        }
        [] => count,
    }
}

/// The furthest clip in numbers.
fn write_facts(out: &mut Formatter<'_>, page: &Page<'_>, clip: &ReportClip<'_>) -> fmt::Result {
    let level = clip.quality.as_ref().map(|quality| level_words(page, quality.level_dbfs));
    let hum = clip.quality.as_ref().map(|quality| match quality.hum {
        Some(hum) => format!(
            "{:.0} % of the energy at multiples of {} Hz",
            hum.share * 100.0,
            hum.mains_hertz
        ),
        None => "none".to_owned(),
    });
    let facts = [
        ("Furthest clip", Some(clip.name())),
        ("Level", level),
        ("Mains hum", hum),
        ("What it really is", clip.truth.clone()),
    ];
    writeln!(out, "<dl class=\"facts\">")?;
    for (name, value) in facts {
        if let Some(value) = value {
            writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", Escaped(&value))?;
        }
    }
    writeln!(out, "</dl>")
}

/// Of models that compare modulations: what beats.
fn write_modulation(
    out: &mut Formatter<'_>,
    id: &str,
    (clip, sound): (&ReportClip<'_>, &ReportSound),
) -> fmt::Result {
    let id = format!("{id}-modulation");
    let reasons = clip.explanation.as_ref().map(|explanation| explanation.bands.as_slice());
    if reasons.unwrap_or_default().first().is_none_or(|band| band.modulations.is_empty()) {
        return Ok(());
    }
    let Some(chart) = ModulationMap::of((&id, &clip.path), sound, clip.explanation.as_ref()) else {
        return Ok(());
    };
    writeln!(
        out,
        "<figure class=\"modulation\">\n<figcaption>What beats: how fast the loudness of each part of the spectrum rises \
         and falls. Dark is as in the closest normal clip, bright ten times as much; framed lines grew most.</figcaption>\n\
         {chart}</figure>"
    )
}

/// Two sounds; the script makes one player of them that switches at the same moment.
fn write_players(
    out: &mut Formatter<'_>,
    (id, clip): (&str, &ReportClip<'_>),
    sound: &ReportSound,
) -> fmt::Result {
    let other = if sound.nearest.is_some() { " and its closest normal clip" } else { "" };
    let label = format!("Hear {}{other}", clip.name());
    writeln!(
        out,
        "<div class=\"player\" id=\"{id}-player\" aria-label=\"{}\" role=\"group\">",
        Escaped(&label)
    )?;
    write_player(out, "This clip", &sound.samples, sound.sample_rate)?;
    if let Some(nearest) = &sound.nearest {
        let name = match &sound.nearest_label {
            Some(label) => format!("Closest normal clip: {label}"),
            None => "Closest normal clip".to_owned(),
        };
        write_player(out, &name, nearest, sound.sample_rate)?;
    }
    writeln!(out, "</div>")
}

fn write_player(out: &mut Formatter<'_>, name: &str, samples: &[f32], rate: u32) -> fmt::Result {
    let name = Escaped(name);
    writeln!(
        out,
        "<figure><figcaption>{name}</figcaption><audio controls preload=\"metadata\" \
         aria-label=\"{name}\" src=\"{}\"></audio></figure>",
        flac_address(samples, rate)
    )
}

/// Numbers, bands, members and references, for those who ask.
fn write_reasons(out: &mut Formatter<'_>, page: &Page<'_>, clip: &ReportClip<'_>) -> fmt::Result {
    let (Some(scored), Some(explanation)) = (&clip.scored, &clip.explanation) else {
        return Ok(());
    };
    let nearest = clip.sound.as_ref().and_then(|sound| sound.nearest_label.as_ref());
    let nearest = nearest.map(|label| format!("; its closest normal clip is {label}"));
    write!(
        out,
        "<details>\n<summary>Why, band by band</summary>\n<p>Score {}, p-value {}{}. {}</p>\n<ul>\n",
        number(scored.score.value),
        optional_number(scored.p_value),
        Escaped(&nearest.unwrap_or_default()),
        Escaped(&explanation.summary)
    )?;
    for sentence in explanation.sentences() {
        writeln!(out, "<li>{}</li>", Escaped(sentence))?;
    }
    let measure = crate::bands::measure(page.compares());
    writeln!(
        out,
        "</ul>\n<p>Bracketed bands in the pictures are at least 1.5 times their normal {measure}.</p>\n</details>"
    )
}

/// Every clip of the kind, with its time.
fn write_times(out: &mut Formatter<'_>, page: &Page<'_>, kind: &Kind) -> fmt::Result {
    if kind.clips().len() < 2 {
        return Ok(());
    }
    let all = plural(kind.clips().len(), "clip");
    writeln!(out, "<details>\n<summary>All {all} of this kind</summary>\n<ol class=\"times\">")?;
    for &index in page.visits.order.iter().filter(|index| kind.clips().contains(index)) {
        let clip = &page.input.clips[index];
        let what = crate::kinds::what_differs(clip);
        let when =
            page.visits.origin.map(|_| format!("{}: ", page.moment(index))).unwrap_or_default();
        let link = page.id(&format!("clip-{}", index + 1));
        writeln!(
            out,
            "<li>{}<a href=\"#{link}\">{}</a>, {}</li>",
            Escaped(&when),
            Escaped(&clip.name()),
            Escaped(&what)
        )?;
    }
    writeln!(out, "</ol>\n</details>")
}

#[cfg(test)]
mod tests {
    use crate::testing::sample;

    #[test]
    fn a_kind_is_explained_seen_and_heard_once() {
        let mut sample = sample();
        let copy = crate::ReportClip { sound: None, ..sample.clips[0].clone() };
        sample.clips.push(copy);
        let page = sample.input().render();
        assert_eq!(page.matches("<article class=\"card kind\"").count(), 1);
        assert!(page.contains("2 clips, from clip 1 to clip 4"));
        assert!(page.contains("All 2 clips of this kind"));
        assert!(page.contains("does not sound normal"));
        assert_eq!(page.matches("<audio controls").count(), 2);
        assert_eq!(page.matches("data:audio/flac;base64,").count(), 2);
        assert_eq!(page.matches("data:image/png;base64,").count(), 2);
        assert!(page.contains("<dt>What it really is</dt><dd>whistle</dd>"));
        assert!(page.contains(" dB at "), "what differs is said in decibels");
    }

    #[test]
    fn kinds_without_sound_have_their_words_and_no_player() {
        let mut sample = sample();
        sample.clips[0].sound = None;
        let page = sample.input().render();
        assert!(page.contains("<article class=\"card kind\"") && !page.contains("<audio"));
        sample.clips.remove(0);
        assert!(!sample.input().render().contains("id=\"kinds\""));
    }
}

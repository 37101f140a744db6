//! The clips that matter, one by one: why, seen and heard.

use std::fmt::{self, Formatter};

use auscult::{Verdict, plural};
use auscult_page::{Escaped, number};

use crate::{
    ReportClip, ReportSound,
    charts::{Comparison, ModulationMap},
    encode::wave_address,
    page::Page,
    text::{optional_number, verdict_class, verdict_sign, verdict_word},
};

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let clips = &page.input.clips;
    let anomalous = clips.iter().filter(|clip| clip.verdict() == Some(Verdict::Anomalous)).count();
    if page.details.is_empty() && anomalous == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "<section aria-labelledby=\"details\">\n<h2 id=\"details\">Clips in detail</h2>"
    )?;
    let shown = page
        .details
        .iter()
        .filter(|&&index| clips[index].verdict() == Some(Verdict::Anomalous))
        .count();
    if shown < anomalous {
        writeln!(
            out,
            "<p>Of {}, {shown} shown here, the furthest first; the others are in the \
             <a href=\"#clips\">table</a>.</p>",
            plural(anomalous, "anomalous clip")
        )?;
    }
    for &index in &page.details {
        write_clip(out, index, &clips[index], page.compares())?;
    }
    writeln!(out, "</section>")
}

fn write_clip(
    out: &mut Formatter<'_>,
    index: usize,
    clip: &ReportClip<'_>,
    compares: bool,
) -> fmt::Result {
    let (Some(scored), Some(sound)) = (&clip.scored, &clip.sound) else {
        return Ok(());
    };
    let position = index + 1;
    let (class, sign) = (verdict_class(clip.verdict()), verdict_sign(clip.verdict()));
    write!(
        out,
        "<article class=\"clip\" id=\"clip-{position}\" aria-labelledby=\"clip-{position}-name\">\n\
         <h3 id=\"clip-{position}-name\"><span class=\"sign {class}\" aria-hidden=\"true\">{sign}</span> \
         Clip {position}: {}</h3>\n<dl class=\"facts\">\n",
        Escaped(&clip.path)
    )?;
    let mut facts = vec![
        ("verdict", verdict_word(clip.verdict()).to_owned()),
        ("score", number(scored.score.value)),
        ("p-value", optional_number(scored.p_value)),
        ("score, 0 to 1", optional_number(scored.calibrated)),
        ("starts at", format!("{:.1} s", clip.start_seconds)),
    ];
    if let Some(truth) = &clip.truth {
        facts.push(("what it really is", truth.clone()));
    }
    for (name, value) in facts {
        writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", Escaped(&value))?;
    }
    writeln!(out, "</dl>")?;
    if let Some(explanation) = &clip.explanation {
        writeln!(out, "<p class=\"summary\">{}</p>\n<ul>", Escaped(&explanation.summary))?;
        for sentence in explanation.sentences() {
            writeln!(out, "<li>{}</li>", Escaped(sentence))?;
        }
        writeln!(out, "</ul>")?;
    }
    write_picture(out, position, (clip, sound), compares)?;
    write_modulation(out, position, (clip, sound))?;
    write_players(out, sound)?;
    writeln!(out, "<p class=\"back\"><a href=\"#scores\">Back to the scores</a></p>\n</article>")
}

fn write_picture(
    out: &mut Formatter<'_>,
    position: usize,
    (clip, sound): (&ReportClip<'_>, &ReportSound),
    compares: bool,
) -> fmt::Result {
    let numbers = if compares {
        "times the normal distance. Level bars compare each band with its own closest reference, which \
         may be another clip than the one shown."
    } else {
        "times the normal error of the network."
    };
    let id = format!("clip-{position}-picture");
    let (label, explanation) = (clip.path.as_str(), clip.explanation.as_ref());
    let chart = Comparison { id: &id, label, sound, explanation };
    writeln!(
        out,
        "<figure>\n{chart}<figcaption class=\"caption\">Brighter is louder. Bracketed bands differ from normal; the \
         numbers beside them are {numbers}</figcaption>\n</figure>"
    )
}

/// Of models that compare modulations: what beats.
fn write_modulation(
    out: &mut Formatter<'_>,
    position: usize,
    (clip, sound): (&ReportClip<'_>, &ReportSound),
) -> fmt::Result {
    let id = format!("clip-{position}-modulation");
    let Some(chart) = ModulationMap::of((&id, &clip.path), sound, clip.explanation.as_ref()) else {
        return Ok(());
    };
    writeln!(
        out,
        "<figure>\n{chart}<figcaption class=\"caption\">How fast the loudness of each part of the spectrum rises and \
         falls: blades, bearings and strokes stand in it as lines. Framed lines grew most.</figcaption>\n</figure>"
    )
}

fn write_players(out: &mut Formatter<'_>, sound: &ReportSound) -> fmt::Result {
    writeln!(out, "<div class=\"players\">")?;
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
        wave_address(samples, rate)
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::sample;

    #[test]
    fn anomalous_clips_are_explained_seen_and_heard() {
        let page = sample().input().render();
        assert!(page.contains("<article class=\"clip\" id=\"clip-1\""));
        assert!(page.contains("does not sound normal"));
        assert_eq!(page.matches("<audio controls").count(), 2);
        assert_eq!(page.matches("data:audio/wav;base64,").count(), 2);
        assert_eq!(page.matches("data:image/png;base64,").count(), 2);
        assert!(page.contains("<dt>what it really is</dt><dd>whistle</dd>"));
    }

    #[test]
    fn anomalous_clips_without_sound_are_pointed_to_in_the_table() {
        let mut sample = sample();
        sample.clips[0].sound = None;
        let page = sample.input().render();
        assert!(page.contains("Of 1 anomalous clip, 0 shown here"));
        assert!(!page.contains("<audio"));
        sample.clips.remove(0);
        assert!(!sample.input().render().contains("Clips in detail"));
    }
}

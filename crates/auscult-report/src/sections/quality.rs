//! What the recordings are worth, before any score.

use std::fmt::{self, Formatter};

use auscult::plural;
use auscult_page::{Escaped, number};

use crate::{ReportClip, difference::signed_decibels, page::Page, text::NOTHING};

/// Clips named for each remark; more would be a list nobody reads.
const MOST_NAMED: usize = 5;

/// References to listen to.
pub(crate) const MOST_TO_HEAR: usize = 10;

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let clips = &page.input.clips;
    let remarks: Vec<Vec<(&str, String)>> = clips.iter().map(ReportClip::remarks_in_full).collect();
    let fine = remarks.iter().filter(|remarks| remarks.is_empty()).count();
    let section = page.section("quality", "Input quality");
    writeln!(
        out,
        "{section}\
         <p>{fine} of {} have nothing to remark on.</p>",
        plural(clips.len(), "clip")
    )?;
    if fine < clips.len() {
        writeln!(out, "<ul>")?;
        // In the order of the clips, each kind once, with its advice.
        let mut seen: Vec<&str> = Vec::new();
        for (name, _) in remarks.iter().flatten() {
            if !seen.contains(name) {
                seen.push(name);
                write_kind(out, page, &remarks, name)?;
            }
        }
        writeln!(out, "</ul>")?;
    }
    write_table(out, page, &remarks)?;
    write_least_normal(out, page)?;
    writeln!(out, "</section>")
}

/// The levels of the references: the lowest, the middle and the highest.
fn reference_levels(page: &Page<'_>) -> Option<[f64; 3]> {
    let provenance = page.input.model.references().provenance();
    let mut levels: Vec<f64> = provenance.iter().filter_map(|from| from.level_dbfs).collect();
    levels.sort_by(f64::total_cmp);
    Some([*levels.first()?, levels[levels.len() / 2], *levels.last()?])
}

/// A level beside those of the references: `−17.2 dBFS, +12 dB against the references (−30.1 to −28.9 dBFS)`.
pub(crate) fn level_words(page: &Page<'_>, level: f64) -> String {
    // Typeset as signed decibels are.
    let show = |level: f64| format!("{level:.1}").replace('-', "\u{2212}");
    let Some([lowest, middle, highest]) = reference_levels(page) else {
        return format!("{} dBFS", show(level));
    };
    let (against, lowest, highest) = (signed_decibels(level - middle), show(lowest), show(highest));
    format!("{} dBFS, {against} against the references ({lowest} to {highest} dBFS)", show(level))
}

/// How much louder a clip is than the middle reference.
pub(crate) fn level_against_references(page: &Page<'_>, clip: &ReportClip<'_>) -> Option<f64> {
    Some(clip.quality.as_ref()?.level_dbfs - reference_levels(page)?[1])
}

/// What the recordings say about the microphone, in a sentence or two.
pub(crate) fn microphone(page: &Page<'_>) -> String {
    let clips = &page.input.clips;
    let mut levels: Vec<f64> =
        clips.iter().filter_map(|clip| Some(clip.quality.as_ref()?.level_dbfs)).collect();
    levels.sort_by(f64::total_cmp);
    let level =
        levels.get(levels.len() / 2).map(|&level| format!(" Level {}.", level_words(page, level)));
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for (name, _) in clips.iter().flat_map(ReportClip::remarks_in_full) {
        match kinds.iter_mut().find(|(kind, _)| *kind == name) {
            Some((_, count)) => *count += 1,
            None => kinds.push((name, 1)),
        }
    }
    let remarks: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| format!("{kind} in {count} of {}", plural(clips.len(), "clip")))
        .collect();
    let remarks = match (clips.is_empty(), remarks.is_empty()) {
        (true, _) => "Nothing was recorded.".to_owned(),
        (_, true) => "Nothing to remark on.".to_owned(),
        _ => format!("Have a look: {}.", remarks.join(", ")),
    };
    format!("{remarks}{}", level.unwrap_or_default())
}

fn write_kind(
    out: &mut Formatter<'_>,
    page: &Page<'_>,
    remarks: &[Vec<(&str, String)>],
    kind: &str,
) -> fmt::Result {
    let of_kind = |index: &usize| remarks[*index].iter().find(|(name, _)| *name == kind);
    let affected: Vec<usize> =
        (0..remarks.len()).filter(|index| of_kind(index).is_some()).collect();
    let Some((first, (_, text))) =
        affected.first().and_then(|index| Some((index, of_kind(index)?)))
    else {
        return Ok(());
    };
    let mut numbers: Vec<String> =
        affected.iter().take(MOST_NAMED).map(|index| (index + 1).to_string()).collect();
    if affected.len() > MOST_NAMED {
        numbers.push(format!("and {} more", affected.len() - MOST_NAMED));
    }
    let clip = &page.input.clips[*first];
    let effect = if clip.condition.is_usable() { "scored all the same" } else { "not scored" };
    let (which, first) = match affected.len() {
        1 => (format!("Clip {}", numbers.join("")), ""),
        count => (format!("{count} clips ({})", numbers.join(", ")), "the first one: "),
    };
    // The text begins with the kind.
    let text = text.strip_prefix(kind).unwrap_or(text).trim_start_matches(": ");
    writeln!(out, "<li>{which}: {kind}, {effect}; {first}{}.</li>", Escaped(text))
}

const COLUMNS: [&str; 8] = [
    "Level, dBFS",
    "Peak, dBFS",
    "Clipped, %",
    "Offset, %",
    "Dropouts, s",
    "Mains lines, %",
    "Ends at, kHz",
    "Remarks",
];

fn write_table(
    out: &mut Formatter<'_>,
    page: &Page<'_>,
    remarks: &[Vec<(&str, String)>],
) -> fmt::Result {
    if page.input.clips.iter().all(|clip| clip.quality.is_none()) {
        return Ok(());
    }
    write!(
        out,
        "<details>\n<summary>Every clip</summary>\n\
         <p>Mains lines: share of the energy at multiples of 50 or 60 Hz. Ends at: where the spectrum is cut \
         off, if it is.</p>\n\
         <div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Input quality of every clip of {}\">\n\
         <table>\n<thead><tr><th scope=\"col\" class=\"number\">#</th>",
        Escaped(page.input.title)
    )?;
    for (index, column) in COLUMNS.iter().enumerate() {
        let class = if index + 1 < COLUMNS.len() { " class=\"number\"" } else { "" };
        write!(out, "<th scope=\"col\"{class}>{column}</th>")?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (index, (clip, remarks)) in page.input.clips.iter().zip(remarks).enumerate() {
        write!(out, "<tr><th scope=\"row\" class=\"number\">{}</th>", index + 1)?;
        for value in measured(clip) {
            write!(out, "<td class=\"number\">{value}</td>")?;
        }
        let names: Vec<&str> = remarks.iter().map(|(name, _)| *name).collect();
        let names = if names.is_empty() { NOTHING.to_owned() } else { names.join(", ") };
        writeln!(out, "<td class=\"note\">{}</td></tr>", Escaped(&names))?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>\n</details>")
}

/// The numbers of a row.
fn measured(clip: &ReportClip<'_>) -> [String; 7] {
    let Some(quality) = &clip.quality else { return [const { String::new() }; 7] };
    // Adding 0 makes a rounded -0 a plain 0.
    let percent = |share: f64| format!("{:.1}", (share * 1000.0).round() / 10.0 + 0.0);
    let or_nothing = |value: Option<String>| value.unwrap_or_else(|| NOTHING.to_owned());
    [
        format!("{:.1}", quality.level_dbfs),
        format!("{:.1}", quality.peak_dbfs),
        percent(quality.clipped_share),
        percent(quality.offset),
        format!("{:.2}", quality.dropout_seconds),
        or_nothing(quality.hum.map(|hum| percent(hum.share))),
        or_nothing(quality.bandwidth_hertz.map(|hertz| format!("{:.1}", hertz / 1000.0))),
    ]
}

fn write_least_normal(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let least_normal = page.input.model.least_normal(MOST_TO_HEAR);
    if least_normal.is_empty() {
        return Ok(());
    }
    let why = if page.compares() {
        "Left out of the memory, these references score highest. A reference that is not normal \
         hides faults like it; forget it, and the others are judged by cleaner company."
    } else {
        "By a network that was not trained on them, these clips score highest. One that is not normal raises \
         the threshold and was learnt: forgetting it lowers the threshold only; fit again without it."
    };
    write!(
        out,
        "<h3>The least normal of the normal clips: please listen</h3>\n<p>{why}</p>\n<ol>\n"
    )?;
    for (from, score) in least_normal {
        let start = if from.start_seconds > 0.0 {
            format!(" at {:.1} s", from.start_seconds)
        } else {
            String::new()
        };
        writeln!(out, "<li>{}{start}: score {}</li>", Escaped(&from.source), number(score))?;
    }
    writeln!(out, "</ol>")
}

#[cfg(test)]
mod tests {
    use auscult::quality::Remark;

    use crate::testing::sample;

    #[test]
    fn remarks_are_counted_with_their_advice() {
        let mut sample = sample();
        assert!(sample.input().render().contains("3 of 3 clips have nothing to remark on."));
        sample.clips[1].remarks.push(Remark::Clipped(0.02));
        let page = sample.input().render();
        assert!(page.contains("2 of 3 clips have nothing"));
        assert!(page.contains("Clip 2: clipped, scored all the same; 2.0 % of"));
        sample.clips[0].remarks.push(Remark::Clipped(0.01));
        let page = sample.input().render();
        assert!(
            page.contains("2 clips (1, 2): clipped, scored all the same; the first one: 1.0 % of")
        );
        sample.clips[2].copy_of = Some("a.wav".to_owned());
        assert!(
            sample.input().render().contains("Clip 3: copy, scored all the same; the same sound")
        );
    }

    #[test]
    fn every_measured_clip_has_a_row_and_the_odd_references_are_named() {
        let mut sample = sample();
        let page = sample.input().render();
        assert_eq!(page.matches("<tr><th scope=\"row\" class=\"number\">").count(), 3);
        assert!(page.contains("please listen"));
        let (from, _) = sample.model.least_normal(1)[0];
        assert!(page.contains(&format!("<li>{}: score", from.source)));
        sample.clips.iter_mut().for_each(|clip| clip.quality = None);
        assert!(!sample.input().render().contains("Input quality of every clip"));
    }
}

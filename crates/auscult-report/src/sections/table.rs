//! Every clip with every number.

use std::fmt::{self, Formatter};

use auscult_page::{Escaped, number};

use crate::{
    ReportClip,
    bands::furthest_band,
    page::Page,
    text::{NOTHING, optional_number, verdict_class, verdict_sign, verdict_word},
};

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let has_truth = page.input.clips.iter().any(|clip| clip.truth.is_some());
    let truth = if has_truth { "<th scope=\"col\">Really is</th>" } else { "" };
    write!(
        out,
        "<section aria-labelledby=\"clips\">\n<h2 id=\"clips\">All clips</h2>\n\
         <p>The p-value is the share of normal clips that score at least as high; small is unusual. \
         The score from 0 to 1 is where the clip stands among normal clips.</p>\n\
         <div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table of all clips\">\n<table>\n\
         <thead><tr><th scope=\"col\" class=\"number\">#</th><th scope=\"col\">Clip</th>\
         <th scope=\"col\" class=\"number\">Start, s</th><th scope=\"col\" class=\"number\">Score</th>\
         <th scope=\"col\" class=\"number\">p-value</th><th scope=\"col\" class=\"number\">0 to 1</th>\
         <th scope=\"col\">Verdict</th>{truth}<th scope=\"col\">Most unusual band</th>\
         <th scope=\"col\">Recording</th></tr></thead>\n<tbody>\n"
    )?;
    for (index, clip) in page.input.clips.iter().enumerate() {
        write_row(out, index, clip, page.has_details(index), has_truth)?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>\n</section>")
}

fn write_row(
    out: &mut Formatter<'_>,
    index: usize,
    clip: &ReportClip<'_>,
    has_details: bool,
    has_truth: bool,
) -> fmt::Result {
    let position = index + 1;
    let class = verdict_class(clip.verdict());
    let label = Escaped(&clip.path);
    write!(out, "<tr class=\"{class}\"><td class=\"number\">{position}</td><th scope=\"row\">")?;
    if has_details {
        write!(out, "<a href=\"#clip-{position}\">{label}</a></th>")?;
    } else {
        write!(out, "{label}</th>")?;
    }
    let scored = clip.scored.as_ref();
    let numbers = [
        format!("{:.1}", clip.start_seconds),
        scored.map_or_else(|| NOTHING.to_owned(), |scored| number(scored.score.value)),
        optional_number(scored.and_then(|scored| scored.p_value)),
        optional_number(scored.and_then(|scored| scored.calibrated)),
    ];
    for value in numbers {
        write!(out, "<td class=\"number\">{value}</td>")?;
    }
    write!(
        out,
        "<td class=\"verdict\"><span class=\"sign {class}\" aria-hidden=\"true\">{}</span> {}</td>",
        verdict_sign(clip.verdict()),
        verdict_word(clip.verdict())
    )?;
    if has_truth {
        write!(out, "<td>{}</td>", Escaped(clip.truth.as_deref().unwrap_or(NOTHING)))?;
    }
    writeln!(
        out,
        "<td class=\"band\">{}</td><td class=\"note\">{}</td></tr>",
        Escaped(&furthest_band(clip)),
        Escaped(&remark_note(clip))
    )
}

/// What is remarkable about the recording, in a word; the advice is in the section on input quality.
fn remark_note(clip: &ReportClip<'_>) -> String {
    let names: Vec<&str> = clip.remarks_in_full().into_iter().map(|(name, _)| name).collect();
    if names.is_empty() { NOTHING.to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use auscult::ClipCondition;

    use crate::testing::sample;

    #[test]
    fn every_clip_has_a_row_with_a_heading() {
        let mut sample = sample();
        sample.clips[2].condition = ClipCondition::Silent;
        sample.clips[2].scored = None;
        let page = sample.input().render();
        assert_eq!(page.matches("<th scope=\"row\">").count() - facts_rows(&page), 3);
        assert!(page.contains("<a href=\"#clip-1\">whistle.wav</a>"));
        assert!(page.contains("<td class=\"note\">silent</td>"));
        assert!(page.contains("</span> not scored</td>"));
    }

    /// Rows of the other tables, which come after this one.
    fn facts_rows(page: &str) -> usize {
        let after = page.split_once("</table>").map_or("", |(_, after)| after);
        after.matches("<th scope=\"row\">").count()
    }
}

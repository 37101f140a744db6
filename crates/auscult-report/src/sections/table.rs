//! Every clip with every number.

use std::fmt::{self, Formatter};

use auscult_page::{Escaped, number};

use crate::{
    ReportClip,
    bands::furthest_band,
    difference::signed_decibels,
    kinds::what_differs,
    page::Page,
    sections::quality::level_against_references,
    text::{NOTHING, optional_number, verdict_class, verdict_sign, verdict_word},
};

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let has_truth = page.input.clips.iter().any(|clip| clip.truth.is_some());
    let truth = if has_truth { "<th scope=\"col\">Really is</th>" } else { "" };
    let time = if page.visits.origin.is_some() { "<th scope=\"col\">Time, UTC</th>" } else { "" };
    let section = page.section("clips", "All clips");
    write!(
        out,
        "{section}\
         <p>The p-value is the share of normal clips that score at least as high; small is unusual. \
         Level is that of the whole clip against the middle reference.</p>\n\
         <div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table of all clips of {}\">\n<table>\n\
         <thead><tr><th scope=\"col\" class=\"number\">#</th>{time}<th scope=\"col\">Verdict</th>\
         <th scope=\"col\">What differs most</th><th scope=\"col\" class=\"number\">Level</th>\
         <th scope=\"col\">Recording</th><th scope=\"col\" class=\"number\">Score</th>\
         <th scope=\"col\" class=\"number\">p-value</th>{truth}<th scope=\"col\">Clip</th></tr></thead>\n<tbody>\n",
        Escaped(page.input.title)
    )?;
    for &index in &page.visits.order {
        write_row(out, page, index, has_truth)?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>\n</section>")
}

fn write_row(
    out: &mut Formatter<'_>,
    page: &Page<'_>,
    index: usize,
    has_truth: bool,
) -> fmt::Result {
    let (clip, position) = (&page.input.clips[index], index + 1);
    let class = verdict_class(clip.verdict());
    let id = page.id(&format!("clip-{position}"));
    write!(out, "<tr class=\"{class}\" id=\"{id}\"><td class=\"number\">{position}</td>")?;
    if page.visits.origin.is_some() {
        write!(out, "<td class=\"time\">{}</td>", page.moment(index))?;
    }
    write!(
        out,
        "<td class=\"verdict\"><span class=\"sign {class}\" aria-hidden=\"true\">{}</span> {}</td><td class=\"band\">",
        verdict_sign(clip.verdict()),
        verdict_word(clip.verdict())
    )?;
    match page.kind_of(index) {
        Some(kind) => {
            let link = page.id(&format!("kind-{kind}"));
            write!(out, "<a href=\"#{link}\">{}</a></td>", Escaped(&what_differs(clip)))?;
        }
        None => write!(out, "{}</td>", Escaped(&furthest_band(clip)))?,
    }
    let level = level_against_references(page, clip).map(signed_decibels);
    let score = clip.scored.as_ref().map(|scored| number(scored.score.value));
    write!(
        out,
        "<td class=\"number\">{}</td><td class=\"note\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>",
        level.unwrap_or_else(|| NOTHING.to_owned()),
        Escaped(&remark_note(clip)),
        score.unwrap_or_else(|| NOTHING.to_owned()),
        optional_number(clip.scored.as_ref().and_then(|scored| scored.p_value))
    )?;
    if has_truth {
        write!(out, "<td>{}</td>", Escaped(clip.truth.as_deref().unwrap_or(NOTHING)))?;
    }
    writeln!(out, "<th scope=\"row\">{}</th></tr>", Escaped(&clip.name()))
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
        assert!(
            page.contains("<td class=\"band\"><a href=\"#kind-1\">+"),
            "a row leads to its kind"
        );
        assert!(page.contains("<th scope=\"row\">whistle.wav</th>"));
        assert!(page.contains("<td class=\"note\">silent</td>"));
        assert!(page.contains("</span> not scored</td>"));
    }

    /// Rows of the other tables, which come after this one.
    fn facts_rows(page: &str) -> usize {
        let after = page.split_once("</table>").map_or("", |(_, after)| after);
        after.matches("<th scope=\"row\">").count()
    }
}

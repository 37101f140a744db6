//! What a submission decides.

use auscult_eval::run::{SectionDecisions, Submission};

use super::{Align, Table};
use crate::printer::count;

/// How many clips of each section are called anomalous; empty where nothing is decided.
pub(crate) fn describe(submission: &Submission) -> String {
    if submission.decisions.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("section", Align::Left),
        ("test clips", Align::Right),
        ("called anomalous", Align::Right),
        ("F1", Align::Right),
    ]);
    for SectionDecisions { section, clips, anomalous, figures } in &submission.decisions {
        let share = 100.0 * *anomalous as f64 / (*clips).max(1) as f64;
        table.row([
            section.clone(),
            clips.to_string(),
            format!("{anomalous} ({share:.0} %)"),
            figures.map_or_else(|| "no labels".to_owned(), |figures| format!("{:.3}", figures.f1)),
        ]);
    }
    table.render()
}

/// Says so where decisions hardly tell one clip from another.
pub(crate) fn warning(submission: &Submission, other_threshold: &str) -> Option<String> {
    let one_sided = submission.decisions.iter().filter(|section| section.is_one_sided());
    let names: Vec<&str> = one_sided.map(|section| section.section.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "in {} all or nearly all test clips are called the same ({}): the threshold comes from left-out training clips, and \
             the test clips are on one side of it. Scores and ranks are not touched by this; try --threshold \
             {other_threshold}",
            count(names.len(), "section"),
            names.join(", ")
        )
    })
}

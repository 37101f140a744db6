//! What a data set on disk holds.

use std::fmt::Write;

use auscult_eval::{
    datasets::{CheckReport, GroupCounts},
    problems::grouped,
};

use super::{Align, Table};
use crate::printer::count;

/// The clips of each section, and what is missing or odd.
pub(crate) fn describe(report: &CheckReport) -> String {
    let mut table = Table::new(&[
        ("set", Align::Left),
        ("machine", Align::Left),
        ("section", Align::Left),
        ("train source", Align::Right),
        ("target", Align::Right),
        ("test source normal", Align::Right),
        ("anomalous", Align::Right),
        ("target normal", Align::Right),
        ("anomalous", Align::Right),
        ("no label", Align::Right),
        ("classes", Align::Right),
        ("", Align::Left),
    ]);
    for found in &report.sections {
        let GroupCounts {
            set,
            machine,
            section,
            train_source,
            train_target,
            test,
            unlabelled,
            classes,
            ..
        } = found;
        let remark = if found.problems.is_empty() { found.agreement() } else { "see below" };
        let [a, b, c, d] = test.map(|count| count.to_string());
        table.row([
            set.clone(),
            machine.clone(),
            section.clone(),
            train_source.to_string(),
            train_target.to_string(),
            a,
            b,
            c,
            d,
            unlabelled.to_string(),
            classes.to_string(),
            remark.to_owned(),
        ]);
    }
    let mut text = format!("{}: {}\n\n", report.dataset, count(report.sections.len(), "section"));
    text += &table.render();
    text += "\n";
    for found in &report.sections {
        for problem in &found.problems {
            let _ = writeln!(text, "{}: {problem}", found.name());
        }
    }
    for problem in grouped(&report.unusable) {
        let _ = writeln!(text, "{problem}");
    }
    for (set, machines) in &report.missing {
        if !machines.is_empty() {
            let _ = writeln!(text, "not here ({set}): {}", machines.join(", "));
        }
    }
    let _ = writeln!(text, "{}", classes(report));
    let _ = writeln!(text, "fingerprint of names and labels: {}", report.fingerprint);
    text
}

fn classes(report: &CheckReport) -> String {
    let CheckReport { classes, classes_by_section, known_classes, classes_as_known, .. } = report;
    let known = match (known_classes, classes_as_known) {
        (None, _) => "no count is known".to_owned(),
        (Some(known), None) => format!("the whole data set has {known}"),
        (Some(_), Some(true)) => "as known".to_owned(),
        (Some(known), Some(false)) => format!("known are {known}: names or attributes differ"),
    };
    format!(
        "classes of training clips: {classes_by_section} by machine and section, {classes} with attributes ({known})"
    )
}

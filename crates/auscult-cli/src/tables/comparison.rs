//! Two runs beside each other.

use std::collections::BTreeSet;

use auscult_eval::run::Comparison;

use super::{Align, Table};

/// What was compared, and the table.
pub(crate) fn describe(found: &[Comparison]) -> String {
    format!("{}\n\n{}", measures(found), table(found).render())
}

/// What is not compared, if anything.
pub(crate) fn left_out(row: &Comparison) -> Option<String> {
    let Comparison { clips, only_first, only_second, .. } = row;
    (only_first + only_second > 0).then(|| {
        let part = part(row);
        format!(
            "{part}: {clips} clips are in both with the same label and are compared; of A {only_first} more are \
             not, of B {only_second}: scores are not those of the whole runs; compare runs of the same clips"
        )
    })
}

/// Which score the numbers are.
fn measures(found: &[Comparison]) -> String {
    let mut measures: Vec<(&str, BTreeSet<String>)> = Vec::new();
    for row in found {
        match measures.iter_mut().find(|(measure, _)| *measure == row.measure) {
            Some((_, parts)) => {
                parts.insert(part(row));
            }
            None => measures.push((row.measure, BTreeSet::from([part(row)]))),
        }
    }
    let measures: Vec<String> = match measures.as_slice() {
        [(measure, _)] => vec![(*measure).to_owned()],
        several => several
            .iter()
            .map(|(measure, parts)| {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                format!("{measure} ({})", parts.join(", "))
            })
            .collect(),
    };
    format!("Compared: {}", measures.join("; "))
}

/// `dcase2023 dev`.
fn part(row: &Comparison) -> String {
    format!("{} {}", row.dataset, row.set).trim().to_owned()
}

fn table(found: &[Comparison]) -> Table {
    let mut table = Table::new(&[
        ("data", Align::Left),
        ("A", Align::Left),
        ("B", Align::Left),
        ("clips", Align::Right),
        ("A %", Align::Right),
        ("B %", Align::Right),
        ("B - A", Align::Right),
        ("95 %", Align::Right),
        ("p", Align::Right),
    ]);
    let percent = |share: f64| format!("{:.2}", 100.0 * share);
    for row in found {
        table.row([
            part(row),
            row.first.clone(),
            row.second.clone(),
            row.clips.to_string(),
            percent(row.first_score),
            percent(row.second_score),
            format!("{:+.2}", 100.0 * row.difference),
            row.interval.map_or_else(
                || "-".to_owned(),
                |interval| format!("{:+.2} to {:+.2}", 100.0 * interval.low, 100.0 * interval.high),
            ),
            row.p_value.map_or_else(|| "-".to_owned(), |p| format!("{p:.4}")),
        ]);
    }
    table
}

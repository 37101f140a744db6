//! Rows of a table that are cited, not run.

use super::RunResults;
use crate::paper::CitedRow;

/// A cited row as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CitedCells {
    /// Its heading, where the row before it has another.
    pub(super) group: Option<String>,
    /// Its name, with whose numbers these are.
    pub(super) name: String,
    /// A cell a part.
    pub(super) cells: Vec<String>,
}

/// The rows that have a number for a part of this run. Where a part of a published set is missing, numbers of the
/// whole set do not stand beside ours.
pub(super) fn cited_rows(results: &RunResults) -> Vec<CitedCells> {
    let parts = results.parts();
    let is_whole: Vec<bool> = parts
        .iter()
        .map(|(dataset, set)| {
            let mut rows =
                results.rows.iter().filter(|row| row.dataset == *dataset && row.set == *set);
            rows.all(|row| row.partial.is_none())
        })
        .collect();
    let cells = |row: &CitedRow| -> Vec<String> {
        let cell = |((dataset, set), is_whole): (&(_, String), &bool)| {
            let part =
                if set.is_empty() { format!("{dataset}") } else { format!("{dataset}/{set}") };
            let score = row.scores.get(&part).filter(|_| *is_whole)?;
            Some(match row.deviations.get(&part) {
                Some(deviation) => format!("{score:.1} ± {deviation:.1}"),
                None => format!("{score:.1}"),
            })
        };
        let cells = parts.iter().zip(&is_whole).map(cell);
        cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned())).collect()
    };
    let mut group = String::new();
    let mut rows = Vec::new();
    for row in &results.protocol.cited {
        let cells = cells(row);
        if cells.iter().all(|cell| cell == "-") {
            continue;
        }
        let heading = if row.group.is_empty() { "Cited, not run" } else { &row.group };
        let is_new = heading != group;
        heading.clone_into(&mut group);
        rows.push(CitedCells {
            group: is_new.then(|| heading.to_owned()),
            name: format!("{} (cited: {})", row.name, row.source),
            cells,
        });
    }
    rows
}

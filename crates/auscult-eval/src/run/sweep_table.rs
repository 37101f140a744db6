//! Sweeps as tables, and what their numbers are.

use super::{
    ResultRow, RunResults,
    tables::{part_name, percent},
    text_table::TextTable,
};
use crate::datasets::DatasetKind;

/// What the numbers of the main table are.
pub(super) fn legend(results: &RunResults) -> String {
    let mut measures: Vec<(&str, Vec<String>)> = Vec::new();
    for (dataset, set) in results.parts() {
        let row = results.rows.iter().find(|row| row.dataset == dataset && row.set == set);
        let (Some(row), part) = (row, part_name(dataset, &set)) else { continue };
        match measures.iter_mut().find(|(measure, _)| *measure == row.measure) {
            Some((_, parts)) => parts.push(part),
            None => measures.push((row.measure, vec![part])),
        }
    }
    let measures: Vec<String> = match measures.as_slice() {
        [(measure, _)] => vec![(*measure).to_owned()],
        several => several
            .iter()
            .map(|(measure, parts)| format!("{measure} ({})", parts.join(", ")))
            .collect(),
    };
    let mut text = format!("Scores in %: {}", measures.join("; "));
    if results.protocol.sweep.is_none() {
        if results.rows.iter().any(|row| row.interval.is_some()) {
            text.push_str("; with 95 % intervals");
        }
        if results.rows.iter().any(|row| row.paper.is_some()) {
            text.push_str("; the paper's in brackets");
        }
    }
    text.push('.');
    text
}

/// The curves of a sweep on one part as rows, with the values as columns; lines to compare with
/// have one number. One table a part; none if the protocol has no sweep.
pub(super) fn sweep_tables(results: &RunResults) -> Vec<TextTable> {
    let Some(sweep) = &results.protocol.sweep else { return Vec::new() };
    let of_part = |(dataset, set): (DatasetKind, String)| {
        let part = results.rows.iter().filter(|row| row.dataset == dataset && row.set == set);
        let mut curves: Vec<(&str, Vec<&ResultRow>)> = Vec::new();
        for row in part {
            let name = if row.x.is_some() { &row.series } else { &row.system };
            match curves.iter_mut().find(|(other, _)| other == name) {
                Some((_, rows)) => rows.push(row),
                None => curves.push((name, vec![row])),
            }
        }
        let score = |row: Option<&&ResultRow>| {
            row.and_then(|row| row.score).map_or_else(|| "-".to_owned(), percent)
        };
        let cells = |(name, rows): &(&str, Vec<&ResultRow>)| {
            let mut cells = vec![(*name).to_owned()];
            let level = rows.iter().find(|row| row.x.is_none());
            cells.push(level.map_or_else(String::new, |row| score(Some(row))));
            for &value in &sweep.values {
                let point = rows.iter().find(|row| row.x == Some(value));
                cells.push(if level.is_some() { String::new() } else { score(point) });
            }
            cells
        };
        let mut rows: Vec<Vec<String>> = curves.iter().map(cells).collect();
        let mut heads = vec![sweep.axis.clone(), "any".to_owned()];
        heads.extend(sweep.values.iter().map(ToString::to_string));
        if rows.iter().all(|row| row[1].is_empty()) {
            heads.remove(1);
            for row in &mut rows {
                row.remove(1);
            }
        }
        TextTable { title: part_name(dataset, &set), heads, rows }
    };
    results.parts().into_iter().map(of_part).collect()
}

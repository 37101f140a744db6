//! What a cache of vectors has.

use auscult::CacheFacts;

use super::{Align, Table};
use crate::printer::count;

/// A line a front end, and the whole.
pub(crate) fn describe(facts: &CacheFacts) -> String {
    let whole = format!(
        "{}: {} in {} of at most {}\n",
        facts.folder.display(),
        count(facts.entries, "vector"),
        megabytes(facts.bytes),
        megabytes(facts.most_bytes)
    );
    if facts.front_ends.is_empty() {
        return whole;
    }
    let mut table = Table::new(&[
        ("front end", Align::Left),
        ("vectors", Align::Right),
        ("size", Align::Right),
    ]);
    for own in &facts.front_ends {
        let name = if own.name.is_empty() { "of an older program" } else { &own.name };
        table.row([name.to_owned(), own.entries.to_string(), megabytes(own.bytes)]);
    }
    format!("{whole}\n{}", table.render())
}

/// What was removed.
pub(crate) fn cleared(facts: &CacheFacts) -> String {
    format!(
        "{}: removed {} ({})\n",
        facts.folder.display(),
        count(facts.entries, "vector"),
        megabytes(facts.bytes)
    )
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

//! Tables for people, one file for each thing that is shown.

#[cfg(feature = "parquet")]
pub(crate) mod archive;
pub(crate) mod budget;
pub(crate) mod cache;
pub(crate) mod calibration;
pub(crate) mod comparison;
pub(crate) mod cost;
pub(crate) mod dataset;
pub(crate) mod encoder;
pub(crate) mod evaluation;
pub(crate) mod figures;
pub(crate) mod learned;
pub(crate) mod model;
pub(crate) mod promise;
pub(crate) mod protocols;
pub(crate) mod ranking;
pub(crate) mod scores;
pub(crate) mod serve;
pub(crate) mod submission;
pub(crate) mod watch;

use crate::printer::strong;

/// Rows of text under a header, columns aligned.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<Cell>>,
}

/// Which side a column's text leans to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A cell: its text, and the text with colours if it has any.
#[derive(Debug)]
struct Cell {
    width: usize,
    text: String,
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; colours do not count for the width.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cell = |text: String| Cell {
            width: anstream::adapter::strip_str(&text).to_string().chars().count(),
            text,
        };
        self.rows.push(cells.into_iter().map(cell).collect());
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text, one line a row.
    pub(crate) fn render(&self) -> String {
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(column, (title, _))| {
                let cells =
                    self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width);
                cells.chain([title.chars().count()]).max().unwrap_or(0)
            })
            .collect();
        let header = self
            .columns
            .iter()
            .map(|(title, _)| Cell { width: title.chars().count(), text: strong(title) });
        let mut text = self.line(&header.collect::<Vec<_>>(), &widths);
        for row in &self.rows {
            text += &self.line(row, &widths);
        }
        text
    }

    fn line(&self, cells: &[Cell], widths: &[usize]) -> String {
        let padded =
            cells.iter().zip(widths).zip(&self.columns).map(|((cell, width), (_, align))| {
                let space = " ".repeat(width - cell.width);
                match align {
                    Align::Left => format!("{}{space}", cell.text),
                    Align::Right => format!("{space}{}", cell.text),
                }
            });
        let line = padded.collect::<Vec<_>>().join("  ");
        format!("{}\n", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printer::verdict;

    #[test]
    fn colours_do_not_shift_columns() {
        let mut table = Table::new(&[("verdict", Align::Left), ("score", Align::Right)]);
        table.row([verdict("anomalous"), "12.5".to_owned()]);
        table.row(["normal".to_owned(), "1.0".to_owned()]);
        let plain = anstream::adapter::strip_str(&table.render()).to_string();
        assert_eq!(plain, "verdict    score\nanomalous   12.5\nnormal       1.0\n");
    }
}

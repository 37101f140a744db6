//! Manifests: lists of recordings as CSV, JSON lines or Parquet.

mod csv;
mod json_lines;
#[cfg(feature = "parquet")]
mod parquet;
mod row;

use std::fs::File;
use std::path::{Path, PathBuf};

pub use row::{Column, Row};

use crate::{Error, Result};

/// How a manifest is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Cells separated by commas; the first line names the columns.
    Csv,
    /// One object a line.
    JsonLines,
    /// A flat table; read only by builds with the feature `parquet`.
    Parquet,
}

impl Format {
    /// The format a file's extension stands for, if it is that of a manifest: `csv`, `jsonl`,
    /// `ndjson` or `parquet`.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_ascii_lowercase();
        match extension.to_str()? {
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// A list of recordings, read and not yet looked for.
///
/// Columns are found by name, in any order and case; other columns are ignored.
#[derive(Debug)]
pub struct Manifest {
    /// The manifest.
    pub path: PathBuf,
    /// The columns of [`Column`] it has; of JSON lines, those that any row has.
    pub columns: Vec<Column>,
    /// The rows in the order of the file. Each bad one is an [`Error::ManifestRow`].
    pub rows: Vec<Result<Row>>,
}

impl Manifest {
    /// Reads all rows. A file with another extension is read as CSV.
    ///
    /// # Errors
    ///
    /// Any [`Error`] about opening the file, [`Error::NoPathColumn`], [`Error::Manifest`] if it has one of
    /// its columns twice, or no row, and [`Error::NoParquet`] in builds that cannot read Parquet.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::from_io(path, error))?;
        let mut manifest = Self { path: path.to_owned(), columns: Vec::new(), rows: Vec::new() };
        match Format::of(path).unwrap_or(Format::Csv) {
            Format::Csv => csv::read(file, &mut manifest)?,
            Format::JsonLines => json_lines::read(file, &mut manifest),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::read(file, &mut manifest)?,
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(Error::NoParquet { input: manifest.label() }),
        }
        if manifest.rows.is_empty() {
            return Err(manifest.refused("lists no files; add a row for each file"));
        }
        Ok(manifest)
    }

    /// Whether any row could have a value for `column`.
    pub fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    /// The error that one of its rows cannot be used.
    pub(crate) fn row_refused(&self, line: u64, reason: impl Into<String>) -> Error {
        Error::ManifestRow { manifest: self.label(), line, reason: reason.into() }
    }

    fn refused(&self, reason: &str) -> Error {
        Error::Manifest { manifest: self.label(), reason: reason.to_owned() }
    }

    fn label(&self) -> String {
        self.path.display().to_string()
    }

    fn add(&mut self, line: u64, cells: row::Cells) {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let row = cells.into_row(line, folder).map_err(|reason| self.row_refused(line, reason));
        self.rows.push(row);
    }

    fn add_bad_row(&mut self, line: u64, reason: impl Into<String>) {
        self.rows.push(Err(self.row_refused(line, reason)));
    }

    /// Which column of a header with these names holds what; `path` must be among them.
    fn take_header<'a>(
        &mut self,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Vec<Option<Column>>> {
        let columns: Vec<Option<Column>> = names.clone().map(Column::named).collect();
        for column in columns.iter().flatten() {
            if self.has(*column) {
                let name = column.name();
                return Err(self.refused(&format!(
                    "the header names the column `{name}` twice; keep one of them"
                )));
            }
            self.columns.push(*column);
        }
        if self.has(Column::Path) {
            return Ok(columns);
        }
        let names: Vec<_> = names.collect();
        Err(Error::NoPathColumn { manifest: self.label(), columns: names.join(" | ") })
    }
}

#[cfg(test)]
mod tests;

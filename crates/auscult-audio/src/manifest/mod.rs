//! Manifests: lists of recordings as CSV, JSON lines or Parquet.

mod csv;
mod json_lines;
#[cfg(feature = "parquet")]
mod parquet;
mod row;

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use row::Cells;
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

/// The most rows that are kept.
const MAX_ROWS: usize = 10_000_000;

/// The most bytes of text that are kept: a small Parquet file can repeat a long text in every row.
const MAX_TEXT_BYTES: usize = 1 << 30;

fn too_large(limit: &str) -> String {
    format!("has more than {limit}, which is too large for a manifest; split it")
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
    /// Those of [`Rows::open`], and [`Error::Manifest`] if it has no row, or too many to keep.
    pub fn open(path: &Path) -> Result<Self> {
        let mut reader = Rows::open(path)?;
        let (mut rows, mut text_bytes) = (Vec::new(), 0);
        for row in reader.by_ref() {
            text_bytes += row.as_ref().map_or(0, Row::text_bytes);
            rows.push(row);
            if rows.len() > MAX_ROWS {
                return Err(refused(path, &too_large(&format!("{MAX_ROWS} rows"))));
            }
            if text_bytes > MAX_TEXT_BYTES {
                return Err(refused(path, &too_large(&format!("{MAX_TEXT_BYTES} bytes of text"))));
            }
        }
        if rows.is_empty() {
            return Err(refused(path, "lists no files; add a row for each file"));
        }
        Ok(Self { path: path.to_owned(), columns: reader.columns, rows })
    }

    /// Whether any row could have a value for `column`.
    pub fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    /// The error that one of its rows cannot be used.
    pub(crate) fn row_refused(&self, line: u64, reason: impl Into<String>) -> Error {
        row_refused(&self.path, line, reason.into())
    }
}

/// The rows of a manifest, one after the other, in bounded memory. Each bad one is an
/// [`Error::ManifestRow`], and the next ones follow.
pub struct Rows {
    path: PathBuf,
    columns: Vec<Column>,
    raw: Box<dyn Iterator<Item = RawRow> + Send>,
}

/// What a format gives for a row.
struct RawRow {
    line: u64,
    /// The cells, or what is wrong with them.
    cells: std::result::Result<Cells, String>,
    /// Columns it names, where there is no header.
    columns: Vec<Column>,
}

impl RawRow {
    fn new(line: u64, cells: std::result::Result<Cells, String>) -> Self {
        Self { line, cells, columns: Vec::new() }
    }
}

impl Rows {
    /// Opens a manifest and reads its header. A file with another extension is read as CSV.
    ///
    /// # Errors
    ///
    /// Any [`Error`] about opening the file, [`Error::NoPathColumn`], [`Error::Manifest`] if it has one of
    /// its columns twice, and [`Error::NoParquet`] in builds that cannot read Parquet.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::from_io(path, error))?;
        let (columns, raw) = match Format::of(path).unwrap_or(Format::Csv) {
            Format::Csv => csv::read(file, path)?,
            Format::JsonLines => (Vec::new(), json_lines::read(file, path)),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::read(file, path)?,
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(Error::NoParquet { input: path.display().to_string() }),
        };
        Ok(Self { path: path.to_owned(), columns, raw })
    }

    /// The columns it has; of JSON lines, those that any row so far has.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        let RawRow { line, cells, columns } = self.raw.next()?;
        for column in columns {
            if !self.columns.contains(&column) {
                self.columns.push(column);
            }
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let row = cells.and_then(|cells| cells.into_row(line, folder));
        Some(row.map_err(|reason| row_refused(&self.path, line, reason)))
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Rows").field("path", &self.path).finish_non_exhaustive()
    }
}

fn refused(path: &Path, reason: &str) -> Error {
    Error::Manifest { manifest: path.display().to_string(), reason: reason.to_owned() }
}

fn row_refused(path: &Path, line: u64, reason: String) -> Error {
    Error::ManifestRow { manifest: path.display().to_string(), line, reason }
}

/// A header: which of its columns hold what, in their order.
type Header = Vec<Option<Column>>;

/// Which column of a header with these names holds what; `path` must be among them.
fn parse_header<'a>(path: &Path, names: impl Iterator<Item = &'a str> + Clone) -> Result<Header> {
    let header: Header = names.clone().map(Column::named).collect();
    let mut seen = Vec::new();
    for column in header.iter().flatten() {
        if seen.contains(column) {
            let name = column.name();
            let reason = format!("the header names the column `{name}` twice; keep one of them");
            return Err(refused(path, &reason));
        }
        seen.push(*column);
    }
    if seen.contains(&Column::Path) {
        return Ok(header);
    }
    let names: Vec<_> = names.collect();
    let manifest = path.display().to_string();
    Err(Error::NoPathColumn { manifest, columns: names.join(" | ") })
}

#[cfg(test)]
mod tests;

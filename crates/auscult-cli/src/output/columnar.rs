//! Parquet: text and f64 columns.

use std::path::{Path, PathBuf};

use anyhow::Context;
use auscult_archive::{Table, columns::Values};

use super::{Field, Record};

/// Gathers records and writes the file at the end.
pub(crate) struct ParquetWriter {
    path: PathBuf,
    columns: Vec<String>,
    records: Vec<Record>,
}

impl ParquetWriter {
    pub(crate) fn new(path: &Path, columns: Vec<String>) -> Self {
        Self { path: path.to_owned(), columns, records: Vec::new() }
    }

    pub(crate) fn write(&mut self, record: Record) {
        self.records.push(record);
    }

    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let columns = self.columns.iter().map(|column| (column.clone(), self.values(column)));
        let table = Table { columns: columns.collect(), ..Table::default() };
        let bytes = table.to_parquet().context("Parquet output")?;
        auscult::files::write_atomically(&self.path, &bytes).context("Parquet output")
    }

    /// The values of a column: text if any of them is; one without any value holds numbers.
    fn values(&self, column: &str) -> Values {
        let fields = || self.records.iter().map(|record| record.get(column));
        if fields().any(|field| matches!(field, Some(Field::Text(_)))) {
            let text = |field: Option<&Field>| match field {
                Some(Field::Text(text)) => Some(text.clone()),
                _ => None,
            };
            return Values::Text(fields().map(text).collect());
        }
        let number = |field: Option<&Field>| match field {
            Some(Field::Number(number)) => *number,
            _ => None,
        };
        Values::Numbers(fields().map(number).collect())
    }
}

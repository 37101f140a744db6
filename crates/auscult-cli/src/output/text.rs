//! CSV, flushed row by row so that a pipe sees rows as they come.

use super::{Cells, Field, Record, Sink};

pub(crate) struct CsvWriter {
    writer: csv::Writer<Sink>,
    columns: Vec<String>,
    cells: Cells,
}

impl Cells {
    /// Text as whoever reads it needs it.
    fn cell(self, text: &str) -> String {
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        if self == Self::ForSpreadsheets && is_formula {
            format!("'{text}")
        } else {
            text.to_owned()
        }
    }
}

impl CsvWriter {
    pub(crate) fn new(sink: Sink, columns: Vec<String>, cells: Cells) -> anyhow::Result<Self> {
        let mut writer = csv::Writer::from_writer(sink);
        writer.write_record(&columns)?;
        Ok(Self { writer, columns, cells })
    }

    pub(crate) fn write(&mut self, record: &Record) -> anyhow::Result<()> {
        let cells = self.cells;
        let cell = |column: &String| match record.get(column) {
            Some(Field::Text(text)) => cells.cell(text),
            // The shortest text that reads back as the same number.
            Some(Field::Number(Some(number))) => number.to_string(),
            Some(Field::Json(value)) => value.to_string(),
            Some(Field::Number(None)) | None => String::new(),
        };
        self.writer.write_record(self.columns.iter().map(cell))?;
        Ok(self.writer.flush()?)
    }

    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?.finish()
    }
}

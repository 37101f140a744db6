//! CSV, flushed row by row so that a pipe sees rows as they come.

use super::{Cells, Field, Record, Sink};

pub(crate) struct CsvWriter {
    writer: csv::Writer<Sink>,
    columns: Vec<String>,
    cells: Cells,
}

impl CsvWriter {
    pub(crate) fn new(sink: Sink, columns: Vec<String>, cells: Cells) -> anyhow::Result<Self> {
        let mut writer = csv::Writer::from_writer(sink);
        writer.write_record(&columns)?;
        Ok(Self { writer, columns, cells })
    }

    pub(crate) fn write(&mut self, record: &Record) -> anyhow::Result<()> {
        let cell = |column: &String| match record.get(column) {
            Some(Field::Text(text)) if self.is_formula(text) => format!("'{text}"),
            Some(Field::Text(text)) => text.clone(),
            // The shortest text that reads back as the same number.
            Some(Field::Number(Some(number))) => number.to_string(),
            Some(Field::Json(value)) => value.to_string(),
            Some(Field::Number(None)) | None => String::new(),
        };
        self.writer.write_record(self.columns.iter().map(cell))?;
        Ok(self.writer.flush()?)
    }

    /// Whether somebody who opens the file would see what a spreadsheet makes of the text.
    fn is_formula(&self, text: &str) -> bool {
        self.cells == Cells::ForSpreadsheets && text.starts_with(['=', '+', '-', '@', '\t', '\r'])
    }

    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?.finish()
    }
}

//! Manifests as CSV.

use std::fs::File;
use std::path::Path;

use super::{Column, Header, RawRow, parse_header, refused, row::Cells};
use crate::Result;

type Raw = Box<dyn Iterator<Item = RawRow> + Send>;

pub(super) fn read(file: File, path: &Path) -> Result<(Vec<Column>, Raw)> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
    let header = reader.headers().map_err(|error| refused(path, &error.to_string()))?;
    let header = parse_header(path, header.iter())?;
    let columns = header.iter().flatten().copied().collect();
    let mut records = reader.into_records();
    let mut is_broken = false;
    let rows = std::iter::from_fn(move || {
        let record = records.next().filter(|_| !is_broken)?;
        is_broken = record.as_ref().is_err_and(csv::Error::is_io_error);
        Some(row(record, &header))
    });
    Ok((columns, Box::new(rows)))
}

fn row(record: csv::Result<csv::StringRecord>, header: &Header) -> RawRow {
    let line = |position: Option<&csv::Position>| position.map_or(0, csv::Position::line);
    match record {
        Ok(record) => {
            let mut cells = Cells::default();
            for (text, column) in record.iter().zip(header) {
                if let Some(column) = column {
                    cells.set(*column, text);
                }
            }
            RawRow::new(line(record.position()), Ok(cells))
        }
        Err(error) => RawRow::new(line(error.position()), Err(reason(&error))),
    }
}

fn reason(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
            "the row has {len} cells but the header has {expected_len}; \
             put cells that contain commas in double quotes"
        ),
        csv::ErrorKind::Utf8 { .. } => "the row is not UTF-8; save the file as UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

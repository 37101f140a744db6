//! Manifests as CSV.

use std::fs::File;

use super::{Manifest, row::Cells};
use crate::Result;

pub(super) fn read(file: File, manifest: &mut Manifest) -> Result<()> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
    let header = reader.headers().map_err(|error| manifest.refused(&error.to_string()))?;
    let columns = manifest.take_header(header.iter())?;
    for record in reader.records() {
        match record {
            Ok(record) => {
                let mut cells = Cells::default();
                for (text, column) in record.iter().zip(&columns) {
                    if let Some(column) = column {
                        cells.set(*column, text);
                    }
                }
                manifest.add(record.position().map_or(0, csv::Position::line), cells);
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                manifest.add_bad_row(line, reason(&error));
                if error.is_io_error() {
                    break;
                }
            }
        }
    }
    Ok(())
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

//! Manifests as Parquet.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;

use super::{Column, Manifest, row::Cells};
use crate::Result;

/// The most rows that are read.
const MAX_ROWS: usize = 10_000_000;

/// The most bytes of text that are read: a small file can repeat a long text in every row.
const MAX_TEXT_BYTES: usize = 1 << 30;

pub(super) fn read(file: File, manifest: &mut Manifest) -> Result<()> {
    // The parquet crate panics on some damaged files. What it was working on is dropped then.
    let table = catch_unwind(AssertUnwindSafe(|| Table::read(file)));
    let damaged = |_| Err(ParquetError::General("the file is damaged".to_owned()));
    let table = table.unwrap_or_else(damaged).map_err(|error| {
        manifest.refused(&format!(
            "cannot be read as Parquet: {error}; write it again, uncompressed or with Snappy or gzip"
        ))
    })?;
    manifest.take_header(table.names.iter().map(String::as_str))?;
    for (cells, line) in table.rows.into_iter().zip(1..) {
        match cells {
            Ok(cells) => manifest.add(line, cells),
            Err(reason) => manifest.add_bad_row(line, reason),
        }
    }
    Ok(())
}

/// The names of all columns, and the rows.
struct Table {
    names: Vec<String>,
    rows: Vec<std::result::Result<Cells, String>>,
}

impl Table {
    fn read(file: File) -> std::result::Result<Self, ParquetError> {
        let reader = SerializedFileReader::new(file)?;
        let metadata = reader.metadata().file_metadata();
        let fields = metadata.schema().get_fields();
        let names = fields.iter().map(|field| field.name().to_owned()).collect();
        // Other columns may be of any type, so they are not decoded.
        let column = |field: &Type| Column::named(field.name());
        let (columns, known): (Vec<_>, Vec<_>) =
            fields.iter().filter_map(|field| Some((column(field)?, field.clone()))).unzip();
        let mut rows = Vec::new();
        if columns.is_empty() {
            return Ok(Self { names, rows });
        }
        let projection = Type::group_type_builder(metadata.schema().name()).with_fields(known);
        let mut text_bytes = 0;
        for record in reader.get_row_iter(Some(projection.build()?))? {
            let record = record?;
            let mut cells = Cells::default();
            let fields = columns.iter().zip(record.get_column_iter());
            let filled = fields.map(|(column, (_, field))| {
                let text = text(*column, field)?;
                text_bytes += text.len();
                cells.set(*column, &text);
                Ok(())
            });
            let filled: std::result::Result<(), String> = filled.collect();
            rows.push(filled.map(|()| cells));
            if rows.len() > MAX_ROWS {
                return Err(too_large(&format!("more than {MAX_ROWS} rows")));
            }
            if text_bytes > MAX_TEXT_BYTES {
                return Err(too_large(&format!("more than {MAX_TEXT_BYTES} bytes of text")));
            }
        }
        Ok(Self { names, rows })
    }
}

fn too_large(what: &str) -> ParquetError {
    ParquetError::General(format!("it has {what}, which is too large for a manifest"))
}

/// A value as the text of a cell, as in JSON.
fn text(column: Column, field: &Field) -> std::result::Result<String, String> {
    match (column, field) {
        (_, Field::Null) => Ok(String::new()),
        (_, Field::Str(text)) => Ok(text.clone()),
        // Text that its writer did not mark as such.
        (_, Field::Bytes(bytes)) => match bytes.as_utf8() {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(format!("{} is not UTF-8", column.name())),
        },
        (Column::Label, Field::Bool(value)) => Ok(value.to_string()),
        (Column::Path, _) => Err(format!("path must be text, got {field}")),
        (_, number) if is_number(number) => Ok(number.to_string()),
        (column, _) => Err(format!("{} must be text or a number, got {field}", column.name())),
    }
}

fn is_number(field: &Field) -> bool {
    matches!(
        field,
        Field::Byte(_)
            | Field::Short(_)
            | Field::Int(_)
            | Field::Long(_)
            | Field::UByte(_)
            | Field::UShort(_)
            | Field::UInt(_)
            | Field::ULong(_)
            | Field::Float(_)
            | Field::Double(_)
    )
}

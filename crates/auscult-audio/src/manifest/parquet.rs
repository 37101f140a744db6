//! Manifests as Parquet.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use super::{Column, RawRow, parse_header, refused, row::Cells};
use crate::Result;

type Raw = Box<dyn Iterator<Item = RawRow> + Send>;

pub(super) fn read(file: File, path: &Path) -> Result<(Vec<Column>, Raw)> {
    let unread = |error: ParquetError| {
        let hint = "write it again, uncompressed or with Snappy or gzip";
        refused(path, &format!("cannot be read as Parquet: {error}; {hint}"))
    };
    let reader = guarded(|| SerializedFileReader::new(file)).map_err(unread)?;
    let schema = reader.metadata().file_metadata().schema();
    let fields = schema.get_fields();
    let header = parse_header(path, fields.iter().map(|field| field.name()))?;
    let columns: Vec<Column> = header.iter().flatten().copied().collect();
    // Other columns may be of any type, so they are not decoded.
    let known = header.iter().zip(fields).filter(|(column, _)| column.is_some());
    let known = known.map(|(_, field)| field.clone()).collect();
    let projection = Type::group_type_builder(schema.name()).with_fields(known);
    let projection = projection.build().map_err(unread)?;
    let rows = guarded(|| RowIter::from_file_into(Box::new(reader)).project(Some(projection)));
    let rows =
        Table { rows: rows.map_err(unread)?, columns: columns.clone(), row: 0, is_over: false };
    Ok((columns, Box::new(rows)))
}

/// The parquet crate panics on some damaged files. What it was working on is dropped then.
fn guarded<T>(
    read: impl FnOnce() -> std::result::Result<T, ParquetError>,
) -> std::result::Result<T, ParquetError> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ParquetError::General("the file is damaged".to_owned())))
}

/// Rows that are read one after the other.
struct Table {
    rows: RowIter<'static>,
    columns: Vec<Column>,
    row: u64,
    is_over: bool,
}

impl Iterator for Table {
    type Item = RawRow;

    fn next(&mut self) -> Option<RawRow> {
        if self.is_over {
            return None;
        }
        let rows = &mut self.rows;
        let record = guarded(|| rows.next().transpose()).transpose()?;
        self.row += 1;
        let cells = match record {
            Ok(record) => cells(&record, &self.columns),
            Err(error) => {
                self.is_over = true;
                Err(format!("this row and all after it cannot be read as Parquet: {error}"))
            }
        };
        Some(RawRow::new(self.row, cells))
    }
}

fn cells(record: &parquet::record::Row, columns: &[Column]) -> std::result::Result<Cells, String> {
    let mut cells = Cells::default();
    for (column, (_, field)) in columns.iter().zip(record.get_column_iter()) {
        cells.set(*column, &text(*column, field)?);
    }
    Ok(cells)
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

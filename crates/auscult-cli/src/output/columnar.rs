//! Parquet: one row group, text and f64 columns.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use parquet::{
    basic::{LogicalType, Repetition, Type as PhysicalType},
    data_type::{ByteArray, ByteArrayType, DoubleType},
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::Type,
};

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
        let mut bytes = Vec::new();
        let schema = Arc::new(self.schema()?);
        let properties = Arc::new(WriterProperties::builder().build());
        let mut file = SerializedFileWriter::new(&mut bytes, schema, properties)?;
        let mut rows = file.next_row_group()?;
        for column in &self.columns {
            self.write_column(column, &mut rows)?;
        }
        rows.close()?;
        file.close()?;
        auscult::files::write_atomically(&self.path, &bytes).context("Parquet output")
    }

    /// Whether a column holds text; one without any value holds numbers.
    fn is_text(&self, column: &str) -> bool {
        self.records.iter().any(|record| matches!(record.get(column), Some(Field::Text(_))))
    }

    fn schema(&self) -> anyhow::Result<Type> {
        let field = |column: &String| -> anyhow::Result<_> {
            let builder = if self.is_text(column) {
                Type::primitive_type_builder(column, PhysicalType::BYTE_ARRAY)
                    .with_logical_type(Some(LogicalType::String))
            } else {
                Type::primitive_type_builder(column, PhysicalType::DOUBLE)
            };
            Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).build()?))
        };
        let fields = self.columns.iter().map(field).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Type::group_type_builder("auscult").with_fields(fields).build()?)
    }

    fn write_column<W: std::io::Write + Send>(
        &self,
        column: &str,
        rows: &mut SerializedRowGroupWriter<'_, W>,
    ) -> anyhow::Result<()> {
        let Some(mut writer) = rows.next_column()? else {
            anyhow::bail!("Parquet has no room for column {column}");
        };
        let fields = || self.records.iter().map(|record| record.get(column));
        if self.is_text(column) {
            let values: Vec<Option<ByteArray>> = fields()
                .map(|field| match field {
                    Some(Field::Text(text)) => Some(ByteArray::from(text.as_str())),
                    _ => None,
                })
                .collect();
            let (levels, values) = split(values);
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        } else {
            let values: Vec<Option<f64>> = fields()
                .map(|field| match field {
                    Some(Field::Number(number)) => *number,
                    _ => None,
                })
                .collect();
            let (levels, values) = split(values);
            writer.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
        Ok(writer.close()?)
    }
}

/// Definition levels (1 where there is a value) and the values there are.
fn split<T>(values: Vec<Option<T>>) -> (Vec<i16>, Vec<T>) {
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (levels, values.into_iter().flatten().collect())
}

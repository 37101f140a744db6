//! 6b. Tables of text and numbers, as Parquet.

use std::{collections::BTreeMap, fs::File, io::Write, path::Path, sync::Arc};

use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as PhysicalType},
    data_type::{ByteArray, ByteArrayType, DoubleType},
    errors::Result as ParquetResult,
    file::{
        metadata::KeyValue,
        properties::WriterProperties,
        reader::{FileReader, SerializedFileReader},
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    record::Field,
    schema::types::Type,
};

use crate::{Error, Result};

/// The values of a column; any may be missing.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Text.
    Text(Vec<Option<String>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
}

/// Columns of equal length, with facts about the whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The columns, in their order.
    pub columns: Vec<(String, Values)>,
    /// What is said about the table in its file.
    pub facts: BTreeMap<String, String>,
}

impl Table {
    /// The bytes of a Parquet file: one row group, compressed with Snappy.
    ///
    /// # Errors
    ///
    /// If a column is longer than another.
    pub fn to_parquet(&self) -> ParquetResult<Vec<u8>> {
        let facts = self.facts.iter();
        let facts = facts.map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(facts))
            .build();
        let mut bytes = Vec::new();
        let schema = Arc::new(self.schema()?);
        let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
        let mut rows = file.next_row_group()?;
        for (_, values) in &self.columns {
            write_column(values, &mut rows)?;
        }
        rows.close()?;
        file.close()?;
        Ok(bytes)
    }

    fn schema(&self) -> ParquetResult<Type> {
        let field = |(name, values): &(String, Values)| {
            let builder = match values {
                Values::Text(_) => Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                    .with_logical_type(Some(LogicalType::String)),
                Values::Numbers(_) => Type::primitive_type_builder(name, PhysicalType::DOUBLE),
            };
            Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).build()?))
        };
        let fields = self.columns.iter().map(field).collect::<ParquetResult<Vec<_>>>()?;
        Type::group_type_builder("auscult").with_fields(fields).build()
    }

    /// The facts that a file states, and how many rows it has; the rows are not read.
    ///
    /// # Errors
    ///
    /// [`Error::Table`] if it is not a whole Parquet file.
    pub fn read_facts(path: &Path) -> Result<(BTreeMap<String, String>, i64)> {
        let reader = open(path)?;
        let metadata = reader.metadata().file_metadata();
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        let facts = pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)));
        Ok((facts.collect(), metadata.num_rows()))
    }

    /// Reads a table of text and numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Table`] if it is not a whole Parquet file of such columns.
    pub fn read(path: &Path) -> Result<Self> {
        let (facts, _) = Self::read_facts(path)?;
        let reader = open(path)?;
        let failed = |reason: String| Error::Table { path: path.to_owned(), reason };
        let fields = reader.metadata().file_metadata().schema().get_fields().to_vec();
        let column = |field: &Arc<Type>| match field.get_physical_type() {
            PhysicalType::DOUBLE => (field.name().to_owned(), Values::Numbers(Vec::new())),
            _ => (field.name().to_owned(), Values::Text(Vec::new())),
        };
        let mut columns: Vec<(String, Values)> = fields.iter().map(column).collect();
        for row in reader {
            let row = row.map_err(|error| failed(error.to_string()))?;
            for ((name, values), (_, field)) in columns.iter_mut().zip(row.get_column_iter()) {
                match (values, field) {
                    (Values::Text(texts), Field::Null) => texts.push(None),
                    (Values::Text(texts), Field::Str(text)) => texts.push(Some(text.clone())),
                    (Values::Numbers(numbers), Field::Null) => numbers.push(None),
                    (Values::Numbers(numbers), Field::Double(number)) => {
                        numbers.push(Some(*number));
                    }
                    _ => return Err(failed(format!("column {name} is not text or numbers"))),
                }
            }
        }
        Ok(Self { columns, facts })
    }
}

fn open(path: &Path) -> Result<SerializedFileReader<File>> {
    let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    // The parquet crate panics on some damaged files; nothing of it is used again then.
    let read = std::panic::AssertUnwindSafe(|| SerializedFileReader::new(file));
    let failed = |reason: String| Error::Table { path: path.to_owned(), reason };
    match std::panic::catch_unwind(read) {
        Ok(Ok(reader)) => Ok(reader),
        Ok(Err(error)) => Err(failed(format!("not a whole Parquet file: {error}"))),
        Err(_) => Err(failed("not a whole Parquet file".to_owned())),
    }
}

fn write_column<W: Write + Send>(
    values: &Values,
    rows: &mut SerializedRowGroupWriter<'_, W>,
) -> ParquetResult<()> {
    let Some(mut writer) = rows.next_column()? else { return Ok(()) };
    match values {
        Values::Text(texts) => {
            let there = texts.iter().flatten().map(|text| ByteArray::from(text.as_str()));
            let there: Vec<ByteArray> = there.collect();
            writer.typed::<ByteArrayType>().write_batch(&there, Some(&levels(texts)), None)?;
        }
        Values::Numbers(numbers) => {
            let there: Vec<f64> = numbers.iter().flatten().copied().collect();
            writer.typed::<DoubleType>().write_batch(&there, Some(&levels(numbers)), None)?;
        }
    }
    writer.close()
}

/// Definition levels: 1 where there is a value.
fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            columns: vec![
                (
                    "uri".to_owned(),
                    Values::Text(vec![Some("a".to_owned()), None, Some(String::new())]),
                ),
                (
                    "score".to_owned(),
                    Values::Numbers(vec![None, Some(0.1), Some(f64::MIN_POSITIVE)]),
                ),
            ],
            facts: BTreeMap::from([("who".to_owned(), "me".to_owned())]),
        }
    }

    #[test]
    fn a_table_survives_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, table().to_parquet().unwrap()).unwrap();
        let read = Table::read(&path).unwrap();
        assert_eq!(read.columns, table().columns);
        assert_eq!(read.facts["who"], "me");
        assert_eq!(Table::read_facts(&path).unwrap().1, 3);
    }

    #[test]
    fn torn_files_are_refused_whatever_is_left_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let bytes = table().to_parquet().unwrap();
        for len in (0..bytes.len()).step_by(7) {
            std::fs::write(&path, &bytes[..len]).unwrap();
            let error = Table::read_facts(&path).unwrap_err().to_string();
            assert!(error.contains("not a whole Parquet file"), "{len}: {error}");
        }
    }
}

//! Results for programs: CSV, JSON, JSON lines and Parquet from one kind of record.

mod arrays;
mod bench;
#[cfg(feature = "parquet")]
mod columnar;
pub(crate) mod demo_folder;
mod features;
mod history;
mod record;
mod run;
mod sink;
mod text;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use self::arrays::{Array, write_npy, write_npz};
use self::sink::Sink;
pub(crate) use self::{
    bench::{run_facts, write_results, write_scores},
    features::{FeatureRows, write_features},
    history::write_clips,
    record::{Field, Record},
    run::RunWriter,
};

/// The form results are written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Format {
    Csv(Cells),
    Json,
    JsonLines,
    Parquet(PathBuf),
}

/// What text in CSV is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cells {
    /// Programs, which get it as it is.
    AsTheyAre,
    /// Spreadsheets, which calculate what looks like a formula.
    ForSpreadsheets,
}

/// Writes records in a [`Format`], as they come where the form allows it.
pub(crate) enum RecordWriter {
    Csv(Box<text::CsvWriter>),
    JsonLines(Sink),
    Json(Sink, Vec<Record>),
    #[cfg(feature = "parquet")]
    Parquet(columnar::ParquetWriter),
}

impl RecordWriter {
    /// Starts writing to `output`, or to standard output. `columns` are the fields every record
    /// has, in order.
    pub(crate) fn new(
        format: &Format,
        columns: Vec<String>,
        output: Option<&Path>,
    ) -> anyhow::Result<Self> {
        Ok(match format {
            Format::Csv(cells) => {
                Self::Csv(Box::new(text::CsvWriter::new(Sink::new(output)?, columns, *cells)?))
            }
            Format::JsonLines => Self::JsonLines(Sink::new(output)?),
            Format::Json => Self::Json(Sink::new(output)?, Vec::new()),
            #[cfg(feature = "parquet")]
            Format::Parquet(path) => Self::Parquet(columnar::ParquetWriter::new(path, columns)),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet(_) => anyhow::bail!(
                "this build of auscult does not write Parquet; build it with --features parquet, or use --csv"
            ),
        })
    }

    pub(crate) fn write(&mut self, record: Record) -> anyhow::Result<()> {
        match self {
            Self::Csv(writer) => writer.write(&record),
            Self::JsonLines(sink) => {
                serde_json::to_writer(&mut *sink, &record).map_err(std::io::Error::from)?;
                writeln!(sink)?;
                Ok(sink.flush()?)
            }
            Self::Json(_, records) => {
                records.push(record);
                Ok(())
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => {
                writer.write(record);
                Ok(())
            }
        }
    }

    /// Ends the results; JSON is one array.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.finish_with(|records| records)
    }

    /// Ends the results; JSON is what `document` makes of the records.
    pub(crate) fn finish_with<D: serde::Serialize>(
        self,
        document: impl FnOnce(Vec<Record>) -> D,
    ) -> anyhow::Result<()> {
        match self {
            Self::Csv(writer) => writer.finish(),
            Self::JsonLines(sink) => sink.finish(),
            Self::Json(mut sink, records) => {
                let document = document(records);
                serde_json::to_writer_pretty(&mut sink, &document).map_err(std::io::Error::from)?;
                writeln!(sink)?;
                sink.finish()
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.finish(),
        }
    }
}

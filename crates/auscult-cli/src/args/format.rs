//! The form of results.

use std::path::PathBuf;

use clap::Args;

use crate::output::{Cells, Format};

/// Results for programs instead of a table.
#[derive(Debug, Args)]
#[command(next_help_heading = "Results for programs")]
#[expect(clippy::struct_excessive_bools, reason = "flags, at most one of which is given")]
pub(crate) struct FormatArguments {
    /// Print CSV, full precision, a row a clip, as they come.
    #[arg(long, group = "format")]
    csv: bool,

    /// Print CSV for spreadsheets: text that they would take for a formula (it begins with = + - or @) has ' before it.
    #[arg(long, group = "format")]
    csv_safe: bool,

    /// Print one JSON object: the clips, and what the run came to.
    #[arg(long, group = "format")]
    json: bool,

    /// Print JSON lines, one object a clip, as they come.
    #[arg(long, group = "format")]
    jsonl: bool,

    /// Write a Parquet file.
    #[arg(long, group = "format", value_name = "FILE")]
    parquet: Option<PathBuf>,

    /// Write CSV, JSON or JSON lines to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl FormatArguments {
    /// The form asked for; `None` for a table.
    pub(crate) fn format(&self) -> anyhow::Result<Option<Format>> {
        let format = match self {
            Self { csv: true, .. } => Some(Format::Csv(Cells::AsTheyAre)),
            Self { csv_safe: true, .. } => Some(Format::Csv(Cells::ForSpreadsheets)),
            Self { json: true, .. } => Some(Format::Json),
            Self { jsonl: true, .. } => Some(Format::JsonLines),
            Self { parquet: Some(path), .. } => Some(Format::Parquet(path.clone())),
            _ => None,
        };
        if self.output.is_some() && matches!(format, None | Some(Format::Parquet(_))) {
            anyhow::bail!(
                "--output goes with --csv, --csv-safe, --json or --jsonl; --parquet names its file itself"
            );
        }
        Ok(format)
    }
}

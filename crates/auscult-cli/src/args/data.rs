//! `auscult data`.

use std::path::PathBuf;

use auscult_eval::datasets::DatasetKind;
use clap::{Args, Subcommand};

use super::TrustArguments;

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Say what a folder holds, what is missing, and whether counts are those known.
    Check(DataCheckArguments),
    /// Fetch archives of a data set from Zenodo; they are read in place, without unpacking.
    Download(DownloadArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 everything known is there; 2 something is missing or unusable.

Example:
  auscult data check ~/dcase2023 --truth ~/dcase2023_task2_evaluator")]
pub(crate) struct DataCheckArguments {
    /// The folder; several if parts lie in different places.
    #[arg(required = true, value_name = "ROOT")]
    pub(crate) roots: Vec<PathBuf>,

    /// dcase2020 to dcase2026, mimii or folder; told from names if not given. Where ROOT has
    /// folders of these names, only that of the data set is read; all of them if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) dataset: Option<DatasetKind>,

    /// The folder of the official evaluator, for labels and domains of hidden test clips; may be
    /// repeated.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) truth: Vec<PathBuf>,

    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A download that stopped goes on where it was when the same command runs again. Sizes and checksums
are compared. The data have licences of their own (DCASE: CC BY-NC-SA 4.0 and others; MIMII: CC BY-SA
4.0): read them on the pages of the records.

Example:
  auscult data download dcase2023 --split dev --machine fan -o ~/dcase2023")]
pub(crate) struct DownloadArguments {
    /// dcase2020 to dcase2026, or mimii.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: DatasetKind,

    /// dev or eval; MIMII: min6dB, 0dB or 6dB. All if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) split: Vec<String>,

    /// A machine type; all if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Vec<String>,

    /// Where the archives go.
    #[arg(short, long, default_value = ".", value_name = "FOLDER")]
    pub(crate) output: PathBuf,

    /// Another address with the same form of paths, such as a mirror.
    #[arg(long, value_name = "URL")]
    pub(crate) from: Option<String>,

    #[command(flatten)]
    pub(crate) trust: TrustArguments,

    /// Say what would be fetched, and fetch nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

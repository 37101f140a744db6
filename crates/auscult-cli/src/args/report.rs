//! `auscult report`.

use std::path::PathBuf;

use clap::Args;

use super::ScoringArguments;

#[derive(Debug, Args)]
#[command(after_help = "\
The page needs no network, prints well, and has the sound of at most ten clips in it: the anomalous
ones that score highest, each beside its closest normal clip if that is still where it was.

Examples:
  auscult report pump.auscult today/ -o today.html
  auscult report pump.auscult today/ -o today.html --title \"Pump 3, hall 2\"
  auscult report pump.auscult today/ --json today.json          the same facts for a program")]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    pub(crate) scoring: ScoringArguments,

    /// The page to write; replaced only when the new one is complete.
    #[arg(short, long, value_name = "FILE", required_unless_present = "json", help_heading = None)]
    pub(crate) output: Option<PathBuf>,

    /// Write the facts as JSON to this file, or to standard output with -.
    #[arg(long, value_name = "FILE", help_heading = None)]
    pub(crate) json: Option<PathBuf>,

    /// The machine, as people call it; the name of the model file if not given.
    #[arg(long, help_heading = None)]
    pub(crate) title: Option<String>,
}

//! `auscult score` and `auscult explain`.

use std::path::{Path, PathBuf};

use auscult::{FalseAlarmRate, audio::ChannelRule};
use clap::Args;

use super::{FormatArguments, InputArguments};

#[derive(Debug, Clone, Args)]
pub(crate) struct ScoringArguments {
    /// The model file, made by auscult fit.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    #[command(flatten)]
    pub(crate) input: InputArguments,

    /// Which channel to take, if not the one the model was made with.
    #[arg(long, value_name = "0|mean|N|0-1", allow_negative_numbers = true)]
    #[arg(help_heading = "Reading sound")]
    #[arg(hide_short_help = true)]
    pub(crate) channel: Option<ChannelRule>,

    /// The domain these recordings are of, such as source or target: they are judged by the
    /// threshold of its references alone. A manifest column says the same clip by clip. Without
    /// either, one threshold serves all.
    #[arg(long, value_name = "NAME", help_heading = None)]
    #[arg(hide_short_help = true)]
    pub(crate) domain: Option<String>,

    /// Share of normal clips that may be called anomalous, such as 5% or 0.01, if not the model's.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, help_heading = None)]
    pub(crate) false_alarm_rate: Option<FalseAlarmRate>,
}

impl ScoringArguments {
    /// The machine, as its model file is called.
    pub(crate) fn machine_name(&self) -> String {
        self.model.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Everything that is read.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Path> {
        self.input.paths.iter().map(PathBuf::as_path).chain([self.model.as_path()])
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Columns: path, start_seconds, score (higher is further from normal), p_value (share of
normal clips that score at least as high), calibrated (0 to 1), and the verdict:
  normal, anomalous   at the model's false-alarm rate; clips that resemble each other count as
                      fewer than they are, so this may be stricter than the p-value alone
  undecided           the model has too few normal clips to promise that rate
  silent, constant, not-finite, too-short, not-scored   no sound of a machine; there is no score

Examples:
  auscult score pump.auscult today/                         a table
  auscult score pump.auscult today/ --csv > today.csv       for a spreadsheet
  auscult score pump.auscult today/ --fail-on-anomaly       for a script: exit code 1 if anomalous
  arecord -f S16_LE -r 16000 | auscult score pump.auscult - --jsonl   live, a line a clip")]
pub(crate) struct ScoreArguments {
    #[command(flatten)]
    pub(crate) scoring: ScoringArguments,

    #[command(flatten)]
    pub(crate) format: FormatArguments,

    #[command(flatten)]
    pub(crate) columns: ColumnArguments,

    /// Say in sentences what differs, below the table or in the JSON.
    #[arg(long, help_heading = None)]
    pub(crate) explain: bool,

    /// Exit with 1 if any clip is anomalous, or the run has changed as a whole.
    #[arg(long, help_heading = None)]
    pub(crate) fail_on_anomaly: bool,
}

/// Columns beside those that every result has.
#[derive(Debug, Default, Args)]
pub(crate) struct ColumnArguments {
    /// Add the scores of every view and band to the results for programs.
    #[arg(long, help_heading = "Results for programs")]
    #[arg(hide_short_help = true)]
    pub(crate) bands: bool,

    /// Add input quality to CSV and Parquet: level, peak, clipped share, offset, dropouts, mains
    /// hum, bandwidth and remarks. JSON always has it.
    #[arg(long, help_heading = "Results for programs")]
    #[arg(hide_short_help = true)]
    pub(crate) quality: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) scoring: ScoringArguments,

    /// Print JSON: every band with its hertz, times normal, closest reference and levels.
    #[arg(long, help_heading = None)]
    pub(crate) json: bool,
}

//! What the user can type.

#![expect(clippy::doc_markdown, reason = "doc comments are help texts here, not Markdown")]

#[cfg(feature = "parquet")]
mod archive;
mod bench;
mod cache;
mod calibrate;
mod comparing;
mod data;
mod encoder;
mod features;
mod fit;
mod format;
mod input;
mod metrics;
mod model;
mod report;
mod score;
mod serve;
mod synth;
mod train;
mod tune;
mod watch;
mod watched;

use clap::{Parser, Subcommand};

#[cfg(feature = "parquet")]
pub(crate) use self::archive::{
    ArchiveArguments, ArchiveCommand, ArchiveFitArguments, ArchivePlanArguments,
    ArchiveScoreArguments,
};
#[cfg(feature = "training")]
pub(crate) use self::train::{DeviceName, LabelName};
pub(crate) use self::{
    bench::{
        BackEndName, BenchCommand, CompareArguments, CostArguments, DataArguments, EvalArguments,
        ListArguments, RunArguments, SubmitArguments, ThresholdName,
    },
    cache::{CacheArguments, CacheCommand, KeepingArguments},
    calibrate::CalibrateArguments,
    comparing::{ComparingArguments, MethodName},
    data::{DataCheckArguments, DataCommand, DownloadArguments},
    encoder::{EncoderArguments, EncoderCommand, TrustArguments},
    features::{FeatureView, FeaturesArguments},
    fit::{AutoencoderArguments, FitArguments},
    format::FormatArguments,
    input::{Clips, FrontEndArguments, InputArguments, SampleRate, VisitArguments},
    metrics::MetricsArguments,
    model::{InspectArguments, ModelCommand},
    report::ReportArguments,
    score::{ColumnArguments, ExplainArguments, ScoreArguments, ScoringArguments},
    serve::{ServeArguments, ServeCommand, TokenCommand, UserCommand},
    synth::{DemoArguments, SynthArguments},
    train::TrainArguments,
    tune::{Budget, TuneArguments},
    watch::{EventArguments, ExportArguments, WatchArguments, WatchCommand, WeekArguments},
    watched::WatchedArguments,
};
use crate::version;

/// Listens to machines: remembers how a healthy one sounds and says, clip by clip, how far a new
/// sound is from that, in which frequency band, and whether it matters.
#[derive(Debug, Parser)]
#[command(name = "auscult", bin_name = "auscult", version = version::long())]
#[command(verbatim_doc_comment, max_term_width = 100)]
#[command(after_help = "\
A first look:      auscult demo
Learn a machine:   auscult fit recordings/ -o pump.auscult
Check new sound:   auscult score pump.auscult today/*.wav
Ask why:           auscult explain pump.auscult today/odd.wav
One page of it:    auscult report pump.auscult today/ -o today.html
Watch all day:     auscult watch --demo
With pages:        auscult serve --demo
Learn an option:   auscult fit --help

Exit codes: 0 nothing anomalous; 1 something anomalous (with --fail-on-anomaly);
2 the command could not do all of its work.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Threads to use, 1 to 512; all cores if not given. Results do not depend on it.
    #[arg(
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        display_order = 99
    )]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=512))]
    #[arg(hide_short_help = true)]
    pub(crate) jobs: Option<u16>,

    /// The file with an encoder's weights (PyTorch zip or safetensors), if not the bundled or
    /// pulled one.
    #[arg(long = "encoder", global = true, value_name = "FILE", display_order = 98)]
    #[arg(hide_short_help = true)]
    pub(crate) encoder_file: Option<std::path::PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a synthetic machine, learn it, check it, and write a report with pictures.
    Demo(DemoArguments),
    /// Learn how a machine sounds from normal recordings and write a model file.
    Fit(FitArguments),
    /// Choose settings from normal recordings alone, without faults.
    Tune(TuneArguments),
    /// Score new recordings against a model.
    Score(ScoreArguments),
    /// Say in sentences what differs in each clip, from which reference, and by how many dB.
    Explain(ExplainArguments),
    /// Write one page that explains a machine: scores, reasons, sound, input quality.
    Report(ReportArguments),
    /// Watch machines day and night: learn them, raise alarms, tell whoever must know.
    Watch(WatchArguments),
    /// Watch machines and show them: pages for people, an interface for programs.
    Serve(ServeArguments),
    /// Score millions of recordings shard by shard, and learn thousands of machines.
    #[cfg(feature = "parquet")]
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Say what a model can promise, what it would take to promise more, and how to keep an alarm
    /// budget.
    Calibrate(CalibrateArguments),
    /// Show what a model holds.
    Inspect(InspectArguments),
    /// Change or check a model without the recordings it was made from.
    #[command(subcommand)]
    Model(ModelCommand),
    /// Compute feature vectors, for other tools.
    Features(FeaturesArguments),
    /// Run systems on DCASE, MIMII or your own labelled folder: tables, figures, submission files.
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Fine-tune an encoder to tell machines, sections or attributes apart.
    Train(TrainArguments),
    /// Look at data sets on disk, and fetch them.
    #[command(subcommand)]
    Data(DataCommand),
    /// Judge scores whose truth is known: AUC, partial AUC, official DCASE scores, intervals.
    Metrics(MetricsArguments),
    /// Encoders (ced, beats, eat): list, fetch, check and convert their weights.
    #[command(subcommand)]
    Encoder(EncoderCommand),
    /// The cache that fit, tune and bench keep vectors of encoders in: how large it is, and emptying it.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Write synthetic machines: fan, pump, valve and slider, healthy and faulty.
    Synth(SynthArguments),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, for packages.
    #[command(hide = true)]
    Man {
        /// The folder they are written to.
        folder: std::path::PathBuf,
    },
}

impl Command {
    /// Whether it runs until it is stopped, and reads its configuration again when it is hung up on.
    pub(crate) fn rereads_its_configuration(&self) -> bool {
        match self {
            Self::Watch(arguments) => arguments.command.is_none(),
            Self::Serve(arguments) => arguments.command.is_none(),
            _ => false,
        }
    }

    /// Whether its exit code tells what was found.
    pub(crate) fn waits_for_code(&self) -> bool {
        matches!(self, Self::Score(arguments) if arguments.fail_on_anomaly)
    }
}

//! `auscult bench`.

use std::path::PathBuf;

use auscult::{Preset, View};
use auscult_eval::datasets::DatasetKind;
use clap::{Args, Subcommand, ValueEnum, builder::TypedValueParser};

use super::{AutoencoderArguments, ComparingArguments, FrontEndArguments, KeepingArguments};

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// One system on one data set: figures of each machine and overall.
    Eval(Box<EvalArguments>),
    /// The protocols there are, what each needs, and what of that is missing on this machine.
    List(ListArguments),
    /// A protocol, such as a table of the paper, on data sets.
    Run(RunArguments),
    /// What a clip costs on this machine, by front end and preset: time, network size, memory.
    Cost(CostArguments),
    /// Two runs on the same clips: differences, and whether they are more than chance.
    Compare(CompareArguments),
    /// Write a run's scores and decisions as the official evaluators take them.
    Submit(SubmitArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Look for data sets here; may be repeated.
    #[arg(long, value_name = "ROOT")]
    pub(crate) data: Vec<PathBuf>,

    /// Print the list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CostArguments {
    /// Only this front end; may be repeated. Otherwise every one whose weights are on this machine, and the
    /// presets.
    #[arg(long, value_name = "NAME")]
    pub(crate) front_end: Vec<String>,

    /// References in memory.
    #[arg(long, default_value_t = 500, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(4..=100_000).map(|count| count as usize))]
    pub(crate) references: usize,

    /// Runs that mean and deviation are taken over.
    #[arg(long, default_value_t = 5, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1000).map(|count| count as usize))]
    pub(crate) runs: usize,

    /// How long the clip is.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) clip_seconds: f64,

    /// Print every number as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where clips, labels and computed vectors are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArguments {
    /// The folder of the data; several if parts lie in different places. Archives (.zip) are read
    /// in place.
    #[arg(long, required = true, value_name = "ROOT")]
    pub(crate) data: Vec<PathBuf>,

    /// The folder of the official evaluator, for labels and domains of hidden test clips; may be
    /// repeated. One whose name tells a year (dcase2023_task2_evaluator) is for that year only.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) truth: Vec<PathBuf>,

    /// Only this machine type; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Vec<String>,

    /// Only this part: dev or eval; MIMII: min6dB, 0dB or 6dB.
    #[arg(long, value_name = "NAME")]
    pub(crate) split: Vec<String>,

    /// Learn from the clean sound of machines in supplemental folders (DCASE 2025), too.
    #[arg(long)]
    pub(crate) supplemental: bool,

    #[command(flatten)]
    pub(crate) keeping: KeepingArguments,
}

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  auscult bench eval --data ~/dcase2023 --dataset dcase2023 --split dev
  auscult bench eval --data recordings/ --dataset folder --preset best --leave-one-out
  auscult bench eval --data recordings/ --dataset folder --front-end mfcc --json

Options under Comparing are for --back-end nearest and genrep, those under Autoencoder for
--back-end autoencoder; where an option has no effect it is refused.")]
pub(crate) struct EvalArguments {
    /// dcase2020 to dcase2026, mimii, or folder (train/ and test/{normal,anomaly}/, or a
    /// manifest.csv with path, split, label and, if you have them, machine, section, domain).
    #[arg(long, value_name = "NAME", help_heading = None)]
    pub(crate) dataset: DatasetKind,

    /// Front end and comparing under one name: fast (log-mel and the modulation spectrum), best (the
    /// same and the encoder CED-tiny) or paper. Without it the options below decide, and their
    /// defaults are the paper's.
    #[arg(long, value_name = "fast|best|paper", help_heading = None)]
    pub(crate) preset: Option<Preset>,

    /// Judge each normal clip by the other normal clips of its machine and section, whatever their
    /// split, and anomalous clips by all normal ones but the first by name. For folders and mimii
    /// with labels, and --back-end nearest.
    #[arg(long, help_heading = None)]
    pub(crate) leave_one_out: bool,

    #[command(flatten)]
    pub(crate) data: DataArguments,

    #[command(flatten)]
    pub(crate) front_end: FrontEndArguments,

    #[command(flatten)]
    pub(crate) comparing: ComparingArguments,

    /// Which views are compared, whatever the method has: mean, max, or mean,max. For front ends with
    /// both, and back ends that compare with references.
    #[arg(long, value_delimiter = ',', value_name = "mean|max|mean,max", help_heading = None)]
    pub(crate) views: Vec<View>,

    /// Embeddings of your own in place of a front end: a CSV file with the columns path (a clip) and
    /// features (an npy file with a vector, or frames x features).
    #[arg(long, value_name = "FILE", help_heading = None)]
    #[arg(conflicts_with_all = ["preset", "front_end", "convention"])]
    pub(crate) features_from: Option<PathBuf>,

    /// What scores: nearest (global, beam, adabeam), genrep, mahalanobis, pca-residual, gmm,
    /// k-means or autoencoder.
    #[arg(long, value_enum, default_value_t = BackEndName::Nearest, help_heading = None)]
    pub(crate) back_end: BackEndName,

    #[command(flatten)]
    pub(crate) autoencoder: AutoencoderArguments,

    /// Write the scores as CSV, in the form auscult metrics reads.
    #[arg(long, value_name = "FILE", help_heading = None)]
    pub(crate) scores: Option<PathBuf>,

    /// Print every figure as JSON.
    #[arg(long, help_heading = None)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackEndName {
    /// Nearest references: global matching, BEAM, AdaBEAM.
    Nearest,
    /// A memory a domain, scores standardised by left-out ones, the smaller counts.
    Genrep,
    /// Mahalanobis distance with a shrunk covariance.
    Mahalanobis,
    /// What the principal components leave over.
    PcaResidual,
    /// A mixture of Gaussians.
    Gmm,
    /// Cosine distance to the nearest of 16 centres.
    KMeans,
    /// A network that learns to reproduce the training clips.
    Autoencoder,
}

impl BackEndName {
    /// Whether clips are compared with references.
    pub(crate) fn compares(self) -> bool {
        matches!(self, Self::Nearest | Self::Genrep)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Writes run.json (what the run is), results.json, results.md, results.tex, index.html,
scores-*.parquet and, section by section, sections/*.json. A run that was stopped goes on where it
was when the same command runs again. A folder holds one run: other options need another folder, or
--replace.

auscult bench list names the protocols that come with the program; tables and figures of the paper
are names, too (table-3, figure-2).

Examples:
  auscult bench run table-3 --data ~/dcase --out runs/table-3
  auscult bench run my-folder --data recordings/ --out runs/mine")]
pub(crate) struct RunArguments {
    /// A protocol file, or the name of one that comes with the program.
    #[arg(value_name = "PROTOCOL")]
    pub(crate) protocol: PathBuf,

    /// Where results go.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,

    /// Write over the run that is in the folder; without it another run is refused. Sections that
    /// are the same are not computed again.
    #[arg(long)]
    pub(crate) replace: bool,

    /// Run on this data set, whatever the protocol names; the data are then right in ROOT, or in
    /// its folder of that name. Otherwise ROOT holds a folder for each data set: dcase2020,
    /// dcase2023, mimii.
    #[arg(long, value_name = "NAME")]
    pub(crate) dataset: Option<DatasetKind>,

    #[command(flatten)]
    pub(crate) data: DataArguments,

    /// Embeddings of your own beside the protocol's systems: a CSV file with the columns path (a clip)
    /// and features (an npy file with a vector, or frames x features).
    #[arg(long, value_name = "FILE")]
    pub(crate) features_from: Option<PathBuf>,

    /// Features in a band of these embeddings. Without it they are compared as a whole; with it by BEAM
    /// and, where there are frames, AdaBEAM, too.
    #[arg(long, value_name = "N", requires = "features_from", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..).map(|width| width as usize))]
    pub(crate) band_width: Option<usize>,

    /// Another clip length than the protocol's.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) clip_seconds: Option<f64>,

    /// Bootstrap samples for intervals of scores, at least 100; 0 makes none.
    #[arg(long, default_value_t = 200, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = run_samples)]
    pub(crate) samples: usize,
}

/// Fewer than a hundred draws have no 2.5 % at either end.
fn run_samples(text: &str) -> Result<usize, String> {
    let allowed = "give 0 for no intervals, or 100 to 1000000";
    match text.parse() {
        Ok(samples @ (0 | 100..=1_000_000)) => Ok(samples),
        _ => Err(allowed.to_owned()),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Clips are drawn with replacement within each section, label and domain, the same for both; the
p-value is how often chance alone turns the difference round.

Examples:
  auscult bench compare runs/a runs/b
  auscult bench compare runs/a runs/a --system 'log-mel BEAM' --against 'log-mel AdaBEAM'")]
pub(crate) struct CompareArguments {
    /// A run's folder, or a CSV file of scores.
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,

    /// Another, or the same.
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,

    /// The system of A; every one that both have, if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) system: Option<String>,

    /// The system of B; the same as of A if not given.
    #[arg(long, value_name = "NAME", requires = "system")]
    pub(crate) against: Option<String>,

    /// Paired draws.
    #[arg(long, default_value_t = 2000, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) samples: u32,

    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SubmitArguments {
    /// A run's folder.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// Where the files go: anomaly_score_*.csv and, since 2021, decision_result_*.csv.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,

    /// The system, if the run has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) system: Option<String>,

    /// How decisions are made from left-out scores.
    #[arg(long, value_enum, default_value_t = ThresholdName::Gamma)]
    pub(crate) threshold: ThresholdName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThresholdName {
    /// 90 % of a fitted gamma distribution, as the baselines do.
    Gamma,
    /// 90 % of the scores themselves.
    Quantile,
}

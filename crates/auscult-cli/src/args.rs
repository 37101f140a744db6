//! What the user can type.

use std::path::PathBuf;

use auscult_core::{Combine, DensityExponent, DensityRule, FalseAlarmRate, Method, Metric};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{output::Format, version};

/// Listens to machines: remembers how a healthy one sounds and says, clip by clip, how far a new
/// sound is from that, in which frequency band, and whether it matters.
///
/// A first look:      auscult demo
/// Learn a machine:   auscult fit recordings/ -o pump.auscult
/// Check new sound:   auscult score pump.auscult today/*.wav
/// Ask why:           auscult explain pump.auscult today/odd.wav
#[derive(Debug, Parser)]
#[command(name = "auscult", version = version::long(), verbatim_doc_comment, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 nothing anomalous; 1 something anomalous (with --fail-on-anomaly); \
2 the command could not do all of its work.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Threads to use; all cores if not given.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) jobs: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a synthetic machine, learn it, check it, and write a report with pictures.
    Demo(DemoArguments),
    /// Learn how a machine sounds from normal recordings and write a model file.
    Fit(FitArguments),
    /// Score new recordings against a model.
    Score(ScoreArguments),
    /// Say in sentences what differs in each clip, from which reference, and by how many dB.
    Explain(ExplainArguments),
    /// Show what a model holds.
    Inspect(InspectArguments),
    /// Change or check a model without the recordings it was made from.
    #[command(subcommand)]
    Model(ModelCommand),
    /// Compute feature vectors, for other tools.
    Features(FeaturesArguments),
    /// Write synthetic machines: fan, pump, valve and slider, healthy and faulty.
    Synth(SynthArguments),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Where sound comes from and how it is read.
#[derive(Debug, Args)]
pub(crate) struct InputArguments {
    /// Files, folders (searched with all sub-folders), glob patterns, CSV or JSONL manifests (a
    /// `path` column; `visit` and `domain` if you have them), or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<String>,

    /// Time from the start of one clip to the next in long recordings; one clip length if not
    /// given.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) hop_seconds: Option<f64>,

    /// Which clips of a recording to take.
    #[arg(long, value_enum, default_value_t = Clips::All)]
    pub(crate) clips: Clips,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clips {
    /// All clips; a rest shorter than a clip at the end of a longer recording is left out.
    All,
    /// The first clip of each file only.
    First,
}

/// How references are grouped.
#[derive(Debug, Args)]
pub(crate) struct VisitArguments {
    /// The visit these recordings belong to. Without it a sub-folder or a manifest column names
    /// the visit. Thresholds are learned by leaving out whole visits.
    #[arg(long)]
    pub(crate) visit: Option<String>,

    /// The domain these recordings belong to, such as source or target.
    #[arg(long)]
    pub(crate) domain: Option<String>,
}

/// How sound becomes vectors.
#[derive(Debug, Args)]
pub(crate) struct FrontEndArguments {
    /// log-mel, mfcc or lpc.
    #[arg(long, default_value = "log-mel", value_name = "NAME")]
    pub(crate) front_end: String,

    /// Which form of the front end. log-mel: s15 (default), kaldi, dcase, beats-input, eat-input;
    /// mfcc: kaldi (default), no-lifter, s15, s15-no-lifter, librosa; lpc: spectrum (default),
    /// inverse.
    #[arg(long, value_name = "NAME")]
    pub(crate) convention: Option<String>,

    /// Length of a clip; shorter recordings are padded with silence.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub(crate) clip_seconds: f64,

    /// Sample rate everything is brought to.
    #[arg(long, default_value_t = 16_000, value_name = "HZ")]
    pub(crate) sample_rate: u32,

    /// Which channel to take: 0, 1, ... or mean.
    #[arg(long, default_value = "0", value_name = "0|mean|N")]
    pub(crate) channel: String,
}

/// Results for programs instead of a table.
#[derive(Debug, Args)]
pub(crate) struct FormatArguments {
    /// Print CSV, full precision, a row a clip.
    #[arg(long, group = "format")]
    csv: bool,

    /// Print one JSON array.
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
            Self { csv: true, .. } => Some(Format::Csv),
            Self { json: true, .. } => Some(Format::Json),
            Self { jsonl: true, .. } => Some(Format::JsonLines),
            Self { parquet: Some(path), .. } => Some(Format::Parquet(path.clone())),
            _ => None,
        };
        if self.output.is_some() && matches!(format, None | Some(Format::Parquet(_))) {
            anyhow::bail!("--output goes with --csv, --json or --jsonl; --parquet names its file itself");
        }
        Ok(format)
    }
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Folder for the sounds, the model and the report.
    #[arg(long, default_value = "auscult-demo", value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Which machine: fan, pump, valve or slider.
    #[arg(long, default_value = "pump")]
    pub(crate) machine: String,

    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,

    /// The model file to write; replaced only when the new one is complete.
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) visits: VisitArguments,

    #[command(flatten)]
    pub(crate) front_end: FrontEndArguments,

    /// global: nearest reference, whole vector. beam: nearest references per band. adabeam: beam
    /// on the average and the loudest moments, fused; the default where the front end has both.
    #[arg(long, value_name = "NAME")]
    pub(crate) method: Option<Method>,

    /// Positions in a band (paper: 38 for log-mel, 20 for mfcc, 3200 for lpc).
    #[arg(long, value_name = "C")]
    pub(crate) band_width: Option<usize>,

    /// Positions between band starts; the band width if not given.
    #[arg(long, value_name = "S")]
    pub(crate) band_stride: Option<usize>,

    /// Neighbours in local density normalisation; 0 compares plain distances.
    #[arg(long, default_value_t = 1, value_name = "K")]
    pub(crate) neighbours: usize,

    /// How much of the local density counts: 1 is the paper, 0 none, auto learns it per band from
    /// the references.
    #[arg(long, default_value_t = DensityExponent::Fixed(1.0), value_name = "T|auto")]
    pub(crate) density_exponent: DensityExponent,

    /// minimum-ratio (the paper's equation 7) or at-nearest (its appendix).
    #[arg(long, default_value_t = DensityRule::MinimumRatio, value_name = "NAME")]
    pub(crate) density_rule: DensityRule,

    /// cosine, unit-euclidean, euclidean or squared-euclidean.
    #[arg(long, default_value_t = Metric::Cosine, value_name = "NAME")]
    pub(crate) metric: Metric,

    /// How band scores become one: mean, max or min.
    #[arg(long, default_value_t = Combine::Mean, value_name = "NAME")]
    pub(crate) aggregate: Combine,

    /// How the two views become one: mean, max or min. With --method global this is the paper's
    /// "+ DMM".
    #[arg(long, value_name = "NAME")]
    pub(crate) fuse: Option<Combine>,

    /// Keep at most so many references, chosen to cover the rest.
    #[arg(long, value_name = "N")]
    pub(crate) max_references: Option<usize>,

    /// Share of normal clips that may be called anomalous, such as 5% or 0.01. Needs 1/rate - 1
    /// normal clips; below that no verdict is given.
    #[arg(long, default_value = "5%", value_name = "RATE")]
    pub(crate) false_alarm_rate: FalseAlarmRate,

    /// Print what was done as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScoringArguments {
    /// The model file.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    #[command(flatten)]
    pub(crate) input: InputArguments,

    /// Which channel to take, if not the one the model was made with.
    #[arg(long, value_name = "0|mean|N")]
    pub(crate) channel: Option<String>,

    /// Another promised false-alarm rate than the model's.
    #[arg(long, value_name = "RATE")]
    pub(crate) false_alarm_rate: Option<FalseAlarmRate>,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArguments {
    #[command(flatten)]
    pub(crate) scoring: ScoringArguments,

    #[command(flatten)]
    pub(crate) format: FormatArguments,

    /// Add the scores of every view and band.
    #[arg(long)]
    pub(crate) bands: bool,

    /// Say in sentences what differs.
    #[arg(long)]
    pub(crate) explain: bool,

    /// Exit with 1 if any clip is anomalous.
    #[arg(long)]
    pub(crate) fail_on_anomaly: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) scoring: ScoringArguments,

    /// Print JSON: every band with its hertz, times normal, closest reference and levels.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The model file.
    pub(crate) model: PathBuf,

    /// List every reference.
    #[arg(long)]
    pub(crate) references: bool,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Add normal recordings to a model. The result equals a fresh fit on all of them.
    Add {
        /// The model file, changed in place.
        model: PathBuf,
        #[command(flatten)]
        input: InputArguments,
        #[command(flatten)]
        visits: VisitArguments,
    },
    /// Forget references: those of a visit, of a source, or by index (see inspect --references).
    Forget {
        /// The model file, changed in place.
        model: PathBuf,
        /// Forget every reference of this visit.
        #[arg(long, value_name = "VISIT")]
        visit: Vec<String>,
        /// Forget every reference from this file, as inspect --references shows it.
        #[arg(long, value_name = "PATH")]
        source: Vec<String>,
        /// Forget the reference with this index.
        #[arg(long, value_name = "N")]
        index: Vec<usize>,
    },
    /// Check that a model file is whole and that its numbers follow from its references.
    Verify {
        /// The model file.
        model: PathBuf,
    },
    /// Keep only references that cover the others.
    Coreset {
        /// The model file, changed in place.
        model: PathBuf,
        /// How many references to keep.
        #[arg(long, value_name = "N")]
        max_references: usize,
    },
}

#[derive(Debug, Args)]
pub(crate) struct FeaturesArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,

    #[command(flatten)]
    pub(crate) front_end: FrontEndArguments,

    /// mean and max are one vector a clip; frames is the whole feature map.
    #[arg(long, value_enum, default_value_t = FeatureView::Mean)]
    pub(crate) view: FeatureView,

    /// Write a numpy array: clips x axis (with --view frames clips x frames x axis), f32.
    #[arg(long, group = "format", value_name = "FILE")]
    pub(crate) npy: Option<PathBuf>,

    /// Write numpy arrays: features and start_seconds.
    #[arg(long, group = "format", value_name = "FILE")]
    pub(crate) npz: Option<PathBuf>,

    /// Print CSV: path, start_seconds and one column a position (a row a frame with --view frames).
    #[arg(long, group = "format")]
    pub(crate) csv: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeatureView {
    /// Mean over frames.
    Mean,
    /// Maximum over frames.
    Max,
    /// Every frame.
    Frames,
}

#[derive(Debug, Args)]
pub(crate) struct SynthArguments {
    /// Folder to write to; must be empty or new.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Machines: fan, pump, valve, slider. All if not given.
    #[arg(long = "machine", value_name = "NAME")]
    pub(crate) machines: Vec<String>,

    /// dcase: machine/train and machine/test with DCASE file names. visits: machine/normal/visit_01
    /// and machine/check, as a plant would have it.
    #[arg(long, default_value = "dcase", value_name = "NAME")]
    pub(crate) layout: String,

    /// Faults: `bearing_impulses`, imbalance, leak, `missing_stroke`, squeal. All that a machine can
    /// have if not given.
    #[arg(long = "fault", value_name = "NAME")]
    pub(crate) faults: Vec<String>,

    /// How severe the faults are, above 0 up to 1.
    #[arg(long, default_value_t = 0.5)]
    pub(crate) severity: f64,

    /// Normal clips to learn from, per machine: of the source and of the target domain.
    #[arg(long, num_args = 2, value_names = ["SOURCE", "TARGET"], default_values_t = [36, 6])]
    pub(crate) train: Vec<u32>,

    /// Normal and faulty clips each to test with, per machine: of the source and the target domain.
    #[arg(long, num_args = 2, value_names = ["SOURCE", "TARGET"], default_values_t = [12, 6])]
    pub(crate) test: Vec<u32>,

    /// Visits the clips of a domain are spread over.
    #[arg(long, default_value_t = 4)]
    pub(crate) visits: u32,

    /// Machine over background noise.
    #[arg(long, default_value_t = 6.0, value_name = "DB", allow_negative_numbers = true)]
    pub(crate) snr_db: f64,

    /// Length of a clip.
    #[arg(long, default_value_t = 10.0)]
    pub(crate) seconds: f64,

    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

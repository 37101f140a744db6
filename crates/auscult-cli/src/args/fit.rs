//! `auscult fit`.

use std::path::PathBuf;

use auscult::autoencoder::{ErrorScore, Form};
use auscult::{
    CalibrationScheme, Combine, Confidence, DensityExponent, DensityRule, FalseAlarmRate, Method,
    Metric, Storage, alarm::AlarmBudget,
};
use clap::Args;

use super::{FrontEndArguments, InputArguments, VisitArguments};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  auscult fit recordings/ -o pump.auscult            sub-folders of recordings/ are the visits
  auscult fit list.csv -o pump.auscult               columns: path, and visit if you have it
  auscult fit *.wav --visit monday -o pump.auscult   one visit; add others with: auscult model add

Silent, constant, damaged and unreadable recordings are skipped and named; the exit code is then 2
and the model holds the others.")]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,

    /// The model file to write; replaced only when the new one is complete.
    #[arg(short, long, value_name = "MODEL", help_heading = None)]
    pub(crate) output: PathBuf,

    /// Settings written by auscult tune; options given here go before them.
    #[arg(long, value_name = "FILE", help_heading = None)]
    pub(crate) settings: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) visits: VisitArguments,

    #[command(flatten)]
    pub(crate) front_end: FrontEndArguments,

    #[command(flatten)]
    pub(crate) comparing: ComparingArguments,

    #[command(flatten)]
    pub(crate) autoencoder: AutoencoderArguments,

    /// With --method autoencoder: visits are left out in this many parts to calibrate, each with a
    /// training of its own; 5 if not given. --calibration split trains once.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(help_heading = AUTOENCODER)]
    pub(crate) folds: Option<usize>,

    #[command(flatten)]
    pub(crate) memory: MemoryArguments,

    /// Print what was done as JSON.
    #[arg(long, help_heading = None)]
    pub(crate) json: bool,
}

/// How a clip is compared with the references.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparing (the defaults are the paper's)")]
pub(crate) struct ComparingArguments {
    /// global: nearest reference, whole vector. beam: nearest references per band. adabeam: beam
    /// on the average and the loudest moments, fused; the default where the front end has both.
    /// autoencoder: no comparing, a network learns to reproduce normal sound.
    #[arg(long, value_name = "NAME")]
    pub(crate) method: Option<MethodName>,

    /// Positions in a band (paper: 38 for log-mel, 20 for mfcc, 3200 for lpc).
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) band_width: Option<usize>,

    /// Positions between band starts; the band width if not given.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) band_stride: Option<usize>,

    /// Neighbours in local density normalisation; 1 if not given, 0 compares plain distances.
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(crate) neighbours: Option<usize>,

    /// How much of the local density counts: 1 is the paper and the default, 0 none, auto learns it
    /// per band from the references.
    #[arg(long, value_name = "T|auto", allow_negative_numbers = true)]
    pub(crate) density_exponent: Option<DensityExponent>,

    /// minimum-ratio (the paper's equation 7, the default) or at-nearest (its appendix).
    #[arg(long, value_name = "NAME")]
    pub(crate) density_rule: Option<DensityRule>,

    /// cosine (the default), unit-euclidean, euclidean or squared-euclidean.
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<Metric>,

    /// How band scores become one: mean (the default), max or min.
    #[arg(long, value_name = "NAME")]
    pub(crate) aggregate: Option<Combine>,

    /// How the two views become one: mean, max or min. With --method global this is the paper's
    /// "+ DMM".
    #[arg(long, value_name = "NAME")]
    pub(crate) fuse: Option<Combine>,

    /// How the scores of several front ends (ced+mfcc) become one: mean, max or min of their
    /// standardised logarithms; mean if not given.
    #[arg(long, value_name = "NAME")]
    pub(crate) combine_members: Option<Combine>,
}

/// Where the options of autoencoders stand in help texts.
const AUTOENCODER: &str = "Autoencoder (the defaults are the DCASE baseline's)";

/// How an autoencoder is trained.
#[derive(Debug, Args)]
#[command(next_help_heading = AUTOENCODER)]
pub(crate) struct AutoencoderArguments {
    /// dcase (640-128-128-128-128-8 and back, 128 mel bins, the default) or mimii (320-64-64-8 and
    /// back, 64 mel bins).
    #[arg(long, value_name = "NAME")]
    pub(crate) network: Option<Form>,

    /// mse (the default), mahalanobis (mean over frames, per-domain covariance, the smaller counts)
    /// or mahalanobis-official (as the DCASE program reduces it).
    #[arg(long, value_name = "NAME")]
    pub(crate) error_score: Option<ErrorScore>,

    /// Times every window is seen; dcase: 100, mimii: 50.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) epochs: Option<usize>,

    /// Decides first weights and order: the same seed gives the same network; 13711 if not given.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// A way to score, as users type it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodName {
    /// Comparing with references.
    Comparing(Method),
    /// Errors of a network.
    Autoencoder,
}

impl std::str::FromStr for MethodName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "autoencoder" {
            return Ok(Self::Autoencoder);
        }
        let method = text.parse().map_err(|error| format!("{error}, autoencoder"))?;
        Ok(Self::Comparing(method))
    }
}

/// What is remembered, and what is promised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Memory and verdicts")]
pub(crate) struct MemoryArguments {
    /// Keep at most this many references, chosen to cover the rest; always the same choice.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_references: Option<usize>,

    /// How references are kept: f32, f16 (half the file) or int8 (a quarter), rounded before anything
    /// is computed with them.
    #[arg(long, default_value_t = Storage::F32, value_name = "NAME")]
    pub(crate) storage: Storage,

    /// Share of normal clips that may be called anomalous, such as 5% or 0.01. Needs 1/rate - 1
    /// independent normal clips (19 for 5%, 99 for 1%; clips of one visit count as few); below that
    /// no verdict is given.
    #[arg(long, default_value = "5%", value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) false_alarm_rate: FalseAlarmRate,

    /// An alarm budget such as "1 alarm per month" or 2/week, instead of a rate: chooses the rate and
    /// how many of the last clips must be anomalous (M of N), shows the choices, replays left-out
    /// sound through the alarm, and keeps the rule in the model. Needs many visits.
    #[arg(long, value_name = "BUDGET", conflicts_with = "false_alarm_rate")]
    pub(crate) at_most: Option<AlarmBudget>,

    /// How sure to be of the rate with these references, such as 90%. Without it the rate holds on
    /// average over recordings.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) confidence: Option<Confidence>,

    /// What is left out to learn how unseen normal sound scores: auto (visits, else files, else
    /// parts of the one recording), visits, files, blocks, clips, or split.
    #[arg(long, default_value_t = CalibrationScheme::Auto, value_name = "NAME")]
    pub(crate) calibration: CalibrationScheme,
}

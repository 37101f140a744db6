//! `auscult fit`.

use std::path::PathBuf;

use auscult::autoencoder::{ErrorScore, Form};
use auscult::{CalibrationScheme, Confidence, FalseAlarmRate, Preset, Storage, alarm::AlarmBudget};
use clap::Args;

use super::{
    ComparingArguments, FrontEndArguments, InputArguments, KeepingArguments, VisitArguments,
};

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

    /// best (the default) finds most, fast is ten times cheaper, paper is for comparisons.
    ///
    /// What is compared and how, under one name. best: log-mel, modulation spectrum and the encoder
    /// ced. fast: the same without ced. paper: log-mel with the paper's values. best if neither this
    /// nor a front end, method or settings are given.
    #[arg(long, value_name = "best|fast|paper", help_heading = None)]
    pub(crate) preset: Option<Preset>,

    /// Settings written by auscult tune; options given here go before them.
    #[arg(long, value_name = "FILE", help_heading = None, conflicts_with = "preset")]
    #[arg(hide_short_help = true)]
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
    #[arg(hide_short_help = true)]
    pub(crate) folds: Option<usize>,

    #[command(flatten)]
    pub(crate) memory: MemoryArguments,

    #[command(flatten)]
    pub(crate) keeping: KeepingArguments,

    /// Print what was done as JSON.
    #[arg(long, help_heading = None)]
    pub(crate) json: bool,
}

/// Where the options of autoencoders stand in help texts.
const AUTOENCODER: &str = "Autoencoder (the defaults are the DCASE baseline's)";

/// How an autoencoder is trained.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = AUTOENCODER)]
pub(crate) struct AutoencoderArguments {
    /// dcase (640-128-128-128-128-8 and back, 128 mel bins, the default), mimii (320-64-64-8 and
    /// back, 64 mel bins) or idnn (makes the middle frame of five from the others).
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) network: Option<Form>,

    /// mse (the default), mahalanobis (mean over frames, per-domain covariance, the smaller counts)
    /// or mahalanobis-official (as the DCASE program reduces it).
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) error_score: Option<ErrorScore>,

    /// Times every window is seen; dcase and idnn: 100, mimii: 50.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) epochs: Option<usize>,

    /// Decides first weights and order: the same seed gives the same network; 13711 if not given.
    #[arg(long, value_name = "N")]
    #[arg(hide_short_help = true)]
    pub(crate) seed: Option<u64>,
}

/// What is remembered, and what is promised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Memory and verdicts")]
pub(crate) struct MemoryArguments {
    /// Keep at most this many references, chosen to cover the rest; always the same choice.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) max_references: Option<usize>,

    /// How references are kept: f32, f16 (half the file) or int8 (a quarter), rounded before anything
    /// is computed with them.
    #[arg(long, default_value_t = Storage::F32, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) storage: Storage,

    /// Share of normal clips that may be called anomalous, such as 5% or 0.01.
    ///
    /// It is promised from 1/rate - 1 independent normal clips on (19 for 5%, 99 for 1%; clips of one
    /// visit count as few). With as many clips of too few visits verdicts are provisional, with fewer
    /// clips there are none.
    #[arg(long, default_value = "5%", value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) false_alarm_rate: FalseAlarmRate,

    /// An alarm budget such as "1 alarm per month" or 2/week, instead of a rate.
    ///
    /// Chooses the rate and how many of the last clips must be anomalous (M of N), shows the choices,
    /// replays left-out sound through the alarm, and keeps the rule in the model. Needs many visits.
    #[arg(long, value_name = "BUDGET", conflicts_with = "false_alarm_rate")]
    pub(crate) at_most: Option<AlarmBudget>,

    /// How sure to be of the rate with these references, such as 90%. Without it the rate holds on
    /// average over recordings.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) confidence: Option<Confidence>,

    /// What is left out to learn how unseen normal sound scores: auto (visits, else files, else
    /// parts of the one recording), visits, files, blocks, clips, or split.
    #[arg(long, default_value_t = CalibrationScheme::Auto, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) calibration: CalibrationScheme,
}

//! `auscult calibrate`.

use std::path::PathBuf;

use auscult::{CalibrationScheme, Confidence, FalseAlarmRate, alarm::AlarmBudget};
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  auscult calibrate pump.auscult                                  what can be promised today
  auscult calibrate pump.auscult --false-alarm-rate 1% --save     promise 1 % from now on
  auscult calibrate pump.auscult --at-most \"1 alarm per month\"    how to keep an alarm budget
  auscult calibrate pump.auscult --at-most 1/month --save         keep it from now on")]
pub(crate) struct CalibrateArguments {
    /// The model file.
    pub(crate) model: PathBuf,

    /// Share of normal clips that may be called anomalous; the model's if not given.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) false_alarm_rate: Option<FalseAlarmRate>,

    /// How sure to be of the rate with this calibration set, such as 90%. Without it the rate holds
    /// on average.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) confidence: Option<Confidence>,

    /// What is left out to get calibration scores: auto, visits, files, blocks, clips, or split
    /// (every third visit is kept out of the memory).
    #[arg(long, value_name = "NAME")]
    pub(crate) scheme: Option<CalibrationScheme>,

    /// An alarm budget such as "1 alarm per month" or 2/week: shows which rate and which M of N
    /// clips keep it, and replays left-out sound through the alarm.
    #[arg(long, value_name = "BUDGET", conflicts_with = "false_alarm_rate")]
    pub(crate) at_most: Option<AlarmBudget>,

    /// Time from one scored clip to the next, for the budget; the clip length if not given.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) hop_seconds: Option<f64>,

    /// Normal clips in a row that end an alarm, for the budget.
    #[arg(long, default_value_t = 5, value_name = "K", allow_negative_numbers = true)]
    pub(crate) clear: usize,

    /// Write the promise, the scheme and, with --at-most, the alarm rule into the model file.
    #[arg(long)]
    pub(crate) save: bool,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

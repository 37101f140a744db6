//! What a score means: p-values, a score from 0 to 1, and verdicts, from normal clips only.

mod change;
mod conformal;
mod effective;
pub mod gamma;
mod gumbel;
mod promise;
mod spectra;
mod standing;
pub mod tail;

pub use self::{
    change::{CHANGE_LEVEL, Drift, NormalRuns, RunClip, RunJudgement},
    conformal::{Calibration, CalibrationClip},
    promise::{Confidence, FalseAlarmRate, Promise},
    spectra::NormalSpectra,
    standing::{Lack, Missing, Standing},
};
use crate::names::named_choices;

/// What a score says about the clip at the promised false-alarm rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Not further from normal than unseen normal clips are.
    Normal,
    /// Further from normal than the promised rate allows.
    Anomalous,
    /// Too few calibration clips for that rate.
    Undecided,
}

named_choices!(Verdict, "verdict", {
    Normal => "normal",
    Anomalous => "anomalous",
    Undecided => "undecided",
});

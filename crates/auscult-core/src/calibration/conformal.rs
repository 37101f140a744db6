//! Conformal p-values from left-out scores.

use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::{Basis, Error, Result};

/// The share of normal clips that may be called anomalous, above 0 and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct FalseAlarmRate(f64);

impl Default for FalseAlarmRate {
    /// 5 %: the smallest round rate that 19 calibration clips can promise.
    fn default() -> Self {
        Self(0.05)
    }
}

impl TryFrom<f64> for FalseAlarmRate {
    type Error = Error;

    fn try_from(rate: f64) -> Result<Self> {
        if rate > 0.0 && rate < 1.0 {
            Ok(Self(rate))
        } else {
            Err(Error::setting("false-alarm rate", "above 0 and below 1 (0.05 or 5%)", rate))
        }
    }
}

impl From<FalseAlarmRate> for f64 {
    fn from(rate: FalseAlarmRate) -> Self {
        rate.0
    }
}

impl FalseAlarmRate {
    /// How many calibration scores a promise of this rate needs: 1 / rate - 1.
    pub fn calibration_floor(self) -> usize {
        // A hair below, so that 1 / 0.05 is 20 and not 20.000000000000004.
        (1.0 / self.0 - 1.0 - 1e-9).ceil().max(1.0) as usize
    }
}

impl std::fmt::Display for FalseAlarmRate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} %", (self.0 * 1e6).round() / 1e4)
    }
}

impl std::str::FromStr for FalseAlarmRate {
    type Err = Error;

    /// Takes `0.05`, `5%` or `5 %`.
    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| {
            text.trim().parse::<f64>().map_err(|_| {
                Error::setting("false-alarm rate", "a number such as 0.05 or 5%", text)
            })
        };
        match text.trim().strip_suffix('%') {
            Some(percent) => Self::try_from(number(percent)? / 100.0),
            None => Self::try_from(number(text)?),
        }
    }
}

/// Scores of normal clips that the memory had not seen.
///
/// # Examples
///
/// ```
/// use auscult_core::{Basis, Calibration, FalseAlarmRate, Verdict};
///
/// let calibration = Calibration::new(Basis::Visits, (1..=19).map(f64::from).collect());
/// let rate = FalseAlarmRate::try_from(0.05)?;
/// assert_eq!(calibration.p_value(25.0), Some(0.05));
/// assert_eq!(calibration.verdict(25.0, rate), Verdict::Anomalous);
/// assert_eq!(calibration.verdict(18.5, rate), Verdict::Normal);
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    basis: Basis,
    /// Ascending.
    scores: Vec<f64>,
}

impl Calibration {
    /// A calibration from left-out scores; ones that are not numbers are dropped.
    pub fn new(basis: Basis, mut scores: Vec<f64>) -> Self {
        scores.retain(|score| !score.is_nan());
        scores.sort_by(f64::total_cmp);
        Self { basis, scores }
    }

    /// What was left out to get the scores.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The scores, ascending.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The share of normal clips that score at least this high, counting the clip itself:
    /// (1 + how many calibration scores are not below) / (n + 1).
    ///
    /// For clips exchangeable with the calibration clips, P(p <= a) <= a for every a. `None`
    /// without calibration scores.
    pub fn p_value(&self, score: f64) -> Option<f64> {
        let count = self.scores.len();
        let below = self.scores.partition_point(|&other| other < score);
        (count > 0).then(|| (1 + count - below) as f64 / (count + 1) as f64)
    }

    /// The score on a scale from 0 to 1: where it stands among calibration scores.
    ///
    /// Increasing in the score, linear between calibration scores, and still increasing beyond the
    /// largest one. `None` without calibration scores.
    pub fn calibrated(&self, score: f64) -> Option<f64> {
        let (first, last) = (*self.scores.first()?, *self.scores.last()?);
        let step = 1.0 / (self.scores.len() + 1) as f64;
        // How fast the ends approach 0 and 1: the width of the upper half.
        let width = (last - self.scores[self.scores.len() / 2]).max(f64::MIN_POSITIVE);
        if score >= last {
            return Some(1.0 - step / (1.0 + (score - last) / width));
        }
        if score < first {
            return Some(step / (1.0 + (first - score) / width));
        }
        let above = self.scores.partition_point(|&other| other <= score);
        let (lower, upper) = (self.scores[above - 1], self.scores[above]);
        Some(step * (above as f64 + (score - lower) / (upper - lower)))
    }

    /// The score from which clips are anomalous at this rate; `None` if there are too few
    /// calibration scores to promise it.
    pub fn threshold(&self, rate: FalseAlarmRate) -> Option<f64> {
        let count = self.scores.len();
        if count < rate.calibration_floor() {
            return None;
        }
        // p <= rate needs at most this many calibration scores at or above the clip's.
        let allowed = (f64::from(rate) * (count + 1) as f64 + 1e-9).floor() as usize - 1;
        Some(self.scores[count - 1 - allowed.min(count - 1)])
    }

    /// Whether the score is anomalous at this rate.
    pub fn verdict(&self, score: f64, rate: FalseAlarmRate) -> Verdict {
        match self.threshold(rate) {
            None => Verdict::Undecided,
            Some(threshold) if score > threshold => Verdict::Anomalous,
            Some(_) => Verdict::Normal,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn floors_are_those_of_the_conformal_quantile() {
        let floor = |rate: f64| FalseAlarmRate::try_from(rate).unwrap().calibration_floor();
        assert_eq!([floor(0.1), floor(0.05), floor(0.01), floor(0.5)], [9, 19, 99, 1]);
    }

    #[test]
    fn rates_read_as_people_write_them() {
        for text in ["5%", "0.05", " 5 % "] {
            assert_eq!(text.parse::<FalseAlarmRate>().unwrap(), FalseAlarmRate::default());
        }
        for text in ["0", "1", "-1%", "100%", "often", "nan"] {
            assert!(text.parse::<FalseAlarmRate>().is_err(), "{text}");
        }
        assert_eq!(FalseAlarmRate::default().to_string(), "5 %");
    }

    #[test]
    fn without_enough_scores_nothing_is_promised() {
        let calibration = Calibration::new(Basis::Clips, vec![1.0; 18]);
        let rate = FalseAlarmRate::default();
        assert_eq!(calibration.verdict(1e9, rate), Verdict::Undecided);
        assert_eq!(Calibration::new(Basis::Clips, vec![]).p_value(1.0), None);
    }

    proptest! {
        #[test]
        fn the_verdict_is_the_p_value_against_the_rate(
            scores in prop::collection::vec(0.0..10.0_f64, 1..200), score in 0.0..12.0_f64, percent in 1_u32..60,
        ) {
            let rate = FalseAlarmRate::try_from(f64::from(percent) / 100.0).unwrap();
            let calibration = Calibration::new(Basis::Clips, scores);
            let p = calibration.p_value(score).unwrap();
            match calibration.verdict(score, rate) {
                Verdict::Anomalous => prop_assert!(p <= f64::from(rate) + 1e-9),
                Verdict::Normal => prop_assert!(p > f64::from(rate) - 1e-9),
                Verdict::Undecided => prop_assert!(calibration.scores().len() < rate.calibration_floor()),
            }
        }

        #[test]
        fn calibrated_scores_increase_and_stay_inside_0_and_1(
            scores in prop::collection::vec(0.0..10.0_f64, 1..50), a in -1.0..20.0_f64, b in -1.0..20.0_f64,
        ) {
            let calibration = Calibration::new(Basis::Clips, scores);
            let (low, high) = (a.min(b), a.max(b));
            let (low, high) = (calibration.calibrated(low).unwrap(), calibration.calibrated(high).unwrap());
            prop_assert!(low <= high);
            prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
        }
    }
}

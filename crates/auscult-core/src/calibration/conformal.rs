//! Conformal p-values from left-out scores.

use std::collections::BTreeSet;

use super::{Promise, Verdict};
use crate::Basis;

/// Scores of normal clips that the memory had not seen.
///
/// # Examples
///
/// ```
/// use auscult_core::{Basis, Calibration, Promise, Verdict};
///
/// let calibration = Calibration::new(Basis::Visits, (1..=19).map(f64::from).collect());
/// let promise = Promise { rate: "5%".parse()?, confidence: None };
/// assert_eq!(calibration.p_value(25.0), Some(0.05));
/// assert_eq!(calibration.verdict(25.0, promise), Verdict::Anomalous);
/// assert_eq!(calibration.verdict(18.5, promise), Verdict::Normal);
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    basis: Basis,
    /// Ascending.
    scores: Vec<f64>,
    /// The domain of each score, where domains are known.
    domains: Vec<Option<String>>,
}

impl Calibration {
    /// A calibration from left-out scores; ones that are not numbers are dropped.
    pub fn new(basis: Basis, scores: Vec<f64>) -> Self {
        Self::with_domains(basis, scores.into_iter().map(|score| (score, None)).collect())
    }

    /// A calibration from left-out scores with the domain each clip belongs to.
    pub fn with_domains(basis: Basis, mut scores: Vec<(f64, Option<String>)>) -> Self {
        scores.retain(|(score, _)| !score.is_nan());
        scores.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        let (scores, domains) = scores.into_iter().unzip();
        Self { basis, scores, domains }
    }

    /// The domains there are scores of.
    pub fn domain_names(&self) -> BTreeSet<&str> {
        self.domains.iter().flatten().map(String::as_str).collect()
    }

    /// The domain of each score, in the scores' order.
    pub(crate) fn domains(&self) -> &[Option<String>] {
        &self.domains
    }

    /// The calibration of one domain alone (Mondrian): its promise holds for clips of that domain,
    /// and it has its own floor. Empty if no score is of that domain.
    #[must_use]
    pub fn of_domain(&self, domain: &str) -> Self {
        let scores = self.scores.iter().zip(&self.domains);
        let scores = scores.filter(|(_, own)| own.as_deref() == Some(domain));
        Self::with_domains(self.basis, scores.map(|(&score, own)| (score, own.clone())).collect())
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
    /// largest one. `None` without calibration scores, and for a score that is not a number.
    pub fn calibrated(&self, score: f64) -> Option<f64> {
        let (first, last) = (*self.scores.first()?, *self.scores.last()?);
        if score.is_nan() {
            return None;
        }
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

    /// The score above which clips are anomalous; `None` if there are too few calibration scores to
    /// keep the promise.
    pub fn threshold(&self, promise: Promise) -> Option<f64> {
        let rank = promise.rank(self.scores.len())?;
        Some(self.scores[self.scores.len() - rank])
    }

    /// What the score says under this promise.
    pub fn verdict(&self, score: f64, promise: Promise) -> Verdict {
        match self.threshold(promise) {
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
    fn without_enough_scores_nothing_is_promised() {
        let calibration = Calibration::new(Basis::Clips, vec![1.0; 18]);
        assert_eq!(calibration.verdict(1e9, Promise::default()), Verdict::Undecided);
        assert_eq!(Calibration::new(Basis::Clips, vec![]).p_value(1.0), None);
    }

    #[test]
    fn a_domain_has_its_own_threshold() {
        let of = |domain: &str, from: u32| {
            let domain = Some(domain.to_owned());
            (from..from + 19).map(|score| (f64::from(score), domain.clone())).collect::<Vec<_>>()
        };
        let scores = [of("source", 0), of("target", 100)].concat();
        let calibration = Calibration::with_domains(Basis::Visits, scores);
        let promise = Promise::default();
        assert_eq!(calibration.threshold(promise), Some(118.0));
        assert_eq!(calibration.of_domain("source").threshold(promise), Some(18.0));
        assert_eq!(calibration.of_domain("other").threshold(promise), None);
    }

    proptest! {
        #[test]
        fn the_verdict_is_the_p_value_against_the_rate(
            scores in prop::collection::vec(0.0..10.0_f64, 1..200), score in 0.0..12.0_f64, percent in 1_u32..60,
        ) {
            let rate = f64::from(percent) / 100.0;
            let promise = Promise { rate: rate.try_into().unwrap(), confidence: None };
            let calibration = Calibration::new(Basis::Clips, scores);
            let p = calibration.p_value(score).unwrap();
            match calibration.verdict(score, promise) {
                Verdict::Anomalous => prop_assert!(p <= rate + 1e-9),
                Verdict::Normal => prop_assert!(p > rate - 1e-9),
                Verdict::Undecided => prop_assert!(calibration.scores().len() < promise.calibration_floor()),
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

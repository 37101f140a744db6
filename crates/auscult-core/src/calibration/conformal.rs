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
    /// By ascending score.
    clips: Vec<CalibrationClip>,
    scores: Vec<f64>,
    effective: f64,
}

/// The left-out score of one normal clip.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationClip {
    /// Its score.
    pub score: f64,
    /// The visit, file or block it left with; clips of one group resemble each other.
    pub group: usize,
    /// Its domain, where it is known.
    pub domain: Option<String>,
}

impl Calibration {
    /// A calibration from independent scores; ones that are not numbers are dropped.
    pub fn new(basis: Basis, scores: Vec<f64>) -> Self {
        let alone = |(group, score)| CalibrationClip { score, group, domain: None };
        Self::of_clips(basis, scores.into_iter().enumerate().map(alone).collect())
    }

    /// A calibration from left-out scores with the group and domain of each clip.
    pub fn of_clips(basis: Basis, mut clips: Vec<CalibrationClip>) -> Self {
        clips.retain(|clip| !clip.score.is_nan());
        clips.sort_by(|a, b| a.score.total_cmp(&b.score).then_with(|| a.group.cmp(&b.group)));
        let scores = clips.iter().map(|clip| clip.score).collect();
        let effective = super::effective::count(&clips);
        Self { basis, clips, scores, effective }
    }

    /// The clips, by ascending score.
    pub fn clips(&self) -> &[CalibrationClip] {
        &self.clips
    }

    /// How many independent clips the calibration is worth: fewer than there are scores if clips
    /// of one group score alike.
    pub fn effective_count(&self) -> f64 {
        self.effective
    }

    /// How many groups the clips were left out in.
    pub fn group_count(&self) -> usize {
        self.clips.iter().map(|clip| clip.group).collect::<BTreeSet<_>>().len()
    }

    /// The domains there are scores of.
    pub fn domain_names(&self) -> BTreeSet<&str> {
        self.clips.iter().filter_map(|clip| clip.domain.as_deref()).collect()
    }

    /// The calibration of one domain alone (Mondrian): its promise holds for clips of that domain,
    /// and it has its own floor. Empty if no score is of that domain.
    #[must_use]
    pub fn of_domain(&self, domain: &str) -> Self {
        let own = self.clips.iter().filter(|clip| clip.domain.as_deref() == Some(domain));
        Self::of_clips(self.basis, own.cloned().collect())
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
    /// For clips exchangeable with the calibration clips P(p <= a) <= a for every a; clips of few
    /// visits are not quite (see [`Calibration::keeps`]). `None` without calibration scores.
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

    /// Whether the promise can be made: the calibration is worth enough independent clips.
    pub fn keeps(&self, promise: Promise) -> bool {
        promise.tail_share(self.effective).is_some()
    }

    /// The score above which clips are anomalous under a promise that can be [made](Self::keeps);
    /// `None` if it cannot.
    pub fn promised_threshold(&self, promise: Promise) -> Option<f64> {
        Some(self.upper(promise.tail_share(self.effective)?))
    }

    /// The score above which clips are called anomalous: the promised one, or else a provisional
    /// one that counts clips of one visit as independent and so realises more false alarms than
    /// the rate. `None` with too few clips even for that.
    pub fn threshold(&self, promise: Promise) -> Option<f64> {
        let provisional = || Some(self.upper(promise.tail_share(self.scores.len() as f64)?));
        self.promised_threshold(promise).or_else(provisional)
    }

    /// The score that at most this share of the calibration scores is above.
    fn upper(&self, share: f64) -> f64 {
        let allowed = (share * self.scores.len() as f64).floor() as usize;
        self.scores[self.scores.len() - 1 - allowed.min(self.scores.len() - 1)]
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
    fn clips_that_score_alike_count_once() {
        let clip = |index: usize| CalibrationClip {
            score: (index / 5) as f64 + 1e-6 * (index % 5) as f64,
            group: index / 5,
            domain: None,
        };
        let calibration = Calibration::of_clips(Basis::Visits, (0..50).map(clip).collect());
        assert!((calibration.effective_count() - 10.0).abs() < 0.1, "{calibration:?}");
        assert!(!calibration.keeps(Promise::default()));
        assert_eq!(calibration.promised_threshold(Promise::default()), None);
        assert_eq!(
            calibration.verdict(100.0, Promise::default()),
            Verdict::Anomalous,
            "provisional"
        );
        let tenth = Promise { rate: "10%".parse().unwrap(), confidence: None };
        assert!(calibration.keeps(tenth));
    }

    #[test]
    fn a_domain_has_its_own_threshold() {
        let of = |domain: &str, from: usize| {
            let clip = |group| CalibrationClip {
                score: group as f64,
                group,
                domain: Some(domain.to_owned()),
            };
            (from..from + 19).map(clip).collect::<Vec<_>>()
        };
        let calibration =
            Calibration::of_clips(Basis::Visits, [of("source", 0), of("target", 100)].concat());
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

//! Figures of decisions: precision, recall, F1, and F1 over all thresholds.

use serde::Serialize;

use super::{Domain, Label, ScoreSet, arithmetic_mean};

/// Counts of decisions against the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Decisions {
    /// Anomalies called anomalous.
    pub true_positives: usize,
    /// Normal clips called anomalous.
    pub false_positives: usize,
    /// Anomalies called normal.
    pub false_negatives: usize,
    /// Normal clips called normal.
    pub true_negatives: usize,
}

impl Decisions {
    /// Calls every clip above the threshold anomalous; of one domain, or of all.
    pub fn above(scores: &ScoreSet, threshold: f64, domain: Option<Domain>) -> Self {
        let mut counts = Self::default();
        let of_domain = |clip: &&super::Scored| domain.is_none() || clip.domain == domain;
        for clip in scores.clips().iter().filter(of_domain) {
            *match (clip.label, clip.score > threshold) {
                (Label::Anomaly, true) => &mut counts.true_positives,
                (Label::Anomaly, false) => &mut counts.false_negatives,
                (Label::Normal, true) => &mut counts.false_positives,
                (Label::Normal, false) => &mut counts.true_negatives,
            } += 1;
        }
        counts
    }

    /// Precision, recall, F1 and false-alarm rate, as the DCASE evaluators compute them: a
    /// denominator of 0 becomes the machine epsilon.
    pub fn figures(self) -> DecisionFigures {
        let share = |part: usize, whole: usize| part as f64 / (whole as f64).max(f64::EPSILON);
        let precision = share(self.true_positives, self.true_positives + self.false_positives);
        let recall = share(self.true_positives, self.true_positives + self.false_negatives);
        let f1 = 2.0 * precision * recall / (precision + recall).max(f64::EPSILON);
        let false_alarm_rate =
            share(self.false_positives, self.false_positives + self.true_negatives);
        DecisionFigures { precision, recall, f1, false_alarm_rate }
    }
}

/// What decisions are worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DecisionFigures {
    /// Share of alarms that are right.
    pub precision: f64,
    /// Share of anomalies found.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Share of normal clips called anomalous.
    pub false_alarm_rate: f64,
}

/// F1 as a function of the threshold (Wilkinghoff and Imoto 2024).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct F1OverThresholds {
    /// F1-EV: the mean F1 over all thresholds between the smallest and the largest score.
    pub f1_ev: f64,
    /// The same over thresholds one could have estimated: from the mean normal score up to 1.28
    /// bounds of its deviation (Bhatia and Davis) above it.
    pub f1_ev_bounded: f64,
    /// The best F1 of any threshold. It is chosen with the labels: an oracle, not a result.
    pub f1_oracle: f64,
}

/// F1 over all thresholds; `None` if a class is missing or all scores are equal.
pub fn f1_over_thresholds(scores: &ScoreSet) -> Option<F1OverThresholds> {
    let normal = scores.scores(Label::Normal, None);
    let mut thresholds: Vec<f64> = scores.clips().iter().map(|clip| clip.score).collect();
    thresholds.sort_by(f64::total_cmp);
    thresholds.dedup();
    let mean = arithmetic_mean(normal.iter().copied())?;
    let largest = normal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = normal.iter().copied().fold(f64::INFINITY, f64::min);
    // The largest variance scores with this range and mean can have.
    let bound = mean + DEVIATIONS * ((largest - mean) * (mean - smallest)).max(0.0).sqrt();
    let between = thresholds.iter().copied().filter(|&t| t > mean && t < bound);
    let bounded: Vec<f64> = [mean].into_iter().chain(between).chain([bound]).collect();
    let f1_oracle = thresholds.iter().map(|&t| f1(scores, t)).fold(0.0, f64::max);
    if scores.scores(Label::Anomaly, None).is_empty() {
        return None;
    }
    let f1_ev = expected_f1(scores, &thresholds)?;
    let f1_ev_bounded = expected_f1(scores, &bounded).unwrap_or_else(|| f1(scores, mean));
    Some(F1OverThresholds { f1_ev, f1_ev_bounded, f1_oracle })
}

/// The authors' choice: 90 % of a normal distribution.
const DEVIATIONS: f64 = 1.28;

fn f1(scores: &ScoreSet, threshold: f64) -> f64 {
    Decisions::above(scores, threshold, None).figures().f1
}

/// The mean of F1 over ascending thresholds, each holding until the next.
fn expected_f1(scores: &ScoreSet, thresholds: &[f64]) -> Option<f64> {
    let range = thresholds.last()? - thresholds.first()?;
    (range > 0.0).then(|| {
        thresholds.windows(2).map(|pair| f1(scores, pair[0]) * (pair[1] - pair[0])).sum::<f64>()
            / range
    })
}

#[cfg(test)]
mod tests {
    use super::{super::Scored, *};

    fn set(clips: &[(f64, Label)]) -> ScoreSet {
        let clip = |&(score, label): &(f64, Label)| Scored { score, label, domain: None };
        ScoreSet::new(clips.iter().map(clip).collect()).unwrap()
    }

    #[test]
    fn decisions_are_counted_and_a_score_at_the_threshold_is_normal() {
        let scores = set(&[
            (1.0, Label::Normal),
            (2.0, Label::Normal),
            (2.0, Label::Anomaly),
            (3.0, Label::Anomaly),
        ]);
        let counts = Decisions::above(&scores, 2.0, None);
        assert_eq!((counts.true_positives, counts.false_positives), (1, 0));
        let figures = counts.figures();
        assert_eq!((figures.precision, figures.recall), (1.0, 0.5));
        assert!((figures.f1 - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(Decisions::default().figures().f1, 0.0);
    }

    #[test]
    fn f1_over_thresholds_is_a_left_sum() {
        // F1 above 0: 2/3; above 1: 1; the range is 0..2.
        let scores = set(&[(0.0, Label::Normal), (1.0, Label::Normal), (2.0, Label::Anomaly)]);
        let found = f1_over_thresholds(&scores).unwrap();
        assert!((found.f1_ev - f64::midpoint(2.0 / 3.0, 1.0)).abs() < 1e-12, "{found:?}");
        assert_eq!(found.f1_oracle, 1.0);
        // From the mean 0.5 to 0.5 + 1.28 * 0.5: F1 is 2/3 up to 1 and 1 beyond.
        let bounded = (0.5 * 2.0 / 3.0 + 0.14) / 0.64;
        assert!((found.f1_ev_bounded - bounded).abs() < 1e-12, "{found:?}");
        assert_eq!(f1_over_thresholds(&set(&[(1.0, Label::Normal)])), None);
    }
}

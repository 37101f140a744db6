//! The extrapolated tail: what a rate beyond the calibration scores might need.
//!
//! Peaks over a high threshold follow a generalised Pareto distribution if the tail is regular.
//! That is an assumption, not a promise, so everything made here must be shown as extrapolated,
//! with its interval.

use crate::{Calibration, FalseAlarmRate, random::Random};

/// An extrapolated threshold with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ExtrapolatedThreshold {
    /// The threshold.
    pub threshold: f64,
    /// 90 % of bootstrap samples give a threshold from here ...
    pub low: f64,
    /// ... to here.
    pub high: f64,
    /// How many calibration scores the tail was fitted to.
    pub exceedances: usize,
}

/// A tail is fitted to the largest fifth of the scores, and to no fewer than this many.
const FEWEST_EXCEEDANCES: usize = 8;

/// Bootstrap samples behind an interval.
const SAMPLES: usize = 500;

/// The threshold for a rate from the tail of the calibration scores; `None` with fewer than twice
/// the needed exceedances or a tail without width.
pub fn extrapolate(
    calibration: &Calibration,
    rate: FalseAlarmRate,
) -> Option<ExtrapolatedThreshold> {
    let scores = calibration.scores();
    let threshold = Pareto::fit(scores)?.threshold(rate.into());
    let mut random = Random::of(0x5EED, &[]);
    let mut resampled: Vec<f64> = (0..SAMPLES)
        .filter_map(|_| {
            let mut sample: Vec<f64> =
                scores.iter().map(|_| scores[random.below(scores.len())]).collect();
            sample.sort_by(f64::total_cmp);
            Some(Pareto::fit(&sample)?.threshold(rate.into()))
        })
        .collect();
    resampled.sort_by(f64::total_cmp);
    let at = |share: f64| resampled.get((share * resampled.len() as f64) as usize).copied();
    let exceedances = exceedances(scores.len());
    Some(ExtrapolatedThreshold { threshold, low: at(0.05)?, high: at(0.95)?, exceedances })
}

fn exceedances(count: usize) -> usize {
    (count / 5).max(FEWEST_EXCEEDANCES)
}

/// A generalised Pareto tail above `start`.
#[derive(Debug, Clone, Copy)]
struct Pareto {
    start: f64,
    shape: f64,
    scale: f64,
    /// Share of all scores above `start`.
    share: f64,
}

impl Pareto {
    /// Probability-weighted moments (Hosking and Wallis 1987), steady for few exceedances. `scores`
    /// ascend.
    fn fit(scores: &[f64]) -> Option<Self> {
        let count = exceedances(scores.len());
        if scores.len() < 2 * FEWEST_EXCEEDANCES {
            return None;
        }
        let start = scores[scores.len() - count - 1];
        let excesses = scores[scores.len() - count..].iter().map(|score| score - start);
        let (mut mean, mut weighted) = (0.0, 0.0);
        for (index, excess) in excesses.enumerate() {
            let below = (index as f64 + 0.65) / count as f64;
            mean += excess / count as f64;
            weighted += (1.0 - below) * excess / count as f64;
        }
        let gap = mean - 2.0 * weighted;
        if mean <= 0.0 || gap <= 0.0 {
            return None;
        }
        // A shape of 1 has no mean; the moments do not distinguish heavier tails.
        let shape = (2.0 - mean / gap).clamp(-2.0, 0.95);
        let scale = mean * (1.0 - shape);
        Some(Self { start, shape, scale, share: count as f64 / scores.len() as f64 })
    }

    /// The score exceeded with probability `rate`.
    fn threshold(&self, rate: f64) -> f64 {
        let ratio = self.share / rate;
        let reach = if self.shape.abs() < 1e-9 {
            ratio.ln()
        } else {
            (ratio.powf(self.shape) - 1.0) / self.shape
        };
        self.start + self.scale * reach.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Basis;

    #[test]
    fn an_exponential_tail_is_found_again() {
        // The expected order statistics of an exponential distribution.
        let scores: Vec<f64> =
            (0..2000).map(|i| -(1.0 - (f64::from(i) + 0.5) / 2000.0).ln()).collect();
        let calibration = Calibration::new(Basis::Visits, scores);
        let found = extrapolate(&calibration, "0.01%".parse().unwrap()).unwrap();
        let expected = 10_000.0_f64.ln();
        assert!((found.threshold - expected).abs() < 0.15 * expected, "{found:?} {expected}");
        assert!(found.low < expected && expected < found.high, "{found:?}");
    }

    #[test]
    fn few_or_equal_scores_have_no_tail() {
        let rate = "1%".parse().unwrap();
        assert!(extrapolate(&Calibration::new(Basis::Visits, vec![1.0; 15]), rate).is_none());
        assert!(extrapolate(&Calibration::new(Basis::Visits, vec![1.0; 500]), rate).is_none());
    }
}

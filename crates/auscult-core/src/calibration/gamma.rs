//! The gamma percentile of the DCASE baselines, for parity with them.
//!
//! A gamma distribution is fitted to normal scores and its 90 % point taken as the threshold. It
//! promises nothing: scores are not gamma distributed. Use [`Calibration`](super::Calibration) for
//! decisions.

use statrs::{
    distribution::{ContinuousCDF, Gamma},
    function::gamma::{digamma, ln_gamma},
};

use crate::{Error, Result, names::named_choices};

/// Which parameters are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GammaForm {
    /// Shape and scale, starting at 0.
    TwoParameters,
    /// Shape, scale and location, as `scipy.stats.gamma.fit` does by default.
    ThreeParameters,
}

named_choices!(GammaForm, "gamma form", {
    TwoParameters => "two-parameters",
    ThreeParameters => "three-parameters",
});

/// A fitted gamma distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GammaFit {
    /// Shape, above 0.
    pub shape: f64,
    /// Where the distribution starts.
    pub location: f64,
    /// Scale, above 0.
    pub scale: f64,
}

impl GammaFit {
    /// The most likely gamma distribution of some scores.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if there are fewer than two different scores, one is not finite, or, with
    /// two parameters, one is not above 0.
    pub fn new(scores: &[f64], form: GammaForm) -> Result<Self> {
        let smallest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if scores.iter().any(|score| !score.is_finite()) || smallest >= largest {
            let got = format!("{} from {smallest} to {largest}", scores.len());
            return Err(Error::setting("scores for a gamma fit", "finite and not all equal", got));
        }
        match form {
            GammaForm::TwoParameters if smallest <= 0.0 => {
                Err(Error::setting("scores for a gamma fit", "above 0", smallest))
            }
            GammaForm::TwoParameters => Ok(Self::at(scores, 0.0)),
            GammaForm::ThreeParameters => Ok(Self::best_location(scores, smallest, largest)),
        }
    }

    /// The score below which a share `quantile` of the distribution lies.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if the share is not between 0 and 1.
    pub fn quantile(&self, quantile: f64) -> Result<f64> {
        let out_of_range = || Error::setting("quantile", "above 0 and below 1", quantile);
        if !(quantile > 0.0 && quantile < 1.0) {
            return Err(out_of_range());
        }
        let gamma = Gamma::new(self.shape, 1.0).map_err(|_| out_of_range())?;
        // Bisection to the last digit; the library's own inverse stops earlier.
        let (mut low, mut high) = (0.0, self.shape + 1.0);
        while gamma.cdf(high) < quantile {
            high *= 2.0;
        }
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if gamma.cdf(middle) < quantile { low = middle } else { high = middle }
        }
        Ok(self.location + self.scale * f64::midpoint(low, high))
    }

    /// Maximum likelihood with a fixed location: ln k - digamma(k) = ln mean - mean ln, by Newton.
    fn at(scores: &[f64], location: f64) -> Self {
        let count = scores.len() as f64;
        let mean = scores.iter().map(|score| score - location).sum::<f64>() / count;
        let mean_log = scores.iter().map(|score| (score - location).ln()).sum::<f64>() / count;
        let gap = (mean.ln() - mean_log).max(1e-12);
        // Minka's starting point is within a percent.
        let mut shape = (3.0 - gap + ((gap - 3.0).powi(2) + 24.0 * gap).sqrt()) / (12.0 * gap);
        for _ in 0..50 {
            let value = shape.ln() - digamma(shape) - gap;
            let step = 1e-6 * shape;
            let slope =
                1.0 / shape - (digamma(shape + step) - digamma(shape - step)) / (2.0 * step);
            let next = shape - value / slope;
            shape = if next > 0.0 { next } else { shape / 2.0 };
            if (value / slope).abs() < 1e-13 * shape {
                break;
            }
        }
        Self { shape, location, scale: mean / shape }
    }

    /// The location whose best fit is most likely, by golden section on the log of the distance
    /// below the smallest score. Unlike scipy's search it cannot depend on a starting point.
    fn best_location(scores: &[f64], smallest: f64, largest: f64) -> Self {
        let range = largest - smallest;
        let fit = |log_distance: f64| Self::at(scores, smallest - range * log_distance.exp());
        let unlikely = |log_distance: f64| -fit(log_distance).log_likelihood(scores);
        let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (1e-4_f64.ln(), 20.0_f64.ln());
        for _ in 0..120 {
            let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
            if unlikely(left) < unlikely(right) { high = right } else { low = left }
        }
        fit(f64::midpoint(low, high))
    }

    fn log_likelihood(&self, scores: &[f64]) -> f64 {
        let Self { shape, location, scale } = *self;
        let each = |&score: &f64| {
            let x = (score - location) / scale;
            (shape - 1.0) * x.ln() - x - scale.ln() - ln_gamma(shape)
        };
        scores.iter().map(each).sum()
    }
}

//! How far apart normal and anomalous scores are, in the words of signal detection theory.

use serde::Serialize;

use super::arithmetic_mean;

/// Mean gap and sensitivity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Separation {
    /// Mean anomalous score minus mean normal score.
    pub mean_gap: f64,
    /// The gap over the standard deviation of the normal scores (population form); `None` if they
    /// are all equal.
    pub d_prime: Option<f64>,
}

/// The separation of two sets of scores; `None` if one is empty.
pub fn separation(normal: &[f64], anomalous: &[f64]) -> Option<Separation> {
    let mean = arithmetic_mean(normal.iter().copied())?;
    let mean_gap = arithmetic_mean(anomalous.iter().copied())? - mean;
    let variance = variance(normal, mean);
    let d_prime = (variance > 0.0).then(|| mean_gap / variance.sqrt());
    Some(Separation { mean_gap, d_prime })
}

/// The population variance around a known mean.
fn variance(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_prime_is_the_gap_in_standard_deviations_of_the_normal_scores() {
        let found = separation(&[1.0, 3.0], &[5.0]).unwrap();
        assert_eq!((found.mean_gap, found.d_prime), (3.0, Some(3.0)));
        assert_eq!(separation(&[1.0, 1.0], &[5.0]).unwrap().d_prime, None);
        assert_eq!(separation(&[], &[5.0]), None);
    }
}

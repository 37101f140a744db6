//! What the studies share: synthetic visits, and rates with their uncertainty.

pub mod chart;
pub mod latent;
pub mod methods;
pub mod random;
pub mod visits;

/// A mean over repetitions with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
    /// Repetitions behind it.
    pub count: usize,
}

impl Estimate {
    /// The mean of some values; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
            / (count.max(2) - 1) as f64;
        Some(Self { mean, error: (variance / count as f64).sqrt(), count })
    }
}

/// The realised rate in percent with its 95 % half-width; bold where the promise is inside or above.
pub fn cell(estimate: Option<Estimate>, promised: f64, repetitions: u64) -> String {
    let Some(estimate) = estimate else { return "no promise".to_owned() };
    let half = 1.96 * estimate.error;
    let mut text = format!("{:.1} ± {:.1}", estimate.mean * 100.0, half * 100.0);
    if (estimate.count as u64) < repetitions {
        let share = 100.0 * estimate.count as f64 / repetitions as f64;
        text = format!("{text} (promised in {share:.0} %)");
    }
    if estimate.mean - half <= promised { format!("**{text}**") } else { text }
}

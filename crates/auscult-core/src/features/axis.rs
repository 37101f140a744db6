//! What the positions of a feature vector mean.

use std::ops::Range;

use serde::Serialize;

/// The ordered axis of a feature vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    meaning: AxisMeaning,
    level: Level,
    len: usize,
    /// `len + 1` edges in hertz, ascending, when the axis is a frequency axis.
    edges: Vec<f64>,
}

/// What one position stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AxisMeaning {
    /// A range of frequencies.
    Frequency,
    /// A cepstral coefficient: fine structure grows along the axis, hertz do not exist.
    Cepstrum,
    /// Something only the front end knows.
    Other,
}

/// How a feature value relates to sound level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Level {
    /// Natural logarithm of power.
    NaturalLogPower,
    /// Decibels.
    Decibels,
    /// Magnitude; 20 log10 of a ratio is decibels.
    Magnitude,
    /// Inverse of a magnitude.
    InverseMagnitude,
    /// No level.
    None,
}

impl Axis {
    /// A frequency axis from its edges: position `i` covers `edges[i]..edges[i + 1]` hertz.
    pub fn frequency(edges: Vec<f64>, level: Level) -> Self {
        let len = edges.len().saturating_sub(1);
        Self { meaning: AxisMeaning::Frequency, level, len, edges }
    }

    /// An axis of `len` cepstral coefficients.
    pub fn cepstrum(len: usize) -> Self {
        Self { meaning: AxisMeaning::Cepstrum, level: Level::None, len, edges: Vec::new() }
    }

    /// An axis of `len` positions without a meaning known here.
    pub fn other(len: usize) -> Self {
        Self { meaning: AxisMeaning::Other, level: Level::None, len, edges: Vec::new() }
    }

    /// Number of positions (the paper's F).
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the axis has no positions.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What one position stands for.
    pub fn meaning(&self) -> AxisMeaning {
        self.meaning
    }

    /// How values relate to sound level.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The frequencies in hertz that a range of positions covers, if the axis has frequencies.
    pub fn hertz(&self, positions: Range<usize>) -> Option<Range<f64>> {
        Some(*self.edges.get(positions.start)?..*self.edges.get(positions.end)?)
    }

    /// The difference in decibels between two values at one position, if values have a level.
    pub fn decibels(&self, value: f32, reference: f32) -> Option<f64> {
        let (value, reference) = (f64::from(value), f64::from(reference));
        match self.level {
            Level::NaturalLogPower => Some((value - reference) * 10.0 / std::f64::consts::LN_10),
            Level::Decibels => Some(value - reference),
            Level::Magnitude => Some(20.0 * (value / reference).log10()),
            Level::InverseMagnitude => Some(20.0 * (reference / value).log10()),
            Level::None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hertz_of_a_band_run_from_its_first_edge_to_its_last() {
        let axis = Axis::frequency(vec![0.0, 100.0, 250.0, 500.0], Level::Decibels);
        assert_eq!(axis.hertz(1..3), Some(100.0..500.0));
        assert_eq!(axis.hertz(1..4), None);
        assert_eq!(Axis::cepstrum(3).hertz(0..1), None);
    }

    #[test]
    fn decibels_follow_the_level_of_the_axis() {
        let edges = vec![0.0, 1.0];
        let tenfold = |level| Axis::frequency(edges.clone(), level);
        let ten = 10.0_f32;
        assert!((tenfold(Level::Magnitude).decibels(ten, 1.0).unwrap() - 20.0).abs() < 1e-9);
        assert!((tenfold(Level::InverseMagnitude).decibels(ten, 1.0).unwrap() + 20.0).abs() < 1e-9);
        assert!(
            (tenfold(Level::NaturalLogPower).decibels(ten.ln(), 0.0).unwrap() - 10.0).abs() < 1e-5
        );
    }
}

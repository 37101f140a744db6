//! 8. From band scores to a view score, and from view scores to the clip score.

use crate::names::named_choices;

/// How several scores become one: over bands (aggregation) and over views (fusion).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Combine {
    /// The mean: the paper's choice for both.
    #[default]
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

named_choices!(Combine, "way to combine scores", { Mean => "mean", Max => "max", Min => "min" });

impl Combine {
    /// One score from several; NaN if there are none.
    pub fn over(self, scores: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = scores.len();
        match self {
            _ if count == 0 => f64::NAN,
            Self::Mean => scores.sum::<f64>() / count as f64,
            Self::Max => scores.fold(f64::NEG_INFINITY, f64::max),
            Self::Min => scores.fold(f64::INFINITY, f64::min),
        }
    }
}

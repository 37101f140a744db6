//! The range of all scores on a page.

use auscult_page::{Scale, Spacing, tick};

/// The range of all scores on a page, so that its charts share one scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreRange {
    spacing: Spacing,
    values: (f64, f64),
}

/// From this many times the median on, the highest score would squeeze the others on an even scale.
const WIDE: f64 = 8.0;

/// Scores beyond this are drawn at the end of the scale, as infinite ones are.
const LARGEST: f64 = 1e300;

/// Scores this many times the highest normal one say no more by their height.
const DWARFS: f64 = 40.0;

/// A logarithmic scale shows at most this ratio; lower scores are at its lower end.
const MOST_DECADES: i32 = 6;

impl ScoreRange {
    /// The range of these scores; ones that are not finite, or that dwarf the highest of `normal` ones, do not count and are
    /// drawn at the end of the scale.
    pub(crate) fn of(scores: impl Iterator<Item = f64>, normal: impl Iterator<Item = f64>) -> Self {
        let normal = normal.filter(|score| score.is_finite() && *score > 0.0).fold(0.0, f64::max);
        let largest = if normal > 0.0 { (DWARFS * normal).min(LARGEST) } else { LARGEST };
        let mut scores: Vec<f64> = scores.filter(|score| score.abs() < largest).collect();
        scores.sort_by(f64::total_cmp);
        let positive = &scores[scores.partition_point(|&score| score <= 0.0)..];
        let highest = scores.last().copied().unwrap_or(1.0);
        match (positive.first(), positive.get(positive.len() / 2)) {
            (Some(&lowest), Some(&median)) if highest > WIDE * median => Self {
                spacing: Spacing::Logarithmic,
                values: (lowest.max(highest / 10_f64.powi(MOST_DECADES)) / 1.25, highest * 1.25),
            },
            _ => {
                let lowest = scores.first().map_or(0.0, |lowest| lowest.min(0.0));
                Self {
                    spacing: Spacing::Linear,
                    values: (lowest, highest + 0.06 * (highest - lowest)),
                }
            }
        }
    }

    /// Whether a score is beyond the end of the scale.
    pub(crate) fn is_beyond(&self, score: f64) -> bool {
        score > self.values.1
    }

    /// The scale between two places.
    pub(super) fn scale(&self, places: (f64, f64)) -> Scale {
        Scale::new(self.spacing, self.values, places)
    }

    /// What the axis is called.
    pub(super) fn axis_name(&self) -> &'static str {
        match self.spacing {
            Spacing::Linear => "Score",
            Spacing::Logarithmic => "Score (logarithmic)",
        }
    }
}

/// Decibels with a sign, as an axis shows them.
pub(super) fn signed(decibels: f64) -> String {
    let size = tick(decibels.abs());
    if decibels > 0.0 {
        format!("+{size}")
    } else if decibels < 0.0 {
        format!("\u{2212}{size}")
    } else {
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_ranges_are_logarithmic_and_narrow_ones_start_at_zero() {
        let narrow = ScoreRange::of([1.0, 2.0, 3.0].into_iter(), [].into_iter());
        assert_eq!((narrow.axis_name(), narrow.values.0), ("Score", 0.0));
        let wide = ScoreRange::of([0.0, 1.0, 1.0, 1.1, 50.0].into_iter(), [].into_iter());
        assert_eq!(wide.axis_name(), "Score (logarithmic)");
        assert!((wide.scale((0.0, 1.0)).place(0.0)).abs() < 1e-12);
    }

    #[test]
    fn no_values_equal_values_and_absurd_values_still_make_a_scale() {
        let absurd = [
            vec![],
            vec![0.0; 3],
            vec![2.5],
            vec![f64::NAN, f64::INFINITY],
            vec![f64::MIN_POSITIVE / 4.0, 1e-300, 1e300],
            vec![f64::MAX, 1.0, 1.0],
            vec![-5.0, -1.0],
        ];
        for scores in absurd {
            let scale = ScoreRange::of(scores.iter().copied(), scores.iter().copied().take(1))
                .scale((0.0, 100.0));
            for value in scores.iter().copied().chain([0.0, 1.0, f64::MAX]) {
                assert!((0.0..=100.0).contains(&scale.place(value)), "{scores:?}: {value}");
            }
            assert!(scale.ticks(6).len() < 40, "{scores:?}");
        }
    }
}

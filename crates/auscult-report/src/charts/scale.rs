//! From values to places on the page.

use crate::text;

/// A scale from values to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    kind: Kind,
    /// The lowest and highest value, finite, the second above the first.
    values: (f64, f64),
    /// Where they are.
    places: (f64, f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Logarithmic,
}

impl Scale {
    /// An even scale. Values that make no range are replaced by 0 and 1 more than the lowest.
    pub(super) fn linear(values: (f64, f64), places: (f64, f64)) -> Self {
        let low = if values.0.is_finite() { values.0 } else { 0.0 };
        let high = if values.1.is_finite() && values.1 > low { values.1 } else { low + 1.0 };
        Self { kind: Kind::Linear, values: (low, high), places }
    }

    /// Where a value is. Values beyond the ends are at the ends, what is not a number at the
    /// lowest one.
    pub(super) fn place(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let value = if value.is_nan() { low } else { value.clamp(low, high) };
        let share = match self.kind {
            Kind::Linear => (value - low) / (high - low),
            Kind::Logarithmic => (value / low).ln() / (high / low).ln(),
        };
        self.places.0 + share * (self.places.1 - self.places.0)
    }

    /// Round values to write at the axis, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
        match self.kind {
            Kind::Linear => self.linear_ticks(wanted),
            Kind::Logarithmic => self.logarithmic_ticks(wanted),
        }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<f64> {
        let (low, high) = self.values;
        let rough = (high - low) / wanted.max(1) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|&step| step >= rough * 0.999)
            .unwrap_or(rough);
        let (first, last) = ((low / step).ceil() as i64, (high / step + 1e-9).floor() as i64);
        // Never an endless list, whatever the range.
        (first..=last).take(4 * wanted + 4).map(|index| index as f64 * step).collect()
    }

    fn logarithmic_ticks(&self, wanted: usize) -> Vec<f64> {
        let (low, high) = self.values;
        let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let choices: [&[f64]; 3] = [&[1.0, 2.0, 3.0, 5.0], &[1.0, 3.0], &[1.0]];
        let ticks_of = |factors: &[f64]| -> Vec<f64> {
            let all = powers
                .clone()
                .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
            all.filter(|tick| (low..=high).contains(tick)).collect()
        };
        let fitting = choices.into_iter().map(ticks_of).find(|ticks| ticks.len() <= wanted + 2);
        fitting.unwrap_or_else(|| {
            let powers = ticks_of(&[1.0]);
            let step = powers.len().div_ceil(wanted.max(1));
            powers.into_iter().step_by(step).collect()
        })
    }
}

/// The range of all scores on a page, so that its charts share one scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreRange {
    kind: Kind,
    values: (f64, f64),
}

/// From so many times the median on, the highest score would squeeze the others on an even scale.
const WIDE: f64 = 8.0;

/// Scores beyond this are drawn at the end of the scale, as infinite ones are.
const LARGEST: f64 = 1e300;

/// A logarithmic scale shows at most this ratio; lower scores are at its lower end.
const MOST_DECADES: i32 = 6;

impl ScoreRange {
    /// The range of these scores; ones that are not finite or absurdly large do not count.
    pub(crate) fn of(scores: impl Iterator<Item = f64>) -> Self {
        let mut scores: Vec<f64> = scores.filter(|score| score.abs() < LARGEST).collect();
        scores.sort_by(f64::total_cmp);
        let positive = &scores[scores.partition_point(|&score| score <= 0.0)..];
        let highest = scores.last().copied().unwrap_or(1.0);
        match (positive.first(), positive.get(positive.len() / 2)) {
            (Some(&lowest), Some(&median)) if highest > WIDE * median => Self {
                kind: Kind::Logarithmic,
                values: (lowest.max(highest / 10_f64.powi(MOST_DECADES)) / 1.25, highest * 1.25),
            },
            _ => {
                let lowest = scores.first().map_or(0.0, |lowest| lowest.min(0.0));
                Self { kind: Kind::Linear, values: (lowest, highest + 0.06 * (highest - lowest)) }
            }
        }
    }

    /// The scale between two places.
    pub(super) fn scale(&self, places: (f64, f64)) -> Scale {
        // A range of subnormal scores has no logarithm to speak of.
        if self.kind == Kind::Logarithmic && self.values.0.is_normal() {
            Scale { kind: Kind::Logarithmic, values: self.values, places }
        } else {
            Scale::linear(self.values, places)
        }
    }

    /// What the axis is called.
    pub(super) fn axis_name(&self) -> &'static str {
        match self.kind {
            Kind::Linear => "Score",
            Kind::Logarithmic => "Score (logarithmic)",
        }
    }
}

/// Decibels with a sign, as an axis shows them.
pub(super) fn signed(decibels: f64) -> String {
    let size = text::tick(decibels.abs());
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
    fn ends_of_the_range_are_at_the_ends_of_the_page() {
        let scale = Scale::linear((0.0, 10.0), (300.0, 0.0));
        let places = [0.0, 5.0, 10.0, 99.0, -1.0, f64::NAN, f64::INFINITY]
            .map(|value| scale.place(value).to_string());
        assert_eq!(places, ["300", "150", "0", "0", "300", "300", "0"]);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            Scale::linear((0.0, 10.0), (0.0, 1.0)).ticks(5),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        );
        let wide = ScoreRange::of([1.0, 1.0, 1.0, 1000.0].into_iter()).scale((0.0, 1.0));
        assert_eq!(wide.ticks(5), [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]);
    }

    #[test]
    fn wide_ranges_are_logarithmic_and_narrow_ones_start_at_zero() {
        let narrow = ScoreRange::of([1.0, 2.0, 3.0].into_iter());
        assert_eq!((narrow.axis_name(), narrow.values.0), ("Score", 0.0));
        let wide = ScoreRange::of([0.0, 1.0, 1.0, 1.1, 50.0].into_iter());
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
            let scale = ScoreRange::of(scores.iter().copied()).scale((0.0, 100.0));
            for value in scores.iter().copied().chain([0.0, 1.0, f64::MAX]) {
                assert!((0.0..=100.0).contains(&scale.place(value)), "{scores:?}: {value}");
            }
            assert!(scale.ticks(6).len() < 40, "{scores:?}");
        }
    }
}

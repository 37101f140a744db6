//! From values to places on the page.

/// How values lie along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Equal steps are equal differences.
    Linear,
    /// Equal steps are equal ratios; for values above 0.
    Logarithmic,
}

/// A scale from values to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    spacing: Spacing,
    /// The lowest and highest value, finite, the second above the first.
    values: (f64, f64),
    /// Where they are.
    places: (f64, f64),
}

impl Scale {
    /// A scale between two values and two places.
    ///
    /// Values that make no range are replaced: the lowest by 0, the highest by 1 more than the
    /// lowest. Values without a logarithm to speak of, such as subnormal ones, lie evenly.
    pub fn new(spacing: Spacing, values: (f64, f64), places: (f64, f64)) -> Self {
        let is_range = values.1.is_finite() && values.1 > values.0;
        if spacing == Spacing::Logarithmic && values.0 > 0.0 && values.0.is_normal() && is_range {
            Self { spacing, values, places }
        } else {
            Self::linear(values, places)
        }
    }

    /// An even scale.
    pub fn linear(values: (f64, f64), places: (f64, f64)) -> Self {
        let low = if values.0.is_finite() { values.0 } else { 0.0 };
        // Beside a huge value, 1 more is nothing.
        let more = low + (1e-9 * low.abs()).max(1.0);
        let high = if values.1.is_finite() && values.1 > low { values.1 } else { more };
        Self { spacing: Spacing::Linear, values: (low, high), places }
    }

    /// Where a value is. Values beyond the ends are at the ends, what is not a number at the
    /// lowest one.
    pub fn place(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let value = if value.is_nan() { low } else { value.clamp(low, high) };
        let share = match self.spacing {
            Spacing::Linear => (value - low) / (high - low),
            Spacing::Logarithmic => (value / low).ln() / (high / low).ln(),
        };
        self.places.0 + share * (self.places.1 - self.places.0)
    }

    /// Round values to write at the axis, about `wanted` of them.
    pub fn ticks(&self, wanted: usize) -> Vec<f64> {
        match self.spacing {
            Spacing::Linear => self.linear_ticks(wanted),
            Spacing::Logarithmic => self.logarithmic_ticks(wanted),
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
        let wide = Scale::new(Spacing::Logarithmic, (0.8, 1250.0), (0.0, 1.0));
        assert_eq!(wide.ticks(5), [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]);
    }

    #[test]
    fn values_without_a_logarithm_lie_evenly() {
        for low in [0.0, -1.0, f64::MIN_POSITIVE / 4.0, f64::NAN] {
            let scale = Scale::new(Spacing::Logarithmic, (low, 10.0), (0.0, 1.0));
            assert_eq!(scale, Scale::linear((low, 10.0), (0.0, 1.0)), "{low}");
        }
    }
}

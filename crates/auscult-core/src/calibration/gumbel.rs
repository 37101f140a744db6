//! What further draws from a Gumbel distribution may be when few are known.
//!
//! The Gumbel distribution is that of the largest of many things: skewed, with a right tail that falls like an exponential.
//! One odd high value among few is therefore no reason to think that all are widely spread, as it is with normal
//! numbers, nor is the next such value a surprise.

use statrs::{
    distribution::{ContinuousCDF, Gamma},
    function::beta::beta_reg,
};

/// Scales that are integrated over, relative to the deviation of what is known: from so little that all known
/// values would be impossible to so much that they would be the same.
const SCALES: std::ops::Range<f64> = 0.03..300.0;

/// Steps over scales, each a factor.
const SCALE_STEPS: u32 = 256;

/// Steps over locations, of equal probability.
const LOCATION_STEPS: u32 = 32;

/// How probable it is that the median of `count` further draws is `value` or more, after `known` ones.
///
/// Location and scale are not known. They are integrated out with the weight 1 / scale, which makes the probability
/// exact: if all are draws from one Gumbel distribution, it is at most p in a share p of cases, however few are
/// known. `None` unless two of them differ, or if a number is not finite.
pub(super) fn exceedance(known: &[f64], value: f64, count: f64) -> Option<f64> {
    let (number, lowest) = (known.len() as f64, known.iter().copied().reduce(f64::min)?);
    let mean = known.iter().sum::<f64>() / number;
    let squares: f64 = known.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (number - 1.0)).sqrt();
    if !(deviation > 0.0 && deviation.is_finite() && value.is_finite()) {
        return None;
    }
    let gamma = Gamma::new(number, 1.0).ok()?;
    let quantile = |step| gamma.inverse_cdf((f64::from(step) + 0.5) / f64::from(LOCATION_STEPS));
    let is_one = count == 1.0;
    let quantiles: Vec<f64> = (0..if is_one { 0 } else { LOCATION_STEPS }).map(quantile).collect();
    let step = (SCALES.end / SCALES.start).ln() / f64::from(SCALE_STEPS);
    let at = |index: u32| {
        let scale = deviation * SCALES.start * (f64::from(index) * step).exp();
        // e^(location / scale) has a gamma distribution with this rate, and a further draw is above the value with
        // probability 1 - exp(-e^(location / scale) e^(-value / scale)). All from the lowest, so that nothing overflows.
        let rate: f64 = known.iter().map(|known| ((lowest - known) / scale).exp()).sum();
        let height = ((lowest - value) / scale).min(500.0).exp() / rate;
        let median_above = |quantile: &f64| {
            let one = -(-quantile * height).exp_m1();
            beta_reg(f64::midpoint(count, 1.0), f64::midpoint(count, 1.0), one)
        };
        let above = if is_one {
            // The mean over the gamma distribution is known for one draw.
            -(-number * height.ln_1p()).exp_m1()
        } else {
            quantiles.iter().map(median_above).sum::<f64>() / quantiles.len() as f64
        };
        let log_weight =
            (1.0 - number) * scale.ln() - number * ((mean - lowest) / scale + rate.ln());
        (log_weight, above)
    };
    let scales: Vec<(f64, f64)> = (0..=SCALE_STEPS).map(at).collect();
    let largest = scales.iter().fold(f64::NEG_INFINITY, |most, (weight, _)| most.max(*weight));
    let (weights, sum) = scales.iter().fold((0.0, 0.0), |(weights, sum), (weight, above)| {
        let weight = (weight - largest).exp();
        (weights + weight, sum + weight * above)
    });
    Some(sum / weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn draw(random: &mut Random) -> f64 {
        -(-random.share().clamp(1e-12, 1.0 - 1e-12).ln()).ln()
    }

    #[test]
    fn probabilities_are_what_they_say_however_few_are_known() {
        let mut random = Random::of(3, &[]);
        let cases = [(2, 1, 4_000), (5, 1, 4_000), (5, 4, 300), (20, 7, 300), (40, 1, 1_000)];
        for (known, count, repetitions) in cases {
            let mut below = [0_u32; 3];
            for _ in 0..repetitions {
                // Location and scale must not matter.
                let mut some = |count| -> Vec<f64> {
                    (0..count).map(|_| 7.0 + 0.3 * draw(&mut random)).collect()
                };
                let (known, mut further) = (some(known), some(count));
                let median = super::super::change::median(&mut further).unwrap();
                let p_value = exceedance(&known, median, f64::from(count)).unwrap();
                for (below, level) in below.iter_mut().zip([0.05, 0.2, 0.5]) {
                    *below += u32::from(p_value <= level);
                }
            }
            for (below, level) in below.into_iter().zip([0.05, 0.2, 0.5]) {
                let share = f64::from(below) / f64::from(repetitions);
                // Four deviations, and a point for medians of even counts.
                let error = 4.0 * (level * (1.0 - level) / f64::from(repetitions)).sqrt() + 0.01;
                assert!((share - level).abs() < error, "{known}, {count}: {share} at {level}");
            }
        }
    }

    #[test]
    fn one_odd_value_does_not_hide_what_is_far_beyond_it() {
        let with_odd = [2.0, 2.2, 2.4, 2.6, 5.0];
        assert!(exceedance(&with_odd, 4.0, 1.0).unwrap() > 0.1);
        assert!(exceedance(&with_odd, 9.0, 1.0).unwrap() < 0.05);
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert_eq!(exceedance(&[], 1.0, 1.0), None);
        assert_eq!(exceedance(&[1.0], 1.0, 1.0), None);
        assert_eq!(exceedance(&[1.0, 1.0], 1.0, 1.0), None);
        assert_eq!(exceedance(&[1.0, 2.0], f64::NAN, 1.0), None);
        assert!(exceedance(&[1.0, 2.0], -1e9, 1.0).unwrap() > 0.99);
        let far = exceedance(&[1.0, 2.0], 1e9, 1.0).unwrap();
        assert!((0.0..0.01).contains(&far), "{far}");
    }
}

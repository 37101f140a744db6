//! Means of figures.

/// The arithmetic mean; `None` of nothing.
pub fn arithmetic_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_usize);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}

/// The harmonic mean; values are floored at the machine epsilon as the DCASE evaluators do. `None`
/// of nothing.
pub fn harmonic_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    arithmetic_mean(values.into_iter().map(|value| 1.0 / value.max(f64::EPSILON)))
        .map(|mean| 1.0 / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harmonic_mean_is_below_the_arithmetic_one() {
        assert_eq!(harmonic_mean([0.5, 1.0]), Some(2.0 / 3.0));
        assert_eq!(arithmetic_mean([0.5, 1.0]), Some(0.75));
        assert_eq!(harmonic_mean([]), None);
        assert!(
            harmonic_mean([0.0, 1.0]).unwrap() > 0.0,
            "a zero is floored, not a division by zero"
        );
    }
}

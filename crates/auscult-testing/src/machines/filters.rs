//! Second-order filters after R. Bristow-Johnson's cookbook formulae.

use std::f64::consts::TAU;

/// A second-order filter with its memory.
#[derive(Debug, Clone)]
pub(super) struct Biquad {
    /// b0, b1, b2, a1, a2, divided by a0.
    coefficients: [f64; 5],
    memory: [f64; 2],
}

impl Biquad {
    /// Passes what is below `hz`.
    pub(super) fn low_pass(hz: f64, rate: f64) -> Self {
        let (cosine, alpha) = angle(hz, rate, 0.707);
        let edge = (1.0 - cosine) / 2.0;
        Self::new([edge, 2.0 * edge, edge], [1.0 + alpha, -2.0 * cosine, 1.0 - alpha])
    }

    /// Passes what is above `hz`.
    pub(super) fn high_pass(hz: f64, rate: f64) -> Self {
        let (cosine, alpha) = angle(hz, rate, 0.707);
        let edge = f64::midpoint(1.0, cosine);
        Self::new([edge, -2.0 * edge, edge], [1.0 + alpha, -2.0 * cosine, 1.0 - alpha])
    }

    /// Passes what is around `hz`, with a gain of 1 there.
    pub(super) fn band_pass(hz: f64, quality: f64, rate: f64) -> Self {
        let (cosine, alpha) = angle(hz, rate, quality);
        Self::new([alpha, 0.0, -alpha], [1.0 + alpha, -2.0 * cosine, 1.0 - alpha])
    }

    /// Raises or lowers what is around `hz` by `gain_db`.
    pub(super) fn peak(hz: f64, quality: f64, gain_db: f64, rate: f64) -> Self {
        let (cosine, alpha) = angle(hz, rate, quality);
        let gain = 10f64.powf(gain_db / 40.0);
        Self::new(
            [1.0 + alpha * gain, -2.0 * cosine, 1.0 - alpha * gain],
            [1.0 + alpha / gain, -2.0 * cosine, 1.0 - alpha / gain],
        )
    }

    fn new(b: [f64; 3], a: [f64; 3]) -> Self {
        let coefficients = [b[0], b[1], b[2], a[1], a[2]].map(|value| value / a[0]);
        Self { coefficients, memory: [0.0; 2] }
    }

    /// Filters the samples in place.
    pub(super) fn filter(&mut self, samples: &mut [f64]) {
        let [b0, b1, b2, a1, a2] = self.coefficients;
        let [mut first, mut second] = self.memory;
        for sample in samples {
            let input = *sample;
            let output = b0 * input + first;
            first = b1 * input - a1 * output + second;
            second = b2 * input - a2 * output;
            *sample = output;
        }
        self.memory = [first, second];
    }
}

/// The cosine of the filter's angle and its half width; stays below the Nyquist frequency.
fn angle(hz: f64, rate: f64, quality: f64) -> (f64, f64) {
    let angle = TAU * hz.min(0.45 * rate) / rate;
    (angle.cos(), angle.sin() / (2.0 * quality))
}

#[cfg(test)]
mod tests {
    use super::super::signal::rms;
    use super::*;

    fn gain_at(hz: f64, mut filter: Biquad) -> f64 {
        let mut tone: Vec<f64> =
            (0..16_000).map(|index| (TAU * hz * f64::from(index) / 16_000.0).sin()).collect();
        filter.filter(&mut tone);
        rms(&tone[8000..]) * 2f64.sqrt()
    }

    #[test]
    fn gains_are_what_the_names_say() {
        let close = |got: f64, want: f64| assert!((got - want).abs() < 0.02, "{got} {want}");
        close(gain_at(100.0, Biquad::low_pass(1000.0, 16_000.0)), 1.0);
        close(gain_at(7000.0, Biquad::low_pass(1000.0, 16_000.0)), 0.0);
        close(gain_at(7000.0, Biquad::high_pass(1000.0, 16_000.0)), 1.0);
        close(gain_at(1000.0, Biquad::band_pass(1000.0, 2.0, 16_000.0)), 1.0);
        close(gain_at(1000.0, Biquad::peak(1000.0, 2.0, 6.0, 16_000.0)), 1.995);
    }
}

//! Small operations on samples.

use std::f64::consts::TAU;

/// The root mean square; 0 for no samples.
pub(super) fn rms(samples: &[f64]) -> f64 {
    if samples.is_empty() {
        return 0.0;
    }
    (samples.iter().map(|sample| sample * sample).sum::<f64>() / samples.len() as f64).sqrt()
}

/// Multiplies every sample.
pub(super) fn scale(samples: &mut [f64], factor: f64) {
    for sample in samples {
        *sample *= factor;
    }
}

/// Scales to the given root mean square; silence stays silent.
pub(super) fn level(mut samples: Vec<f64>, target: f64) -> Vec<f64> {
    let found = rms(&samples);
    if found > 1e-12 {
        scale(&mut samples, target / found);
    }
    samples
}

/// Adds `added` onto `samples`, sample by sample.
pub(super) fn add(samples: &mut [f64], added: &[f64]) {
    samples.iter_mut().zip(added).for_each(|(sample, more)| *sample += more);
}

/// Multiplies `samples` by `factors`, sample by sample.
pub(super) fn modulate(samples: &mut [f64], factors: &[f64]) {
    samples.iter_mut().zip(factors).for_each(|(sample, factor)| *sample *= factor);
}

/// A struck resonance: a sine that starts at full height and dies away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ring {
    pub(super) hz: f64,
    /// The time to fall to 1/e, in seconds.
    pub(super) decay: f64,
    pub(super) amplitude: f64,
}

impl Ring {
    /// The same resonance, struck `force` times as hard.
    pub(super) fn harder(self, force: f64) -> Self {
        Self { amplitude: self.amplitude * force, ..self }
    }

    /// Adds the ring to `samples` from `start` seconds on, until it is 60 dB down.
    ///
    /// A ring above 0.45 times the sample rate makes no sound.
    pub(super) fn strike(self, samples: &mut [f64], start: f64, rate: f64) {
        if self.hz >= 0.45 * rate || start < 0.0 {
            return;
        }
        let start = (start * rate) as usize;
        // exp(-6.9) is -60 dB.
        let length = (6.9 * self.decay * rate) as usize;
        let end = samples.len().min(start.saturating_add(length));
        let Some(samples) = samples.get_mut(start..end) else { return };
        let angle = TAU * self.hz / rate;
        let radius = (-1.0 / (self.decay * rate)).exp();
        let (turn, fall) = (2.0 * radius * angle.cos(), radius * radius);
        let (mut last, mut now) = (0.0, self.amplitude * radius * angle.sin());
        for sample in samples {
            *sample += now;
            (last, now) = (now, turn * now - fall * last);
        }
    }
}

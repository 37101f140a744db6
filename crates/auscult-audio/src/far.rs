//! What a far microphone hears is taken from what a near one does.

use std::f32::consts::PI;
use std::fmt;
use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

/// Length of a window, in seconds: hum keeps apart from its neighbours, and a stroke is not smeared.
const WINDOW_SECONDS: f64 = 0.064;

/// No frequency is made quieter than this (20 dB): what is left is still sound of the machine's place.
const LEAST_GAIN: f32 = 0.1;

/// Lowers every frequency of the near microphone by the power that the far one has there.
///
/// Both hear the hall; the near one hears the machine better. Where the far one is as loud as the near one, the hall is
/// all there is to hear.
pub(crate) struct FarTaken {
    forward: Arc<dyn RealToComplex<f32>>,
    inverse: Arc<dyn ComplexToReal<f32>>,
    window: Vec<f32>,
    /// What has come in and is not through yet.
    near: Vec<f32>,
    far: Vec<f32>,
    /// What later windows still add to.
    sum: Vec<f32>,
    spectra: [Vec<Complex<f32>>; 2],
    samples: Vec<f32>,
    /// Samples of the first window that stand before the sound.
    skipped: usize,
    taken: usize,
    given: usize,
}

impl FarTaken {
    pub(crate) fn new(sample_rate: u32) -> Self {
        let len = (f64::from(sample_rate) * WINDOW_SECONDS).max(16.0) as usize;
        let len = len.next_power_of_two();
        let hop = len / 2;
        let mut planner = RealFftPlanner::<f32>::new();
        let (forward, inverse) = (planner.plan_fft_forward(len), planner.plan_fft_inverse(len));
        // Its square, half a window on, adds up to one.
        let window = (0..len).map(|at| (PI * (at as f32 + 0.5) / len as f32).sin()).collect();
        Self {
            spectra: [forward.make_output_vec(), forward.make_output_vec()],
            samples: forward.make_input_vec(),
            forward,
            inverse,
            window,
            near: vec![0.0; hop],
            far: vec![0.0; hop],
            sum: vec![0.0; len],
            skipped: hop,
            taken: 0,
            given: 0,
        }
    }

    /// Takes as many samples of both, and appends what is through.
    pub(crate) fn push(&mut self, near: impl Iterator<Item = (f32, f32)>, out: &mut Vec<f32>) {
        let before = self.near.len();
        for (near, far) in near {
            self.near.push(near);
            self.far.push(far);
        }
        self.taken += self.near.len() - before;
        self.drain(out);
    }

    /// Appends the rest: all in all as many samples as came in.
    pub(crate) fn finish(&mut self, out: &mut Vec<f32>) {
        while self.given < self.taken {
            let len = self.window.len();
            self.near.resize(self.near.len().max(len), 0.0);
            self.far.resize(self.near.len(), 0.0);
            self.drain(out);
        }
    }

    fn drain(&mut self, out: &mut Vec<f32>) {
        let hop = self.window.len() / 2;
        while self.near.len() >= self.window.len() {
            self.one_window();
            let through = &self.sum[self.skipped.min(hop)..hop];
            let left = self.taken - self.given;
            let through = &through[..through.len().min(left)];
            out.extend_from_slice(through);
            self.given += through.len();
            self.skipped -= self.skipped.min(hop);
            self.sum.rotate_left(hop);
            self.sum[hop..].fill(0.0);
            self.near.drain(..hop);
            self.far.drain(..hop);
        }
    }

    fn one_window(&mut self) {
        let Self { forward, inverse, window, samples, spectra, .. } = self;
        for (sound, spectrum) in [&self.near, &self.far].into_iter().zip(spectra.iter_mut()) {
            for ((sample, &value), &weight) in samples.iter_mut().zip(sound).zip(&*window) {
                *sample = value * weight;
            }
            // The lengths are those of the plan.
            let _ = forward.process(samples, spectrum);
        }
        let [near, far] = spectra;
        // Window by window: powers that were averaged over time took strokes of the hall too late, and then the machine.
        for (near, far) in near.iter_mut().zip(&*far) {
            let power = near.norm_sqr();
            let share = if power > 0.0 { far.norm_sqr() / power } else { 0.0 };
            *near *= (1.0 - share).max(LEAST_GAIN * LEAST_GAIN).sqrt();
        }
        // A spectrum of real sound has real ends.
        near[0].im = 0.0;
        if let Some(last) = near.last_mut() {
            last.im = 0.0;
        }
        let _ = inverse.process(near, samples);
        let scale = 1.0 / window.len() as f32;
        for ((sum, &sample), &weight) in self.sum.iter_mut().zip(&*samples).zip(&*window) {
            *sum += sample * weight * scale;
        }
    }
}

impl fmt::Debug for FarTaken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FarTaken")
            .field("window", &self.window.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::scaled;

    fn noise(len: usize) -> Vec<f32> {
        scaled(&crate::testing::noise(len))
    }

    fn taken(near: &[f32], far: &[f32], at_once: usize) -> Vec<f32> {
        let mut taking = FarTaken::new(16_000);
        let mut out = Vec::new();
        for (near, far) in near.chunks(at_once).zip(far.chunks(at_once)) {
            taking.push(near.iter().copied().zip(far.iter().copied()), &mut out);
        }
        taking.finish(&mut out);
        out
    }

    fn power(samples: &[f32]) -> f32 {
        samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len() as f32
    }

    fn tone(hertz: f32, len: usize) -> Vec<f32> {
        (0..len).map(|at| 0.1 * (2.0 * PI * hertz * at as f32 / 16_000.0).sin()).collect()
    }

    #[test]
    fn a_silent_far_microphone_changes_nothing() {
        for len in [1, 100, 511, 512, 1024, 5000, 16_000] {
            let near = noise(len);
            let out = taken(&near, &vec![0.0; len], 777);
            assert_eq!(out.len(), len);
            for (at, (got, want)) in out.iter().zip(&near).enumerate() {
                assert!((got - want).abs() < 1e-5, "{len}: {at}: {got} {want}");
            }
        }
    }

    #[test]
    fn what_both_hear_is_lowered_and_what_only_one_hears_is_kept() {
        let (machine, hall) = (tone(1000.0, 32_000), tone(3000.0, 32_000));
        let both: Vec<f32> = machine.iter().zip(&hall).map(|(one, other)| one + other).collect();
        let out = taken(&both, &hall, 1000);
        let rest: Vec<f32> = out.iter().zip(&machine).map(|(out, one)| out - one).collect();
        // 20 dB is the most that is taken.
        let (before, after) = (power(&hall[8000..24_000]), power(&rest[8000..24_000]));
        assert!(after < 0.02 * before, "{after} {before}");
        // The same sound on both leaves a tenth.
        let same = taken(&machine, &machine, 1000);
        assert!((power(&same[8000..24_000]) / power(&machine[8000..24_000]) - 0.01).abs() < 0.002);
    }

    #[test]
    fn silence_stays_silence() {
        let silence = vec![0.0; 5000];
        assert!(taken(&silence, &silence, 100).iter().all(|&sample| sample == 0.0));
    }

    proptest! {
        #[test]
        fn the_size_of_the_pieces_does_not_matter(len in 1_usize..6000, at_once in 1_usize..3000) {
            let (near, far) = (noise(len), tone(500.0, len));
            let (pieces, whole) = (taken(&near, &far, at_once), taken(&near, &far, len));
            prop_assert_eq!(pieces, whole);
        }
    }
}

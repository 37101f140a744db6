//! The spectrogram of a clip, coarse enough for a picture.

use auscult::fourier::{self, Complex32, RealToComplex};

/// Levels over time and frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrogram {
    /// Cells a row: time.
    pub columns: usize,
    /// Rows: frequency, the lowest first, 0 to half the sample rate.
    pub rows: usize,
    /// Decibels, row by row. Never NaN or infinite.
    pub decibels: Vec<f32>,
}

/// At most this many cells; finer detail cannot be seen at the size of the picture.
const MOST_COLUMNS: usize = 300;
const MOST_ROWS: usize = 128;

/// The window is about this long, as in the paper's log-mel front end.
const WINDOW_SECONDS: f64 = 0.064;

/// Silence, so that its logarithm exists.
const LOWEST_POWER: f32 = 1e-20;

impl Spectrogram {
    /// The spectrogram of mono samples. Each cell has the level of its loudest part, so that a
    /// single click or tone stays visible. Samples that are not finite count as 0.
    pub fn of(samples: &[f32], sample_rate: u32) -> Self {
        let wanted = (f64::from(sample_rate) * WINDOW_SECONDS) as usize;
        let window_len = wanted.next_power_of_two().clamp(64, 16_384);
        let hop = window_len / 2;
        let frames = (samples.len().saturating_sub(window_len)) / hop + 1;
        let columns = frames.min(MOST_COLUMNS);
        let bins = window_len / 2;
        let rows = bins.min(MOST_ROWS);

        let mut powers = vec![LOWEST_POWER; rows * columns];
        let mut transform = Transform::new(window_len);
        for frame in 0..frames {
            let column = frame * columns / frames;
            let start = (frame * hop).min(samples.len());
            for (bin, power) in transform.powers(&samples[start..]).take(bins).enumerate() {
                let cell = &mut powers[bin * rows / bins * columns + column];
                *cell = cell.max(power);
            }
        }
        let decibels = powers.iter().map(|power| 10.0 * power.log10()).collect();
        Self { columns, rows, decibels }
    }

    /// The loudest cell.
    pub fn loudest(&self) -> f32 {
        self.decibels.iter().copied().fold(f32::NEG_INFINITY, f32::max)
    }
}

/// Windowed Fourier transforms of one length.
pub(crate) struct Transform {
    plan: std::sync::Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    input: Vec<f32>,
    output: Vec<Complex32>,
    scratch: Vec<Complex32>,
}

impl Transform {
    pub(crate) fn new(window_len: usize) -> Self {
        let plan = fourier::forward(window_len);
        let turn = std::f32::consts::TAU / window_len as f32;
        Self {
            window: (0..window_len).map(|at| 0.5 - 0.5 * (turn * at as f32).cos()).collect(),
            input: plan.make_input_vec(),
            output: plan.make_output_vec(),
            scratch: plan.make_scratch_vec(),
            plan,
        }
    }

    /// Power of each bin of the first samples, which are padded with zeros.
    pub(crate) fn powers(&mut self, samples: &[f32]) -> impl Iterator<Item = f32> {
        self.input.fill(0.0);
        for ((input, &sample), weight) in self.input.iter_mut().zip(samples).zip(&self.window) {
            // Beyond any real recording, and small enough that no power is infinite.
            let sample = if sample.is_finite() { sample.clamp(-1e6, 1e6) } else { 0.0 };
            *input = sample * weight;
        }
        // Buffers are made by the plan, so their lengths are right.
        let done =
            self.plan.process_with_scratch(&mut self.input, &mut self.output, &mut self.scratch);
        if done.is_err() {
            self.output.fill(Complex32::default());
        }
        let scale = 4.0 / (self.window.len() as f32).powi(2);
        self.output.iter().map(move |value| value.norm_sqr() * scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hertz: f32, seconds: f32) -> Vec<f32> {
        let step = std::f32::consts::TAU * hertz / 16_000.0;
        (0..(16_000.0 * seconds) as usize).map(|at| (at as f32 * step).sin() * 0.5).collect()
    }

    #[test]
    fn a_tone_is_loudest_in_its_row() {
        let spectrogram = Spectrogram::of(&tone(2_000.0, 1.0), 16_000);
        assert_eq!((spectrogram.rows, spectrogram.columns), (128, 30));
        let middle = |row: usize| spectrogram.decibels[row * spectrogram.columns + 15];
        let loudest = (0..128).max_by(|&a, &b| middle(a).total_cmp(&middle(b))).unwrap();
        assert_eq!(loudest, 32, "2 kHz of 8 kHz is a quarter of the rows");
    }

    #[test]
    fn long_sound_keeps_to_the_size_of_the_picture() {
        let spectrogram = Spectrogram::of(&tone(500.0, 60.0), 16_000);
        assert_eq!((spectrogram.rows, spectrogram.columns), (MOST_ROWS, MOST_COLUMNS));
    }

    #[test]
    fn any_samples_have_finite_levels() {
        let absurd =
            [vec![], vec![0.5], vec![0.0; 5_000], vec![f32::NAN, f32::INFINITY, f32::MAX, -1e30]];
        for samples in absurd {
            for sample_rate in [0, 1, 8_000, u32::MAX] {
                let spectrogram = Spectrogram::of(&samples, sample_rate);
                assert!(spectrogram.decibels.iter().all(|level| level.is_finite()));
                assert_eq!(spectrogram.decibels.len(), spectrogram.rows * spectrogram.columns);
            }
        }
    }
}

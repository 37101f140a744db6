//! Any sample rate becomes the wanted one, block by block.
//!
//! A thin wrapper around rubato's synchronous FFT resampler: it takes pieces of
//! any length, removes the filter's delay and gives exactly
//! `round(samples * to / from)` samples in all.

use std::collections::VecDeque;
use std::fmt;

use rubato::audioadapter_buffers::direct::SequentialSlice;
use rubato::{Fft, FixedSync, Resampler as _, WindowFunction};

use crate::{Error, Result};

/// The filter is at least this long on the slower of the two sides, in samples.
///
/// With the squared Blackman-Harris window this puts the edge of the pass band at
/// 95 % of the lower Nyquist frequency (see the README for the measured values).
const MIN_FILTER_LEN: usize = 1_024;

/// Samples beyond this size are treated as not finite: their spectrum would overflow.
const MAX_MAGNITUDE: f32 = 1e30;

/// A streaming mono resampler without delay.
///
/// A sample that is not finite counts as 0 for its neighbours, and the output
/// sample at its time is NaN: one bad sample stays one bad sample.
pub(crate) struct Resampler {
    /// `None` when the rates are equal: samples pass unchanged.
    inner: Option<Inner>,
}

struct Inner {
    fft: Fft<f32>,
    from: u32,
    to: u32,
    waiting: Vec<f32>,
    block: Vec<f32>,
    /// Output samples still to be thrown away because they precede the sound.
    delay_left: usize,
    /// Where outputs have to be NaN, counted in samples of the output.
    lost: VecDeque<u64>,
    taken: u64,
    given: u64,
}

impl Resampler {
    /// Plans a conversion from one rate to another, both in Hz and not 0.
    pub(crate) fn new(from: u32, to: u32) -> Result<Self> {
        let inner = if from == to { None } else { Some(Inner::new(from, to)?) };
        Ok(Self { inner })
    }

    /// Whether samples pass unchanged.
    pub(crate) fn is_idle(&self) -> bool {
        self.inner.is_none()
    }

    /// The most samples that one push of at most `len` samples appends.
    pub(crate) fn max_output_len(&self, len: usize) -> usize {
        let Some(inner) = &self.inner else { return len };
        let blocks = len.div_ceil(inner.fft.input_frames_max()) + 1;
        blocks * inner.block.len()
    }

    /// Takes the next samples and appends what is ready to `output`.
    pub(crate) fn push(&mut self, samples: &[f32], output: &mut Vec<f32>) -> Result<()> {
        match &mut self.inner {
            None => output.extend_from_slice(samples),
            Some(inner) => inner.push(samples, output)?,
        }
        Ok(())
    }

    /// Says that no more samples come and appends the rest to `output`.
    pub(crate) fn finish(&mut self, output: &mut Vec<f32>) -> Result<()> {
        self.inner.as_mut().map_or(Ok(()), |inner| inner.finish(output))
    }
}

impl fmt::Debug for Resampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates = self.inner.as_ref().map(|inner| (inner.from, inner.to));
        f.debug_struct("Resampler").field("rates", &rates).finish_non_exhaustive()
    }
}

impl Inner {
    fn new(from: u32, to: u32) -> Result<Self> {
        let fft = Fft::new_custom(
            from as usize,
            to as usize,
            block_len(from, to),
            1,
            1,
            WindowFunction::BlackmanHarris2,
            FixedSync::Both,
        )
        .map_err(|error| Error::Resample { from, to, reason: error.to_string() })?;
        let block = vec![0.0; fft.output_frames_max()];
        let delay_left = fft.output_delay();
        let (waiting, lost) = (Vec::new(), VecDeque::new());
        Ok(Self { fft, from, to, waiting, block, delay_left, lost, taken: 0, given: 0 })
    }

    fn push(&mut self, mut samples: &[f32], output: &mut Vec<f32>) -> Result<()> {
        let wanted = self.fft.input_frames_next();
        while self.waiting.len() + samples.len() >= wanted {
            let (now, later) = samples.split_at(wanted - self.waiting.len());
            self.take(now);
            samples = later;
            self.run_block(output, u64::MAX)?;
        }
        self.take(samples);
        Ok(())
    }

    /// Lets samples wait, with a 0 in place of each one that is not finite.
    ///
    /// The FFT would spread such a sample over two blocks, and rubato panics on it.
    fn take(&mut self, samples: &[f32]) {
        let is_good = |sample: &f32| sample.abs() <= MAX_MAGNITUDE;
        let start = self.waiting.len();
        self.waiting.extend_from_slice(samples);
        if !samples.iter().all(is_good) {
            for (sample, index) in self.waiting[start..].iter_mut().zip(self.taken..) {
                if !is_good(sample) {
                    *sample = 0.0;
                    let time = u128::from(index) * u128::from(self.to) / u128::from(self.from);
                    self.lost.push_back(time as u64);
                }
            }
        }
        self.taken += samples.len() as u64;
    }

    fn finish(&mut self, output: &mut Vec<f32>) -> Result<()> {
        let total = output_len(self.taken, self.from, self.to);
        for time in &mut self.lost {
            *time = (*time).min(total.saturating_sub(1));
        }
        while self.given < total {
            self.waiting.resize(self.fft.input_frames_next(), 0.0);
            self.run_block(output, total)?;
        }
        self.waiting.clear();
        Ok(())
    }

    /// Converts the waiting block; gives no more than `total` samples in all.
    fn run_block(&mut self, output: &mut Vec<f32>, total: u64) -> Result<()> {
        let (from, to) = (self.from, self.to);
        let failed = |reason: String| Error::Resample { from, to, reason };
        let input = SequentialSlice::new(&self.waiting, 1, self.waiting.len())
            .map_err(|error| failed(error.to_string()))?;
        let capacity = self.block.len();
        let mut block = SequentialSlice::new_mut(&mut self.block, 1, capacity)
            .map_err(|error| failed(error.to_string()))?;
        let (_, produced) = self
            .fft
            .process_into_buffer(&input, &mut block, None)
            .map_err(|error| failed(error.to_string()))?;
        self.waiting.clear();
        let skipped = self.delay_left.min(produced);
        self.delay_left -= skipped;
        let room = usize::try_from(total - self.given).unwrap_or(usize::MAX);
        let given = (produced - skipped).min(room);
        let given = &mut self.block[skipped..skipped + given];
        while let Some(&time) = self.lost.front()
            && let Some(sample) = given.get_mut(time.saturating_sub(self.given) as usize)
        {
            *sample = f32::NAN;
            // Times are in order but not distinct.
            self.lost.pop_front();
        }
        output.extend_from_slice(given);
        self.given += given.len() as u64;
        Ok(())
    }
}

/// The length of one input block: both sides even, so that the delay is a whole
/// number of samples, and the slower side at least [`MIN_FILTER_LEN`] long.
fn block_len(from: u32, to: u32) -> usize {
    let divisor = greatest_common_divisor(from, to);
    let (unit_from, unit_to) = ((from / divisor) as usize, (to / divisor) as usize);
    let units = MIN_FILTER_LEN.div_ceil(unit_from.min(unit_to)).next_multiple_of(2);
    units * unit_from
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// How many samples `samples` become; sound is never rounded away altogether.
fn output_len(samples: u64, from: u32, to: u32) -> u64 {
    let exact = u128::from(samples) * u128::from(to);
    let rounded = (exact + u128::from(from) / 2) / u128::from(from);
    u64::try_from(rounded).unwrap_or(u64::MAX).max(u64::from(samples > 0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{level, tone};

    /// Resamples in pieces of `piece` samples.
    fn resample(samples: &[f32], from: u32, to: u32, piece: usize) -> Vec<f32> {
        let mut resampler = Resampler::new(from, to).unwrap();
        let mut output = Vec::new();
        for piece in samples.chunks(piece) {
            resampler.push(piece, &mut output).unwrap();
        }
        resampler.finish(&mut output).unwrap();
        output
    }

    /// The level of a tone after resampling against the level before, away from the ends.
    fn gain(frequency: f64, from: u32, to: u32) -> f64 {
        let samples = tone(frequency, from, 4 * from as usize);
        let output = resample(&samples, from, to, 4_096);
        level(&output[to as usize..3 * to as usize]) - level(&samples)
    }

    /// How far a resampled tone is from the same tone made at the wanted rate, in dB.
    fn distance(frequency: f64, from: u32, to: u32) -> f64 {
        let output = resample(&tone(frequency, from, 3 * from as usize), from, to, 1_000);
        let expected = tone(frequency, to, output.len());
        let middle = to as usize..2 * to as usize;
        let pairs = output[middle.clone()].iter().zip(&expected[middle]);
        level(&pairs.map(|(a, b)| a - b).collect::<Vec<_>>())
    }

    fn bits(samples: &[f32]) -> Vec<u32> {
        samples.iter().map(|sample| sample.to_bits()).collect()
    }

    #[test]
    fn equal_rates_pass_bits_unchanged() {
        let samples = [0.1, f32::NAN, -1.0, f32::INFINITY, 1e-40];
        assert_eq!(bits(&resample(&samples, 16_000, 16_000, 2)), bits(&samples));
    }

    #[test]
    fn pass_band_is_flat_within_a_hundredth_of_a_decibel() {
        for from in [8_000, 11_025, 22_050, 37_800, 44_100, 48_000, 96_000, 192_000, 384_000] {
            let edge = 0.475 * f64::from(from.min(16_000));
            for frequency in [50.0, 1_000.0, edge] {
                let gain = gain(frequency, from, 16_000);
                assert!(gain.abs() < 0.01, "{from} Hz: {gain} dB at {frequency} Hz");
            }
        }
    }

    #[test]
    fn stop_band_is_suppressed() {
        for from in [22_050, 37_800, 44_100, 48_000, 96_000, 192_000, 384_000] {
            for frequency in [8_100.0, 10_000.0, f64::from(from) * 0.49] {
                let gain = gain(frequency, from, 16_000);
                assert!(gain < -100.0, "{from} Hz: {gain} dB at {frequency} Hz");
            }
        }
    }

    #[test]
    fn a_tone_keeps_its_time_and_gets_no_images() {
        for from in [8_000, 11_025, 44_100, 48_000, 44_101] {
            for frequency in [440.0, 3_000.0] {
                let distance = distance(frequency, from, 16_000);
                assert!(distance < -100.0, "{from} Hz: {distance} dB at {frequency} Hz");
            }
        }
    }

    #[test]
    fn sample_that_is_not_finite_stays_one_such_sample_at_its_time() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
            for (from, index) in [(48_000, 48_000), (44_100, 0), (8_000, 15_999)] {
                let mut samples = tone(440.0, from, 2 * from as usize);
                samples[index] = bad;
                let output = resample(&samples, from, 16_000, 999);
                let lost: Vec<_> =
                    (0..output.len()).filter(|&at| !output[at].is_finite()).collect();
                assert_eq!(lost, [index * 16_000 / from as usize], "{bad} at {from} Hz");
            }
        }
    }

    #[test]
    fn sound_that_is_nowhere_finite_stays_so() {
        for (from, len) in [(48_000, 4), (48_000, 100_000), (44_101, 100_000)] {
            let output = resample(&vec![f32::NAN; len], from, 16_000, 4_096);
            assert!(output.iter().all(|sample| sample.is_nan()), "{len} samples at {from} Hz");
        }
    }

    #[test]
    fn one_sample_is_not_rounded_away() {
        assert_eq!(resample(&[1.0], 384_000, 16_000, 1).len(), 1);
        assert!(resample(&[], 48_000, 16_000, 1).is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn length_is_rounded_and_the_size_of_pieces_does_not_matter(
            from in prop::sample::select(vec![1_001, 11_025, 37_800, 44_100, 48_000]),
            len in 1_usize..20_000,
            piece in 1_usize..5_000,
        ) {
            let samples = tone(100.0, from, len);
            let whole = resample(&samples, from, 16_000, len);
            let exact = len as f64 * 16_000.0 / f64::from(from);
            prop_assert!((whole.len() as f64 - exact).abs() <= 1.0);
            prop_assert_eq!(bits(&whole), bits(&resample(&samples, from, 16_000, piece)));
        }
    }
}

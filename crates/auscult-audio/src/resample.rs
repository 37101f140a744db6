//! Any sample rate becomes the wanted one, block by block.
//!
//! A thin wrapper around rubato's synchronous FFT resampler: it takes pieces of
//! any length, removes the filter's delay and gives exactly
//! `round(samples * to / from)` samples in all.

use std::fmt;

use rubato::audioadapter_buffers::direct::SequentialSlice;
use rubato::{Fft, FixedSync, Resampler as _, WindowFunction};

use crate::{Error, Result};

/// The filter is at least this long on the slower of the two sides, in samples.
///
/// With the squared Blackman-Harris window this puts the edge of the pass band at
/// 95 % of the lower Nyquist frequency (see the README for the measured values).
const MIN_FILTER_LEN: usize = 1_024;

/// A streaming mono resampler without delay.
///
/// A sample that is not finite makes every output within one filter length of it
/// not finite, and no other.
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
    taken: u64,
    given: u64,
}

impl Resampler {
    /// Plans a conversion from one rate to another, both in Hz and not 0.
    pub(crate) fn new(from: u32, to: u32) -> Result<Self> {
        let inner = if from == to { None } else { Some(Inner::new(from, to)?) };
        Ok(Self { inner })
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

    /// How many samples are held back, waiting for more.
    #[cfg(test)]
    pub(crate) fn buffered(&self) -> usize {
        self.inner.as_ref().map_or(0, |inner| inner.waiting.len())
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
        Ok(Self { fft, from, to, waiting: Vec::new(), block, delay_left, taken: 0, given: 0 })
    }

    fn push(&mut self, mut samples: &[f32], output: &mut Vec<f32>) -> Result<()> {
        self.taken += samples.len() as u64;
        let wanted = self.fft.input_frames_next();
        while self.waiting.len() + samples.len() >= wanted {
            let (now, later) = samples.split_at(wanted - self.waiting.len());
            self.waiting.extend_from_slice(now);
            samples = later;
            self.run_block(output, u64::MAX)?;
        }
        self.waiting.extend_from_slice(samples);
        Ok(())
    }

    fn finish(&mut self, output: &mut Vec<f32>) -> Result<()> {
        let total = output_len(self.taken, self.from, self.to);
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
        output.extend_from_slice(&self.block[skipped..skipped + given]);
        self.given += given as u64;
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

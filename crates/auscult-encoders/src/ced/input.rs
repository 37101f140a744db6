//! CED's input: 64 mel bins in decibels, 32 ms windows every 10 ms, normalised per bin.

use std::{fmt, sync::Arc};

use auscult_core::{ClipLength, Extractor};
use auscult_kernels::fourier::{self, Complex32, RealToComplex};

use crate::{Result, weights::Weights};

pub(super) const BINS: usize = 64;
const FFT: usize = 512;
const HOP: usize = 160;
const SPECTRUM: usize = FFT / 2 + 1;
const EPSILON: f32 = 1e-5;

/// The plan of the input: window, filters, and the normalisation of each bin.
pub(super) struct CedInput {
    window: Vec<f32>,
    filters: Vec<Filter>,
    scale: Vec<f32>,
    offset: Vec<f32>,
    fft: Arc<dyn RealToComplex<f32>>,
}

impl fmt::Debug for CedInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CedInput").finish_non_exhaustive()
    }
}

/// The weights of one mel bin, from the first to the last that is not zero.
struct Filter {
    first: usize,
    weights: Vec<f32>,
}

/// Computes the input of clips of one length.
pub(super) struct CedExtractor {
    input: Arc<CedInput>,
    /// The clip, padded with zeros or cut.
    padded: Vec<f32>,
    map: CedMap,
}

impl CedExtractor {
    pub(super) fn new(input: Arc<CedInput>, length: ClipLength) -> Self {
        Self { input, padded: vec![0.0; length.samples()], map: CedMap::default() }
    }
}

impl Extractor for CedExtractor {
    fn for_each_frame(
        &mut self,
        samples: &[f32],
        sink: &mut dyn FnMut(&[f32]),
    ) -> auscult_core::Result<()> {
        let Self { input, padded, map } = self;
        let len = samples.len().min(padded.len());
        padded[..len].copy_from_slice(&samples[..len]);
        padded[len..].fill(0.0);
        input.compute(padded, map);
        map.values.chunks_exact(BINS).for_each(sink);
        Ok(())
    }
}

/// Buffers of the input.
#[derive(Debug, Default)]
struct CedMap {
    frame: Vec<f32>,
    powers: Vec<f32>,
    spectrum: Vec<Complex32>,
    scratch: Vec<Complex32>,
    /// Decibels before normalisation, frames x bins.
    decibels: Vec<f32>,
    /// The input of the encoder, frames x bins.
    values: Vec<f32>,
}

impl CedInput {
    pub(super) fn read(weights: &mut Weights<'_>) -> Result<Self> {
        let window = weights.take_if_present("window", &[FFT])?.unwrap_or_else(hann);
        let filters = weights.take_if_present("mel_fb", &[SPECTRUM, BINS])?;
        let name = |part: &str| format!("encoder.init_bn.{part}");
        let weight = weights.take(&name("weight"), &[BINS])?;
        let bias = weights.take(&name("bias"), &[BINS])?;
        let mean = weights.take(&name("running_mean"), &[BINS])?;
        let variance = weights.take(&name("running_var"), &[BINS])?;
        let scale: Vec<f32> = weight
            .iter()
            .zip(&variance)
            .map(|(weight, variance)| weight / (variance + EPSILON).sqrt())
            .collect();
        let offset = bias.iter().zip(&mean).zip(&scale).map(|((b, m), s)| b - m * s).collect();
        let filters = without_zeros(&filters.unwrap_or_else(mel_filters));
        let fft = fourier::forward(FFT);
        Ok(Self { window, filters, scale, offset, fft })
    }

    /// Computes the map of a clip of at least one sample.
    fn compute(&self, samples: &[f32], map: &mut CedMap) {
        let CedMap { frame, powers, spectrum, scratch, decibels, values } = map;
        let frames = samples.len() / HOP + 1;
        frame.resize(FFT, 0.0);
        spectrum.resize(SPECTRUM, Complex32::default());
        scratch.resize(self.fft.get_scratch_len(), Complex32::default());
        decibels.clear();
        for index in 0..frames {
            self.cut(samples, index * HOP, frame);
            // The buffers have the lengths the plan asks for: it cannot refuse.
            let _ = self.fft.process_with_scratch(frame, spectrum, scratch);
            powers.clear();
            powers.extend(spectrum.iter().map(Complex32::norm_sqr));
            decibels.extend(self.filters.iter().map(|filter| {
                let energy = filter.energy(powers);
                10.0 * energy.max(1e-10).log10()
            }));
        }
        values.clear();
        for row in decibels.chunks_exact(BINS) {
            let bins = row.iter().zip(&self.scale).zip(&self.offset);
            values.extend(bins.map(|((value, scale), offset)| value * scale + offset));
        }
    }
}

impl CedInput {
    /// The windowed frame from position `start` of the signal padded by half a window.
    fn cut(&self, samples: &[f32], start: usize, frame: &mut [f32]) {
        let inside = start.checked_sub(FFT / 2).and_then(|start| samples.get(start..start + FFT));
        if let Some(samples) = inside {
            for ((value, sample), weight) in frame.iter_mut().zip(samples).zip(&self.window) {
                *value = sample * weight;
            }
            return;
        }
        for (at, (value, weight)) in frame.iter_mut().zip(&self.window).enumerate() {
            *value = samples[reflected(start + at, samples.len())] * weight;
        }
    }
}

impl Filter {
    /// Summed in the order of frequencies; the zeros that were left out would add nothing.
    fn energy(&self, powers: &[f32]) -> f32 {
        let powers = powers[self.first..].iter().zip(&self.weights);
        powers.fold(0.0, |sum, (power, weight)| sum + power * weight)
    }
}

/// The filters of `SPECTRUM` rows of `BINS` weights: a mel bin uses few of the frequencies.
fn without_zeros(weights: &[f32]) -> Vec<Filter> {
    let filter = |bin: usize| {
        let column: Vec<f32> = weights.iter().skip(bin).step_by(BINS).copied().collect();
        let first = column.iter().position(|&weight| weight != 0.0).unwrap_or(0);
        let end = column.iter().rposition(|&weight| weight != 0.0).map_or(0, |last| last + 1);
        Filter { first, weights: column[first..end].to_vec() }
    };
    (0..BINS).map(filter).collect()
}

/// Where position `at` of the signal padded by half a window lies in the signal, reflected.
fn reflected(at: usize, len: usize) -> usize {
    let at = at.cast_signed() - (FFT / 2).cast_signed();
    let last = len.cast_signed() - 1;
    let at = if at < 0 { -at } else { at };
    let at = if at > last { 2 * last - at } else { at };
    at.clamp(0, last).unsigned_abs()
}

/// The periodic Hann window.
fn hann() -> Vec<f32> {
    let angle = std::f64::consts::TAU / FFT as f64;
    (0..FFT).map(|at| (0.5 - 0.5 * (angle * at as f64).cos()) as f32).collect()
}

/// torchaudio's triangles on the HTK mel scale, 0 to 8000 Hz, not normalised.
fn mel_filters() -> Vec<f32> {
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let hertz = |mel: f64| 700.0 * (10.0_f64.powf(mel / 2595.0) - 1.0);
    let edge = |at: usize| hertz(mel(8000.0) * at as f64 / (BINS + 1) as f64);
    let edges: Vec<f64> = (0..BINS + 2).map(edge).collect();
    let mut filters = Vec::with_capacity(SPECTRUM * BINS);
    for at in 0..SPECTRUM {
        let frequency = 8000.0 * at as f64 / (SPECTRUM - 1) as f64;
        filters.extend(edges.windows(3).map(|edges| {
            let up = (frequency - edges[0]) / (edges[1] - edges[0]);
            let down = (edges[2] - frequency) / (edges[2] - edges[1]);
            up.min(down).max(0.0) as f32
        }));
    }
    filters
}

/// The edges of the mel bins in hertz.
pub(crate) fn edges() -> Vec<f64> {
    let top = 2595.0 * (1.0_f64 + 8000.0 / 700.0).log10();
    let edge = |at: usize| {
        // Half-way between the centres of two triangles.
        let mel = top * (at as f64 + 0.5) / (BINS + 1) as f64;
        700.0 * (10.0_f64.powf(mel / 2595.0) - 1.0)
    };
    (0..=BINS).map(edge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflection_stays_inside() {
        assert_eq!(reflected(0, 1000), 256);
        assert_eq!(reflected(256, 1000), 0);
        assert_eq!(reflected(256 + 999, 1000), 999);
        assert_eq!(reflected(256 + 1000, 1000), 998);
        assert_eq!(reflected(600, 1), 0);
    }

    /// The bundled weights hold the window and the filters their authors used, rounded to int8.
    #[test]
    fn window_and_filters_are_those_of_the_authors() {
        let checkpoint = crate::Checkpoint::from_static(auscult_ced_tiny::WEIGHTS).unwrap();
        for (name, shape, made) in
            [("window", vec![FFT], hann()), ("mel_fb", vec![SPECTRUM, BINS], mel_filters())]
        {
            let stored = checkpoint.read(name, &shape).unwrap();
            for (at, (made, stored)) in made.iter().zip(&stored).enumerate() {
                assert!((made - stored).abs() < 0.005, "{name}[{at}]: {made} for {stored}");
            }
        }
    }

    #[test]
    fn bins_ascend_from_0_to_8000_hertz() {
        let edges = edges();
        assert!(edges.is_sorted() && edges[0] > 0.0 && edges[BINS] < 8000.0);
    }
}

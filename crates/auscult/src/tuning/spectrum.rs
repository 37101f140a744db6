//! The spectrum of a whole clip, to be changed and turned back into samples.

use std::ops::Range;

use auscult_core::fourier::{self, Complex64};

/// The spectrum of a clip, one transform over all of it.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum {
    bins: Vec<Complex64>,
    len: usize,
    sample_rate: f64,
}

impl Spectrum {
    pub(crate) fn of(samples: &[f32], sample_rate: u32) -> Self {
        let mut input: Vec<f64> = samples.iter().map(|&sample| f64::from(sample)).collect();
        let transform = fourier::forward_f64(samples.len());
        let mut bins = transform.make_output_vec();
        // The buffers have the plan's lengths: it cannot fail.
        let _ = transform.process(&mut input, &mut bins);
        Self { bins, len: samples.len(), sample_rate: f64::from(sample_rate) }
    }

    /// The samples this is the spectrum of.
    pub(crate) fn into_samples(mut self) -> Vec<f32> {
        let transform = fourier::inverse_f64(self.len);
        let mut samples = transform.make_output_vec();
        // A real signal has a real value at 0 Hz and, of even length, at the Nyquist frequency.
        if let Some(first) = self.bins.first_mut() {
            first.im = 0.0;
        }
        if self.len.is_multiple_of(2)
            && let Some(last) = self.bins.last_mut()
        {
            last.im = 0.0;
        }
        // The buffers have the plan's lengths and the ends are real: it cannot fail.
        let _ = transform.process(&mut self.bins, &mut samples);
        samples.iter().map(|sample| (sample / self.len as f64) as f32).collect()
    }

    pub(crate) fn nyquist(&self) -> f64 {
        self.sample_rate / 2.0
    }

    /// Multiplies every bin by `gain` of its frequency in hertz.
    pub(crate) fn scale(&mut self, gain: impl Fn(f64) -> f64) {
        let hertz_per_bin = self.sample_rate / self.len as f64;
        for (index, bin) in self.bins.iter_mut().enumerate() {
            *bin *= gain(index as f64 * hertz_per_bin);
        }
    }

    /// Moves everything up (or down) by this many hertz; what leaves the axis is gone.
    pub(crate) fn shift(&mut self, hertz: f64) {
        let by = (hertz.abs() * self.len as f64 / self.sample_rate).round() as usize;
        let by = by.min(self.bins.len());
        if hertz > 0.0 {
            self.bins.rotate_right(by);
            self.bins[..by].fill(Complex64::ZERO);
        } else {
            self.bins.rotate_left(by);
            let kept = self.bins.len() - by;
            self.bins[kept..].fill(Complex64::ZERO);
        }
    }

    /// Replaces a band by that of another clip times `gain`.
    pub(crate) fn replace_band(&mut self, other: &Self, band: Range<f64>, gain: f64) {
        let band = self.positions(band);
        let end = band.end.min(other.bins.len());
        for index in band.start.min(end)..end {
            self.bins[index] = other.bins[index] * gain;
        }
    }

    /// Root mean square of what lies in a band.
    pub(crate) fn band_level(&self, band: Range<f64>) -> f64 {
        let power: f64 = self.bins[self.positions(band)].iter().map(Complex64::norm_sqr).sum();
        // Half of the bins stand for both halves of the spectrum (Parseval).
        (2.0 * power).sqrt() / self.len as f64
    }

    fn positions(&self, band: Range<f64>) -> Range<usize> {
        let position = |hertz: f64| {
            ((hertz * self.len as f64 / self.sample_rate) as usize).min(self.bins.len())
        };
        position(band.start)..position(band.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hertz: f32, len: usize) -> Vec<f32> {
        (0..len).map(|i| (i as f32 * hertz * std::f32::consts::TAU / 16_000.0).sin()).collect()
    }

    #[test]
    fn there_and_back_gives_the_same_samples_at_any_length() {
        for len in [1, 2, 7, 1_000, 1_601] {
            let samples = tone(440.0, len);
            let back = Spectrum::of(&samples, 16_000).into_samples();
            assert!(samples.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-5), "{len}");
        }
    }

    #[test]
    fn the_level_of_a_band_is_that_of_the_tone_in_it() {
        let spectrum = Spectrum::of(&tone(1_000.0, 16_000), 16_000);
        assert!((spectrum.band_level(900.0..1_100.0) - 0.5_f64.sqrt()).abs() < 1e-3);
        assert!(spectrum.band_level(2_000.0..3_000.0) < 1e-3);
    }

    #[test]
    fn a_shifted_tone_is_where_it_was_shifted_to() {
        let mut spectrum = Spectrum::of(&tone(1_000.0, 16_000), 16_000);
        spectrum.shift(50.0);
        assert!(spectrum.band_level(1_040.0..1_060.0) > 0.7);
        spectrum.shift(-100.0);
        assert!(spectrum.band_level(940.0..960.0) > 0.7);
    }
}

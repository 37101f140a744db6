//! Log-compressed mel filter bank energies, in every convention the field uses.

use super::{
    axis::Level,
    framing::{Conditioning, Edges, Framing, Window},
    mel::{MelFilters, MelScale},
    spectrum::{SpectrumBuffers, SpectrumPlan},
};
use crate::{ClipLength, Error, Result};

/// How energies are compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Compression {
    /// ln(max(energy, f32 epsilon)): Kaldi.
    NaturalLog,
    /// 10 log10(energy + f64 epsilon): the DCASE baselines.
    Decibels,
    /// 10 log10(max(energy, 1e-10)); the caller clips it at 80 dB below the loudest value.
    FlooredDecibels,
}

impl Compression {
    pub(super) fn level(self) -> Level {
        match self {
            Self::NaturalLog => Level::NaturalLogPower,
            Self::Decibels | Self::FlooredDecibels => Level::Decibels,
        }
    }

    fn apply(self, energies: &mut [f32]) {
        for energy in energies {
            *energy = match self {
                Self::NaturalLog => energy.max(f32::EPSILON).ln(),
                // The offset is far below f32 resolution of any audible energy.
                Self::Decibels => 10.0 * (*energy + f64::EPSILON as f32).log10(),
                Self::FlooredDecibels => 10.0 * energy.max(1e-10).log10(),
            };
        }
    }
}

/// Everything that defines a filter bank front end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe {
    pub(super) frame_ms: f64,
    pub(super) hop_ms: f64,
    pub(super) edges: Edges,
    /// Factor on samples in [-1, 1).
    pub(super) scale: f32,
    pub(super) conditioning: Conditioning,
    pub(super) window: Window,
    pub(super) mel_scale: MelScale,
    pub(super) mel_bins: usize,
    pub(super) low_hertz: f64,
    pub(super) compression: Compression,
}

/// Kaldi expects samples in the range of 16-bit integers.
pub(super) const INT16_SCALE: f32 = 32_768.0;

/// No front end looks higher than this.
const HIGHEST_HERTZ: f64 = 8000.0;

impl Recipe {
    /// Kaldi's filter bank, 64 ms frames every 32 ms, 128 bins from 0 Hz.
    pub(super) const KALDI: Self = Self {
        frame_ms: 64.0,
        hop_ms: 32.0,
        edges: Edges::Snip,
        scale: 1.0,
        conditioning: Conditioning::Kaldi,
        window: Window::Povey,
        mel_scale: MelScale::Kaldi,
        mel_bins: 128,
        low_hertz: 0.0,
        compression: Compression::NaturalLog,
    };

    /// librosa's mel spectrogram as the DCASE baselines use it.
    pub(super) const DCASE: Self = Self {
        edges: Edges::Centred,
        conditioning: Conditioning::Plain,
        window: Window::PeriodicHann,
        mel_scale: MelScale::Slaney,
        compression: Compression::Decibels,
        ..Self::KALDI
    };
}

/// A [`Recipe`] planned for one clip length.
#[derive(Debug, Clone)]
pub(super) struct FilterBank {
    recipe: Recipe,
    framing: Framing,
    frame_count: usize,
    clip_len: usize,
    window: Vec<f32>,
    spectrum: SpectrumPlan,
    filters: MelFilters,
}

impl FilterBank {
    pub(super) fn new(recipe: Recipe, length: ClipLength) -> Result<Self> {
        let rate = f64::from(length.sample_rate());
        let samples = |milliseconds: f64| (milliseconds * rate / 1000.0).round() as usize;
        let framing = Framing {
            frame_len: samples(recipe.frame_ms),
            hop: samples(recipe.hop_ms),
            edges: recipe.edges,
        };
        let frame_count = framing.frame_count(length.samples());
        if frame_count == 0 {
            return Err(Error::setting(
                "clip length",
                format!("at least one frame of {} ms", recipe.frame_ms),
                format!("{} samples at {rate} Hz", length.samples()),
            ));
        }
        let fft_len = match recipe.conditioning {
            Conditioning::Plain => framing.frame_len,
            Conditioning::Kaldi => framing.frame_len.next_power_of_two(),
        };
        let high_hertz = HIGHEST_HERTZ.min(rate / 2.0);
        Ok(Self {
            recipe,
            framing,
            frame_count,
            clip_len: length.samples(),
            window: recipe.window.coefficients(framing.frame_len),
            spectrum: SpectrumPlan::new(fft_len),
            filters: MelFilters::new(
                recipe.mel_scale,
                recipe.mel_bins,
                recipe.low_hertz,
                high_hertz,
                fft_len,
                length.sample_rate(),
            ),
        })
    }

    pub(super) fn bins(&self) -> usize {
        self.recipe.mel_bins
    }

    pub(super) fn frame_count(&self) -> usize {
        self.frame_count
    }

    pub(super) fn edges(&self) -> &[f64] {
        self.filters.edges()
    }

    pub(super) fn buffers(&self) -> SpectrumBuffers {
        self.spectrum.buffers()
    }

    /// Calls `sink` with the compressed energies of each frame, written into `energies`.
    pub(super) fn for_each_frame(
        &self,
        samples: &[f32],
        buffers: &mut SpectrumBuffers,
        energies: &mut [f32],
        sink: &mut dyn FnMut(&[f32]),
    ) {
        let samples = &samples[..samples.len().min(self.clip_len)];
        for index in 0..self.frame_count {
            let (frame, beyond) = buffers.input.split_at_mut(self.framing.frame_len);
            self.framing.copy_frame(samples, index, self.recipe.scale, frame);
            let offset = self.recipe.conditioning.apply(frame);
            for (value, weight) in frame.iter_mut().zip(&self.window) {
                *value *= weight;
            }
            beyond.fill(0.0);
            self.filters.apply(self.spectrum.power(buffers, offset), energies);
            self.recipe.compression.apply(energies);
            sink(energies);
        }
    }
}

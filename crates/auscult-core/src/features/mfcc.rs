//! Mel-frequency cepstral coefficients.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::{
    Axis, Extractor, FrontEnd, FrontEndIdentity,
    filter_bank::{Compression, FilterBank, INT16_SCALE, Recipe},
    identity_of,
    spectrum::SpectrumBuffers,
};
use crate::{BandSettings, ClipLength, Error, Result, names::named_choices, pooling::View};

/// Which MFCC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MfccConvention {
    /// Kaldi of the waveform in [-1, 1) with lifter 22: the default.
    #[default]
    Kaldi,
    /// The same without the lifter.
    NoLifter,
    /// Kaldi of the waveform times 2^15, lifter 22.
    KaldiInt16,
    /// Kaldi of the waveform times 2^15, no lifter.
    KaldiInt16NoLifter,
    /// `librosa.feature.mfcc`: decibels clipped 80 dB below the loudest value, no lifter.
    Librosa,
}

named_choices!(MfccConvention, "MFCC convention", {
    Kaldi => "kaldi",
    NoLifter => "no-lifter",
    KaldiInt16 => "s15",
    KaldiInt16NoLifter => "s15-no-lifter",
    Librosa => "librosa",
});

impl MfccConvention {
    fn recipe(self) -> Recipe {
        match self {
            Self::Kaldi | Self::NoLifter => Recipe::KALDI,
            Self::KaldiInt16 | Self::KaldiInt16NoLifter => {
                Recipe { scale: INT16_SCALE, ..Recipe::KALDI }
            }
            Self::Librosa => Recipe { compression: Compression::FlooredDecibels, ..Recipe::DCASE },
        }
    }

    /// Kaldi's lifter: 1 + L/2 sin(pi i / L), L = 22.
    fn lifter(self, coefficient: usize) -> f64 {
        match self {
            Self::Kaldi | Self::KaldiInt16 => 1.0 + 11.0 * (PI * coefficient as f64 / 22.0).sin(),
            Self::NoLifter | Self::KaldiInt16NoLifter | Self::Librosa => 1.0,
        }
    }
}

/// Settings of the MFCC front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MfccSettings {
    /// Which MFCC.
    pub convention: MfccConvention,
    /// How many coefficients, from c0 on.
    pub coefficients: usize,
}

impl Default for MfccSettings {
    /// 90 coefficients, as in the paper.
    fn default() -> Self {
        Self { convention: MfccConvention::default(), coefficients: 90 }
    }
}

/// The MFCC front end, mean and max view.
#[derive(Debug, Clone)]
pub struct Mfcc {
    settings: MfccSettings,
    bank: FilterBank,
    axis: Axis,
    /// Orthonormal DCT-II with the lifter folded in, coefficients x mel bins.
    transform: Vec<f32>,
}

impl Mfcc {
    /// Plans the front end for clips of one length.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if a clip is shorter than one frame or there are not 1 to 128
    /// coefficients.
    pub fn new(settings: &MfccSettings, length: ClipLength) -> Result<Self> {
        let bank = FilterBank::new(settings.convention.recipe(), length)?;
        if !(1..=bank.bins()).contains(&settings.coefficients) {
            let allowed = format!("1 to {}", bank.bins());
            return Err(Error::setting("MFCC coefficients", allowed, settings.coefficients));
        }
        let transform = (0..settings.coefficients)
            .flat_map(|coefficient| {
                let lifter = settings.convention.lifter(coefficient);
                dct_row(coefficient, bank.bins()).map(move |value| (value * lifter) as f32)
            })
            .collect();
        let axis = Axis::cepstrum(settings.coefficients);
        Ok(Self { settings: *settings, bank, axis, transform })
    }
}

/// One row of the orthonormal DCT-II.
fn dct_row(coefficient: usize, len: usize) -> impl Iterator<Item = f64> {
    let norm = (if coefficient == 0 { 1.0 } else { 2.0 } / len as f64).sqrt();
    (0..len).map(move |i| norm * (PI * coefficient as f64 * (i as f64 + 0.5) / len as f64).cos())
}

impl FrontEnd for Mfcc {
    fn identity(&self) -> FrontEndIdentity {
        identity_of("mfcc", &self.settings)
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean, View::Max]
    }

    fn default_bands(&self) -> BandSettings {
        BandSettings::touching(self.settings.coefficients.min(20))
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(MfccExtractor {
            buffers: self.bank.buffers(),
            energies: vec![0.0; self.bank.bins()],
            map: Vec::with_capacity(self.bank.frame_count() * self.bank.bins()),
            frame: vec![0.0; self.settings.coefficients],
            front_end: self.clone(),
        })
    }
}

struct MfccExtractor {
    front_end: Mfcc,
    buffers: SpectrumBuffers,
    energies: Vec<f32>,
    /// All log-mel frames: librosa's floor needs the loudest value of the clip first.
    map: Vec<f32>,
    frame: Vec<f32>,
}

/// librosa's `top_db`.
const RANGE_DECIBELS: f32 = 80.0;

impl Extractor for MfccExtractor {
    fn for_each_frame(&mut self, samples: &[f32], sink: &mut dyn FnMut(&[f32])) -> Result<()> {
        let Self { front_end, buffers, energies, map, frame } = self;
        let bins = front_end.bank.bins();
        map.clear();
        front_end.bank.for_each_frame(samples, buffers, energies, &mut |log_mel| {
            map.extend_from_slice(log_mel);
        });
        if front_end.settings.convention == MfccConvention::Librosa {
            let loudest = map.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for value in map.iter_mut() {
                *value = value.max(loudest - RANGE_DECIBELS);
            }
        }
        for log_mel in map.chunks_exact(bins) {
            for (out, row) in frame.iter_mut().zip(front_end.transform.chunks_exact(bins)) {
                *out = row.iter().zip(log_mel).map(|(weight, value)| weight * value).sum();
            }
            sink(frame);
        }
        Ok(())
    }
}

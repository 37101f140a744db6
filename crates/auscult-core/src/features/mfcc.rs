//! Mel-frequency cepstral coefficients.

use serde::{Deserialize, Serialize};

use super::{
    Axis, Extractor, FrontEnd, FrontEndIdentity,
    cosine::CosineTransform,
    filter_bank::{Compression, FilterBank, FilterBankBuffers, INT16_SCALE, Recipe},
    identity_of,
    lanes::{LANES, Lanes, take_lane},
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
            Self::Kaldi | Self::KaldiInt16 => {
                1.0 + 11.0 * (std::f64::consts::PI * coefficient as f64 / 22.0).sin()
            }
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
    /// With the lifter folded in.
    transform: CosineTransform,
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
        let lifter = |coefficient| settings.convention.lifter(coefficient);
        let transform = CosineTransform::new(settings.coefficients, bank.bins(), lifter);
        let axis = Axis::cepstrum(settings.coefficients);
        Ok(Self { settings: *settings, bank, axis, transform })
    }
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
            map: Vec::new(),
            cepstra: vec![[0.0; LANES]; self.settings.coefficients],
            frame: vec![0.0; self.settings.coefficients],
            front_end: self.clone(),
        })
    }
}

struct MfccExtractor {
    front_end: Mfcc,
    buffers: FilterBankBuffers,
    /// All log-mel frames: librosa's floor needs the loudest value of the clip first.
    map: Vec<Lanes>,
    cepstra: Vec<Lanes>,
    frame: Vec<f32>,
}

/// librosa's `top_db`.
const RANGE_DECIBELS: f32 = 80.0;

impl Extractor for MfccExtractor {
    fn for_each_frame(&mut self, samples: &[f32], sink: &mut dyn FnMut(&[f32])) -> Result<()> {
        let Self { front_end: Mfcc { settings, bank, transform, .. }, buffers, map, .. } = self;
        let (cepstra, frame) = (&mut self.cepstra, &mut self.frame);
        let mut emit = |log_mel: &mut [Lanes], count: usize| {
            transform.apply(log_mel, cepstra);
            for lane in 0..count {
                take_lane(cepstra, lane, frame);
                sink(frame);
            }
        };
        if settings.convention != MfccConvention::Librosa {
            bank.for_each_batch(samples, buffers, &mut emit);
            return Ok(());
        }
        map.clear();
        let mut loudest = f32::NEG_INFINITY;
        bank.for_each_batch(samples, buffers, &mut |log_mel, count| {
            let inside = log_mel.iter().flat_map(|row| &row[..count]);
            loudest = inside.copied().fold(loudest, f32::max);
            map.extend_from_slice(log_mel);
        });
        for value in map.as_flattened_mut() {
            *value = value.max(loudest - RANGE_DECIBELS);
        }
        let mut left = bank.frame_count();
        for log_mel in map.chunks_exact_mut(bank.bins()) {
            emit(log_mel, left.min(LANES));
            left = left.saturating_sub(LANES);
        }
        Ok(())
    }
}

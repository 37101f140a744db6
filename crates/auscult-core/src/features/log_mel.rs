//! Log-mel filter bank energies.

use serde::{Deserialize, Serialize};

use super::{
    Axis, Extractor, FrontEnd, FrontEndIdentity,
    filter_bank::{FilterBank, FilterBankBuffers, INT16_SCALE, Recipe},
    framing::Window,
    identity_of,
};
use crate::{BandSettings, ClipLength, Result, names::named_choices, pooling::View};

/// Which log-mel: the field uses several, and scores differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LogMelConvention {
    /// Kaldi filter bank of the waveform times 2^15, 64 ms frames every 32 ms: the default.
    #[default]
    KaldiInt16,
    /// The same of the waveform in [-1, 1); its values cross zero, which cosine matching dislikes.
    Kaldi,
    /// The DCASE baselines' librosa spectrogram in decibels.
    Dcase,
    /// The same with 64 bins: the MIMII baseline's.
    Mimii,
    /// The input of BEATs: Kaldi, 25 ms every 10 ms, from 20 Hz, standardised by `AudioSet`.
    BeatsInput,
    /// The input of EAT: as BEATs with a Hann window, unscaled, padded to 1024 frames for 10 s.
    EatInput,
}

named_choices!(LogMelConvention, "log-mel convention", {
    KaldiInt16 => "s15",
    Kaldi => "kaldi",
    Dcase => "dcase",
    Mimii => "mimii",
    BeatsInput => "beats-input",
    EatInput => "eat-input",
});

/// Mean and spread that standardise an encoder's input: (x - mean) / (2 spread).
#[derive(Debug, Clone, Copy)]
struct Standardisation {
    mean: f32,
    spread: f32,
}

impl LogMelConvention {
    fn recipe(self) -> Recipe {
        let encoder = Recipe { frame_ms: 25.0, hop_ms: 10.0, low_hertz: 20.0, ..Recipe::KALDI };
        match self {
            Self::KaldiInt16 => Recipe { scale: INT16_SCALE, ..Recipe::KALDI },
            Self::Kaldi => Recipe::KALDI,
            Self::Dcase => Recipe::DCASE,
            Self::Mimii => Recipe { mel_bins: 64, ..Recipe::DCASE },
            Self::BeatsInput => Recipe { scale: INT16_SCALE, ..encoder },
            // EAT subtracts the clip's mean; Kaldi's per-frame mean removal already does.
            Self::EatInput => Recipe { window: Window::Hann, ..encoder },
        }
    }

    fn standardisation(self) -> Option<Standardisation> {
        match self {
            Self::KaldiInt16 | Self::Kaldi | Self::Dcase | Self::Mimii => None,
            // AudioSet statistics of the official code of BEATs and EAT.
            Self::BeatsInput => Some(Standardisation { mean: 15.41663, spread: 6.55582 }),
            Self::EatInput => Some(Standardisation { mean: -4.268, spread: 4.569 }),
        }
    }
}

/// Settings of the log-mel front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogMelSettings {
    /// Which log-mel.
    pub convention: LogMelConvention,
}

/// The log-mel front end: 128 bins (64 of `mimii`), mean and max view.
#[derive(Debug, Clone)]
pub struct LogMel {
    settings: LogMelSettings,
    bank: FilterBank,
    axis: Axis,
    /// Frames of zeros after the clip's own (EAT pads before it standardises).
    padding_frames: usize,
}

/// EAT's patches cover a multiple of 16 frames; its official code pads 10 s to 1024.
const EAT_FRAME_MULTIPLE: usize = 64;

impl LogMel {
    /// Plans the front end for clips of one length.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Setting`] if a clip is shorter than one frame.
    pub fn new(settings: &LogMelSettings, length: ClipLength) -> Result<Self> {
        let recipe = settings.convention.recipe();
        let bank = FilterBank::new(recipe, length)?;
        let axis = Axis::frequency(bank.edges().to_vec(), recipe.compression.level());
        let padding_frames = match settings.convention {
            LogMelConvention::EatInput => {
                bank.frame_count().next_multiple_of(EAT_FRAME_MULTIPLE) - bank.frame_count()
            }
            _ => 0,
        };
        Ok(Self { settings: *settings, bank, axis, padding_frames })
    }
}

impl FrontEnd for LogMel {
    fn identity(&self) -> FrontEndIdentity {
        identity_of("log-mel", &self.settings)
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean, View::Max]
    }

    fn default_bands(&self) -> BandSettings {
        // The paper's 38 of 128 bins, and the same share of fewer.
        BandSettings::touching(self.bank.bins() * 38 / 128)
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(LogMelExtractor {
            standardisation: self.settings.convention.standardisation(),
            buffers: self.bank.buffers(),
            energies: vec![0.0; self.bank.bins()],
            frame: vec![0.0; self.bank.bins()],
            front_end: self.clone(),
        })
    }
}

struct LogMelExtractor {
    front_end: LogMel,
    standardisation: Option<Standardisation>,
    buffers: FilterBankBuffers,
    energies: Vec<f32>,
    frame: Vec<f32>,
}

impl Extractor for LogMelExtractor {
    fn for_each_frame(&mut self, samples: &[f32], sink: &mut dyn FnMut(&[f32])) -> Result<()> {
        let Self { front_end, standardisation, buffers, energies, frame } = self;
        let Some(Standardisation { mean, spread }) = *standardisation else {
            front_end.bank.for_each_frame(samples, buffers, energies, sink);
            return Ok(());
        };
        let standardise = |value: f32| (value - mean) / (2.0 * spread);
        front_end.bank.for_each_frame(samples, buffers, energies, &mut |raw| {
            for (out, &value) in frame.iter_mut().zip(raw) {
                *out = standardise(value);
            }
            sink(frame);
        });
        frame.fill(standardise(0.0));
        for _ in 0..front_end.padding_frames {
            sink(frame);
        }
        Ok(())
    }
}

//! The kinds of encoder, and what is known of each without its weights.

use std::{fmt, ops::Range};

use auscult_core::{
    ClipLength, FrontEnd,
    features::{LogMel, LogMelConvention, LogMelSettings},
};

use crate::{Checkpoint, Result, ced, eat, patches::SIDE, weights::no_aliases};

/// The kinds of encoder this crate runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Architecture {
    /// BEATs: `AudioSet` tokenizer and encoder in turns (Chen et al. 2022).
    Beats,
    /// EAT: efficient audio transformer (Chen et al. 2024).
    Eat,
    /// CED: consistent ensemble distillation (Dinkel et al. 2023).
    Ced,
}

impl Architecture {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Beats, Self::Eat, Self::Ced];

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Beats => "beats",
            Self::Eat => "eat",
            Self::Ced => "ced",
        }
    }

    /// What happens to samples before the first weight, for the model file.
    pub(crate) fn preprocessing(self) -> &'static str {
        match self {
            Self::Beats => "kaldi-povey-s15-128-mel-audioset",
            Self::Eat => "kaldi-hann-128-mel-audioset",
            Self::Ced => "stft-512-160-64-mel-decibels",
        }
    }

    /// Mel bins of the input.
    pub(crate) fn bins(self) -> usize {
        match self {
            Self::Beats | Self::Eat => 128,
            Self::Ced => 64,
        }
    }

    /// The one whose tensors these are.
    pub(crate) fn of(checkpoint: &Checkpoint) -> Option<Self> {
        let has = |name: &str, aliases: fn(&str) -> Vec<String>| {
            let mut names = std::iter::once(name.to_owned()).chain(aliases(name));
            names.any(|name| checkpoint.shape(&name).is_some())
        };
        if has("patch_embedding.weight", no_aliases) {
            Some(Self::Beats)
        } else if has("model.local_encoder.proj.weight", eat::aliases) {
            Some(Self::Eat)
        } else if has("encoder.time_pos_embed", ced::aliases) {
            Some(Self::Ced)
        } else {
            None
        }
    }

    /// Rows of tokens along frequency.
    pub(crate) fn rows(self) -> usize {
        self.bins() / SIDE
    }

    /// The lowest and highest frequency of each row of tokens, in hertz.
    pub(crate) fn row_hertz(self, length: ClipLength) -> Result<Vec<Range<f64>>> {
        let edges = match self {
            Self::Ced => ced::edges(),
            Self::Beats | Self::Eat => {
                let input = self.log_mel(length)?;
                let axis = input.axis();
                let mut edges: Vec<f64> = (0..axis.len())
                    .filter_map(|bin| Some(axis.hertz(bin..bin + 1)?.start))
                    .collect();
                edges.extend(axis.hertz(0..axis.len()).map(|hertz| hertz.end));
                edges
            }
        };
        Ok((0..self.rows()).map(|row| edges[row * SIDE]..edges[(row + 1) * SIDE]).collect())
    }

    pub(crate) fn log_mel(self, length: ClipLength) -> Result<LogMel> {
        let convention = match self {
            Self::Eat => LogMelConvention::EatInput,
            _ => LogMelConvention::BeatsInput,
        };
        Ok(LogMel::new(&LogMelSettings { convention }, length)?)
    }

    pub(crate) fn aliases(self) -> fn(&str) -> Vec<String> {
        match self {
            Self::Beats => no_aliases,
            Self::Eat => eat::aliases,
            Self::Ced => ced::aliases,
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

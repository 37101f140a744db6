//! The kinds of encoder, and what is known of each without its weights: one table.

use std::{fmt, ops::Range};

use auscult_core::{
    ClipLength, FrontEnd,
    features::{LogMel, LogMelConvention, LogMelSettings},
};
use auscult_kernels::Isa;
use serde_json::Value;

use crate::{
    Checkpoint, Precision, Result, beats, ced, eat,
    embedding::Embedding,
    patches::SIDE,
    transformer::Transformer,
    weights::{Weights, no_aliases},
};

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

/// Reads what stands before the blocks, and the blocks.
type Load = fn(&mut Weights<'_>, Option<&Value>, Isa) -> Result<(Box<dyn Embedding>, Transformer)>;

/// What is the same for every encoder of a kind.
struct Facts {
    name: &'static str,
    about: &'static str,
    /// What happens to samples before the first weight, for the model file.
    preprocessing: &'static str,
    /// Mel bins of the input.
    bins: usize,
    /// The core's log-mel that is the input; `None` if the encoder has its own.
    log_mel: Option<LogMelConvention>,
    /// A tensor that only this kind has, by its canonical name.
    tensor: &'static str,
    /// Other names of a tensor in files of the authors.
    aliases: fn(&str) -> Vec<String>,
    load: Load,
    has_class_token: bool,
    /// Whether the normalisation after the last block is a layer of its own.
    has_last_normalisation: bool,
    /// The layer that is taken by default; the last block if there are fewer.
    default_layer: usize,
    /// What linear layers are computed in by default.
    default_precision: Precision,
    /// Depth, width and name of the released sizes.
    sizes: &'static [(usize, usize, &'static str)],
}

const BEATS: Facts = Facts {
    name: "beats",
    about: "BEATs (Chen et al. 2022), 128 mel bins, 8 bands",
    preprocessing: "kaldi-povey-s15-128-mel-audioset",
    bins: 128,
    log_mel: Some(LogMelConvention::BeatsInput),
    tensor: "patch_embedding.weight",
    aliases: no_aliases,
    load: beats::load,
    has_class_token: false,
    has_last_normalisation: false,
    default_layer: usize::MAX,
    default_precision: Precision::F32,
    sizes: &[(12, 768, "beats")],
};

const EAT: Facts = Facts {
    name: "eat",
    about: "EAT (Chen et al. 2024), 128 mel bins, 8 bands and a class token",
    preprocessing: "kaldi-hann-128-mel-audioset",
    bins: 128,
    log_mel: Some(LogMelConvention::EatInput),
    tensor: "model.local_encoder.proj.weight",
    aliases: eat::aliases,
    load: eat::load,
    has_class_token: true,
    has_last_normalisation: false,
    default_layer: usize::MAX,
    default_precision: Precision::F32,
    sizes: &[(12, 768, "eat-base"), (24, 1024, "eat-large")],
};

const CED: Facts = Facts {
    name: "ced",
    about: "CED (Dinkel et al. 2023), 64 mel bins, 4 bands; its smallest size is bundled",
    preprocessing: "stft-512-160-64-mel-decibels",
    bins: 64,
    log_mel: None,
    tensor: "encoder.time_pos_embed",
    aliases: ced::aliases,
    load: ced::load,
    has_class_token: false,
    has_last_normalisation: true,
    default_layer: 8,
    // It does not change the AUC (results/encoders/ced.md).
    default_precision: Precision::Int16,
    sizes: &[
        (12, 192, "ced-tiny"),
        (12, 256, "ced-mini"),
        (12, 384, "ced-small"),
        (12, 768, "ced-base"),
    ],
};

impl Architecture {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Beats, Self::Eat, Self::Ced];

    fn facts(self) -> &'static Facts {
        match self {
            Self::Beats => &BEATS,
            Self::Eat => &EAT,
            Self::Ced => &CED,
        }
    }

    /// The name users type.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// One line about it, for lists and help.
    pub fn about(self) -> &'static str {
        self.facts().about
    }

    /// The name of the encoder with this depth and width: `ced-tiny`, or `ced-3x24`.
    pub(crate) fn size_name(self, depth: usize, width: usize) -> String {
        let found = self.facts().sizes.iter().find(|size| (size.0, size.1) == (depth, width));
        found.map_or_else(|| format!("{self}-{depth}x{width}"), |size| size.2.to_owned())
    }

    /// Numbers in a token of a released size; of kinds with one size every name means that one.
    pub(crate) fn width_of(self, name: &str) -> usize {
        let sizes = self.facts().sizes;
        let named = sizes.iter().find(|size| size.2 == name).or(sizes.first());
        named.map_or(0, |size| size.1)
    }

    pub(crate) fn preprocessing(self) -> &'static str {
        self.facts().preprocessing
    }

    pub(crate) fn bins(self) -> usize {
        self.facts().bins
    }

    pub(crate) fn has_class_token(self) -> bool {
        self.facts().has_class_token
    }

    /// The highest layer of an encoder with this many blocks.
    pub(crate) fn last_layer(self, depth: usize) -> usize {
        depth + usize::from(self.facts().has_last_normalisation)
    }

    /// The layer that is taken by default.
    pub(crate) fn default_layer(self, depth: usize) -> usize {
        depth.min(self.facts().default_layer)
    }

    /// What its linear layers are computed in if nothing is said: int16 for CED, f32 for the others.
    pub fn default_precision(self) -> Precision {
        self.facts().default_precision
    }

    /// The one whose tensors these are.
    pub(crate) fn of(checkpoint: &Checkpoint) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| {
            let Facts { tensor, aliases, .. } = kind.facts();
            let mut names = std::iter::once((*tensor).to_owned()).chain(aliases(tensor));
            names.any(|name| checkpoint.shape(&name).is_some())
        })
    }

    /// Rows of tokens along frequency.
    pub(crate) fn rows(self) -> usize {
        self.bins() / SIDE
    }

    /// The lowest and highest frequency of each row of tokens, in hertz.
    pub(crate) fn row_hertz(self, length: ClipLength) -> Result<Vec<Range<f64>>> {
        let edges = match self.facts().log_mel {
            None => ced::edges(),
            Some(convention) => {
                let input = log_mel(convention, length)?;
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

    pub(crate) fn aliases(self) -> fn(&str) -> Vec<String> {
        self.facts().aliases
    }

    pub(crate) fn load(
        self,
        weights: &mut Weights<'_>,
        config: Option<&Value>,
        isa: Isa,
    ) -> Result<(Box<dyn Embedding>, Transformer)> {
        (self.facts().load)(weights, config, isa)
    }
}

/// The input of encoders that use one of the core's log-mels.
pub(crate) fn log_mel(convention: LogMelConvention, length: ClipLength) -> Result<LogMel> {
    Ok(LogMel::new(&LogMelSettings { convention }, length)?)
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KNOWN;

    #[test]
    fn every_kind_has_a_short_name_and_every_released_size_a_line() {
        for kind in Architecture::ALL {
            let short = crate::KnownEncoder::named(kind.name());
            assert_eq!(short.map(|known| known.architecture), Some(*kind), "{kind}");
            for (.., name) in kind.facts().sizes {
                assert!(
                    KNOWN.iter().any(|known| known.name == *name || known.alias == Some(name)),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn sizes_are_named_and_others_say_their_depth_and_width() {
        assert_eq!(Architecture::Ced.size_name(12, 192), "ced-tiny");
        assert_eq!(Architecture::Beats.size_name(12, 768), "beats");
        assert_eq!(Architecture::Eat.size_name(2, 24), "eat-2x24");
        assert_eq!(
            (Architecture::Ced.default_layer(12), Architecture::Ced.last_layer(12)),
            (8, 13)
        );
        assert_eq!(
            (Architecture::Eat.default_layer(24), Architecture::Eat.last_layer(24)),
            (24, 24)
        );
    }
}

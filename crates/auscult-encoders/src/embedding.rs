//! What stands before the blocks of an encoder: one implementor a kind.

use std::fmt;

use auscult_core::{ClipLength, Extractor};
use serde_json::Value;

use crate::{
    Result, Threads,
    patches::FeatureMap,
    transformer::{Norm, Scratch},
};

/// The part of an encoder before its blocks.
pub(crate) trait Embedding: fmt::Debug + Send + Sync {
    /// Computes the input of the first weight, frame by frame, of clips of one length.
    fn input(&self, length: ClipLength) -> Result<Box<dyn Extractor>>;

    /// Cuts a map into the patches of its tokens, in the order of the tokens.
    fn patches(&self, map: FeatureMap<'_>, patches: &mut Vec<f32>) {
        map.patches_by_time(patches);
    }

    /// Puts the tokens of a map into `scratch`.
    fn embed(&self, map: FeatureMap<'_>, scratch: &mut Scratch, threads: Threads) -> TokenOrder;

    /// Patches along time there are positions for; `None` if there is no limit.
    fn most_columns(&self) -> Option<usize> {
        None
    }

    /// The normalisation after the last block, where that is a layer of its own.
    fn last_normalisation(&self) -> Option<&Norm> {
        None
    }

    /// Multiplications for one token.
    fn multiplications(&self) -> usize;

    /// Bytes its packed weights take in memory.
    fn bytes(&self) -> usize;

    /// What only this kind's configuration says, under the authors' name.
    fn config_entry(&self) -> (&'static str, Value) {
        ("layer_norm_first", false.into())
    }
}

/// How tokens are numbered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenOrder {
    /// Tokens before the patches.
    pub(crate) first: usize,
    /// Tokens from one column to the next.
    pub(crate) time: usize,
    /// Tokens from one row to the next.
    pub(crate) frequency: usize,
}

impl TokenOrder {
    /// One column of patches after the other.
    pub(crate) fn by_time(map: FeatureMap<'_>) -> Self {
        Self { first: 0, time: map.rows(), frequency: 1 }
    }

    /// One row of patches after the other.
    pub(crate) fn by_frequency(map: FeatureMap<'_>) -> Self {
        Self { first: 0, time: 1, frequency: map.columns() }
    }
}

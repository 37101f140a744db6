//! Buffers of a forward pass, reused from clip to clip.

use auscult_kernels::IntegerRows;

use super::HeadMemory;

/// Buffers of one forward pass.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The tokens, one a row.
    pub(crate) tokens: Vec<f32>,
    /// How many tokens there are.
    pub(crate) count: usize,
    /// Queries, keys and values of each token.
    pub(super) qkv: Vec<f32>,
    /// Keys and values of each head, packed.
    pub(super) heads: Vec<HeadMemory>,
    /// Relative position bias: for each head one value a distance.
    pub(super) bias: Vec<f32>,
    /// The buffers of the calling thread.
    pub(crate) work: Work,
    /// Patches of the input, one a row.
    pub(crate) patches: Vec<f32>,
    /// What an embedding needs.
    pub(crate) embedding: Vec<f32>,
}

/// Buffers for one block of rows.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Attention weights of one head.
    pub(super) weights: Vec<f32>,
    /// What attention gathered.
    pub(super) context: Vec<f32>,
    pub(crate) attended: Vec<f32>,
    pub(crate) normed: Vec<f32>,
    pub(super) hidden: Vec<f32>,
    /// Rows as integers, where linear layers are.
    pub(super) integers: IntegerRows,
}

/// Makes a buffer at least this long; what was in it is of no interest.
pub(crate) fn room(buffer: &mut Vec<f32>, len: usize) {
    buffer.resize(len, 0.0);
}

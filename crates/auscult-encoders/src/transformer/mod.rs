//! The transformer all three encoders share: attention and two linear layers, block after block.
//!
//! Work is cut into blocks of rows (tokens). Every value is computed the same way whatever the
//! block, so neither the number of threads nor that of clips changes a bit.

mod attention;
mod linear;
mod position;
mod scratch;

use auscult_kernels::{Epilogue, Isa, LayerNorm, Rows, RowsMut, layer_norm_rows, row_stride};
use rayon::prelude::*;

use self::{attention::Attention, scratch::room};
pub(crate) use self::{
    attention::{Gate, HeadMemory},
    linear::{Linear, Norm},
    position::RelativeBias,
    scratch::{Scratch, Work},
};
pub use self::{linear::Precision, position::relative_bucket};

/// How many threads one forward pass uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Threads {
    /// The caller's: the right choice when there are as many clips as threads.
    #[default]
    One,
    /// Those of the rayon pool the caller runs in: the shortest wait for one clip.
    Pool,
}

/// Where normalisation stands in a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Order {
    /// x + f(norm(x)).
    Before,
    /// norm(factor * x + f(x)).
    After { residual_factor: f32 },
}

/// The weights of one block.
#[derive(Debug)]
pub(crate) struct Block {
    /// Queries, keys and values in one product.
    pub(crate) qkv: Linear,
    pub(crate) out: Linear,
    pub(crate) norm1: Norm,
    pub(crate) fc1: Linear,
    pub(crate) fc2: Linear,
    pub(crate) norm2: Norm,
    /// What opens and closes the relative position bias.
    pub(crate) gate: Option<Gate>,
}

/// A stack of blocks.
#[derive(Debug)]
pub(crate) struct Transformer {
    pub(crate) isa: Isa,
    pub(crate) width: usize,
    pub(crate) heads: usize,
    /// Blocks the encoder has.
    pub(crate) depth: usize,
    pub(crate) order: Order,
    /// Those that were read, from the first on.
    pub(crate) blocks: Vec<Block>,
    pub(crate) relative_bias: Option<RelativeBias>,
}

/// Rows one task works on at most: enough to use each weight often, few enough to stay in cache.
pub(crate) const ROWS_AT_ONCE: usize = 96;

/// Rows a product takes at once; blocks are multiples of it.
const TILE: usize = 12;

impl Transformer {
    /// Rows are this far apart in `scratch.tokens`.
    pub(crate) fn stride(&self) -> usize {
        row_stride(self.width)
    }

    /// Runs the tokens in `scratch` through the blocks up to layer `last`, calling `sink` with the
    /// layer's number and the tokens at 0 (the input) and after each block.
    pub(crate) fn run(
        &self,
        scratch: &mut Scratch,
        threads: Threads,
        last: usize,
        mut sink: impl FnMut(usize, &[f32]),
    ) {
        sink(0, &scratch.tokens);
        if let Some(bias) = &self.relative_bias {
            bias.prepare(scratch.count, &mut scratch.bias);
        }
        for (index, block) in self.blocks.iter().enumerate().take(last) {
            self.run_block(block, scratch, threads);
            sink(index + 1, &scratch.tokens);
        }
    }

    fn run_block(&self, block: &Block, scratch: &mut Scratch, threads: Threads) {
        let (stride, qkv_stride) = (self.stride(), row_stride(3 * self.width));
        let Scratch { tokens, count, qkv, heads, bias, work, .. } = scratch;
        room(qkv, *count * qkv_stride);
        for_each_block(threads, qkv, qkv_stride, work, |work, from, qkv| {
            let rows = qkv.len() / qkv_stride;
            let tokens = &tokens[from * stride..(from + rows) * stride];
            let tokens = match self.order {
                Order::After { .. } => tokens,
                Order::Before => self.normalise(&block.norm1, tokens, &mut work.normed),
            };
            let left = Rows { values: tokens, stride, count: rows };
            let out = &mut RowsMut { values: qkv, stride: qkv_stride };
            block.qkv.apply(self.isa, left, Epilogue::Bias, out, &mut work.integers);
        });
        let attention = Attention {
            isa: self.isa,
            width: self.width,
            heads: self.heads,
            count: *count,
            qkv,
            qkv_stride,
            gate: block.gate.as_ref(),
            bias,
        };
        heads.resize_with(self.heads, HeadMemory::empty);
        match threads {
            Threads::One => {
                heads.iter_mut().enumerate().for_each(|(head, to)| attention.remember(head, to));
            }
            Threads::Pool => {
                heads
                    .par_iter_mut()
                    .enumerate()
                    .for_each(|(head, to)| attention.remember(head, to));
            }
        }
        for_each_block(threads, tokens, stride, work, |work, from, tokens| {
            attention.attend(heads, from, tokens.len() / stride, stride, work);
            self.after_attention(block, tokens, work);
        });
    }

    /// Everything after attention, for some rows.
    fn after_attention(&self, block: &Block, tokens: &mut [f32], work: &mut Work) {
        let stride = self.stride();
        let count = tokens.len() / stride;
        let Work { context, attended, normed, hidden, integers, .. } = work;
        let factor = match self.order {
            Order::Before => 1.0,
            Order::After { residual_factor } => residual_factor,
        };
        let residual = |residual: &[f32],
                        linear: &Linear,
                        left: Rows<'_>,
                        out: &mut [f32],
                        integers: &mut _| {
            let epilogue = |bias| Epilogue::BiasResidual { bias, residual, stride, factor };
            linear.apply(self.isa, left, epilogue, &mut RowsMut { values: out, stride }, integers);
        };
        room(attended, tokens.len());
        let left = Rows { values: context, stride, count };
        residual(tokens, &block.out, left, attended, integers);
        let hidden_stride = row_stride(block.fc1.outputs());
        room(hidden, count * hidden_stride);
        let after = matches!(self.order, Order::After { .. });
        let norm = if after { &block.norm1 } else { &block.norm2 };
        let normed = self.normalise(norm, attended, normed);
        let left = Rows { values: normed, stride, count };
        let out = &mut RowsMut { values: hidden, stride: hidden_stride };
        block.fc1.apply(self.isa, left, Epilogue::BiasGelu, out, integers);
        let left = Rows { values: hidden, stride: hidden_stride, count };
        if after {
            residual(normed, &block.fc2, left, attended, integers);
            let norm = block.norm2.get();
            layer_norm_rows(self.isa, norm, attended, stride, tokens, stride);
        } else {
            residual(attended, &block.fc2, left, tokens, integers);
        }
    }

    /// Normalises rows of tokens into `out`.
    pub(crate) fn normalise<'a>(
        &self,
        norm: &Norm,
        tokens: &[f32],
        out: &'a mut Vec<f32>,
    ) -> &'a [f32] {
        room(out, tokens.len());
        layer_norm_rows(self.isa, norm.get(), tokens, self.stride(), out, self.stride());
        out
    }
}

impl Norm {
    pub(crate) fn get(&self) -> LayerNorm<'_> {
        LayerNorm { weight: &self.weight, bias: &self.bias, epsilon: self.epsilon }
    }
}

/// Calls `work` with each block of rows of `data` and the number of its first row.
pub(crate) fn for_each_block(
    threads: Threads,
    data: &mut [f32],
    stride: usize,
    scratch: &mut Work,
    work: impl Fn(&mut Work, usize, &mut [f32]) + Sync,
) {
    let rows = data.len() / stride;
    match threads {
        Threads::One => {
            for (from, rows) in blocks(data, stride, block_ends(rows, 1)) {
                work(scratch, from, rows);
            }
        }
        Threads::Pool => {
            let blocks = blocks(data, stride, block_ends(rows, rayon::current_num_threads()));
            // One of them is one piece of work.
            blocks.into_par_iter().with_max_len(1).for_each_init(
                Work::default,
                |scratch, (from, rows)| {
                    work(scratch, from, rows);
                },
            );
        }
    }
}

/// Cuts rows where blocks end; each comes with the number of its first row.
fn blocks(
    mut data: &mut [f32],
    stride: usize,
    ends: impl Iterator<Item = usize>,
) -> Vec<(usize, &mut [f32])> {
    let mut from = 0;
    let block = |end| {
        let (rows, rest) = std::mem::take(&mut data).split_at_mut((end - from) * stride);
        data = rest;
        (std::mem::replace(&mut from, end), rows)
    };
    ends.map(block).collect()
}

/// Where blocks end so that every thread gets as many blocks as the others, all of about the same
/// size: a thread with more would be waited for, and a short block waits for its weights.
fn block_ends(rows: usize, threads: usize) -> impl Iterator<Item = usize> {
    let tiles = rows.div_ceil(TILE);
    let blocks = rows.div_ceil(ROWS_AT_ONCE).next_multiple_of(threads.max(1)).min(tiles);
    (1..=blocks).map(move |block| (tiles * block / blocks * TILE).min(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_shared_out_evenly() {
        let ends = |rows, threads| block_ends(rows, threads).collect::<Vec<_>>();
        assert_eq!(ends(496, 1), [84, 168, 252, 336, 420, 496], "not five of 96 and one of 16");
        assert_eq!(ends(496, 2), ends(496, 1), "three a thread");
        assert_eq!(ends(513, 2), [84, 168, 252, 336, 420, 513], "not five of 96 and one of 33");
        assert_eq!(ends(496, 4).len(), 8);
        assert_eq!(ends(5, 2), [5]);
        assert_eq!(ends(0, 2), [0; 0]);
    }
}

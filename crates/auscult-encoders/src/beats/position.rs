//! The convolution that gives BEATs' tokens their places.

use auscult_kernels::{
    Epilogue, Isa, PANEL, PackedMatrix, Rows, RowsMut, add_rows, layer_norm_rows, multiply,
};

use crate::{
    Result,
    transformer::{Norm, Scratch, Threads, for_each_block},
    weights::Weights,
};

/// A grouped convolution over time, GELU, added to its input, normalised.
///
/// The channels of a group lie beside each other for every token, so that one output is the product
/// of its weights and one run of values: rows overlap, nothing is copied.
#[derive(Debug)]
pub(crate) struct PositionConvolution {
    /// One matrix a group: kernel x channels inputs, channels outputs.
    groups: Vec<PackedMatrix>,
    bias: Vec<f32>,
    kernel: usize,
}

impl PositionConvolution {
    pub(super) fn read(
        weights: &mut Weights<'_>,
        name: &str,
        width: usize,
        kernel: usize,
        groups: usize,
    ) -> Result<Self> {
        let channels = width / groups;
        let magnitudes = weights.take(&format!("{name}.weight_g"), &[1, 1, kernel])?;
        let directions = weights.take(&format!("{name}.weight_v"), &[width, channels, kernel])?;
        let bias = weights.take(&format!("{name}.bias"), &[width])?;
        // Weight normalisation over everything but the position in the kernel.
        let mut squares = vec![0.0_f64; kernel];
        for row in directions.chunks_exact(kernel) {
            for (square, &value) in squares.iter_mut().zip(row) {
                *square += f64::from(value) * f64::from(value);
            }
        }
        let norms = squares.iter().map(|square| square.sqrt() as f32);
        let scales: Vec<f32> =
            magnitudes.iter().zip(norms).map(|(magnitude, norm)| magnitude / norm).collect();
        let groups = (0..groups)
            .map(|group| {
                let mut rows = Vec::with_capacity(channels * channels * kernel);
                for output in 0..channels {
                    for (at, scale) in scales.iter().enumerate() {
                        rows.extend((0..channels).map(|input| {
                            let row = (group * channels + output) * channels + input;
                            directions[row * kernel + at] * scale
                        }));
                    }
                }
                PackedMatrix::from_linear(&rows, channels, channels * kernel)
            })
            .collect();
        Ok(Self { groups, bias, kernel })
    }

    /// Multiplications for one token.
    pub(super) fn multiplications(&self) -> usize {
        self.groups.iter().map(|group| group.inputs() * group.outputs()).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.groups.iter().map(PackedMatrix::bytes).sum()
    }

    /// Adds the convolution to the tokens and normalises them.
    pub(super) fn add(
        &self,
        isa: Isa,
        norm: &Norm,
        scratch: &mut Scratch,
        stride: usize,
        threads: Threads,
    ) {
        let Scratch { tokens, count, embedding, work, .. } = scratch;
        let channels = self.bias.len() / self.groups.len();
        // The kernel reaches half its length back; zeros lie before and after the tokens.
        let padded = (*count + self.kernel) * channels;
        embedding.clear();
        embedding.resize(padded * self.groups.len(), 0.0);
        for (group, padded) in embedding.chunks_exact_mut(padded).enumerate() {
            let inside = &mut padded[self.kernel / 2 * channels..];
            for (to, token) in inside.chunks_exact_mut(channels).zip(tokens.chunks_exact(stride)) {
                to.copy_from_slice(&token[group * channels..(group + 1) * channels]);
            }
        }
        for_each_block(threads, tokens, stride, work, |work, from, tokens| {
            let rows = tokens.len() / stride;
            let positions = &mut work.attended;
            positions.clear();
            // A group narrower than a panel writes over the next one, which then writes its own.
            positions.resize(rows * stride + PANEL, 0.0);
            for (group, matrix) in self.groups.iter().enumerate() {
                let values = &embedding[group * padded + from * channels..(group + 1) * padded];
                let left = Rows { values, stride: channels, count: rows };
                let first = group * channels;
                let out = &mut RowsMut { values: &mut positions[first..], stride };
                let bias = Epilogue::BiasGelu(&self.bias[first..first + channels]);
                multiply(isa, left, matrix, bias, out);
            }
            let (width, summed) = (self.bias.len(), &mut work.normed);
            summed.clear();
            summed.extend_from_slice(tokens);
            for (to, position) in
                summed.chunks_exact_mut(stride).zip(positions.chunks_exact(stride))
            {
                add_rows(isa, &mut to[..width], &position[..width]);
            }
            layer_norm_rows(isa, norm.get(), summed, stride, tokens, stride);
        });
    }
}

//! Attention, head by head, for a block of queries.

use auscult_kernels::{
    Epilogue, Isa, PANEL, PackedMatrix, Rows, RowsMut, add_dot, multiply, row_stride, scale_row,
    softmax_row,
};

use super::scratch::{Work, room};
use crate::{Result, weights::Weights};

/// Keys and values of one head, packed for products with queries and weights.
#[derive(Debug)]
pub(crate) struct HeadMemory {
    keys: PackedMatrix,
    values: PackedMatrix,
}

impl HeadMemory {
    pub(super) fn empty() -> Self {
        Self { keys: PackedMatrix::empty(), values: PackedMatrix::empty() }
    }
}

/// BEATs' gate on the relative position bias: a (b w - 1) + 2, where a and b are sigmoids of two
/// linear functions of the query.
#[derive(Debug)]
pub(crate) struct Gate {
    weights: [Vec<f32>; 2],
    biases: [f32; 2],
    /// One a head.
    factors: Vec<f32>,
}

/// The linear layer has eight outputs; a is the sum of the first four, b of the others.
const SUMMED: usize = 4;

impl Gate {
    pub(crate) fn read(
        weights: &mut Weights<'_>,
        name: &str,
        heads: usize,
        width: usize,
    ) -> Result<Self> {
        let rows = weights.take(&format!("{name}.grep_linear.weight"), &[2 * SUMMED, width])?;
        let bias = weights.take(&format!("{name}.grep_linear.bias"), &[2 * SUMMED])?;
        let factors = weights.take(&format!("{name}.grep_a"), &[1, heads, 1, 1])?;
        let sum = |part: usize| {
            let rows = &rows[part * SUMMED * width..(part + 1) * SUMMED * width];
            (0..width).map(|column| rows.iter().skip(column).step_by(width).sum()).collect()
        };
        let biases = [0, 1].map(|part| bias[part * SUMMED..(part + 1) * SUMMED].iter().sum());
        Ok(Self { weights: [sum(0), sum(1)], biases, factors })
    }

    fn open(&self, isa: Isa, head: usize, query: &[f32]) -> f32 {
        let sigmoid = |part: usize| {
            let mut sum = self.biases[part];
            add_dot(isa, query, &self.weights[part], &mut sum);
            1.0 / (1.0 + (-sum).exp())
        };
        sigmoid(0) * (sigmoid(1) * self.factors[head] - 1.0) + 2.0
    }
}

/// Everything attention reads.
pub(super) struct Attention<'a> {
    pub(super) isa: Isa,
    pub(super) width: usize,
    pub(super) heads: usize,
    pub(super) count: usize,
    pub(super) qkv: &'a [f32],
    pub(super) qkv_stride: usize,
    pub(super) gate: Option<&'a Gate>,
    pub(super) bias: &'a [f32],
}

impl Attention<'_> {
    /// Packs the keys and values of a head.
    pub(super) fn remember(&self, head: usize, to: &mut HeadMemory) {
        let width = self.width / self.heads;
        let keys = &self.qkv[self.width + head * width..];
        to.keys.set_transposed(keys, self.qkv_stride, self.count, width);
        let values = &self.qkv[2 * self.width + head * width..];
        to.values.set(values, self.qkv_stride, self.count, width);
    }

    /// What `rows` queries from number `from` on gather, into `work.context`.
    pub(super) fn attend(
        &self,
        memory: &[HeadMemory],
        from: usize,
        rows: usize,
        stride: usize,
        work: &mut Work,
    ) {
        let Work { weights, context, .. } = work;
        let width = self.width / self.heads;
        let scale = 1.0 / (width as f32).sqrt();
        let weight_stride = row_stride(self.count);
        room(weights, rows * weight_stride);
        // A head narrower than a panel writes over the one after it, which then writes its own.
        room(context, rows * stride + PANEL);
        for (head, memory) in memory.iter().enumerate() {
            let queries = &self.qkv[from * self.qkv_stride + head * width..];
            let left = Rows { values: queries, stride: self.qkv_stride, count: rows };
            let out = &mut RowsMut { values: weights, stride: weight_stride };
            multiply(self.isa, left, &memory.keys, Epilogue::Plain, out);
            let mut inverse_sums = [0.0; super::ROWS_AT_ONCE];
            for (row, inverse_sum) in inverse_sums.iter_mut().enumerate().take(rows) {
                let weights = &mut weights[row * weight_stride..][..self.count];
                let query = &queries[row * self.qkv_stride..][..width];
                let (gate, bias) = self.relative_bias(head, from + row, query);
                softmax_row(self.isa, weights, scale, gate, bias, inverse_sum);
            }
            let left = Rows { values: weights, stride: weight_stride, count: rows };
            let gathered = &mut context[head * width..];
            let out = &mut RowsMut { values: &mut *gathered, stride };
            multiply(self.isa, left, &memory.values, Epilogue::Plain, out);
            for (row, &inverse_sum) in inverse_sums.iter().enumerate().take(rows) {
                scale_row(self.isa, &mut gathered[row * stride..][..width], inverse_sum);
            }
        }
    }

    /// The gate and the bias towards every token, seen from token `from`.
    fn relative_bias(&self, head: usize, from: usize, query: &[f32]) -> (f32, &[f32]) {
        if self.bias.is_empty() {
            return (0.0, &[]);
        }
        let span = 2 * self.count - 1;
        let bias =
            &self.bias[head * span..(head + 1) * span][self.count - 1 - from..][..self.count];
        (self.gate.map_or(1.0, |gate| gate.open(self.isa, head, query)), bias)
    }
}

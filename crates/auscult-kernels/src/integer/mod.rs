//! Products of integers: rows of 12 bits, weights of 11 bits, sums of 32.
//!
//! Twice as many multiplications fit into a register as with f32. Rows are scaled one by one,
//! weights per output. With 1024 inputs a sum is at most 2047 * 1023 * 1024 < 2^31: it cannot
//! overflow, and longer rows are summed in parts.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod panels;
mod scalar;

pub use self::panels::{PANEL_LIMIT, PANEL_PAIRS, PanelProducts, has_fast_pairs, multiply_panels};

use crate::{
    Epilogue, Isa, PANEL, Rows, RowsMut, ahead::Ahead, arithmetic::Arithmetic,
    dispatch::for_each_isa, pages, product, turn::turn,
};

/// The largest magnitude of a value of a row.
const ROW_LIMIT: f32 = 2047.0;

/// The largest magnitude of a weight.
const WEIGHT_LIMIT: f32 = 1023.0;

/// Pairs of inputs summed in 32 bits.
const PAIRS_AT_ONCE: usize = 512;

/// The values of two inputs for the outputs of one panel, output by output: two signed numbers of
/// sixteen bits, the first in the lower half.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairLane(pub [u32; PANEL]);

impl PairLane {
    /// Both numbers of one output.
    #[inline]
    fn pair(&self, output: usize) -> [i32; 2] {
        let bits = self.0[output];
        [bits as u16, (bits >> 16) as u16].map(|half| i32::from(half.cast_signed()))
    }
}

/// The weights of a linear layer as integers, packed into panels of [`PANEL`] outputs.
#[derive(Debug, Clone)]
pub struct PackedIntegers {
    lanes: Vec<PairLane>,
    /// One factor an output, and zeros that fill the last panel.
    factors: Vec<f32>,
    inputs: usize,
    outputs: usize,
}

impl PackedIntegers {
    /// Rounds and packs `outputs` rows of `inputs` weights.
    ///
    /// # Panics
    ///
    /// If the slice has another length.
    pub fn from_linear(weights: &[f32], outputs: usize, inputs: usize) -> Self {
        assert_eq!(weights.len(), outputs * inputs, "weights of {outputs} x {inputs}");
        let (isa, pairs) = (Isa::best(), inputs.div_ceil(2));
        let panels = outputs.div_ceil(PANEL);
        let mut lanes = pages::filled(PairLane([0; PANEL]), panels * pairs);
        let mut factors = vec![0.0; panels * PANEL];
        // The pairs of a panel, output by output: they are turned as numbers of 32 bits.
        let (mut rows, mut turned) = (vec![0.0; PANEL * pairs], vec![[0.0; PANEL]; pairs]);
        for panel in 0..panels {
            let outputs = panel * PANEL..((panel + 1) * PANEL).min(outputs);
            rows[outputs.len() * pairs..].fill(0.0);
            for (output, row) in outputs.zip(rows.chunks_exact_mut(pairs.max(1))) {
                let weights = &weights[output * inputs..(output + 1) * inputs];
                round_weights(isa, weights, row, &mut factors[output]);
            }
            turn(isa, &rows, pairs, &mut turned);
            for (lane, turned) in lanes[panel * pairs..].iter_mut().zip(&turned) {
                lane.0 = turned.map(f32::to_bits);
            }
        }
        Self { lanes, factors, inputs, outputs }
    }

    /// Bytes the packed weights take.
    pub fn bytes(&self) -> usize {
        size_of_val(self.lanes.as_slice())
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    fn pairs(&self) -> usize {
        self.inputs.div_ceil(2)
    }

    fn panel(&self, panel: usize) -> &[PairLane] {
        &self.lanes[panel * self.pairs()..(panel + 1) * self.pairs()]
    }
}

for_each_isa! {
    fn round_weights(from: &[f32], to: &mut [f32], factor: &mut f32) = round_weights_body;
}

/// Rounds the weights of an output, halves away from zero; a number of `to` is the bits of a pair.
#[inline(always)]
fn round_weights_body<A: Arithmetic>(from: &[f32], to: &mut [f32], factor: &mut f32) {
    let largest = largest_magnitude(from);
    let inverse = if largest > 0.0 { WEIGHT_LIMIT / largest } else { 0.0 };
    *factor = largest / WEIGHT_LIMIT;
    let round = |weight: f32| {
        let value = weight * inverse;
        // To the nearest integer, halves to the even one; those that went towards zero go back.
        let even = (value + ROUND) - ROUND;
        let back =
            if value - even == 0.5_f32.copysign(value) { 1.0_f32.copysign(value) } else { 0.0 };
        // The low bits of the shifted number are the integer.
        (even + back + ROUND).to_bits() & 0xFFFF
    };
    let (pairs, rest) = from.as_chunks::<2>();
    for (to, pair) in to.iter_mut().zip(pairs) {
        *to = f32::from_bits(round(pair[0]) | round(pair[1]) << 16);
    }
    if let (Some(to), Some(&weight)) = (to.get_mut(pairs.len()), rest.first()) {
        *to = f32::from_bits(round(weight));
    }
}

/// Adding and subtracting it rounds to the nearest integer.
const ROUND: f32 = 12_582_912.0;

/// The largest magnitude among some numbers.
#[inline(always)]
fn largest_magnitude(values: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; PANEL];
    let (chunks, rest) = values.as_chunks::<PANEL>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            let value = value.abs();
            *lane = if value > *lane { value } else { *lane };
        }
    }
    let rest = rest.iter().map(|value| value.abs());
    lanes.iter().copied().chain(rest).fold(0.0_f32, f32::max)
}

/// Rows as integers, with one factor each; reuse it.
#[derive(Debug, Clone, Default)]
pub struct IntegerRows {
    /// Whole pairs: an odd row ends with a zero.
    values: Vec<i16>,
    factors: Vec<f32>,
    stride: usize,
}

impl IntegerRows {
    /// Rounds rows of `columns` values.
    ///
    /// # Panics
    ///
    /// If the rows end early.
    pub fn set(&mut self, isa: Isa, rows: Rows<'_>, columns: usize) {
        self.stride = columns.next_multiple_of(2) + 2 * PANEL;
        self.values.resize(rows.count * self.stride, 0);
        self.factors.resize(rows.count, 0.0);
        for row in 0..rows.count {
            let from = &rows.values[row * rows.stride..row * rows.stride + columns];
            let to = &mut self.values[row * self.stride..(row + 1) * self.stride];
            to[columns..].fill(0);
            round_row(isa, from, &mut to[..columns], &mut self.factors[row]);
        }
    }
}

for_each_isa! {
    fn round_row(from: &[f32], to: &mut [i16], factor: &mut f32) = round_body;
}

#[inline(always)]
fn round_body<A: Arithmetic>(from: &[f32], to: &mut [i16], factor: &mut f32) {
    let largest = largest_magnitude(from);
    let inverse = if largest > 0.0 { ROW_LIMIT / largest } else { 0.0 };
    *factor = largest / ROW_LIMIT;
    for (to, value) in to.iter_mut().zip(from) {
        // The low bits of the shifted number are the integer.
        let shifted = A::multiply_add(*value, inverse, ROUND).to_bits();
        *to = (shifted as u16).cast_signed();
    }
}

/// One tile's operands.
#[derive(Debug, Clone, Copy)]
struct Tile<'a> {
    left: &'a [i16],
    left_stride: usize,
    right: [&'a [PairLane]; 2],
    panels: usize,
    rows: usize,
    pairs: usize,
    goes_on: bool,
    /// What is multiplied soon: fetched meanwhile.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no instruction for it"))]
    soon: [&'a [PairLane]; 2],
}

/// Multiplies rows by packed weights into `out`, as [`crate::multiply`] does with f32.
///
/// # Panics
///
/// If rows and weights have different lengths, or a buffer is too short.
pub fn multiply_integers(
    isa: Isa,
    left: &IntegerRows,
    right: &PackedIntegers,
    epilogue: Epilogue<'_>,
    out: &mut RowsMut<'_>,
) {
    let count = left.factors.len();
    let panels = right.outputs.div_ceil(PANEL);
    if count == 0 || panels == 0 {
        return;
    }
    let last = count - 1;
    assert!(2 * right.pairs() + 2 * PANEL == left.stride, "rows of another length");
    assert!(last * out.stride + panels * PANEL <= out.values.len(), "output rows end early");
    epilogue.assert_fits(count, right.outputs);
    isa.assert_available();
    let (wide, high) = sizes(isa);
    let mut panel = 0;
    while panel < panels {
        let together = wide.min(panels - panel);
        let mut from = 0;
        loop {
            let pairs = PAIRS_AT_ONCE.min(right.pairs() - from);
            let is_last = from + pairs >= right.pairs();
            let (next, next_from) =
                if is_last { (panel + together, 0) } else { (panel, from + pairs) };
            let next_pairs = PAIRS_AT_ONCE.min(right.pairs() - next_from);
            let lanes = |panel: usize| match panel {
                _ if next >= panels => &[],
                panel => &right.panel(panel.min(panels - 1))[next_from..next_from + next_pairs],
            };
            let ahead = Ahead::new([lanes(next), lanes(next + together - 1)], count.div_ceil(high));
            let mut row = 0;
            while row < count {
                let rows = high.min(count - row);
                let tile = Tile {
                    left: &left.values[row * left.stride + 2 * from..],
                    left_stride: left.stride,
                    right: [
                        &right.panel(panel)[from..from + pairs],
                        &right.panel(panel + together - 1)[from..from + pairs],
                    ],
                    panels: together,
                    rows,
                    pairs,
                    goes_on: from > 0,
                    soon: ahead.part(row / high),
                };
                let target = &mut out.values[row * out.stride + panel * PANEL..];
                multiply_tile(isa, &tile, target, out.stride);
                row += rows;
            }
            from += pairs;
            if from >= right.pairs() {
                break;
            }
        }
        let columns = panel * PANEL..((panel + together) * PANEL).min(right.outputs);
        scale(isa, &left.factors, &right.factors, columns.clone(), out.values, out.stride);
        product::apply(isa, epilogue, count, columns, out.values, out.stride);
        panel += together;
    }
}

for_each_isa! {
    fn scale(
        rows: &[f32],
        factors: &[f32],
        columns: std::ops::Range<usize>,
        out: &mut [f32],
        stride: usize,
    ) = scale_body;
}

#[inline(always)]
fn scale_body<A: Arithmetic>(
    rows: &[f32],
    factors: &[f32],
    columns: std::ops::Range<usize>,
    out: &mut [f32],
    stride: usize,
) {
    for (row, row_factor) in rows.iter().enumerate() {
        let out = &mut out[row * stride + columns.start..row * stride + columns.end];
        for (value, factor) in out.iter_mut().zip(&factors[columns.clone()]) {
            *value *= row_factor * factor;
        }
    }
}

/// Panels and rows a tile takes at most.
fn sizes(isa: Isa) -> (usize, usize) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if avx512::is_available() => (2, avx512::ROWS),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 => (1, avx2::ROWS),
        _ => (1, scalar::ROWS),
    }
}

fn multiply_tile(isa: Isa, tile: &Tile<'_>, out: &mut [f32], out_stride: usize) {
    let last = tile.rows - 1;
    assert!(last * tile.left_stride + 2 * tile.pairs <= tile.left.len(), "tile: left ends early");
    assert!(last * out_stride + tile.panels * PANEL <= out.len(), "tile: output ends early");
    assert!(tile.right.iter().all(|panel| panel.len() == tile.pairs), "tile: a panel ends early");
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if avx512::is_available() => {
            // SAFETY: this machine has AVX-512F and VNNI; the operands have the lengths above.
            unsafe { avx512::multiply(tile, out, out_stride) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 => {
            isa.assert_available();
            // SAFETY: this machine has AVX2; the operands have the lengths above.
            unsafe { avx2::multiply(tile, out, out_stride) }
        }
        _ => scalar::multiply(tile, out, out_stride),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plain way: one weight after the other.
    fn packed_plainly(weights: &[f32], outputs: usize, inputs: usize) -> (Vec<PairLane>, Vec<f32>) {
        let pairs = inputs.div_ceil(2);
        let mut lanes = vec![PairLane([0; PANEL]); outputs.div_ceil(PANEL) * pairs];
        let mut factors = vec![0.0; outputs.next_multiple_of(PANEL)];
        for (output, row) in weights.chunks_exact(inputs).enumerate() {
            let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            let inverse = if largest > 0.0 { WEIGHT_LIMIT / largest } else { 0.0 };
            factors[output] = largest / WEIGHT_LIMIT;
            for (input, value) in row.iter().enumerate() {
                let bits = ((value * inverse).round() as i16).cast_unsigned();
                let lane = &mut lanes[output / PANEL * pairs + input / 2];
                lane.0[output % PANEL] |= u32::from(bits) << (16 * (input % 2));
            }
        }
        (lanes, factors)
    }

    #[test]
    fn weights_are_packed_as_one_after_the_other() {
        for (outputs, inputs) in [(1, 1), (16, 2), (17, 33), (48, 192), (5, 7)] {
            // Halves among them: with a largest weight of 1023 they are rounded as they are.
            let weights: Vec<f32> = (0..outputs * inputs)
                .map(|at| match at % inputs {
                    0 => 1023.0,
                    place => ((at * 37 % 4093) as f32 - 2046.0) * 0.5 + (place % 3) as f32 * 0.1,
                })
                .map(|weight: f32| weight.clamp(-1023.0, 1023.0))
                .collect();
            let packed = PackedIntegers::from_linear(&weights, outputs, inputs);
            let (lanes, factors) = packed_plainly(&weights, outputs, inputs);
            assert!(packed.lanes == lanes, "{outputs} x {inputs}");
            assert_eq!(packed.factors, factors);
        }
    }
}

//! What happens to values between matrix products.

use crate::{
    arithmetic::{Arithmetic, LANES, exponential, gelu, sum_lanes},
    dispatch::for_each_isa,
};

/// The learned part of a layer normalisation.
#[derive(Debug, Clone, Copy)]
pub struct LayerNorm<'a> {
    /// Factor of each column.
    pub weight: &'a [f32],
    /// Offset of each column.
    pub bias: &'a [f32],
    /// Added to the variance.
    pub epsilon: f32,
}

for_each_isa! {
    /// Normalises each row of `input` into `out`: to mean 0 and variance 1, then weight and bias.
    ///
    /// Rows have the length of the weight; row `i` starts at `i * stride` of either buffer, and
    /// there are as many as `out` has room for.
    pub fn layer_norm_rows(
        norm: LayerNorm<'_>,
        input: &[f32],
        input_stride: usize,
        out: &mut [f32],
        out_stride: usize,
    ) = layer_norm_body;
}

#[inline(always)]
fn layer_norm_body<A: Arithmetic>(
    norm: LayerNorm<'_>,
    input: &[f32],
    input_stride: usize,
    out: &mut [f32],
    out_stride: usize,
) {
    let columns = norm.weight.len();
    for (row, out) in input.chunks(input_stride).zip(out.chunks_mut(out_stride)) {
        let row = &row[..columns];
        let mean = sum::<A>(row, |value| value) / columns as f32;
        let variance = sum::<A>(row, |value| (value - mean) * (value - mean)) / columns as f32;
        let scale = 1.0 / (variance + norm.epsilon).sqrt();
        let parts = row.iter().zip(norm.weight).zip(norm.bias);
        for (out, ((&value, &weight), &bias)) in out[..columns].iter_mut().zip(parts) {
            *out = A::multiply_add((value - mean) * scale, weight, bias);
        }
    }
}

/// The sum of a function of the values, in lanes.
#[inline(always)]
fn sum<A: Arithmetic>(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += term(value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane += term(value);
    }
    sum_lanes(lanes)
}

for_each_isa! {
    /// Turns a row of attention products into weights: e^(scale * product + gate * bias - largest).
    ///
    /// `bias` has the length of the row, or is empty. The weights are not normalised; one over
    /// their sum goes to `inverse_sum`, because the row of values it weighs is shorter.
    pub fn softmax_row(
        row: &mut [f32],
        scale: f32,
        gate: f32,
        bias: &[f32],
        inverse_sum: &mut f32,
    ) = softmax_body;
}

#[inline(always)]
fn softmax_body<A: Arithmetic>(
    row: &mut [f32],
    scale: f32,
    gate: f32,
    bias: &[f32],
    inverse_sum: &mut f32,
) {
    if bias.is_empty() {
        for value in &mut *row {
            *value *= scale;
        }
    } else {
        for (value, &bias) in row.iter_mut().zip(bias) {
            *value = A::multiply_add(gate, bias, *value * scale);
        }
    }
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    let most = rest.iter().chain(&lanes).fold(f32::NEG_INFINITY, |most, &value| most.max(value));
    for value in &mut *row {
        *value = exponential::<A>(*value - most);
    }
    *inverse_sum = 1.0 / sum::<A>(row, |value| value);
}

for_each_isa! {
    /// The sum of the products of two rows, added to `sum`.
    pub fn add_dot(left: &[f32], right: &[f32], sum: &mut f32) = dot_body;
}

#[inline(always)]
fn dot_body<A: Arithmetic>(left: &[f32], right: &[f32], sum: &mut f32) {
    let mut lanes = [0.0; LANES];
    let ((lefts, left_rest), (rights, right_rest)) =
        (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (left, right) in lefts.iter().zip(rights) {
        for lane in 0..LANES {
            lanes[lane] = A::multiply_add(left[lane], right[lane], lanes[lane]);
        }
    }
    for ((lane, &left), &right) in lanes.iter_mut().zip(left_rest).zip(right_rest) {
        *lane = A::multiply_add(left, right, *lane);
    }
    *sum += sum_lanes(lanes);
}

for_each_isa! {
    /// Multiplies every value by a factor.
    pub fn scale_row(row: &mut [f32], factor: f32) = scale_body;
}

#[inline(always)]
fn scale_body<A: Arithmetic>(row: &mut [f32], factor: f32) {
    for value in row {
        *value *= factor;
    }
}

for_each_isa! {
    /// Adds `more` to `values`, value by value.
    pub fn add_rows(values: &mut [f32], more: &[f32]) = add_body;
}

#[inline(always)]
fn add_body<A: Arithmetic>(values: &mut [f32], more: &[f32]) {
    for (value, more) in values.iter_mut().zip(more) {
        *value += more;
    }
}

for_each_isa! {
    /// Applies the exact (error function) GELU to every value.
    pub fn gelu_rows(values: &mut [f32]) = gelu_body;
}

#[inline(always)]
fn gelu_body<A: Arithmetic>(values: &mut [f32]) {
    for value in values {
        *value = gelu::<A>(*value);
    }
}

//! Every instruction set gives the bits of the plain twin, for any shape.

#![expect(clippy::cast_precision_loss, reason = "made-up numbers")]

use auscult_kernels::{
    Epilogue, IntegerRows, Isa, LayerNorm, PANEL, PANEL_LIMIT, PANEL_PAIRS, PackedIntegers,
    PackedMatrix, PairLane, Rows, RowsMut, add_dot, gelu_rows, layer_norm_rows, multiply,
    multiply_integers, multiply_panels, row_stride, softmax_row, turn,
};
use proptest::prelude::*;

/// Values in [-1, 1), always the same for a seed.
fn noise(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 40) as f32 / (1_u64 << 23) as f32) - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// The sets that promise the bits of the plain twin.
fn fused() -> Vec<Isa> {
    let fused: Vec<Isa> =
        Isa::available().into_iter().filter(|isa| *isa != Isa::Portable).collect();
    assert!(fused.contains(&Isa::Scalar));
    fused
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

struct Case {
    left: Vec<f32>,
    left_stride: usize,
    rows: usize,
    right: PackedMatrix,
    bias: Vec<f32>,
    residual: Vec<f32>,
    stride: usize,
}

impl Case {
    fn new(rows: usize, inputs: usize, outputs: usize, left_stride: usize) -> Self {
        let stride = row_stride(outputs);
        Self {
            left: noise(1, rows.saturating_sub(1) * left_stride + inputs),
            left_stride,
            rows,
            right: PackedMatrix::from_linear(&noise(2, inputs * outputs), outputs, inputs),
            bias: noise(3, outputs),
            residual: noise(4, rows * stride),
            stride,
        }
    }

    fn epilogue(&self, kind: usize) -> Epilogue<'_> {
        match kind {
            0 => Epilogue::Plain,
            1 => Epilogue::Bias(&self.bias),
            2 => Epilogue::BiasGelu(&self.bias),
            _ => Epilogue::BiasResidual {
                bias: &self.bias,
                residual: &self.residual,
                stride: self.stride,
                factor: 2.2,
            },
        }
    }

    fn run(&self, isa: Isa, kind: usize) -> Vec<f32> {
        let mut out = vec![0.0; self.rows * self.stride];
        let left = Rows { values: &self.left, stride: self.left_stride, count: self.rows };
        let mut rows = RowsMut { values: &mut out, stride: self.stride };
        multiply(isa, left, &self.right, self.epilogue(kind), &mut rows);
        out
    }
}

/// Rows and weights as integers, multiplied.
fn integers(isa: Isa, case: &Case, weights: &[f32], inputs: usize, outputs: usize) -> Vec<f32> {
    let mut rows = IntegerRows::default();
    let left = Rows { values: &case.left, stride: case.left_stride, count: case.rows };
    rows.set(isa, left, inputs);
    let right = PackedIntegers::from_linear(weights, outputs, inputs);
    let mut out = vec![0.0; case.rows * case.stride];
    let mut target = RowsMut { values: &mut out, stride: case.stride };
    multiply_integers(isa, &rows, &right, Epilogue::Bias(&case.bias), &mut target);
    out
}

#[test]
fn integer_products_are_near_the_exact_ones_and_cannot_overflow() {
    let (rows, inputs, outputs) = (5, 3072, 33);
    let mut case = Case::new(rows, inputs, outputs, inputs);
    let exact = case.run(Isa::best(), 1);
    let got = integers(Isa::best(), &case, &noise(2, inputs * outputs), inputs, outputs);
    let squares = |values: &mut dyn Iterator<Item = f32>| values.map(|v| v * v).sum::<f32>().sqrt();
    let difference = squares(&mut exact.iter().zip(&got).map(|(a, b)| a - b));
    assert!(difference / squares(&mut exact.iter().copied()) < 1e-3);
    // The largest sums there can be.
    case.left.fill(1.0);
    case.bias.fill(0.0);
    let out = integers(Isa::best(), &case, &vec![1.0; inputs * outputs], inputs, outputs);
    assert!((out[0] - 3072.0).abs() < 0.01, "{}", out[0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn products_have_the_bits_of_the_plain_twin(
        rows in 0_usize..30,
        inputs in 0_usize..600,
        outputs in 1_usize..70,
        overlap in 0_usize..4,
        kind in 0_usize..4,
    ) {
        // A stride below the number of inputs makes rows overlap, as in a convolution.
        let case = Case::new(rows, inputs, outputs, (inputs >> overlap).max(1));
        let plain = bits(&case.run(Isa::Scalar, kind));
        for isa in fused() {
            prop_assert_eq!(&bits(&case.run(isa, kind)), &plain, "{}", isa.name());
        }
    }

    #[test]
    fn integer_products_have_the_bits_of_the_plain_twin(
        rows in 1_usize..30,
        inputs in 1_usize..1300,
        outputs in 1_usize..70,
    ) {
        let case = Case::new(rows, inputs, outputs, inputs);
        let weights = noise(2, inputs * outputs);
        let plain = bits(&integers(Isa::Scalar, &case, &weights, inputs, outputs));
        for isa in fused() {
            let got = bits(&integers(isa, &case, &weights, inputs, outputs));
            prop_assert_eq!(&got, &plain, "{}", isa.name());
        }
    }

    #[test]
    fn rows_do_not_depend_on_the_rows_beside_them(rows in 1_usize..30, row in 0_usize..30) {
        let row = row % rows;
        let case = Case::new(rows, 300, 40, 300);
        let whole = case.run(Isa::best(), 1);
        let mut alone = Case::new(1, 300, 40, 300);
        alone.left = case.left[row * 300..(row + 1) * 300].to_vec();
        alone.bias.clone_from(&case.bias);
        let out = alone.run(Isa::best(), 1);
        prop_assert_eq!(bits(&out[..40]), bits(&whole[row * case.stride..][..40]));
    }

    #[test]
    fn row_functions_have_the_bits_of_the_plain_twin(columns in 1_usize..200, rows in 1_usize..4) {
        let input = noise(5, rows * columns);
        let (weight, bias) = (noise(6, columns), noise(7, columns));
        let norm = LayerNorm { weight: &weight, bias: &bias, epsilon: 1e-5 };
        let run = |isa| {
            let mut out = vec![0.0; rows * columns];
            layer_norm_rows(isa, norm, &input, columns, &mut out, columns);
            let mut sum = 0.0;
            softmax_row(isa, &mut out[..columns], 3.0, 0.5, &bias, &mut sum);
            gelu_rows(isa, &mut out[..columns]);
            out.push(sum);
            bits(&out)
        };
        for isa in fused() {
            prop_assert_eq!(run(isa), run(Isa::Scalar), "{}", isa.name());
        }
    }
}

#[test]
fn products_agree_with_f64() {
    let (rows, inputs, outputs) = (7, 513, 33);
    let case = Case::new(rows, inputs, outputs, inputs);
    let weights = noise(2, inputs * outputs);
    for isa in Isa::available() {
        let out = case.run(isa, 1);
        for row in 0..rows {
            for column in 0..outputs {
                let terms = (0..inputs).map(|input| {
                    f64::from(case.left[row * inputs + input])
                        * f64::from(weights[column * inputs + input])
                });
                let exact = terms.sum::<f64>() + f64::from(case.bias[column]);
                let error = (f64::from(out[row * case.stride + column]) - exact).abs();
                assert!(error < 2e-4, "{}: off by {error}", isa.name());
            }
        }
    }
}

#[test]
fn packing_rows_or_columns_gives_the_same_matrix() {
    let (inputs, outputs) = (37, 21);
    let weights = noise(9, inputs * outputs);
    let mut turned = vec![0.0; inputs * outputs];
    for output in 0..outputs {
        for input in 0..inputs {
            turned[input * outputs + output] = weights[output * inputs + input];
        }
    }
    let mut plain = PackedMatrix::empty();
    plain.set(&turned, outputs, inputs, outputs);
    let linear = PackedMatrix::from_linear(&weights, outputs, inputs);
    assert_eq!((plain.inputs(), plain.outputs(), plain.panels()), (inputs, outputs, 2));
    assert_eq!(plain.bytes(), 2 * inputs * PANEL * 4);
    let left = noise(10, inputs);
    let run = |matrix: &PackedMatrix| {
        let mut out = vec![0.0; row_stride(outputs)];
        let rows = Rows { values: &left, stride: inputs, count: 1 };
        let mut target = RowsMut { values: &mut out, stride: row_stride(outputs) };
        multiply(Isa::best(), rows, matrix, Epilogue::Plain, &mut target);
        bits(&out)
    };
    assert_eq!(run(&plain), run(&linear));
}

#[test]
fn weights_of_attention_sum_to_one() {
    let mut row = noise(11, 100);
    let mut inverse = 0.0;
    softmax_row(Isa::best(), &mut row, 10.0, 0.0, &[], &mut inverse);
    let sum: f32 = row.iter().map(|weight| weight * inverse).sum();
    assert!((sum - 1.0).abs() < 1e-5);
    assert!(row.iter().all(|weight| (0.0..=1.0).contains(weight)));
}

#[test]
#[should_panic(expected = "left rows end early")]
fn short_rows_are_refused() {
    let right = PackedMatrix::from_linear(&[1.0; 8], 2, 4);
    let mut out = vec![0.0; 64];
    let left = Rows { values: &[0.0; 7], stride: 4, count: 2 };
    multiply(
        Isa::best(),
        left,
        &right,
        Epilogue::Plain,
        &mut RowsMut { values: &mut out, stride: 32 },
    );
}

proptest! {
    #[test]
    fn panels_against_panels_are_sums_of_integers(
        pairs in 0_usize..=PANEL_PAIRS, seed in any::<u64>(), is_extreme in any::<bool>(),
    ) {
        let integer = |value: f32| {
            let value = if is_extreme { 1.0_f32.copysign(value) } else { value };
            (value * f32::from(PANEL_LIMIT)) as i16
        };
        let panel = |seed: u64| -> Vec<[[i16; 2]; PANEL]> {
            let values = noise(seed, pairs * 2 * PANEL);
            let lane = |values: &[f32]| {
                std::array::from_fn(|at| [values[2 * at], values[2 * at + 1]].map(integer))
            };
            values.chunks_exact(2 * PANEL).map(lane).collect()
        };
        let packed = |panel: &[[[i16; 2]; PANEL]]| -> Vec<PairLane> {
            let pack = |[a, b]: [i16; 2]| u32::from(a.cast_unsigned()) | u32::from(b.cast_unsigned()) << 16;
            panel.iter().map(|lane| PairLane(lane.map(pack))).collect()
        };
        let [left, first, second] = [1, 2, 3].map(|part| panel(seed.wrapping_add(part)));
        let sum = |other: &[[[i16; 2]; PANEL]], row: usize, column: usize| -> i64 {
            let products = left.iter().zip(other).flat_map(|(a, b)| {
                [0, 1].map(|at| i64::from(a[row][at]) * i64::from(b[column][at]))
            });
            products.sum()
        };
        for isa in Isa::available() {
            let mut products = [[[f32::NAN; PANEL]; 2]; PANEL];
            multiply_panels(isa, &packed(&left), [&packed(&first), &packed(&second)], &mut products);
            for (row, products) in products.iter().enumerate() {
                for (other, products) in [&first, &second].into_iter().zip(products) {
                    for (column, &product) in products.iter().enumerate() {
                        prop_assert_eq!(product, sum(other, row, column) as f32);
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn turned_rows_are_columns(columns in 0_usize..70, stride in 0_usize..90, seed in any::<u64>()) {
        let values = noise(seed, (PANEL - 1) * stride + columns);
        for isa in Isa::available() {
            let mut out = vec![[f32::NAN; PANEL]; columns];
            turn(isa, &values, stride, &mut out);
            for (at, row) in out.iter().enumerate() {
                for (lane, &value) in row.iter().enumerate() {
                    prop_assert_eq!(value, values[lane * stride + at]);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn sums_of_products_have_the_bits_of_the_plain_twin(len in 0_usize..200, seed in any::<u64>()) {
        let (left, right) = (noise(seed, len), noise(seed ^ 1, len));
        let sum = |isa| {
            let mut sum = 0.5;
            add_dot(isa, &left, &right, &mut sum);
            sum
        };
        let plain = sum(Isa::Scalar);
        let exact: f64 =
            left.iter().zip(&right).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
        prop_assert!((f64::from(plain) - 0.5 - exact).abs() < 1e-5);
        for isa in fused() {
            prop_assert_eq!(sum(isa), plain);
        }
    }
}

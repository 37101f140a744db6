//! The cosine transform that turns log-mel energies into cepstra, for frames side by side.

use std::f64::consts::PI;

use multiversion::multiversion;

use super::lanes::{LANES, Lanes};

/// How many coefficients are summed together: one sum alone would wait for itself.
const TOGETHER: usize = 4;

/// Orthonormal DCT-II of an even number of values, each coefficient times its lifter.
///
/// Even coefficients see the two halves of the input as mirror images, odd ones as negative mirror
/// images, so folded input halves the work.
#[derive(Debug, Clone)]
pub(super) struct CosineTransform {
    groups: Vec<Group>,
}

/// Coefficients of one parity.
#[derive(Debug, Clone)]
struct Group {
    /// The first coefficient; the next ones follow by twos.
    first: usize,
    /// For each folded value, the weights in the coefficients.
    weights: Vec<[f32; TOGETHER]>,
}

impl CosineTransform {
    /// The first `coefficients` of `len` values.
    pub(super) fn new(coefficients: usize, len: usize, lifter: impl Fn(usize) -> f64) -> Self {
        let weight = |coefficient: usize, at: usize| {
            let norm = (if coefficient == 0 { 1.0 } else { 2.0 } / len as f64).sqrt();
            let angle = PI * coefficient as f64 * (at as f64 + 0.5) / len as f64;
            (norm * angle.cos() * lifter(coefficient)) as f32
        };
        let group = |first: usize| {
            let weights = |at| std::array::from_fn(|member| weight(first + 2 * member, at));
            Group { first, weights: (0..len / 2).map(weights).collect() }
        };
        let firsts = (0..coefficients).filter(|first| first % (2 * TOGETHER) < 2);
        Self { groups: firsts.map(group).collect() }
    }

    /// Transforms `values` (overwritten) into `coefficients`.
    pub(super) fn apply(&self, values: &mut [Lanes], coefficients: &mut [Lanes]) {
        fold(values);
        let (sums, differences) = values.split_at(values.len() / 2);
        for group in &self.groups {
            let folded = if group.first.is_multiple_of(2) { sums } else { differences };
            let results = weigh(folded, &group.weights);
            let places = coefficients[group.first..].iter_mut().step_by(2);
            for (place, result) in places.zip(results) {
                *place = result;
            }
        }
    }
}

/// The first half becomes the sums of mirrored values, the second their differences.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn fold(values: &mut [Lanes]) {
    let (left, right) = values.split_at_mut(values.len() / 2);
    for (left, right) in left.iter_mut().zip(right.iter_mut().rev()) {
        for lane in 0..LANES {
            (left[lane], right[lane]) = (left[lane] + right[lane], left[lane] - right[lane]);
        }
    }
    // Differences in the order of their sums.
    right.reverse();
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn weigh(values: &[Lanes], weights: &[[f32; TOGETHER]]) -> [Lanes; TOGETHER] {
    let [mut a, mut b, mut c, mut d] = [[0.0; LANES]; TOGETHER];
    for (value, weight) in values.iter().zip(weights) {
        for lane in 0..LANES {
            a[lane] += value[lane] * weight[0];
            b[lane] += value[lane] * weight[1];
            c[lane] += value[lane] * weight[2];
            d[lane] += value[lane] * weight[3];
        }
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folded_transform_equals_the_definition() {
        let value = |at: usize, lane: usize| ((at * 7 + lane * 3) % 11) as f32 - 5.0;
        for (count, len) in [(1, 2), (3, 8), (8, 8), (13, 40), (90, 128), (128, 128)] {
            let lifter = |coefficient: usize| 1.0 + coefficient as f64 / 10.0;
            let transform = CosineTransform::new(count, len, lifter);
            let mut values: Vec<Lanes> =
                (0..len).map(|at| std::array::from_fn(|lane| value(at, lane))).collect();
            let mut got = vec![[f32::NAN; LANES]; count];
            transform.apply(&mut values, &mut got);
            for (coefficient, got) in got.iter().enumerate() {
                let norm = (if coefficient == 0 { 1.0 } else { 2.0 } / len as f64).sqrt();
                let angle = |at: usize| PI * coefficient as f64 * (at as f64 + 0.5) / len as f64;
                for (lane, &got) in got.iter().enumerate() {
                    let sum: f64 =
                        (0..len).map(|at| f64::from(value(at, lane)) * angle(at).cos()).sum();
                    let want = norm * sum * lifter(coefficient);
                    assert!((f64::from(got) - want).abs() < 1e-4, "{coefficient}: {got} {want}");
                }
            }
        }
    }
}

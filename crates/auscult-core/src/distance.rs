//! 5. Distance between two bands.
//!
//! Cosine distances of log-mel vectors are of the order of 1e-5. Written as (1 - cos) / 2 in f32
//! they lose two of their few digits, so the equal chord form |a/|a| - b/|b||^2 / 4 is used, in
//! f64: identical vectors are exactly 0 apart.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use multiversion::multiversion;

use crate::{Error, Result, names::named_choices, parallel};

/// Vectors that are read at once: they come from far away.
const AT_ONCE: usize = 4;

/// How far apart two vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Metric {
    /// (1 - cos) / 2, from 0 to 1: the paper's. A zero vector is 0.5 from everything.
    #[default]
    Cosine,
    /// Euclidean distance of the vectors scaled to length 1, from 0 to 2.
    UnitEuclidean,
    /// Euclidean distance.
    Euclidean,
    /// Squared Euclidean distance.
    SquaredEuclidean,
    /// Squared Euclidean distance of vectors scaled to length 1, each dimension divided by the
    /// spread of the references in it. What is compared has been mapped (`scaled`) beforehand.
    Scaled,
}

named_choices!(Metric, "metric", {
    Cosine => "cosine",
    UnitEuclidean => "unit-euclidean",
    Euclidean => "euclidean",
    SquaredEuclidean => "squared-euclidean",
    Scaled => "scaled",
});

impl Metric {
    /// The factor that prepares a vector: 1 / |v|, 0 for a zero vector, 1 where length counts.
    pub(crate) fn factor(self, vector: &[f32]) -> f64 {
        let [factor] = self.factors([vector]);
        factor
    }

    /// The factors of several vectors of equal length at once.
    pub(crate) fn factors<const N: usize>(self, vectors: [&[f32]; N]) -> [f64; N] {
        match self {
            Self::Cosine | Self::UnitEuclidean => squared_lengths(vectors).map(|square| {
                let norm = square.sqrt();
                if norm > 0.0 { 1.0 / norm } else { 0.0 }
            }),
            Self::Euclidean | Self::SquaredEuclidean | Self::Scaled => [1.0; N],
        }
    }

    /// The factor of every vector; all have the same length.
    pub(crate) fn factors_of(self, vectors: &[&[f32]]) -> Vec<f64> {
        let of = |(): &mut (), group: usize| {
            let last = vectors.len() - 1;
            let vector = |at: usize| vectors[(group * AT_ONCE + at).min(last)];
            self.factors::<AT_ONCE>(std::array::from_fn(vector))
        };
        let factors = parallel::map(vectors.len().div_ceil(AT_ONCE), || (), of);
        let mut factors = factors.into_flattened();
        factors.truncate(vectors.len());
        factors
    }

    /// The length of the difference vector that makes a distance.
    pub(crate) fn chord_of(self, distance: f64) -> f64 {
        match self {
            Self::Cosine => 2.0 * distance.sqrt(),
            Self::UnitEuclidean | Self::Euclidean => distance,
            Self::SquaredEuclidean | Self::Scaled => distance.sqrt(),
        }
    }

    /// Distances from a vector to others of equal length, each with its factor.
    pub(crate) fn between<const N: usize>(
        self,
        left: Scaled<'_>,
        rights: [Scaled<'_>; N],
    ) -> [f64; N] {
        let squares = squared_differences(left, rights);
        std::array::from_fn(|at| {
            let is_zero = left.factor == 0.0 || rights[at].factor == 0.0;
            match self {
                Self::Cosine if is_zero => 0.5,
                Self::Cosine => (squares[at] / 4.0).min(1.0),
                // A zero vector has cosine 0 with everything: chord sqrt(2).
                Self::UnitEuclidean if is_zero => std::f64::consts::SQRT_2,
                Self::UnitEuclidean | Self::Euclidean => squares[at].sqrt(),
                Self::SquaredEuclidean | Self::Scaled => squares[at],
            }
        })
    }
}

/// Distances of every row to every other row: rows x others, row-major. Both are matrices with rows of `columns` values.
///
/// # Errors
///
/// [`crate::Error::Setting`] for the scaled distance, which is one to a set of references and not between two vectors,
/// and if there are no columns.
///
/// # Examples
///
/// ```
/// use auscult_core::{Metric, distance::pairwise};
///
/// let found = pairwise(Metric::Cosine, &[1.0, 0.0], &[2.0, 0.0, 0.0, 3.0], 2)?;
/// assert_eq!(found[0], 0.0);
/// assert!((found[1] - 0.5).abs() < 1e-15);
/// # Ok::<(), auscult_core::Error>(())
/// ```
pub fn pairwise(metric: Metric, rows: &[f32], others: &[f32], columns: usize) -> Result<Vec<f64>> {
    if metric == Metric::Scaled {
        let allowed = "cosine, unit-euclidean, euclidean or squared-euclidean";
        return Err(Error::setting("metric between two vectors", allowed, metric));
    }
    if columns == 0 {
        return Err(Error::setting("columns", "at least 1", columns));
    }
    let scaled = |vector| Scaled { vector, factor: metric.factor(vector) };
    let others: Vec<Scaled<'_>> = others.chunks_exact(columns).map(scaled).collect();
    let row = |(): &mut (), index: usize| {
        let row = scaled(&rows[index * columns..(index + 1) * columns]);
        let (groups, rest) = others.as_chunks::<4>();
        let of_rest = rest.iter().flat_map(|&other| metric.between(row, [other]));
        groups.iter().flat_map(|&group| metric.between(row, group)).chain(of_rest).collect()
    };
    let found: Vec<Vec<f64>> = parallel::map(rows.len() / columns, || (), row);
    Ok(found.into_iter().flatten().collect())
}

/// A vector and the factor it is to be multiplied with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scaled<'a> {
    pub(crate) vector: &'a [f32],
    pub(crate) factor: f64,
}

/// Running sums; fixed, so that every caller adds in the same order. Two vectors of f64 on the
/// widest machines: one alone would wait for itself.
const LANES: usize = 16;

/// Sums of squares, as [`squared_differences`] adds them.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn squared_lengths<const N: usize>(vectors: [&[f32]; N]) -> [f64; N] {
    let (chunk_count, mut sums) = (vectors[0].len() / LANES, [[0.0; LANES]; N]);
    let mut chunks = [vectors[0].as_chunks::<LANES>().0; N];
    for (chunks, vector) in chunks.iter_mut().zip(&vectors) {
        *chunks = &vector.as_chunks().0[..chunk_count];
    }
    #[expect(clippy::needless_range_loop, reason = "all vectors at once")]
    for at in 0..chunk_count {
        for lane in 0..LANES {
            for number in 0..N {
                let value = f64::from(chunks[number][at][lane]);
                sums[number][lane] += value * value;
            }
        }
    }
    for (sums, vector) in sums.iter_mut().zip(&vectors) {
        for (sum, &value) in sums.iter_mut().zip(&vector[chunk_count * LANES..]) {
            *sum += f64::from(value) * f64::from(value);
        }
    }
    sums.map(total)
}

/// Sums of (left - right)^2 of the scaled vectors, of several at once because they come from far
/// away. The same bits on every level of vector instructions: the sums are fixed, nothing is fused.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn squared_differences<const N: usize>(left: Scaled<'_>, rights: [Scaled<'_>; N]) -> [f64; N] {
    let (chunks, rest) = left.vector.as_chunks::<LANES>();
    let (mut others, mut sums) = ([chunks; N], [[0.0; LANES]; N]);
    for (other, right) in others.iter_mut().zip(&rights) {
        *other = &right.vector.as_chunks().0[..chunks.len()];
    }
    for (at, chunk) in chunks.iter().enumerate() {
        for lane in 0..LANES {
            let value = f64::from(chunk[lane]) * left.factor;
            for number in 0..N {
                let other = f64::from(others[number][at][lane]) * rights[number].factor;
                sums[number][lane] += (value - other) * (value - other);
            }
        }
    }
    let start = left.vector.len() - rest.len();
    for (sums, right) in sums.iter_mut().zip(&rights) {
        for ((sum, &value), &other) in sums.iter_mut().zip(rest).zip(&right.vector[start..]) {
            let difference = f64::from(value) * left.factor - f64::from(other) * right.factor;
            *sum += difference * difference;
        }
    }
    sums.map(total)
}

/// Halves are added to halves: as few additions as possible wait for each other.
#[inline(always)]
fn total(sums: [f64; LANES]) -> f64 {
    let eight: [f64; 8] = std::array::from_fn(|lane| sums[lane] + sums[lane + 8]);
    let four: [f64; 4] = std::array::from_fn(|lane| eight[lane] + eight[lane + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distance(metric: Metric, a: &[f32], b: &[f32]) -> f64 {
        let scaled = |vector| Scaled { vector, factor: metric.factor(vector) };
        let [distance] = metric.between(scaled(a), [scaled(b)]);
        let both = metric.between(scaled(a), [scaled(a), scaled(b)]);
        assert_eq!(both[1].to_bits(), distance.to_bits(), "others at once change no bit");
        distance
    }

    #[test]
    fn a_zero_vector_is_half_way_from_everything() {
        assert_eq!(distance(Metric::Cosine, &[0.0, 0.0], &[1.0, 2.0]), 0.5);
        assert_eq!(distance(Metric::Cosine, &[0.0, 0.0], &[0.0, 0.0]), 0.5);
    }

    #[test]
    fn opposite_vectors_are_one_apart() {
        assert_eq!(distance(Metric::Cosine, &[3.0, 4.0], &[-3.0, -4.0]), 1.0);
    }

    proptest! {
        #[test]
        fn the_chord_form_equals_the_cosine_form(
            a in prop::collection::vec(-10.0_f32..10.0, 1..40), seed in 0.1_f32..3.0,
        ) {
            let b: Vec<f32> = a.iter().enumerate().map(|(i, v)| v + seed * (i as f32).cos()).collect();
            let dot: f64 = a.iter().zip(&b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            let cosine = dot * Metric::Cosine.factor(&a) * Metric::Cosine.factor(&b);
            prop_assert!((distance(Metric::Cosine, &a, &b) - (1.0 - cosine) / 2.0).abs() < 1e-12);
        }

        #[test]
        fn a_length_is_the_distance_from_nothing_to_the_bit(
            a in prop::collection::vec(prop::num::f32::NORMAL | prop::num::f32::ZERO, 0..40),
        ) {
            let [whole, nothing] = [1.0, 0.0].map(|factor| Scaled { vector: &a, factor });
            prop_assert_eq!(squared_lengths([&a]), squared_differences(whole, [nothing]));
            let reversed: Vec<f32> = a.iter().rev().copied().collect();
            let both = squared_lengths([&reversed, &a]);
            prop_assert_eq!([both[1]], squared_lengths([&a]));
        }

        #[test]
        fn distances_are_symmetric_and_zero_to_oneself(
            a in prop::collection::vec(-10.0_f32..10.0, 1..40), scale in 0.5_f32..4.0,
        ) {
            let b: Vec<f32> = a.iter().rev().map(|value| value * scale).collect();
            for &metric in Metric::ALL {
                prop_assert_eq!(distance(metric, &a, &b), distance(metric, &b, &a));
                if a.iter().any(|&value| value != 0.0) {
                    prop_assert_eq!(distance(metric, &a, &a), 0.0);
                }
            }
        }
    }
}

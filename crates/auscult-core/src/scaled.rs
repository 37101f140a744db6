//! The map behind the scaled distance: how far is far, dimension by dimension.
//!
//! A band is made unit length; then every dimension is divided by the spread the references have in
//! it, softened by half the mean variance so that quiet dimensions do not shout. The distance is
//! the squared Euclidean one of what comes out. The map is learnt from the references and belongs to
//! the memory: another memory has another map.

use std::ops::Range;

use multiversion::multiversion;

use crate::{distance::Metric, nearest::add_scaled, parallel};

/// What the scaled distance does to a band before it is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScaledMap {
    /// Mean of the unit vectors. It changes no distance; numbers around zero lose fewer digits.
    centres: Vec<f64>,
    /// What each dimension is multiplied with.
    weights: Vec<f64>,
}

/// The share of the mean variance that is added to every dimension's own.
const SOFTENING: f64 = 0.5;

/// Less than f32 can tell apart in a unit vector: such references are identical.
const SMALLEST_VARIANCE: f64 = 1e-30;

impl ScaledMap {
    /// Learns the map of one band from the references' values in it, each with its [`unit_factors`].
    ///
    /// References that do not differ at all leave nothing to scale by: the map only makes lengths 1.
    pub(crate) fn of(width: usize, rows: &[&[f32]], factors: &[f64]) -> Self {
        // Every dimension adds up on its own, in the order of the references: the same bits however
        // dimensions are shared out.
        let moments = parallel::map(
            width.div_ceil(BLOCK),
            || (),
            |(), block| moments(rows, factors, block * BLOCK..width.min((block + 1) * BLOCK)),
        );
        let (centres, variances): (Vec<_>, Vec<_>) = moments.into_iter().unzip();
        let (centres, variances) = (centres.concat(), variances.concat());
        let mean = variances.iter().sum::<f64>() / width.max(1) as f64;
        let weight = |variance: f64| {
            let softened = variance + SOFTENING * mean;
            if softened >= SMALLEST_VARIANCE { 1.0 / softened.sqrt() } else { 1.0 }
        };
        Self { weights: variances.into_iter().map(weight).collect(), centres }
    }

    /// Puts a map together from what a model file holds; `None` if it could not have been learnt.
    pub(crate) fn from_parts(centres: &[f64], weights: &[f64]) -> Option<Self> {
        let usable = centres.len() == weights.len()
            && centres.iter().all(|centre| centre.is_finite())
            && weights.iter().all(|&weight| weight.is_finite() && weight > 0.0);
        usable.then(|| Self { centres: centres.to_vec(), weights: weights.to_vec() })
    }

    /// Mean of the references' unit vectors, and what each dimension is multiplied with.
    pub(crate) fn parts(&self) -> (&[f64], &[f64]) {
        (&self.centres, &self.weights)
    }

    /// Writes the mapped form of a band, whose [`unit_factors`] is `factor`.
    pub(crate) fn apply(&self, band: &[f32], factor: f64, mapped: &mut [f32]) {
        apply(band, factor, &self.centres, &self.weights, mapped);
    }
}

/// Dimensions whose moments are computed together: what is read of all references stays in a near
/// cache for the second pass.
const BLOCK: usize = 128;

/// 1 / |v| of every vector, 0 for a zero vector.
pub(crate) fn unit_factors(rows: &[&[f32]]) -> Vec<f64> {
    Metric::UnitEuclidean.factors_of(rows)
}

/// Means and variances of some dimensions of the unit vectors.
fn moments(rows: &[&[f32]], factors: &[f64], dimensions: Range<usize>) -> (Vec<f64>, Vec<f64>) {
    let count = rows.len().max(1) as f64;
    let mut centres = vec![0.0; dimensions.len()];
    for (row, &factor) in rows.iter().zip(factors) {
        add_scaled(&row[dimensions.clone()], factor, &mut centres);
    }
    for centre in &mut centres {
        *centre /= count;
    }
    let mut variances = vec![0.0; dimensions.len()];
    for (row, &factor) in rows.iter().zip(factors) {
        add_squared_offsets(&row[dimensions.clone()], factor, &centres, &mut variances);
    }
    for variance in &mut variances {
        *variance /= count;
    }
    (centres, variances)
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn add_squared_offsets(row: &[f32], factor: f64, centres: &[f64], sums: &mut [f64]) {
    for ((sum, &value), centre) in sums.iter_mut().zip(row).zip(centres) {
        let offset = f64::from(value) * factor - centre;
        *sum += offset * offset;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn apply(band: &[f32], factor: f64, centres: &[f64], weights: &[f64], mapped: &mut [f32]) {
    let places = mapped.iter_mut().zip(band).zip(centres).zip(weights);
    for (((mapped, &value), centre), weight) in places {
        *mapped = ((f64::from(value) * factor - centre) * weight) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(map: &ScaledMap, band: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; band.len()];
        map.apply(band, unit_factors(&[band])[0], &mut out);
        out
    }

    fn map_of<const N: usize>(rows: &[[f32; N]]) -> ScaledMap {
        let rows: Vec<&[f32]> = rows.iter().map(<[f32; N]>::as_slice).collect();
        ScaledMap::of(N, &rows, &unit_factors(&rows))
    }

    #[test]
    fn every_dimension_is_divided_by_its_softened_spread() {
        let rows = [[3.0_f32, 4.0], [4.0, 3.0], [0.6, 0.8]];
        let map = map_of(&rows);
        // Unit vectors (0.6, 0.8), (0.8, 0.6), (0.6, 0.8): both variances are 0.08 / 9.
        let variance: f64 = 0.08 / 9.0;
        let expected = 0.2 / (1.5 * variance).sqrt();
        let (first, second) = (mapped(&map, &rows[0]), mapped(&map, &rows[1]));
        assert!((f64::from(second[0] - first[0]) - expected).abs() < 1e-6);
        assert!((f64::from(second[1] - first[1]) + expected).abs() < 1e-6);
        assert_eq!(first, mapped(&map, &[30.0, 40.0]), "length does not count");
    }

    #[test]
    fn what_never_varies_stays_finite() {
        let rows = [[0.0_f32, 0.0, 0.0], [0.0, 0.0, 0.0]];
        let map = map_of(&rows);
        assert_eq!(mapped(&map, &[0.0; 3]), [0.0; 3]);
        assert_eq!(mapped(&map, &[0.0, 2.0, 0.0]), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn a_map_that_cannot_be_is_refused() {
        assert!(ScaledMap::from_parts(&[0.0], &[1.0]).is_some());
        for weights in [[0.0], [-1.0], [f64::NAN], [f64::INFINITY]] {
            assert!(ScaledMap::from_parts(&[0.0], &weights).is_none());
        }
        assert!(ScaledMap::from_parts(&[0.0, 0.0], &[1.0]).is_none());
    }
}

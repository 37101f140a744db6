//! The covariance of each domain's errors, for the selective Mahalanobis distance.

use std::collections::BTreeMap;

use auscult_kernels::Isa;
use nalgebra::DMatrix;

use super::{
    Reconstruction, TrainingSettings, matrix::Matrix, reconstruction::Precisions, settings::FRAMES,
    training::windows,
};
use auscult_core::random::Random;

use crate::{Error, Result};

/// Inverse covariances of the errors of training clips, one a domain, in the order of their names.
///
/// As the official program has it: in one more pass over the windows in batches, the errors of a
/// batch's windows of a domain are centred by their own mean; the sum of their outer products is
/// divided by the number of windows less one. (The official pass leaves batch normalisation in
/// training mode, this one does not.)
pub(super) fn precisions(
    reconstruction: &Reconstruction,
    maps: &[&[f32]],
    domains: &[String],
    clips: &[usize],
    settings: &TrainingSettings,
) -> Result<Precisions> {
    let bins = settings.form.bins();
    let isa = Isa::best();
    let mut order = windows(maps, clips, bins);
    Random::of(settings.seed, &[3]).shuffle(&mut order);
    let mut found: BTreeMap<&str, Sums> = BTreeMap::new();
    for batch in order.chunks(settings.batch) {
        let mut of_domain: BTreeMap<&str, Vec<f32>> = BTreeMap::new();
        for window in batch {
            let map = maps[window.clip as usize];
            let start = window.frame as usize * bins;
            let input = &map[start..start + FRAMES * bins];
            of_domain.entry(&domains[window.clip as usize]).or_default().extend(input);
        }
        for (domain, inputs) in of_domain {
            let count = inputs.len() / (FRAMES * bins);
            let errors = reconstruction.errors_of_windows(&inputs);
            found.entry(domain).or_insert_with(|| Sums::new(bins)).add(isa, &errors, count);
        }
    }
    let clips_of = |domain: &str| clips.iter().filter(|&&clip| domains[clip] == domain).count();
    found
        .into_iter()
        .map(|(domain, sums)| {
            let refused =
                || Error::Covariance { domain: domain.to_owned(), clips: clips_of(domain) };
            sums.inverse().ok_or_else(refused)
        })
        .collect()
}

/// Sums of outer products of one domain.
struct Sums {
    products: Vec<f64>,
    bins: usize,
    windows: usize,
}

impl Sums {
    fn new(bins: usize) -> Self {
        Self { products: vec![0.0; bins * bins], bins, windows: 0 }
    }

    /// Adds the errors of some windows, centred.
    fn add(&mut self, isa: Isa, errors: &[f32], windows: usize) {
        self.windows += windows;
        let rows = errors.len() / self.bins;
        let mut centred = Matrix::zeros(rows, self.bins);
        let mut mean = vec![0.0_f64; self.bins];
        for (at, &error) in errors.iter().enumerate() {
            mean[at % self.bins] += f64::from(error) / rows as f64;
        }
        for (row, errors) in centred.iter_mut().zip(errors.chunks_exact(self.bins)) {
            for ((out, error), mean) in row.iter_mut().zip(errors).zip(&mean) {
                *out = (f64::from(*error) - mean) as f32;
            }
        }
        let mut products = Matrix::zeros(0, self.bins);
        products.set_product(isa, &centred.transposed(), &centred.packed(), None);
        for (sum, &product) in self.products.iter_mut().zip(products.iter().flatten()) {
            *sum += f64::from(product);
        }
    }

    fn inverse(&self) -> Option<Vec<f32>> {
        let count = self.windows.checked_sub(1).filter(|&count| count > 0)? as f64;
        let covariance = DMatrix::from_fn(self.bins, self.bins, |row, column| {
            // Rounding may have made the two halves differ.
            let [a, b] =
                [(row, column), (column, row)].map(|(i, j)| self.products[i * self.bins + j]);
            f64::midpoint(a, b) / count
        });
        let inverse = covariance.cholesky()?.inverse();
        let values: Vec<f32> = inverse.iter().map(|&value| value as f32).collect();
        values.iter().all(|value| value.is_finite()).then_some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_that_of_the_centred_products() {
        let errors: Vec<f32> = (0..60).map(|at| ((at * at) % 13) as f32 - 5.0).collect();
        let mut sums = Sums::new(3);
        sums.add(Isa::best(), &errors, 4);
        let inverse = sums.inverse().unwrap();
        let rows: Vec<&[f32]> = errors.chunks_exact(3).collect();
        let mean = |k: usize| rows.iter().map(|row| f64::from(row[k])).sum::<f64>() / 20.0;
        let covariance = |a: usize, b: usize| {
            let product =
                |row: &&[f32]| (f64::from(row[a]) - mean(a)) * (f64::from(row[b]) - mean(b));
            rows.iter().map(product).sum::<f64>() / 3.0
        };
        for a in 0..3 {
            for b in 0..3 {
                let identity: f64 =
                    (0..3).map(|k| covariance(a, k) * f64::from(inverse[k * 3 + b])).sum();
                let expected = if a == b { 1.0 } else { 0.0 };
                assert!((identity - expected).abs() < 1e-4, "{a} {b}: {identity}");
            }
        }
    }

    #[test]
    fn errors_without_spread_have_no_inverse() {
        let mut sums = Sums::new(3);
        sums.add(Isa::best(), &[1.0; 30], 2);
        assert_eq!(sums.inverse(), None);
    }
}

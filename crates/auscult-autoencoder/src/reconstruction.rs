//! The network once it is trained: spectrograms in, errors out.

use std::collections::BTreeMap;

use auscult_kernels::{Isa, PackedMatrix};

use super::{
    ErrorScore, Form, matrix::Matrix, network::Network, settings::FRAMES, training::Batch,
};
use crate::{Error, Result};

/// A trained network, its normalisation folded into its weights.
#[derive(Debug, Clone)]
pub(super) struct Reconstruction {
    form: Form,
    layers: Vec<(PackedMatrix, Vec<f32>)>,
    isa: Isa,
}

/// What scores need beside the network: the inverse covariance of each domain's errors.
pub(super) type Precisions = Vec<Vec<f32>>;

impl Reconstruction {
    pub(super) fn of(form: Form, network: &Network) -> Self {
        let layers = network.layers.iter().map(|layer| {
            let (weight, bias) = layer.folded();
            (PackedMatrix::from_linear(&weight, bias.len(), layer.inputs), bias)
        });
        Self { form, layers: layers.collect(), isa: Isa::best() }
    }

    /// The network a model file holds.
    pub(super) fn read(form: Form, weights: &BTreeMap<String, Vec<f32>>) -> Result<Self> {
        let widths = form.widths();
        let array = |name: String, len: usize| match weights.get(&name) {
            Some(values) if values.len() == len => Ok(values.clone()),
            found => {
                let got = found.map_or("no".to_owned(), |values| values.len().to_string());
                let reason = format!("{name} has {got} values, {form} needs {len}");
                Err(Error::Core(auscult_core::Error::DamagedModel { reason }))
            }
        };
        let layers: Result<Vec<_>> = (0..widths.len() - 1)
            .map(|at| {
                let (inputs, outputs) = (widths[at], widths[at + 1]);
                let weight = array(format!("layer.{at}.weight"), inputs * outputs)?;
                let bias = array(format!("layer.{at}.bias"), outputs)?;
                Ok((PackedMatrix::from_linear(&weight, outputs, inputs), bias))
            })
            .collect();
        Ok(Self { form, layers: layers?, isa: Isa::best() })
    }

    /// Runs every window of a spectrogram and returns what should have been made minus what was, one row of
    /// bins a frame that is made.
    pub(super) fn errors(&self, map: &[f32]) -> Vec<f32> {
        let bins = self.form.bins();
        let count = (map.len() / bins + 1).saturating_sub(FRAMES);
        self.errors_of((0..count).map(|frame| &map[frame * bins..(frame + FRAMES) * bins]))
    }

    /// The same of windows that lie one after the other.
    pub(super) fn errors_of_windows(&self, windows: &[f32]) -> Vec<f32> {
        self.errors_of(windows.chunks_exact(FRAMES * self.form.bins()))
    }

    fn errors_of<'a>(&self, windows: impl ExactSizeIterator<Item = &'a [f32]>) -> Vec<f32> {
        let mut batch = Batch::new(self.form);
        batch.set(windows);
        let output = self.run(batch.seen());
        let rows = batch.made().iter().zip(output.iter());
        rows.flat_map(|(made, output)| made.iter().zip(output).map(|(x, y)| x - y)).collect()
    }

    fn run(&self, input: &Matrix) -> Matrix {
        let mut output = input.clone();
        for (at, (weight, bias)) in self.layers.iter().enumerate() {
            let mut next = Matrix::zeros(0, bias.len());
            next.set_product(self.isa, &output, weight, Some(bias));
            if at + 1 < self.layers.len() {
                for value in next.iter_mut().flatten() {
                    *value = value.max(0.0);
                }
            }
            output = next;
        }
        output
    }

    /// Mean squared error of a clip.
    pub(super) fn squared_error(&self, map: &[f32]) -> f64 {
        let errors = self.errors(map);
        let sum: f64 = errors.iter().map(|&error| f64::from(error) * f64::from(error)).sum();
        sum / errors.len() as f64
    }

    /// What each bin contributes to the score of a clip; their mean is the score.
    pub(super) fn profile(
        &self,
        map: &[f32],
        score: ErrorScore,
        precisions: &Precisions,
    ) -> Vec<f32> {
        let (errors, bins) = (self.errors(map), self.form.bins());
        let profile = match score {
            ErrorScore::Mse => {
                let squares = errors.iter().map(|&error| f64::from(error) * f64::from(error));
                mean_of_rows(squares, bins)
            }
            ErrorScore::Mahalanobis => {
                let of_domain =
                    |precision: &Vec<f32>| frame_distances(self.isa, &errors, precision, bins);
                smallest(precisions.iter().map(of_domain))
            }
            ErrorScore::MahalanobisOfficial => {
                let mean = mean_of_rows(errors.iter().map(|&error| f64::from(error)), bins);
                smallest(precisions.iter().map(|precision| contributions(&mean, precision)))
            }
        };
        profile.into_iter().map(|value| value as f32).collect()
    }
}

/// Means of columns.
fn mean_of_rows(values: impl ExactSizeIterator<Item = f64>, columns: usize) -> Vec<f64> {
    let rows = (values.len() / columns).max(1) as f64;
    let mut sums = vec![0.0; columns];
    for (at, value) in values.enumerate() {
        sums[at % columns] += value;
    }
    sums.iter().map(|sum| sum / rows).collect()
}

/// The profile with the smallest sum.
fn smallest(profiles: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    let sum = |profile: &[f64]| profile.iter().sum::<f64>();
    profiles.min_by(|a, b| sum(a).total_cmp(&sum(b))).unwrap_or_default()
}

/// Each error times its entry of P d, times the number of bins so that their mean is d' P d.
fn contributions(error: &[f64], precision: &[f32]) -> Vec<f64> {
    let bins = error.len();
    let weighted = |row: &[f32]| -> f64 {
        row.iter().zip(error).map(|(&weight, error)| f64::from(weight) * error).sum()
    };
    let rows = precision.chunks_exact(bins);
    rows.zip(error).map(|(row, error)| bins as f64 * error * weighted(row)).collect()
}

/// The mean of the same over all frames.
fn frame_distances(isa: Isa, errors: &[f32], precision: &[f32], bins: usize) -> Vec<f64> {
    let mut rows = Matrix::zeros(errors.len() / bins, bins);
    for (row, errors) in rows.iter_mut().zip(errors.chunks_exact(bins)) {
        row.copy_from_slice(errors);
    }
    let mut weighted = Matrix::zeros(0, bins);
    let right = PackedMatrix::from_linear(precision, bins, bins);
    weighted.set_product(isa, &rows, &right, None);
    let products: Vec<f64> = rows
        .iter()
        .flatten()
        .zip(weighted.iter().flatten())
        .map(|(&error, &weighted)| bins as f64 * f64::from(error) * f64::from(weighted))
        .collect();
    mean_of_rows(products.into_iter(), bins)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean over the whole matrix of products between frames, as the official program has it.
    #[test]
    fn the_official_reduction_is_the_distance_of_the_mean_error() {
        let bins = 3;
        let errors = [1.0_f32, 2.0, -1.0, 0.5, 0.0, 4.0, -2.0, 1.0, 1.0];
        let precision = [2.0_f32, 0.5, 0.0, 0.5, 1.0, 0.25, 0.0, 0.25, 3.0];
        let product = |a: &[f32], b: &[f32]| -> f64 {
            let pairs = (0..9).map(|at| (at / 3, at % 3));
            pairs.map(|(i, j)| f64::from(a[i] * precision[i * 3 + j] * b[j])).sum()
        };
        let frames: Vec<&[f32]> = errors.chunks_exact(bins).collect();
        let whole: f64 =
            frames.iter().flat_map(|a| frames.iter().map(|b| product(a, b))).sum::<f64>() / 9.0;
        let diagonal: f64 = frames.iter().map(|a| product(a, a)).sum::<f64>() / 3.0;
        let mean = mean_of_rows(errors.iter().map(|&error| f64::from(error)), bins);
        let score = |profile: Vec<f64>| profile.iter().sum::<f64>() / bins as f64;
        assert!((score(contributions(&mean, &precision)) - whole).abs() < 1e-9);
        let by_frames = frame_distances(Isa::best(), &errors, &precision, bins);
        assert!((score(by_frames) - diagonal).abs() < 1e-5);
    }

    #[test]
    fn the_smaller_domain_counts() {
        let profiles = vec![vec![3.0, 1.0], vec![0.5, 1.0]];
        assert_eq!(smallest(profiles.into_iter()), [0.5, 1.0]);
    }
}

//! One Gaussian: Mahalanobis distance, and the residual of its principal components.

use super::{SystemSettings, subspace::Subspace, vectors::VectorModel};

/// Distance in standard deviations, with a shrunk covariance: (1 - a) S + a tr(S) / F I.
pub(super) struct Mahalanobis;

impl VectorModel for Mahalanobis {
    type Fitted = Box<dyn Fn(&[f64]) -> f64 + Sync>;

    fn fit(&self, rows: &[Vec<f64>], system: &SystemSettings) -> Self::Fitted {
        let subspace = Subspace::of(rows);
        let shrinkage = system.shrinkage.clamp(1e-6, 1.0);
        let axis_len = subspace.mean.len() as f64;
        let spread = subspace.variances.iter().sum::<f64>() / axis_len;
        let floor = (shrinkage * spread).max(f64::MIN_POSITIVE);
        let scales: Vec<f64> = subspace
            .variances
            .iter()
            .map(|variance| (1.0 - shrinkage) * variance + floor)
            .collect();
        Box::new(move |row| {
            let (along, rest) = subspace.project(row, usize::MAX);
            along.iter().zip(&scales).map(|(length, scale)| length / scale).sum::<f64>()
                + rest / floor
        })
    }
}

/// Squared length of what the leading principal components leave over.
pub(super) struct PcaResidual;

impl VectorModel for PcaResidual {
    type Fitted = Box<dyn Fn(&[f64]) -> f64 + Sync>;

    fn fit(&self, rows: &[Vec<f64>], system: &SystemSettings) -> Self::Fitted {
        let subspace = Subspace::of(rows);
        let whole: f64 = subspace.variances.iter().sum();
        let mut kept = 0;
        let mut explained = 0.0;
        while kept < subspace.variances.len() && explained < system.variance_share * whole {
            explained += subspace.variances[kept];
            kept += 1;
        }
        Box::new(move |row| subspace.project(row, kept).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<f64>> {
        (0..20)
            .map(|i| {
                let t = f64::from(i) * 0.7;
                vec![10.0 * t.sin(), t.cos(), 0.1 * (3.0 * t).sin()]
            })
            .collect()
    }

    #[test]
    fn the_mahalanobis_distance_is_that_of_the_inverse_covariance() {
        let system = SystemSettings { shrinkage: 0.2, ..Default::default() };
        let rows = rows();
        let score = Mahalanobis.fit(&rows, &system);
        let count = rows.len() as f64;
        let mean: Vec<f64> =
            (0..3).map(|k| rows.iter().map(|row| row[k]).sum::<f64>() / count).collect();
        let covariance = nalgebra::DMatrix::from_fn(3, 3, |a, b| {
            rows.iter().map(|row| (row[a] - mean[a]) * (row[b] - mean[b])).sum::<f64>() / count
        });
        let ridge = 0.2 * covariance.trace() / 3.0;
        let shrunk = covariance * 0.8 + nalgebra::DMatrix::identity(3, 3) * ridge;
        let inverse = shrunk.try_inverse().unwrap();
        let x = nalgebra::DVector::from_vec(vec![1.0 - mean[0], 2.0 - mean[1], 3.0 - mean[2]]);
        let direct = (x.transpose() * inverse * &x)[0];
        assert!((score(&[1.0, 2.0, 3.0]) / direct - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_varies_most_leaves_no_residual() {
        let system = SystemSettings { variance_share: 0.9, ..Default::default() };
        let score = PcaResidual.fit(&rows(), &system);
        assert!(score(&[50.0, 0.0, 0.0]) < score(&[0.0, 0.0, 5.0]));
    }
}

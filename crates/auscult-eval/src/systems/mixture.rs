//! A mixture of diagonal Gaussians, fitted by expectation and maximisation.

use super::{
    SystemSettings,
    k_means::{nearest, starts},
    vectors::VectorModel,
};

pub(super) struct MixtureModel;

/// Rounds of expectation and maximisation.
const ROUNDS: usize = 50;

/// Variances are at least this share of the variance of all rows, so that no component collapses.
const LEAST_VARIANCE: f64 = 1e-2;

struct Component {
    log_weight: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl Component {
    fn log_density(&self, row: &[f64]) -> f64 {
        let terms =
            row.iter().zip(&self.mean).zip(&self.variance).map(|((value, mean), variance)| {
                (value - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln()
            });
        self.log_weight - 0.5 * terms.sum::<f64>()
    }
}

impl VectorModel for MixtureModel {
    type Fitted = Box<dyn Fn(&[f64]) -> f64 + Sync>;

    /// The score is the negative logarithm of the likelihood.
    fn fit(&self, rows: &[Vec<f64>], system: &SystemSettings) -> Self::Fitted {
        let components = fit(rows, system.components);
        Box::new(move |row| {
            let logs: Vec<f64> = components.iter().map(|part| part.log_density(row)).collect();
            -log_sum(&logs)
        })
    }
}

fn log_sum(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
}

fn fit(rows: &[Vec<f64>], count: usize) -> Vec<Component> {
    let centres = starts(rows, count);
    let floor = floor_of(rows);
    let mut shares: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let mut share = vec![0.0; centres.len()];
            share[nearest(row, &centres)] = 1.0;
            share
        })
        .collect();
    let mut components = maximise(rows, &shares, &floor);
    for _ in 0..ROUNDS {
        for (row, share) in rows.iter().zip(&mut shares) {
            let logs: Vec<f64> = components.iter().map(|part| part.log_density(row)).collect();
            let whole = log_sum(&logs);
            *share = logs.iter().map(|log| (log - whole).exp()).collect();
        }
        components = maximise(rows, &shares, &floor);
    }
    components
}

fn floor_of(rows: &[Vec<f64>]) -> Vec<f64> {
    let count = rows.len() as f64;
    (0..rows[0].len())
        .map(|at| {
            let mean = rows.iter().map(|row| row[at]).sum::<f64>() / count;
            let variance = rows.iter().map(|row| (row[at] - mean).powi(2)).sum::<f64>() / count;
            (LEAST_VARIANCE * variance).max(1e-12)
        })
        .collect()
}

fn maximise(rows: &[Vec<f64>], shares: &[Vec<f64>], floor: &[f64]) -> Vec<Component> {
    let parts = shares.first().map_or(0, Vec::len);
    let component = |part: usize| {
        let weight: f64 = shares.iter().map(|share| share[part]).sum();
        if weight < 1e-9 {
            return None;
        }
        let average = |of: &dyn Fn(&[f64]) -> f64| {
            rows.iter().zip(shares).map(|(row, share)| share[part] * of(row)).sum::<f64>() / weight
        };
        let mean: Vec<f64> = (0..floor.len()).map(|at| average(&|row| row[at])).collect();
        let variance = (0..floor.len())
            .map(|at| average(&|row| (row[at] - mean[at]).powi(2)).max(floor[at]))
            .collect();
        Some(Component { log_weight: (weight / rows.len() as f64).ln(), mean, variance })
    };
    (0..parts).filter_map(component).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_heaps_are_likely_and_between_them_is_not() {
        let rows: Vec<Vec<f64>> = (0..40)
            .map(|i| {
                let t = (f64::from(i) * 1.3).sin();
                vec![if i % 2 == 0 { t } else { 20.0 + t }, t]
            })
            .collect();
        let score =
            MixtureModel.fit(&rows, &SystemSettings { components: 2, ..Default::default() });
        assert!(score(&[0.0, 0.0]) < score(&[10.0, 0.0]));
        assert!(score(&[20.0, 0.0]) < score(&[10.0, 0.0]));
        assert!(score(&[1e6, 0.0]).is_finite());
    }
}

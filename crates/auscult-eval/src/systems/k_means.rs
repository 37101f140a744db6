//! Spherical k-means: cosine distance to the nearest of k centres.

use auscult_core::random::Random;

use super::{SystemSettings, vectors::VectorModel};

pub(super) struct KMeansModel;

/// Rounds of moving centres; they hardly move after that.
const ROUNDS: usize = 30;

impl VectorModel for KMeansModel {
    type Fitted = Box<dyn Fn(&[f64]) -> f64 + Sync>;

    fn fit(&self, rows: &[Vec<f64>], system: &SystemSettings) -> Self::Fitted {
        let units: Vec<Vec<f64>> = rows.iter().map(|row| unit(row)).collect();
        let centres = centres(&units, system.components);
        Box::new(move |row| {
            let row = unit(row);
            let nearest =
                centres.iter().map(|centre| squared(&row, centre)).fold(f64::INFINITY, f64::min);
            nearest / 4.0
        })
    }
}

/// The vector with length 1; a zero vector stays.
fn unit(row: &[f64]) -> Vec<f64> {
    let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
    if length > 0.0 { row.iter().map(|value| value / length).collect() } else { row.to_vec() }
}

pub(super) fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// Centres of at most `count` clusters of unit vectors, always the same for the same rows.
fn centres(rows: &[Vec<f64>], count: usize) -> Vec<Vec<f64>> {
    let mut centres = starts(rows, count);
    for _ in 0..ROUNDS {
        let mut sums = vec![vec![0.0; rows[0].len()]; centres.len()];
        for row in rows {
            let nearest = nearest(row, &centres);
            sums[nearest].iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        for (centre, sum) in centres.iter_mut().zip(sums) {
            if sum.iter().any(|&value| value != 0.0) {
                *centre = unit(&sum);
            }
        }
    }
    centres
}

pub(super) fn nearest(row: &[f64], centres: &[Vec<f64>]) -> usize {
    let distances = centres.iter().enumerate().map(|(index, centre)| (squared(row, centre), index));
    distances.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, index)| index)
}

/// k-means++: each start is drawn by its squared distance from those before it.
pub(super) fn starts(rows: &[Vec<f64>], count: usize) -> Vec<Vec<f64>> {
    let mut random = Random::of(1, &[0]);
    let mut starts = vec![rows[random.below(rows.len())].clone()];
    while starts.len() < count.clamp(1, rows.len()) {
        let weights: Vec<f64> = rows
            .iter()
            .map(|row| starts.iter().map(|start| squared(row, start)).fold(f64::INFINITY, f64::min))
            .collect();
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            break;
        }
        let mut left = random.share() * total;
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        starts.push(rows[chosen.unwrap_or(rows.len() - 1)].clone());
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centres_lie_in_the_clusters() {
        let rows: Vec<Vec<f64>> = (0..20)
            .map(|i| {
                let t = f64::from(i % 10) * 0.01;
                if i < 10 { vec![1.0, t] } else { vec![t, 1.0] }
            })
            .collect();
        let score = KMeansModel.fit(&rows, &SystemSettings { components: 2, ..Default::default() });
        assert!(score(&[5.0, 0.2]) < 1e-3 && score(&[0.2, 5.0]) < 1e-3);
        assert!(score(&[1.0, 1.0]) > 0.1);
        // More centres than rows, and rows that are all equal.
        let same = KMeansModel.fit(&vec![vec![1.0, 0.0]; 3], &SystemSettings::default());
        assert_eq!(same(&[2.0, 0.0]), 0.0);
    }
}

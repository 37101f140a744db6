//! Mean and principal directions of vectors.

use nalgebra::{DMatrix, SymmetricEigen};

/// The mean of rows and the directions they vary in, the largest variance first.
pub(super) struct Subspace {
    pub(super) mean: Vec<f64>,
    /// Unit vectors.
    pub(super) directions: Vec<Vec<f64>>,
    /// Population variance along each direction, above 0.
    pub(super) variances: Vec<f64>,
}

impl Subspace {
    /// Of at least one row. The smaller of rows x rows and axis x axis is decomposed.
    pub(super) fn of(rows: &[Vec<f64>]) -> Self {
        let (count, axis_len) = (rows.len(), rows.first().map_or(0, Vec::len));
        let mean: Vec<f64> = (0..axis_len)
            .map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / count as f64)
            .collect();
        let scale = (count as f64).sqrt();
        let centred =
            DMatrix::from_fn(count, axis_len, |row, at| (rows[row][at] - mean[at]) / scale);
        let is_wide = axis_len > count;
        let product =
            if is_wide { &centred * centred.transpose() } else { centred.transpose() * &centred };
        let found = SymmetricEigen::new(product);
        let mut order: Vec<usize> = (0..found.eigenvalues.len()).collect();
        order.sort_by(|&a, &b| found.eigenvalues[b].total_cmp(&found.eigenvalues[a]));
        let largest = order.first().map_or(0.0, |&first| found.eigenvalues[first].max(0.0));
        let mut subspace = Self { mean, directions: Vec::new(), variances: Vec::new() };
        for index in order {
            let variance = found.eigenvalues[index];
            // What is left is rounding.
            if variance <= largest * 1e-12 || variance <= 0.0 {
                break;
            }
            let column = found.eigenvectors.column(index);
            let direction: Vec<f64> = if is_wide {
                let back = centred.transpose() * column / variance.sqrt();
                back.iter().copied().collect()
            } else {
                column.iter().copied().collect()
            };
            subspace.directions.push(direction);
            subspace.variances.push(variance);
        }
        subspace
    }

    /// The squared lengths of a vector along each direction, and of what they leave over.
    pub(super) fn project(&self, row: &[f64], directions: usize) -> (Vec<f64>, f64) {
        let centred: Vec<f64> =
            row.iter().zip(&self.mean).map(|(value, mean)| value - mean).collect();
        let along: Vec<f64> = self.directions[..directions.min(self.directions.len())]
            .iter()
            .map(|direction| {
                direction.iter().zip(&centred).map(|(a, b)| a * b).sum::<f64>().powi(2)
            })
            .collect();
        let whole: f64 = centred.iter().map(|value| value * value).sum();
        let rest = (whole - along.iter().sum::<f64>()).max(0.0);
        (along, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_tall_rows_give_the_same_directions() {
        let rows: Vec<Vec<f64>> = (0..6)
            .map(|i| {
                let t = f64::from(i);
                vec![t, 2.0 * t + (t * 1.7).sin(), 1.0]
            })
            .collect();
        let tall = Subspace::of(&rows);
        // The same rows twice in zeros: wider than there are rows.
        let wide: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().copied().chain([0.0; 9]).collect()).collect();
        let wide = Subspace::of(&wide);
        assert_eq!((tall.variances.len(), wide.variances.len()), (2, 2));
        for (a, b) in tall.variances.iter().zip(&wide.variances) {
            assert!((a / b - 1.0).abs() < 1e-9);
        }
        let (along, rest) = tall.project(&[1.0, 2.0, 4.0], 2);
        let (wide_along, wide_rest) =
            wide.project(&[1.0, 2.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 2);
        assert!((along[0] - wide_along[0]).abs() < 1e-9 && (rest - wide_rest).abs() < 1e-9);
        assert!((rest - 9.0).abs() < 1e-9, "the third axis never varied");
    }
}

//! Matrices whose rows the kernels read and write, and their products.

use auscult_kernels::{Epilogue, Isa, PackedMatrix, Rows, RowsMut, multiply, row_stride};
use rayon::prelude::*;

/// Rows with room for whole panels.
#[derive(Debug, Clone)]
pub(super) struct Matrix {
    values: Vec<f32>,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// Rows one task works on.
const ROWS_AT_ONCE: usize = 64;

impl Matrix {
    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self { values: vec![0.0; rows * row_stride(columns)], rows, columns }
    }

    /// The same with another number of rows; what was in them is of no interest.
    pub(super) fn set_rows(&mut self, rows: usize) {
        self.values.resize(rows * self.stride(), 0.0);
        self.rows = rows;
    }

    pub(super) fn stride(&self) -> usize {
        row_stride(self.columns)
    }

    #[cfg(test)]
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.stride()..][..self.columns]
    }

    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f32] {
        let (stride, columns) = (self.stride(), self.columns);
        &mut self.values[row * stride..][..columns]
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.stride()).map(|row| &row[..self.columns])
    }

    pub(super) fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [f32]> {
        let (stride, columns) = (self.stride(), self.columns);
        self.values.chunks_exact_mut(stride).map(move |row| &mut row[..columns])
    }

    /// Rows and columns exchanged.
    pub(super) fn transposed(&self) -> Self {
        let mut out = Self::zeros(self.columns, self.rows);
        let stride = out.stride();
        for (at, row) in self.iter().enumerate() {
            for (column, &value) in row.iter().enumerate() {
                out.values[column * stride + at] = value;
            }
        }
        out
    }

    /// This matrix as the right side of a product whose inputs are its rows.
    pub(super) fn packed(&self) -> PackedMatrix {
        let mut packed = PackedMatrix::empty();
        packed.set(&self.values, self.stride(), self.rows, self.columns);
        packed
    }

    /// The product of `left` and `right`, with a bias if there is one.
    ///
    /// Rows do not depend on each other, so threads change no bit.
    pub(super) fn set_product(
        &mut self,
        isa: Isa,
        left: &Self,
        right: &PackedMatrix,
        bias: Option<&[f32]>,
    ) {
        self.set_rows(left.rows);
        let (stride, left_stride) = (self.stride(), left.stride());
        let epilogue = bias.map_or(Epilogue::Plain, Epilogue::Bias);
        self.values.par_chunks_mut(ROWS_AT_ONCE * stride).enumerate().for_each(|(block, out)| {
            let values = &left.values[block * ROWS_AT_ONCE * left_stride..];
            let left = Rows { values, stride: left_stride, count: out.len() / stride };
            multiply(isa, left, right, epilogue, &mut RowsMut { values: out, stride });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize, seed: usize) -> Matrix {
        let mut made = Matrix::zeros(rows, columns);
        for (at, row) in made.iter_mut().enumerate() {
            for (column, value) in row.iter_mut().enumerate() {
                *value = ((at * 31 + column * 17 + seed) % 23) as f32 - 11.0;
            }
        }
        made
    }

    #[test]
    fn products_are_sums_over_inputs() {
        let (left, right) = (matrix(70, 9, 1), matrix(9, 20, 2));
        let bias: Vec<f32> = (0..20_u8).map(f32::from).collect();
        let mut out = Matrix::zeros(0, 20);
        out.set_product(Isa::best(), &left, &right.packed(), Some(&bias));
        for row in 0..70 {
            for (column, bias) in bias.iter().enumerate() {
                let products = (0..9).map(|at| left.row(row)[at] * right.row(at)[column]);
                assert_eq!(out.row(row)[column], products.sum::<f32>() + bias);
            }
        }
        assert_eq!(left.transposed().row(3)[69], left.row(69)[3]);
    }
}

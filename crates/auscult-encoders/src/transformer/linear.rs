//! Linear layers and normalisations with their weights.

use auscult_kernels::{Epilogue, Isa, PackedMatrix, Rows, RowsMut, multiply};

use crate::{Result, weights::Weights};

/// A linear layer: packed weights and a bias.
#[derive(Debug)]
pub(crate) struct Linear {
    matrix: PackedMatrix,
    bias: Vec<f32>,
}

impl Linear {
    /// `outputs` rows of `inputs` weights, and a bias.
    pub(crate) fn new(weights: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        Self { matrix: PackedMatrix::from_linear(weights, bias.len(), inputs), bias }
    }

    /// Reads `name.weight` and `name.bias`.
    pub(crate) fn read(
        weights: &mut Weights<'_>,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Self> {
        let matrix = weights.take(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = weights.take(&format!("{name}.bias"), &[outputs])?;
        Ok(Self::new(&matrix, bias, inputs))
    }

    pub(crate) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Bytes the weights take.
    pub(crate) fn bytes(&self) -> usize {
        self.matrix.bytes() + size_of_val(self.bias.as_slice())
    }

    /// Multiplies rows; `epilogue` gets the bias.
    pub(crate) fn apply<'a>(
        &'a self,
        isa: Isa,
        left: Rows<'_>,
        epilogue: impl FnOnce(&'a [f32]) -> Epilogue<'a>,
        out: &mut RowsMut<'_>,
        _integers: &mut Vec<i16>,
    ) {
        multiply(isa, left, &self.matrix, epilogue(&self.bias), out);
    }
}

/// The weights of a layer normalisation.
#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

impl Norm {
    /// Reads `name.weight` and `name.bias`.
    pub(crate) fn read(
        weights: &mut Weights<'_>,
        name: &str,
        width: usize,
        epsilon: f32,
    ) -> Result<Self> {
        let weight = weights.take(&format!("{name}.weight"), &[width])?;
        let bias = weights.take(&format!("{name}.bias"), &[width])?;
        Ok(Self { weight, bias, epsilon })
    }
}

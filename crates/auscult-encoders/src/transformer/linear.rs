//! Linear layers and normalisations with their weights.

use std::{fmt, str::FromStr};

use auscult_kernels::{
    Epilogue, IntegerRows, Isa, PackedIntegers, PackedMatrix, Rows, RowsMut, multiply,
    multiply_integers,
};

use crate::{Result, weights::Weights};

/// What the linear layers of the blocks are computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Single precision.
    #[default]
    F32,
    /// Integers: 12 bits for activations, 11 for weights. Faster, with a relative error of some
    /// thousandths.
    Int16,
}

impl Precision {
    /// Every choice.
    pub const ALL: &'static [Self] = &[Self::F32, Self::Int16];

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Int16 => "int16",
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Precision {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.iter().copied().find(|choice| choice.name() == text);
        found.ok_or_else(|| crate::Error::setting("precision", "f32 or int16", text))
    }
}

/// A linear layer: packed weights and a bias.
#[derive(Debug)]
pub(crate) struct Linear {
    matrix: Matrix,
    bias: Vec<f32>,
}

#[derive(Debug)]
enum Matrix {
    Floats(PackedMatrix),
    Integers(PackedIntegers),
}

impl Linear {
    /// `outputs` rows of `inputs` weights, and a bias, in f32.
    pub(crate) fn new(weights: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        Self::with(Precision::F32, weights, bias, inputs)
    }

    /// The same in a chosen precision.
    pub(crate) fn with(
        precision: Precision,
        weights: &[f32],
        bias: Vec<f32>,
        inputs: usize,
    ) -> Self {
        let outputs = bias.len();
        let matrix = match precision {
            Precision::F32 => Matrix::Floats(PackedMatrix::from_linear(weights, outputs, inputs)),
            Precision::Int16 => {
                Matrix::Integers(PackedIntegers::from_linear(weights, outputs, inputs))
            }
        };
        Self { matrix, bias }
    }

    /// Reads `name.weight` and `name.bias` of a block, in the encoder's precision.
    pub(crate) fn read(
        weights: &mut Weights<'_>,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Self> {
        let matrix = weights.take(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = weights.take(&format!("{name}.bias"), &[outputs])?;
        Ok(Self::with(weights.precision(), &matrix, bias, inputs))
    }

    pub(crate) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Weights, without the bias: multiplications a row.
    pub(crate) fn weights(&self) -> usize {
        let inputs = match &self.matrix {
            Matrix::Floats(matrix) => matrix.inputs(),
            Matrix::Integers(matrix) => matrix.inputs(),
        };
        inputs * self.outputs()
    }

    /// Bytes the weights take.
    pub(crate) fn bytes(&self) -> usize {
        let matrix = match &self.matrix {
            Matrix::Floats(matrix) => matrix.bytes(),
            Matrix::Integers(matrix) => matrix.bytes(),
        };
        matrix + size_of_val(self.bias.as_slice())
    }

    /// Multiplies rows; `epilogue` gets the bias.
    pub(crate) fn apply<'a>(
        &'a self,
        isa: Isa,
        left: Rows<'_>,
        epilogue: impl FnOnce(&'a [f32]) -> Epilogue<'a>,
        out: &mut RowsMut<'_>,
        integers: &mut IntegerRows,
    ) {
        let epilogue = epilogue(&self.bias);
        match &self.matrix {
            Matrix::Floats(matrix) => multiply(isa, left, matrix, epilogue, out),
            Matrix::Integers(matrix) => {
                integers.set(isa, left, matrix.inputs());
                multiply_integers(isa, integers, matrix, epilogue, out);
            }
        }
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

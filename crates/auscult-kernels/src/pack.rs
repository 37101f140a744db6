//! Right-hand matrices in the order the kernels read them.

use crate::{Isa, PANEL, pages, turn::turn};

/// The values of one input for the outputs of one panel; as wide as the widest register.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lane(pub(crate) [f32; PANEL]);

/// A matrix of `inputs` x `outputs`, packed into panels of [`PANEL`] outputs.
///
/// Within a panel the values of one input lie together, so that a product reads the whole matrix
/// front to back. The last panel is filled up with zeros.
#[derive(Debug, Clone)]
pub struct PackedMatrix {
    lanes: Vec<Lane>,
    inputs: usize,
    outputs: usize,
}

/// Inputs that are turned at once: they stay in the nearest cache.
const AT_ONCE: usize = 64;

impl PackedMatrix {
    /// An empty matrix, to be filled by a `set` function.
    pub fn empty() -> Self {
        Self { lanes: Vec::new(), inputs: 0, outputs: 0 }
    }

    /// Packs the weights of a linear layer: `outputs` rows of `inputs` values, row-major.
    ///
    /// # Panics
    ///
    /// If the slice has another length.
    pub fn from_linear(weights: &[f32], outputs: usize, inputs: usize) -> Self {
        assert_eq!(weights.len(), outputs * inputs, "weights of {outputs} x {inputs}");
        let mut packed = Self::empty();
        packed.set_transposed(weights, inputs, outputs, inputs);
        packed
    }

    /// Packs a matrix whose rows are outputs: row `i` is the `inputs` values from `i * stride`.
    ///
    /// # Panics
    ///
    /// If the slice ends before the last row does.
    pub fn set_transposed(&mut self, rows: &[f32], stride: usize, outputs: usize, inputs: usize) {
        self.resize(inputs, outputs);
        let whole = outputs / PANEL;
        let mut turned = [[0.0; PANEL]; AT_ONCE];
        for panel in 0..whole {
            let rows = &rows[panel * PANEL * stride..];
            let lanes = &mut self.lanes[panel * inputs..(panel + 1) * inputs];
            for (part, lanes) in lanes.chunks_mut(AT_ONCE).enumerate() {
                let turned = &mut turned[..lanes.len()];
                turn(Isa::best(), &rows[part * AT_ONCE..], stride, turned);
                for (lane, turned) in lanes.iter_mut().zip(turned) {
                    lane.0 = *turned;
                }
            }
        }
        for output in whole * PANEL..outputs {
            let row = &rows[output * stride..output * stride + inputs];
            let (panel, column) = (output / PANEL, output % PANEL);
            let lanes = &mut self.lanes[panel * inputs..(panel + 1) * inputs];
            for (lane, &value) in lanes.iter_mut().zip(row) {
                lane.0[column] = value;
            }
        }
    }

    /// Packs a matrix whose rows are inputs: row `i` is the `outputs` values from `i * stride`.
    ///
    /// # Panics
    ///
    /// If the slice ends before the last row does.
    pub fn set(&mut self, rows: &[f32], stride: usize, inputs: usize, outputs: usize) {
        self.resize(inputs, outputs);
        for input in 0..inputs {
            let row = &rows[input * stride..input * stride + outputs];
            for (panel, values) in row.chunks(PANEL).enumerate() {
                self.lanes[panel * inputs + input].0[..values.len()].copy_from_slice(values);
            }
        }
    }

    fn resize(&mut self, inputs: usize, outputs: usize) {
        let len = outputs.div_ceil(PANEL) * inputs;
        if !outputs.is_multiple_of(PANEL) || self.lanes.len() != len {
            if self.lanes.capacity() < len {
                self.lanes = pages::filled(Lane([0.0; PANEL]), len);
            } else {
                self.lanes.clear();
                self.lanes.resize(len, Lane([0.0; PANEL]));
            }
        }
        (self.inputs, self.outputs) = (inputs, outputs);
    }

    /// Rows of the matrix: the length of the vectors it is multiplied with.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Columns of the matrix, without the zeros that fill the last panel.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of panels.
    pub fn panels(&self) -> usize {
        self.outputs.div_ceil(PANEL)
    }

    /// Bytes the packed values take.
    pub fn bytes(&self) -> usize {
        size_of_val(self.lanes.as_slice())
    }

    /// The lanes of a panel, one an input.
    pub(crate) fn panel(&self, panel: usize) -> &[Lane] {
        &self.lanes[panel * self.inputs..(panel + 1) * self.inputs]
    }
}

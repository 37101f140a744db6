//! The network while it is trained: layers, what they remember of a batch, and their gradients.

use auscult_kernels::{Isa, PackedMatrix};

use super::{Form, matrix::Matrix, training::Batch};
use auscult_core::random::Random;

/// Batch normalisation as the DCASE baseline has it.
const MOMENTUM: f32 = 0.01;
const EPSILON: f32 = 1e-3;

/// One linear layer; all but the last are followed by a rectifier.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    pub(super) inputs: usize,
    /// One row of `inputs` values an output.
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) norm: Option<BatchNorm>,
    is_last: bool,
}

/// Batch normalisation of a layer's outputs.
#[derive(Debug, Clone)]
pub(super) struct BatchNorm {
    pub(super) gain: Vec<f32>,
    pub(super) shift: Vec<f32>,
    pub(super) mean: Vec<f32>,
    pub(super) variance: Vec<f32>,
}

/// The layers.
#[derive(Debug, Clone)]
pub(super) struct Network {
    pub(super) layers: Vec<Layer>,
    isa: Isa,
}

/// What a layer remembers of a batch until its gradients are computed.
#[derive(Debug, Clone)]
struct Memory {
    /// After normalisation and rectifier.
    output: Matrix,
    /// Normalised values, and one over the deviation of each output.
    normalised: Matrix,
    inverse_deviation: Vec<f32>,
}

/// Gradients of one layer, each as long as what it is the gradient of.
#[derive(Debug, Clone)]
pub(super) struct LayerGradient {
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) gain: Vec<f32>,
    pub(super) shift: Vec<f32>,
}

/// Buffers of a step, reused from batch to batch.
#[derive(Debug, Clone)]
pub(super) struct Step {
    memories: Vec<Memory>,
    pub(super) gradients: Vec<LayerGradient>,
}

impl Layer {
    fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// The weights of a product of inputs.
    fn packed(&self) -> PackedMatrix {
        PackedMatrix::from_linear(&self.weight, self.outputs(), self.inputs)
    }

    /// Weights and biases with the normalisation of unseen sound folded in.
    pub(super) fn folded(&self) -> (Vec<f32>, Vec<f32>) {
        let Some(norm) = &self.norm else { return (self.weight.clone(), self.bias.clone()) };
        let scales: Vec<f32> = norm
            .gain
            .iter()
            .zip(&norm.variance)
            .map(|(gain, variance)| gain / (variance + EPSILON).sqrt())
            .collect();
        let rows = self.weight.chunks_exact(self.inputs).zip(&scales);
        let weight = rows.flat_map(|(row, scale)| row.iter().map(move |w| w * scale)).collect();
        let bias = (0..self.outputs())
            .map(|at| (self.bias[at] - norm.mean[at]) * scales[at] + norm.shift[at])
            .collect();
        (weight, bias)
    }
}

impl Network {
    /// First weights by chance, uniform up to one over the root of the inputs, as PyTorch has them.
    pub(super) fn new(form: Form, seed: u64) -> Self {
        let mut random = Random::of(seed, &[0]);
        let widths = form.widths();
        let count = widths.len() - 1;
        let layers = (0..count)
            .map(|at| {
                let (inputs, outputs) = (widths[at], widths[at + 1]);
                let limit = 1.0 / (inputs as f64).sqrt();
                let is_last = at + 1 == count;
                Layer {
                    inputs,
                    weight: (0..inputs * outputs).map(|_| random.symmetric(limit)).collect(),
                    bias: (0..outputs).map(|_| random.symmetric(limit)).collect(),
                    norm: (form.has_batch_norm() && !is_last).then(|| BatchNorm {
                        gain: vec![1.0; outputs],
                        shift: vec![0.0; outputs],
                        mean: vec![0.0; outputs],
                        variance: vec![1.0; outputs],
                    }),
                    is_last,
                }
            })
            .collect();
        Self { layers, isa: Isa::best() }
    }

    pub(super) fn step(&self) -> Step {
        let memory = |layer: &Layer| Memory {
            output: Matrix::zeros(0, layer.outputs()),
            normalised: Matrix::zeros(0, layer.outputs()),
            inverse_deviation: vec![0.0; layer.outputs()],
        };
        let gradient = |layer: &Layer| LayerGradient {
            weight: vec![0.0; layer.weight.len()],
            bias: vec![0.0; layer.outputs()],
            gain: vec![0.0; layer.outputs()],
            shift: vec![0.0; layer.outputs()],
        };
        Step {
            memories: self.layers.iter().map(memory).collect(),
            gradients: self.layers.iter().map(gradient).collect(),
        }
    }

    /// Every array that is learnt, with its gradient, always in the same order.
    pub(super) fn parameters<'a>(
        &'a mut self,
        step: &'a Step,
    ) -> impl Iterator<Item = (&'a mut [f32], &'a [f32])> {
        self.layers.iter_mut().zip(&step.gradients).flat_map(|(layer, gradient)| {
            let mut arrays: Vec<(&mut [f32], &[f32])> = vec![
                (layer.weight.as_mut_slice(), gradient.weight.as_slice()),
                (layer.bias.as_mut_slice(), gradient.bias.as_slice()),
            ];
            if let Some(norm) = &mut layer.norm {
                arrays.push((norm.gain.as_mut_slice(), gradient.gain.as_slice()));
                arrays.push((norm.shift.as_mut_slice(), gradient.shift.as_slice()));
            }
            arrays
        })
    }

    /// Runs a batch, with statistics of the batch; returns the mean squared error of what it should make
    /// and fills the step with its gradients.
    pub(super) fn forward_backward(&mut self, batch: &Batch, step: &mut Step) -> f64 {
        let (batch, made) = (batch.seen(), batch.made());
        self.forward(batch, step);
        let Step { memories, gradients } = step;
        let Some(last) = memories.last() else { return 0.0 };
        let count = (made.rows * made.columns) as f64;
        let mut gradient = last.output.clone();
        let mut sum = 0.0;
        for (out, made) in gradient.iter_mut().zip(made.iter()) {
            for (out, made) in out.iter_mut().zip(made) {
                let error = *out - made;
                sum += f64::from(error) * f64::from(error);
                *out = (2.0 * f64::from(error) / count) as f32;
            }
        }
        for at in (0..self.layers.len()).rev() {
            let layer = &self.layers[at];
            let input = if at == 0 { batch } else { &memories[at - 1].output };
            layer.backward_activation(&mut gradient, &memories[at], &mut gradients[at]);
            layer.backward_product(self.isa, &gradient, input, &mut gradients[at]);
            if at > 0 {
                let mut right = PackedMatrix::empty();
                right.set(&layer.weight, layer.inputs, layer.outputs(), layer.inputs);
                let mut before = Matrix::zeros(0, layer.inputs);
                before.set_product(self.isa, &gradient, &right, None);
                gradient = before;
            }
        }
        sum / count
    }

    fn forward(&mut self, batch: &Matrix, step: &mut Step) {
        for at in 0..self.layers.len() {
            let (done, rest) = step.memories.split_at_mut(at);
            let input = done.last().map_or(batch, |memory| &memory.output);
            let layer = &mut self.layers[at];
            let memory = &mut rest[0];
            memory.output.set_product(self.isa, input, &layer.packed(), Some(&layer.bias));
            if let Some(norm) = &mut layer.norm {
                norm.forward(memory);
            }
            if !layer.is_last {
                for value in memory.output.iter_mut().flatten() {
                    *value = value.max(0.0);
                }
            }
        }
    }
}

impl BatchNorm {
    /// Normalises a batch by its own mean and variance, and remembers both for unseen sound.
    fn forward(&mut self, memory: &mut Memory) {
        let Memory { output, normalised, inverse_deviation } = memory;
        let rows = output.rows as f32;
        let mut mean = vec![0.0_f32; output.columns];
        for row in output.iter() {
            mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        for sum in &mut mean {
            *sum /= rows;
        }
        let mut variance = vec![0.0_f32; output.columns];
        for row in output.iter() {
            for ((sum, value), mean) in variance.iter_mut().zip(row).zip(&mean) {
                *sum += (value - mean) * (value - mean);
            }
        }
        for sum in &mut variance {
            *sum /= rows;
        }
        let unbiased = rows / (rows - 1.0);
        let learn = |kept: &mut f32, new: f32| *kept += MOMENTUM * (new - *kept);
        self.mean.iter_mut().zip(&mean).for_each(|(kept, &new)| learn(kept, new));
        self.variance.iter_mut().zip(&variance).for_each(|(kept, new)| learn(kept, new * unbiased));
        for (inverse, variance) in inverse_deviation.iter_mut().zip(&variance) {
            *inverse = 1.0 / (variance + EPSILON).sqrt();
        }
        normalised.set_rows(output.rows);
        for (row, kept) in output.iter_mut().zip(normalised.iter_mut()) {
            for (at, (value, kept)) in row.iter_mut().zip(kept).enumerate() {
                *kept = (*value - mean[at]) * inverse_deviation[at];
                *value = *kept * self.gain[at] + self.shift[at];
            }
        }
    }
}

impl Layer {
    /// From the gradient of the layer's output to that of its product.
    fn backward_activation(&self, gradient: &mut Matrix, memory: &Memory, out: &mut LayerGradient) {
        if self.is_last {
            return;
        }
        for (gradient, output) in gradient.iter_mut().zip(memory.output.iter()) {
            for (gradient, &output) in gradient.iter_mut().zip(output) {
                *gradient = if output > 0.0 { *gradient } else { 0.0 };
            }
        }
        let Some(norm) = &self.norm else { return };
        out.gain.fill(0.0);
        out.shift.fill(0.0);
        for (gradient, normalised) in gradient.iter().zip(memory.normalised.iter()) {
            for (at, (gradient, normalised)) in gradient.iter().zip(normalised).enumerate() {
                out.gain[at] += gradient * normalised;
                out.shift[at] += gradient;
            }
        }
        let rows = gradient.rows as f32;
        for (gradient, normalised) in gradient.iter_mut().zip(memory.normalised.iter()) {
            for (at, (gradient, normalised)) in gradient.iter_mut().zip(normalised).enumerate() {
                let own = *gradient - (out.shift[at] + normalised * out.gain[at]) / rows;
                *gradient = norm.gain[at] * memory.inverse_deviation[at] * own;
            }
        }
    }

    /// The gradients of weights and biases from that of the product.
    fn backward_product(
        &self,
        isa: Isa,
        gradient: &Matrix,
        input: &Matrix,
        out: &mut LayerGradient,
    ) {
        out.bias.fill(0.0);
        for row in gradient.iter() {
            out.bias.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        let mut weight = Matrix::zeros(0, self.inputs);
        weight.set_product(isa, &gradient.transposed(), &input.packed(), None);
        for (to, from) in out.weight.chunks_exact_mut(self.inputs).zip(weight.iter()) {
            to.copy_from_slice(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::FRAMES;

    /// Rows that are no multiples of each other, of the size of decibels.
    fn batch(form: Form, rows: usize) -> Batch {
        let columns = FRAMES * form.bins();
        let mut random = Random::of(5, &[9]);
        let values: Vec<f32> = (0..rows * columns).map(|_| random.symmetric(2.0)).collect();
        let mut batch = Batch::new(form);
        batch.set(values.chunks_exact(columns));
        batch
    }

    /// The slope along the gradient is its squared length, and no other direction is steeper.
    #[test]
    fn gradients_are_those_of_finite_differences() {
        for &form in Form::ALL {
            let mut network = Network::new(form, 3);
            let batch = batch(form, 48);
            let mut step = network.step();
            network.forward_backward(&batch, &mut step);
            let arrays = network.parameters(&step).count();
            for array in 0..arrays {
                let loss_at = |length: f32| {
                    let mut moved = network.clone();
                    for (at, (values, gradient)) in moved.parameters(&step).enumerate() {
                        if at == array {
                            let pairs = values.iter_mut().zip(gradient);
                            pairs.for_each(|(value, gradient)| *value += length * gradient);
                        }
                    }
                    let mut scratch = moved.step();
                    moved.forward_backward(&batch, &mut scratch)
                };
                let mut moved = network.clone();
                let squared: f64 = moved
                    .parameters(&step)
                    .nth(array)
                    .map(|(_, gradient)| {
                        gradient.iter().map(|&g| f64::from(g) * f64::from(g)).sum()
                    })
                    .unwrap();
                // Biases before a normalisation have no effect.
                if squared < 1e-12 {
                    continue;
                }
                // Far enough to be more than rounding, near enough to cross few kinks: how far that
                // is depends on the array.
                let off_by = |distance: f64| {
                    let length = (distance / squared.sqrt()) as f32;
                    let slope = (loss_at(length) - loss_at(-length)) / (2.0 * f64::from(length));
                    (slope / squared - 1.0).abs()
                };
                let error = [1e-4, 1e-3].map(off_by).into_iter().fold(f64::MAX, f64::min);
                assert!(error < 0.03, "{form} {array}: off by {error}, {squared}");
            }
        }
    }

    #[test]
    fn folding_the_normalisation_changes_nothing() {
        let mut network = Network::new(Form::Dcase, 1);
        let mut step = network.step();
        for _ in 0..3 {
            network.forward_backward(&batch(Form::Dcase, 32), &mut step);
        }
        let layer = &network.layers[0];
        let norm = layer.norm.as_ref().unwrap();
        let (weight, bias) = layer.folded();
        let input = batch(Form::Dcase, 1);
        let product = |weight: &[f32], bias: f32| {
            let pairs = weight.iter().zip(input.seen().row(0));
            pairs.map(|(w, x)| w * x).sum::<f32>() + bias
        };
        for (at, bias) in bias.iter().enumerate().take(8) {
            let row = at * 640..(at + 1) * 640;
            let plain = product(&layer.weight[row.clone()], layer.bias[at]);
            let deviation = (norm.variance[at] + EPSILON).sqrt();
            let expected = (plain - norm.mean[at]) / deviation * norm.gain[at] + norm.shift[at];
            assert!((product(&weight[row], *bias) - expected).abs() < 1e-4);
        }
    }
}

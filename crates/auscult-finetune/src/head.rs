//! What is trained on top of an encoder: attentive statistics pooling and ArcFace.

use burn_tensor::{
    Tensor, TensorData,
    activation::{log_softmax, relu, softmax},
};

use super::{
    FinetuneSettings,
    network::linear,
    parameters::{HEAD, Leaves, Parameters},
};

/// Batch normalisation, PyTorch's values.
const EPSILON: f64 = 1e-5;
const MOMENTUM: f32 = 0.1;

/// Variances are at least this.
const LEAST_VARIANCE: f64 = 1e-4;

/// Where batch normalisation takes its mean and variance from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statistics {
    /// The batch: while training.
    Batch,
    /// What was learnt from batches.
    Running,
}

/// Mean and variance of a batch normalisation's input, and from how many rows.
#[derive(Debug, Clone)]
pub(super) struct NormStatistics {
    name: &'static str,
    mean: Tensor<1>,
    variance: Tensor<1>,
    rows: usize,
}

/// The head on some weights.
#[derive(Debug)]
pub(super) struct Head<'a> {
    leaves: &'a Leaves<'a>,
    statistics: Statistics,
    pub(super) seen: Vec<NormStatistics>,
}

impl<'a> Head<'a> {
    pub(super) fn new(leaves: &'a Leaves<'a>, statistics: Statistics) -> Self {
        Self { leaves, statistics, seen: Vec::new() }
    }

    fn get<const D: usize>(&self, name: &str) -> Tensor<D> {
        self.leaves.get(&format!("{HEAD}{name}"))
    }

    /// One vector a clip from its tokens (clips x tokens x width): means and deviations of the
    /// tokens, weighted channel by channel, through a linear layer back to the width.
    pub(super) fn pool(&mut self, tokens: Tensor<3>) -> Tensor<2> {
        let [clips, count, width] = tokens.dims();
        let mean = tokens.clone().mean_dim(1);
        let deviation = deviation(tokens.clone().square().mean_dim(1), mean.clone());
        // A linear layer of the token beside the clip's mean and deviation, part by part.
        let weight: Tensor<2> = self.get("attention.in.weight");
        let part = |at: usize| weight.clone().narrow(1, at * width, width);
        let clip = linear(mean, part(1), None) + linear(deviation, part(2), None);
        let hidden = linear(tokens.clone(), part(0), Some(self.get("attention.in.bias"))) + clip;
        let [_, _, narrow] = hidden.dims();
        let hidden = relu(hidden).reshape([clips * count, narrow]);
        let hidden = self.batch_norm("attention.norm", hidden).tanh();
        let hidden = hidden.reshape([clips, count, narrow]);
        let out_bias = Some(self.get("attention.out.bias"));
        let attention = softmax(linear(hidden, self.get("attention.out.weight"), out_bias), 1);
        let mean = (tokens.clone() * attention.clone()).sum_dim(1);
        let squares = (tokens.square() * attention).sum_dim(1);
        let deviation = self::deviation(squares, mean.clone());
        let statistics = Tensor::cat(vec![mean, deviation], 2).reshape([clips, 2 * width]);
        let statistics = self.batch_norm("statistics.norm", statistics);
        let statistics = statistics.reshape([1, clips, 2 * width]);
        let pooled = linear(statistics, self.get("linear.weight"), Some(self.get("linear.bias")));
        self.batch_norm("norm", pooled.reshape([clips, width]))
    }

    fn batch_norm(&mut self, name: &'static str, rows: Tensor<2>) -> Tensor<2> {
        let [count, columns] = rows.dims();
        let (mean, variance) = match self.statistics {
            Statistics::Running => {
                let array = |part: &str| self.get::<1>(&format!("{name}.{part}"));
                (array("mean").reshape([1, columns]), array("variance").reshape([1, columns]))
            }
            Statistics::Batch => {
                let mean = rows.clone().mean_dim(0);
                let variance = (rows.clone() - mean.clone()).square().mean_dim(0);
                self.seen.push(NormStatistics {
                    name,
                    mean: mean.clone().reshape([columns]),
                    variance: variance.clone().reshape([columns]),
                    rows: count,
                });
                (mean, variance)
            }
        };
        let normed = (rows - mean) / variance.add_scalar(EPSILON).sqrt();
        let array = |part: &str| self.get::<1>(&format!("{name}.{part}")).reshape([1, columns]);
        normed * array("weight") + array("bias")
    }

    /// Cosines between clips and classes.
    pub(super) fn cosines(&self, pooled: Tensor<2>) -> Tensor<2> {
        let unit = |rows: Tensor<2>| {
            let length = rows.clone().square().sum_dim(1).sqrt().clamp_min(1e-12);
            rows / length
        };
        unit(pooled).matmul(unit(self.get("classes")).transpose())
    }
}

fn deviation(mean_square: Tensor<3>, mean: Tensor<3>) -> Tensor<3> {
    (mean_square - mean.square()).clamp_min(LEAST_VARIANCE).sqrt()
}

/// ArcFace (Deng et al. 2019): cross entropy of scaled cosines, the angle to the right class (and to
/// no other) made larger by the margin.
///
/// Beyond pi - margin, where a larger angle would have a larger cosine again, a straight line takes
/// the place of the cosine.
pub(super) fn arcface(
    cosines: Tensor<2>,
    classes: &[usize],
    settings: &FinetuneSettings,
) -> Tensor<1> {
    let [clips, count] = cosines.dims();
    let mut marks = vec![0.0_f32; clips * count];
    for (clip, &class) in classes.iter().enumerate() {
        marks[clip * count + class] = 1.0;
    }
    let device = cosines.device();
    let precision = cosines.dtype();
    let marks = TensorData::new(marks, [clips, count]).convert_dtype(precision);
    let marks = Tensor::<2>::from_data(marks, (&device, precision));
    let (margin, scale) = (settings.margin, settings.scale);
    let sines = cosines.clone().square().neg().add_scalar(1.0).clamp_min(1e-9).sqrt();
    let wider = cosines.clone().mul_scalar(margin.cos()) - sines.mul_scalar(margin.sin());
    let line = cosines.clone().sub_scalar(margin * margin.sin());
    let is_beyond = cosines.clone().lower_equal_scalar((std::f64::consts::PI - margin).cos());
    let wider = wider.mask_where(is_beyond, line);
    let logits = (cosines.clone() + marks.clone() * (wider - cosines)).mul_scalar(scale);
    (log_softmax(logits, 1) * marks).sum().div_scalar(-(clips as f64))
}

/// Learns what batch normalisation is to use once training is over.
pub(super) fn learn_statistics(
    parameters: &mut Parameters,
    seen: Vec<(&'static str, Vec<f32>, Vec<f32>, usize)>,
) {
    for (name, mean, variance, rows) in seen {
        let unbiased = rows as f32 / (rows as f32 - 1.0).max(1.0);
        for (part, new, factor) in [("mean", mean, 1.0), ("variance", variance, unbiased)] {
            if let Some(kept) = parameters.get_mut(&format!("{HEAD}{name}.{part}")) {
                for (kept, new) in kept.values.iter_mut().zip(new) {
                    *kept += MOMENTUM * (new * factor - *kept);
                }
            }
        }
    }
}

impl NormStatistics {
    /// Brought back from the device.
    pub(super) fn read(self) -> Option<(&'static str, Vec<f32>, Vec<f32>, usize)> {
        let mean = self.mean.try_into_vec_as().ok()?;
        let variance = self.variance.try_into_vec_as().ok()?;
        Some((self.name, mean, variance, self.rows))
    }
}

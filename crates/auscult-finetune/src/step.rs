//! One forward and backward pass: clips in, loss and gradients out.

use burn_tensor::{DType, Device, Tensor, TensorData};

use super::{
    FinetuneSettings,
    head::{Head, Statistics, arcface},
    network::Network,
    parameters::{Leaves, Parameters},
    plan::Plan,
};
use crate::{Error, Result};

/// The input of some clips: patches of 256 values, clip after clip, and their classes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batch {
    pub(super) patches: Vec<f32>,
    pub(super) classes: Vec<usize>,
}

/// What a pass found.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) loss: f64,
    /// Clips whose nearest class is theirs.
    pub(super) right: usize,
    /// Of trained arrays, in their order.
    pub(super) gradients: Vec<Vec<f32>>,
    pub(super) statistics: Vec<(&'static str, Vec<f32>, Vec<f32>, usize)>,
}

/// Values of a patch.
const PATCH: usize = 256;

impl Batch {
    pub(super) fn tensor(&self, device: &Device, precision: DType) -> Tensor<3> {
        let clips = self.classes.len();
        let count = self.patches.len() / PATCH / clips.max(1);
        let data = TensorData::new(self.patches.clone(), [clips, count, PATCH]);
        Tensor::from_data(data.convert_dtype(precision), (device, precision))
    }
}

/// What the tensor library says when numbers cannot be brought back.
fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::Device { reason: error.to_string() }
}

/// Computes loss and gradients of a batch.
pub(super) fn pass(
    plan: &Plan,
    leaves: &Leaves<'_>,
    batch: &Batch,
    settings: &FinetuneSettings,
    (device, precision): (&Device, DType),
) -> Result<Pass> {
    let (loss, cosines, seen) =
        forward(plan, leaves, batch, settings, (device, precision), Statistics::Batch);
    let value: f64 = loss.clone().inner().try_into_scalar().map_err(unreadable)?;
    let right = count_right(cosines, &batch.classes)?;
    let mut gradients = loss.backward();
    let gradients: Result<Vec<Vec<f32>>> = leaves
        .trained()
        .map(|leaf| match leaf.grad_remove(&mut gradients) {
            Some(gradient) => gradient.try_into_vec_as().map_err(unreadable),
            // Nothing depends on it.
            None => Ok(vec![0.0; leaf.dims()[0]]),
        })
        .collect();
    Ok(Pass { loss: value, right, gradients: gradients?, statistics: seen })
}

type Seen = Vec<(&'static str, Vec<f32>, Vec<f32>, usize)>;

fn forward(
    plan: &Plan,
    leaves: &Leaves<'_>,
    batch: &Batch,
    settings: &FinetuneSettings,
    (device, precision): (&Device, DType),
    statistics: Statistics,
) -> (Tensor<1>, Tensor<2>, Seen) {
    let mut layers = Network { plan, leaves }.layers(batch.tensor(device, precision));
    // There is always the input of the first block.
    let tokens = layers.pop().unwrap_or_else(|| batch.tensor(device, precision));
    drop(layers);
    let [_, count, _] = tokens.dims();
    // The class token of EAT is not a patch.
    let first = usize::from(plan.architecture == auscult_encoders::Architecture::Eat);
    let tokens = tokens.narrow(1, first, count - first);
    let mut head = Head::new(leaves, statistics);
    let pooled = head.pool(tokens);
    let cosines = head.cosines(pooled);
    let loss = arcface(cosines.clone(), &batch.classes, settings);
    let seen = head.seen.into_iter().filter_map(super::head::NormStatistics::read).collect();
    (loss, cosines, seen)
}

/// The loss and the share of clips whose nearest class is theirs, with what batch normalisation
/// learnt; nothing is trained.
#[cfg_attr(not(test), expect(dead_code, reason = "only tests look at it yet"))]
pub(super) fn evaluate(
    plan: &Plan,
    parameters: &Parameters,
    batch: &Batch,
    settings: &FinetuneSettings,
    device: &Device,
) -> Result<(f64, f64)> {
    let leaves = parameters.leaves(device, DType::F32);
    let (loss, cosines, _) =
        forward(plan, &leaves, batch, settings, (device, DType::F32), Statistics::Running);
    let right = count_right(cosines, &batch.classes)?;
    let loss: f64 = loss.inner().try_into_scalar().map_err(unreadable)?;
    Ok((loss, right as f64 / batch.classes.len() as f64))
}

fn count_right(cosines: Tensor<2>, classes: &[usize]) -> Result<usize> {
    let [_, count] = cosines.dims();
    let cosines: Vec<f32> = cosines.inner().try_into_vec_as().map_err(unreadable)?;
    let is_right = |(row, &class): (&[f32], &usize)| row.iter().all(|&other| other <= row[class]);
    Ok(cosines.chunks_exact(count).zip(classes).filter(|&pair| is_right(pair)).count())
}

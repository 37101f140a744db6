//! Tensors as pickles describe them.

use std::rc::Rc;

use super::{Storage, pickle::Value};

/// Axes of a tensor.
const MOST_AXES: usize = 16;

/// A tensor as the pickle describes it.
#[derive(Debug)]
pub(super) struct Tensor {
    pub(super) storage: Storage,
    pub(super) key: Rc<str>,
    pub(super) offset: usize,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
}

/// The values of a storage, by the name of its class.
pub(super) fn storage(class: &str) -> Storage {
    match class {
        "torch.FloatStorage" => Storage::F32,
        "torch.HalfStorage" => Storage::F16,
        "torch.BFloat16Storage" => Storage::Bf16,
        other => Storage::Other(other.to_owned()),
    }
}

/// The tensor that a call with these arguments builds.
pub(super) fn tensor(arguments: &[Value]) -> Option<Tensor> {
    let [Value::StorageOf { storage, key }, Value::Int(offset), shape, strides, ..] = arguments
    else {
        return None;
    };
    let (shape, strides) = (lengths(shape)?, lengths(strides)?);
    (shape.len() == strides.len()).then_some(())?;
    let offset = usize::try_from(*offset).ok()?;
    Some(Tensor { storage: Storage::clone(storage), key: key.clone(), offset, shape, strides })
}

fn lengths(value: &Value) -> Option<Vec<usize>> {
    let Value::Tuple(values, _) = value else { return None };
    (values.len() <= MOST_AXES).then_some(())?;
    values
        .iter()
        .map(|value| match value {
            Value::Int(value) => usize::try_from(*value).ok(),
            _ => None,
        })
        .collect()
}

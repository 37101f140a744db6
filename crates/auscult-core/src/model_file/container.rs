//! A safetensors container with one metadata entry: the same in every version.
//!
//! `__metadata__.auscult` is JSON: `{"version": 1, "checksum": "...", "header": {...}}`. The
//! checksum is BLAKE3 over the version (from 4 on), the header's text and every tensor's name, shape
//! and bytes, so that a changed byte anywhere is noticed.

use std::collections::HashMap;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

use super::damaged;
use crate::{Error, Result};

const KEY: &str = "auscult";

/// Files of older versions do not have their version in the checksum.
const VERSION_IN_CHECKSUM: u32 = 4;

#[derive(Serialize, Deserialize)]
struct Envelope {
    version: u32,
    checksum: String,
    header: Box<RawValue>,
}

/// What every version of the envelope has.
#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

/// A tensor as it lies in the file.
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

impl Tensor {
    pub(super) fn of_f32(name: String, shape: Vec<usize>, values: &[f32]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name, dtype: Dtype::F32, shape, bytes }
    }

    pub(super) fn of_f64(
        name: &str,
        shape: Vec<usize>,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let bytes = values.into_iter().flat_map(f64::to_le_bytes).collect();
        Self { name: name.to_owned(), dtype: Dtype::F64, shape, bytes }
    }
}

/// A header as text.
pub(super) fn to_text(header: &impl Serialize) -> Result<Box<RawValue>> {
    to_raw_value(header).map_err(unwritable)
}

/// A header from its text.
pub(super) fn from_text<T: DeserializeOwned>(header: &RawValue) -> Result<T> {
    serde_json::from_str(header.get())
        .map_err(|error| damaged(format!("its header is not valid: {error}")))
}

pub(super) fn write(version: u32, header: Box<RawValue>, tensors: &[Tensor]) -> Result<Vec<u8>> {
    let parts = tensors
        .iter()
        .map(|tensor| (tensor.name.as_str(), tensor.shape.as_slice(), tensor.bytes.as_slice()));
    let checksum = checksum(version, header.get(), parts);
    let envelope =
        serde_json::to_string(&Envelope { version, checksum, header }).map_err(unwritable)?;
    let views: std::result::Result<Vec<_>, _> = tensors
        .iter()
        .map(|tensor| {
            TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes)
                .map(|view| (tensor.name.as_str(), view))
        })
        .collect();
    // One entry only: the container keeps metadata in no particular order.
    let metadata = HashMap::from([(KEY.to_owned(), envelope)]);
    safetensors::serialize(views.map_err(unwritable)?, Some(metadata)).map_err(unwritable)
}

fn unwritable(error: impl std::fmt::Display) -> Error {
    damaged(format!("it cannot be written: {error}"))
}

/// Order-independent in the tensors, which the container may reorder.
fn checksum<'a>(
    version: u32,
    header: &str,
    tensors: impl Iterator<Item = (&'a str, &'a [usize], &'a [u8])>,
) -> String {
    let mut parts: Vec<_> = tensors.collect();
    parts.sort_by_key(|&(name, ..)| name);
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    if version >= VERSION_IN_CHECKSUM {
        add(&version.to_le_bytes());
    }
    add(header.as_bytes());
    for (name, shape, bytes) in parts {
        add(name.as_bytes());
        add(format!("{shape:?}").as_bytes());
        add(bytes);
    }
    hasher.finalize().to_hex().to_string()
}

/// The version, the header and the tensors; distinguishes foreign, newer and damaged files.
pub(super) fn open(bytes: &[u8], supported: u32) -> Result<(u32, Box<RawValue>, SafeTensors<'_>)> {
    let foreign = |reason: String| Error::ForeignModel { reason };
    if bytes.is_empty() {
        return Err(foreign("the file is empty".to_owned()));
    }
    let (_, metadata) = match SafeTensors::read_metadata(bytes) {
        Ok(metadata) => metadata,
        // A file cut short keeps its beginning, with our name in it.
        Err(_) if contains(bytes, br#""__metadata__":{"auscult":"#) => {
            return Err(damaged("the file is cut short or its header was changed"));
        }
        Err(error) => return Err(foreign(format!("it is not a safetensors file ({error})"))),
    };
    let Some(envelope) = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY)) else {
        return Err(foreign("it is a safetensors file without an auscult header".to_owned()));
    };
    let unreadable = |error| damaged(format!("its header is not readable: {error}"));
    let VersionOnly { version: found } = serde_json::from_str(envelope).map_err(unreadable)?;
    if found > supported {
        return Err(Error::ModelVersion { found, supported });
    }
    let Envelope { version, checksum: expected, header } =
        serde_json::from_str(envelope).map_err(unreadable)?;
    let container = SafeTensors::deserialize(bytes).map_err(|error| damaged(error.to_string()))?;
    let tensors = container.tensors();
    let parts = tensors.iter().map(|(name, view)| (name.as_str(), view.shape(), view.data()));
    if checksum(version, header.get(), parts) != expected {
        return Err(damaged("the checksum does not match its contents"));
    }
    Ok((version, header, container))
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes
        .get(..256.min(bytes.len()))
        .is_some_and(|start| start.windows(needle.len()).any(|window| window == needle))
}

pub(super) fn floats_f32(
    container: &SafeTensors<'_>,
    name: &str,
    shape: &[usize],
) -> Result<Vec<f32>> {
    let data = tensor(container, name, Dtype::F32, Some(shape))?;
    let values = data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    Ok(values.collect())
}

pub(super) fn floats_f64(
    container: &SafeTensors<'_>,
    name: &str,
    shape: Option<&[usize]>,
) -> Result<Vec<f64>> {
    let data = tensor(container, name, Dtype::F64, shape)?;
    let values = data.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
    Ok(values.collect())
}

pub(super) fn tensor<'a>(
    container: &SafeTensors<'a>,
    name: &str,
    dtype: Dtype,
    shape: Option<&[usize]>,
) -> Result<&'a [u8]> {
    let view = container.tensor(name).map_err(|_| damaged(format!("tensor {name} is missing")))?;
    if view.dtype() != dtype || shape.is_some_and(|shape| view.shape() != shape) {
        let (found, expected) = (view.shape(), shape.unwrap_or_default());
        return Err(damaged(format!(
            "tensor {name} is {:?} {found:?}, expected {dtype:?} {expected:?}",
            view.dtype()
        )));
    }
    Ok(view.data())
}

//! safetensors: a JSON table of tensors, then their bytes.

use std::collections::{BTreeMap, HashMap};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde_json::Value;

use super::{Contents, Entry, Storage};
use crate::{Error, Result};

/// The entry of the file's metadata that holds the encoder's configuration as JSON.
const CONFIG_KEY: &str = "auscult.config";

/// A tensor stored as integers has its factor in another one with this at the end of its name.
const FACTOR: &str = ".factor";

pub(super) fn read(bytes: &[u8]) -> Result<Contents> {
    let refused = |error: safetensors::SafeTensorError| {
        Error::format(format!("neither a PyTorch zip file nor safetensors ({error})"))
    };
    let container = SafeTensors::deserialize(bytes).map_err(refused)?;
    let (header, metadata) = SafeTensors::read_metadata(bytes).map_err(refused)?;
    let start = header + size_of::<u64>();
    let mut tensors = BTreeMap::new();
    let listed: BTreeMap<_, _> = metadata.tensors().into_iter().collect();
    for (name, info) in listed {
        if name.ends_with(FACTOR) {
            continue;
        }
        let storage = match info.dtype {
            Dtype::F32 => Storage::F32,
            Dtype::F16 => Storage::F16,
            Dtype::BF16 => Storage::Bf16,
            Dtype::I8 => match factor(&container, &name) {
                Some(factor) => Storage::Int8 { factor },
                None => Storage::Other("I8 without a factor".to_owned()),
            },
            other => Storage::Other(format!("{other:?}")),
        };
        let range = start + info.data_offsets.0..start + info.data_offsets.1;
        let shape = info.shape.clone();
        tensors.insert(name, Entry { storage, shape, strides: None, range });
    }
    let config = metadata.metadata().as_ref().and_then(|entries| entries.get(CONFIG_KEY));
    let config = config.and_then(|text| serde_json::from_str(text).ok());
    Ok(Contents { tensors, config })
}

fn factor(container: &SafeTensors<'_>, name: &str) -> Option<f32> {
    let view = container.tensor(&format!("{name}{FACTOR}")).ok()?;
    let bytes: [u8; 4] = view.data().try_into().ok()?;
    (view.dtype() == Dtype::F32).then(|| f32::from_le_bytes(bytes))
}

/// A tensor's name, shape and values, row-major.
pub type NamedTensor = (String, Vec<usize>, Vec<f32>);

/// Writes f32 tensors and a configuration as safetensors bytes that [`super::Checkpoint`] reads.
///
/// # Errors
///
/// [`Error::Format`] if a tensor does not have the values its shape says.
pub fn to_safetensors(tensors: &[NamedTensor], config: Option<&Value>) -> Result<Vec<u8>> {
    let refused = |error: safetensors::SafeTensorError| Error::format(error.to_string());
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(_, _, values)| values.iter().flat_map(|value| value.to_le_bytes()).collect())
        .collect();
    let views: std::result::Result<Vec<_>, _> = tensors
        .iter()
        .zip(&bytes)
        .map(|((name, shape, _), bytes)| {
            Ok((name.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes)?))
        })
        .collect();
    let metadata =
        config.map(|config| HashMap::from([(CONFIG_KEY.to_owned(), config.to_string())]));
    safetensors::serialize(views.map_err(refused)?, metadata).map_err(refused)
}

//! safetensors: a JSON table of tensors, then their bytes.

use std::collections::{BTreeMap, HashMap};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::Deserialize;
use serde_json::Value;

use super::{Contents, Description, Entry, Storage};
use crate::{Error, Result};

/// The entry of the file's metadata that holds a [`Description`] as JSON: one entry, because the
/// order of several is not always the same.
const KEY: &str = "auscult.encoder";

/// The entry of older files, with nothing but the configuration.
const CONFIG_KEY: &str = "auscult.config";

/// The entry of what a training run writes while it is under way.
const RUN_KEY: &str = "auscult.finetune";

/// A tensor stored as integers has its factor in another one with this at the end of its name.
const FACTOR: &str = ".factor";

pub(super) fn read(bytes: &[u8]) -> Result<Contents> {
    let refused = |error: safetensors::SafeTensorError| match expected_length(bytes) {
        Some(expected) if expected != bytes.len() as u64 => {
            Error::Length { found: bytes.len() as u64, expected }
        }
        _ => Error::format(format!("neither a PyTorch zip file nor safetensors ({error})")),
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
    Ok(Contents { tensors, description: description(metadata.metadata().as_ref())? })
}

/// What the metadata of a file say, of files written here.
fn description(entries: Option<&HashMap<String, String>>) -> Result<Description> {
    let Some(entries) = entries else { return Ok(Description::default()) };
    if entries.contains_key(RUN_KEY) {
        return Err(Error::RunCheckpoint);
    }
    let unreadable = |error| Error::format(format!("its metadata are not readable: {error}"));
    match (entries.get(KEY), entries.get(CONFIG_KEY)) {
        (Some(text), _) => serde_json::from_str(text).map_err(unreadable),
        (None, Some(text)) => {
            let config = Some(serde_json::from_str(text).map_err(unreadable)?);
            Ok(Description { config, ..Description::default() })
        }
        (None, None) => Ok(Description::default()),
    }
}

/// Headers are shorter: what says otherwise is none.
const LONGEST_HEADER: u64 = 100_000_000;

/// The length a file must have by its own table; where that is cut itself, the end of the table.
/// `None` if it does not begin as safetensors do.
fn expected_length(bytes: &[u8]) -> Option<u64> {
    /// Of each tensor, where its bytes end.
    #[derive(Deserialize)]
    struct Place {
        data_offsets: (u64, u64),
    }
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let header = u64::from_le_bytes(*length);
    if header > LONGEST_HEADER || rest.first().is_some_and(|&first| first != b'{') {
        return None;
    }
    let start = header + size_of::<u64>() as u64;
    let Some(header) = rest.get(..usize::try_from(header).ok()?) else { return Some(start) };
    let table: BTreeMap<String, Value> = serde_json::from_slice(header).ok()?;
    let ends = table.into_iter().filter(|(name, _)| name != "__metadata__").map(|(_, place)| {
        let place: Place = serde_json::from_value(place).ok()?;
        Some(place.data_offsets.1)
    });
    let end = ends.collect::<Option<Vec<u64>>>()?.into_iter().max().unwrap_or(0);
    start.checked_add(end)
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
    let description = Description { config: config.cloned(), ..Description::default() };
    described_safetensors(tensors, &description)
}

/// As [`to_safetensors`], with all there is to say about the weights.
pub(crate) fn described_safetensors(
    tensors: &[NamedTensor],
    description: &Description,
) -> Result<Vec<u8>> {
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
    let text = serde_json::to_string(description).map_err(|error| Error::format(error.to_string()));
    let metadata = HashMap::from([(KEY.to_owned(), text?)]);
    let metadata = (*description != Description::default()).then_some(metadata);
    safetensors::serialize(views.map_err(refused)?, metadata).map_err(refused)
}

//! PyTorch zip files: a pickle that describes tensors, and one entry for each storage.

use std::{
    collections::{BTreeMap, HashMap},
    io::Cursor,
    ops::Range,
};

use zip::{
    CompressionMethod, ZipArchive,
    read::{ArchiveOffset, Config},
};

use super::{Contents, Description, Entry, elements, pickle, tensor::Tensor};
use crate::{Error, Result};

/// The pickle of the largest released checkpoint has 120 kB.
const LARGEST_PICKLE: usize = 64 << 20;

/// Where the weights may be below the top of the pickle.
const PLACES: &[&str] = &["model", "state_dict"];

pub(super) fn read(bytes: &[u8]) -> Result<Contents> {
    let entries = entries(bytes)?;
    let pickles: Vec<&String> = entries.keys().filter(|name| is_named(name, "data.pkl")).collect();
    let [pickle_name] = pickles.as_slice() else {
        return Err(Error::format("a zip file without a PyTorch data.pkl"));
    };
    let folder = pickle_name.strip_suffix("data.pkl").unwrap_or_default();
    if let Some(order) = entries.get(&format!("{folder}byteorder"))
        && bytes.get(order.clone()).is_some_and(|order| order != b"little")
    {
        return Err(Error::format("stored with the most significant byte first"));
    }
    let pickled = &bytes[entries[*pickle_name].clone()];
    if pickled.len() > LARGEST_PICKLE {
        let reason = format!("its pickle has {} bytes, more than 64 MiB", pickled.len());
        return Err(Error::format(reason));
    }
    let pickle = pickle::load(pickled)?;
    let top = pickle.top();
    let weights = PLACES.iter().find_map(|place| pickle.get(top, place)).unwrap_or(top);
    let mut tensors = BTreeMap::new();
    for (name, tensor) in pickle.tensors(weights) {
        let storage = entries.get(&format!("{folder}data/{}", tensor.key));
        let Some(storage) = storage else {
            let reason = format!("tensor {name}: storage {} is not in the file", tensor.key);
            return Err(Error::format(reason));
        };
        tensors.insert(name.to_owned(), entry(name, tensor, storage)?);
    }
    if tensors.is_empty() {
        return Err(Error::format("a PyTorch file without tensors at its top or under model"));
    }
    let config = pickle.get(top, "cfg").and_then(|config| pickle.json(config));
    Ok(Contents { tensors, description: Description { config, ..Description::default() } })
}

/// Where each entry's bytes are; entries must be stored as they are.
fn entries(bytes: &[u8]) -> Result<HashMap<String, Range<usize>>> {
    let refused = |error: &dyn std::fmt::Display| {
        let length = bytes.len();
        // The table stands at the end: how much was cut off is unknown.
        let reason = format!("a damaged zip of {length} bytes, truncated perhaps: {error}");
        Error::format(reason)
    };
    // A checkpoint starts with its archive; searching for another start can find a false one.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut archive =
        ZipArchive::with_config(config, Cursor::new(bytes)).map_err(|error| refused(&error))?;
    let mut entries = HashMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| refused(&error))?;
        let name = entry.name().map_err(|error| refused(&error))?.into_owned();
        if entry.compression() != CompressionMethod::Stored {
            return Err(Error::format(format!("its entry {name} is compressed")));
        }
        let start = usize::try_from(entry.data_start().unwrap_or(u64::MAX));
        let len = usize::try_from(entry.size());
        let end = start.iter().zip(&len).find_map(|(start, len)| start.checked_add(*len));
        match (start, end) {
            (Ok(start), Some(end)) if end <= bytes.len() => entries.insert(name, start..end),
            _ => return Err(Error::format(format!("its entry {name} lies outside the file"))),
        };
    }
    Ok(entries)
}

fn is_named(path: &str, name: &str) -> bool {
    path.rsplit('/').next() == Some(name)
}

/// Checks a described tensor against the bytes there are.
fn entry(name: &str, tensor: &Tensor, storage: &Range<usize>) -> Result<Entry> {
    let outside = || {
        let reason = format!(
            "tensor {name} of shape {:?} does not fit into its storage of {} bytes",
            tensor.shape,
            storage.len()
        );
        Error::format(reason)
    };
    let width = tensor.storage.width().unwrap_or(0);
    let skipped = tensor.offset.checked_mul(width).ok_or_else(outside)?;
    let range = storage.start.checked_add(skipped).ok_or_else(outside)?..storage.end;
    let count = elements(&tensor.shape).ok_or_else(outside)?;
    if range.start > range.end || count.checked_mul(width).is_none_or(|bytes| bytes > range.len()) {
        return Err(outside());
    }
    let strides = (tensor.strides != row_major(&tensor.shape)).then(|| tensor.strides.clone());
    Ok(Entry { storage: tensor.storage.clone(), shape: tensor.shape.clone(), strides, range })
}

fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

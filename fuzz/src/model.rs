//! Checks of the model-file reader.
//!
//! A checksum guards a model file, so mutated bytes alone never get past it. The checksum keeps
//! no secret: anyone can make a file with a right one, and so do these checks.

use std::collections::HashMap;

use auscult_core::{ClipVectors, Model};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// Tensors assembled for a header are no larger than this, in bytes.
const MOST_TENSOR_BYTES: usize = 1 << 16;

/// Bytes of a model file, as they are and with the checksum made right.
///
/// # Panics
///
/// If the reader breaks one of its promises.
pub fn file(bytes: &[u8]) {
    check(bytes);
    if let Some(sealed) = sealed(bytes) {
        check(&sealed);
    }
}

/// A header as JSON text, a zero byte, and the bytes tensors are filled with. Tensors get the
/// shapes that the header asks for, and the file its right checksum. Once as the oldest version, once
/// as the newest.
///
/// # Panics
///
/// If the reader breaks one of its promises.
pub fn header(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let Ok(text) = std::str::from_utf8(&bytes[..end]) else { return };
    let fill = bytes.get(end + 1..).unwrap_or_default();
    for version in [1, 4] {
        if let Some(assembled) = assembled(version, text, fill) {
            check(&assembled);
        }
    }
}

/// A model that opens can be used, and written so that it opens again.
fn check(bytes: &[u8]) {
    let model = match Model::from_bytes(bytes) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error says what it is");
            return;
        }
    };
    let references = model.references();
    let zeros = references.views().iter().map(|&view| (view, vec![0.0; references.axis_len()]));
    let clip = match ClipVectors::from_views(zeros.collect()) {
        Ok(clip) => clip,
        Err(error) => panic!("a model opened whose clips cannot be made: {error}"),
    };
    if let Err(error) = model.score(&clip) {
        panic!("a model opened that cannot score: {error}");
    }
    let _threshold = model.threshold();
    let written = match model.to_bytes() {
        Ok(written) => written,
        Err(error) => panic!("a model opened that cannot be written: {error}"),
    };
    match Model::from_bytes(&written).and_then(|again| again.to_bytes()) {
        Ok(again) => assert!(written == again, "a model changed on the way through its file"),
        Err(error) => panic!("a model was written that does not open: {error}"),
    }
}

#[derive(Deserialize)]
struct Envelope {
    version: u32,
    checksum: String,
    header: Box<RawValue>,
}

/// The same file with the checksum that its contents ask for, if it has a place for one.
fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    let envelope: Envelope =
        serde_json::from_str(metadata.metadata().as_ref()?.get("auscult")?).ok()?;
    let container = SafeTensors::deserialize(bytes).ok()?;
    let tensors = container.tensors();
    let right = checksum(
        envelope.version,
        envelope.header.get(),
        tensors.iter().map(|(name, view)| (name.as_str(), view.shape(), view.data())),
    );
    let old = envelope.checksum.as_bytes();
    if old.len() != right.len() {
        return None;
    }
    let at = bytes.windows(old.len()).position(|window| window == old)?;
    let mut sealed = bytes.to_vec();
    sealed[at..at + right.len()].copy_from_slice(right.as_bytes());
    Some(sealed)
}

/// A model file around a header.
fn assembled(version: u32, header: &str, fill: &[u8]) -> Option<Vec<u8>> {
    let parsed: Value = serde_json::from_str(header).ok()?;
    let tensors = tensors(&parsed, fill)?;
    let checksum = checksum(
        version,
        header,
        tensors.iter().map(|(name, _, shape, data)| (name.as_str(), &shape[..], &data[..])),
    );
    let envelope = format!(r#"{{"version":{version},"checksum":"{checksum}","header":{header}}}"#);
    let views = tensors.iter().map(|(name, dtype, shape, data)| {
        Some((name.as_str(), TensorView::new(*dtype, shape.clone(), data).ok()?))
    });
    let views: Option<Vec<_>> = views.collect();
    safetensors::serialize(views?, Some(HashMap::from([("auscult".to_owned(), envelope)]))).ok()
}

type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// The tensors a header asks for. A shape that is too large to be filled is cut: the
/// reader must notice.
fn tensors(header: &Value, fill: &[u8]) -> Option<Vec<Tensor>> {
    let size = |value: &Value| value.as_u64().and_then(|size| usize::try_from(size).ok());
    let detector = &header["settings"]["detector"];
    let axis_len = size(&header["axis_len"])?;
    let count = header["references"].as_array()?.len();
    let views = detector["views"].as_array()?.len();
    let bands = match &detector["bands"]["windows"] {
        Value::Null => 1,
        windows => {
            let width = size(&windows["width"])?.clamp(1, axis_len.max(1));
            (axis_len.max(1) - width).div_ceil(size(&windows["stride"])?.max(1)).saturating_add(1)
        }
    };
    let mut fill = fill.iter().copied().chain(std::iter::repeat(1));
    let mut tensor = |name: String, dtype: Dtype, shape: &[usize]| {
        let width = if dtype == Dtype::F32 { 4 } else { 8 };
        let bytes = shape.iter().try_fold(width, |bytes: usize, &side| bytes.checked_mul(side));
        match bytes.filter(|&bytes| bytes <= MOST_TENSOR_BYTES) {
            Some(bytes) => (name, dtype, shape.to_vec(), fill.by_ref().take(bytes).collect()),
            None => (name, dtype, vec![0], Vec::new()),
        }
    };
    let mut tensors = Vec::new();
    for (at, view) in header["views"].as_array()?.iter().enumerate() {
        let mut name = format!("references.{}", view.as_str()?);
        if tensors.iter().any(|(other, ..): &Tensor| *other == name) {
            // The container cannot hold a name twice; the count of tensors still fits.
            name = format!("again.{at}");
        }
        tensors.push(tensor(name, Dtype::F32, &[count, axis_len]));
    }
    tensors.push(tensor("local_scales".to_owned(), Dtype::F64, &[views, bands, count]));
    tensors.push(tensor("band_facts".to_owned(), Dtype::F64, &[views, bands, 3]));
    tensors.push(tensor("left_out".to_owned(), Dtype::F64, &[count]));
    tensors.push(tensor("calibration".to_owned(), Dtype::F64, &[count]));
    Some(tensors)
}

/// The checksum, written down a second time.
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
    if version >= 4 {
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

//! From stored bytes to f32 values.

use std::fmt;

use half::{bf16, f16};

use super::{Entry, elements};

/// How a tensor's elements are stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Storage {
    F32,
    F16,
    Bf16,
    /// Integers times one factor.
    Int8 {
        factor: f32,
    },
    /// Something weights are not stored in; an error only when it is read.
    Other(String),
}

impl Storage {
    /// Bytes an element takes, if known.
    pub(crate) fn width(&self) -> Option<usize> {
        match self {
            Self::F32 => Some(4),
            Self::F16 | Self::Bf16 => Some(2),
            Self::Int8 { .. } => Some(1),
            Self::Other(_) => None,
        }
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::F32 => formatter.pad("f32"),
            Self::F16 => formatter.pad("f16"),
            Self::Bf16 => formatter.pad("bf16"),
            Self::Int8 { .. } => formatter.pad("int8"),
            Self::Other(name) => formatter.pad(name),
        }
    }
}

/// The values of a tensor, or what is wrong with its storage.
pub(super) fn read(entry: &Entry, file: &[u8]) -> Result<Vec<f32>, String> {
    let outside = || "bytes outside the file".to_owned();
    let count = elements(&entry.shape).ok_or_else(outside)?;
    let bytes = file.get(entry.range.clone()).ok_or_else(outside)?;
    let width = entry.storage.width().ok_or_else(|| entry.storage.to_string())?;
    match &entry.strides {
        None => {
            let bytes = bytes.get(..count * width).ok_or_else(outside)?;
            Ok(decode(&entry.storage, bytes))
        }
        Some(strides) => {
            // A broadcast view may be larger than the file; no weight is.
            if count > bytes.len() / width {
                return Err("a view with repeated elements".to_owned());
            }
            let gathered = gather(bytes, width, &entry.shape, strides, count);
            Ok(decode(&entry.storage, &gathered.ok_or_else(outside)?))
        }
    }
}

/// Copies a strided view into row-major order.
fn gather(
    bytes: &[u8],
    width: usize,
    shape: &[usize],
    strides: &[usize],
    count: usize,
) -> Option<Vec<u8>> {
    let mut gathered = Vec::with_capacity(count * width);
    let mut index = vec![0_usize; shape.len()];
    for _ in 0..count {
        let mut element = 0_usize;
        for (position, stride) in index.iter().zip(strides) {
            element = element.checked_add(position.checked_mul(*stride)?)?;
        }
        let start = element.checked_mul(width)?;
        gathered.extend_from_slice(bytes.get(start..start.checked_add(width)?)?);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    Some(gathered)
}

fn decode(storage: &Storage, bytes: &[u8]) -> Vec<f32> {
    match storage {
        Storage::F32 => {
            bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        }
        Storage::F16 => pairs(bytes).map(|bits| f16::from_bits(bits).to_f32()).collect(),
        Storage::Bf16 => pairs(bytes).map(|bits| bf16::from_bits(bits).to_f32()).collect(),
        Storage::Int8 { factor } => {
            bytes.iter().map(|&byte| f32::from(byte.cast_signed()) * factor).collect()
        }
        Storage::Other(_) => Vec::new(),
    }
}

fn pairs(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_views_are_read_row_major() {
        let file: Vec<u8> = (0..6_u8).flat_map(|value| f32::from(value).to_le_bytes()).collect();
        let transposed = Entry {
            storage: Storage::F32,
            shape: vec![3, 2],
            strides: Some(vec![1, 3]),
            range: 0..24,
        };
        assert_eq!(read(&transposed, &file).unwrap(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        let repeated = Entry { shape: vec![7], strides: Some(vec![0]), ..transposed };
        assert!(read(&repeated, &file).unwrap_err().contains("repeated"));
    }

    #[test]
    fn halves_and_integers_become_floats() {
        let entry = |storage, count, bytes: usize| Entry {
            storage,
            shape: vec![count],
            strides: None,
            range: 0..bytes,
        };
        let f16 = [0x00, 0x3C, 0x00, 0xC0];
        assert_eq!(read(&entry(Storage::F16, 2, 4), &f16).unwrap(), [1.0, -2.0]);
        let bf16 = [0x80, 0x3F];
        assert_eq!(read(&entry(Storage::Bf16, 1, 2), &bf16).unwrap(), [1.0]);
        let int8 = entry(Storage::Int8 { factor: 0.5 }, 2, 2);
        assert_eq!(read(&int8, &[0xFF, 4]).unwrap(), [-0.5, 2.0]);
        assert!(read(&entry(Storage::F32, 2, 8), &[0; 4]).is_err());
    }
}

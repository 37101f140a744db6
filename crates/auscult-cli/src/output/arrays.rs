//! Arrays for numpy.

use std::{io::Write, path::Path};

use anyhow::Context;

/// A dense array of f32, row-major.
pub(crate) struct Array<'a> {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: &'a [f32],
}

/// Header and magic fill up a multiple of this, so that values are aligned.
const ALIGNMENT: usize = 64;

impl Array<'_> {
    /// The npy format, version 1.0: little-endian f32, C order.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = header("<f4", &self.shape);
        bytes.extend(self.values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }
}

/// Texts as numpy keeps them: UTF-32, filled up with zeros to the longest.
fn text_bytes(texts: &[String]) -> Vec<u8> {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = header(&format!("<U{longest}"), &[texts.len()]);
    for text in texts {
        let letters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
        bytes.extend(letters.flat_map(u32::to_le_bytes));
    }
    bytes
}

/// Magic, version 1.0 and the header of an array in C order.
fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(|len| format!("{len},")).collect();
    let shape = shape.concat();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let before = b"\x93NUMPY\x01\x00".len() + 2;
    let padded = (before + header.len() + 1).next_multiple_of(ALIGNMENT) - before;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((padded as u16).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = padded - 1).bytes());
    bytes
}

/// Writes one array as `.npy`.
pub(crate) fn write_npy(path: &Path, array: &Array<'_>) -> anyhow::Result<()> {
    Ok(auscult::files::write_atomically(path, &array.bytes())?)
}

/// Writes named arrays and a list of texts as `.npz`, uncompressed like `numpy.savez`.
pub(crate) fn write_npz(
    path: &Path,
    arrays: &[(&str, Array<'_>)],
    (texts_name, texts): (&str, &[String]),
) -> anyhow::Result<()> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut archive = zip::ZipWriter::new(&mut bytes);
    let stored = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .large_file(true);
    let arrays = arrays.iter().map(|(name, array)| (*name, array.bytes()));
    for (name, bytes) in arrays.chain([(texts_name, text_bytes(texts))]) {
        archive.start_file(format!("{name}.npy"), stored).context("npz archive")?;
        archive.write_all(&bytes)?;
    }
    archive.finish().context("npz archive")?;
    Ok(auscult::files::write_atomically(path, bytes.get_ref())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_an_aligned_npy_file() {
        let bytes = Array { shape: vec![2, 1], values: &[1.0, -2.0] }.bytes();
        assert_eq!(bytes.len(), 128 + 8);
        let header = String::from_utf8_lossy(&bytes[10..128]);
        assert!(header.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,1,), }"));
        assert!(header.ends_with('\n'));
        assert_eq!(bytes[132..], (-2.0_f32).to_le_bytes());
    }

    #[test]
    fn texts_are_as_wide_as_the_longest() {
        let bytes = text_bytes(&["a".to_owned(), "héé".to_owned()]);
        assert!(String::from_utf8_lossy(&bytes[10..]).starts_with("{'descr': '<U3', "));
        assert_eq!(bytes.len(), 128 + 2 * 3 * 4);
        assert_eq!(bytes[128..136], [b'a', 0, 0, 0, 0, 0, 0, 0]);
    }
}

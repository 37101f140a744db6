//! Checkpoints: whatever the bytes are, they load or are refused.

use auscult_encoders::{Checkpoint, Encoder};

/// A checkpoint is opened, its tensors are read, and an encoder is tried.
///
/// # Panics
///
/// If a check fails.
pub fn file(bytes: &[u8]) {
    let Ok(checkpoint) = Checkpoint::from_bytes(bytes.to_vec()) else { return };
    let names: Vec<String> = checkpoint.names().map(str::to_owned).collect();
    for name in names {
        let shape = checkpoint.shape(&name).map(<[usize]>::to_vec).unwrap_or_default();
        if let Ok(values) = checkpoint.read(&name, &shape) {
            assert!(values.len() <= bytes.len(), "{name} is larger than the file");
            assert!(values.iter().all(|value| value.is_finite()));
        }
    }
    let _ = Encoder::load(&checkpoint);
}

/// The bytes as the pickle of an otherwise well-formed PyTorch file with one storage.
pub fn pickle(bytes: &[u8]) {
    let storage = [0_u8; 64];
    let entries: [(&str, &[u8]); 3] =
        [("a/data.pkl", bytes), ("a/byteorder", b"little"), ("a/data/0", &storage)];
    file(&stored_zip(&entries));
}

/// A zip file of entries as they are.
pub fn stored_zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let len = |value: usize| u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes();
        let short = |value: usize| u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes();
        let offset = len(out.len());
        // Version, flags, method, time, date; the checksum is not read.
        let common = [
            &[10, 0, 0, 0, 0, 0, 0, 0, 33, 0][..],
            &[0; 4],
            &len(bytes.len()),
            &len(bytes.len()),
            &short(name.len()),
            &[0; 2],
        ]
        .concat();
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.bytes());
        out.extend(*bytes);
        directory.extend(b"PK\x01\x02\x0a\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset);
        directory.extend(name.bytes());
    }
    let start = u32::try_from(out.len()).unwrap_or(u32::MAX).to_le_bytes();
    let size = u32::try_from(directory.len()).unwrap_or(u32::MAX).to_le_bytes();
    let count = u16::try_from(entries.len()).unwrap_or(u16::MAX).to_le_bytes();
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].concat());
    out.extend([size, start].concat());
    out.extend([0, 0]);
    out
}

//! Arrays in the npy format: what numpy, and `auscult features`, write.

use super::GivenFrames;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Reads a vector, or frames x features, of little-endian floats in C order; what is wrong, otherwise.
pub(super) fn read(bytes: &[u8]) -> Result<GivenFrames, String> {
    let not_npy = || "not an npy file; numpy.save writes one".to_owned();
    let (magic, rest) = bytes.split_first_chunk::<6>().ok_or_else(not_npy)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(not_npy)?;
    if magic != MAGIC {
        return Err(not_npy());
    }
    let (len, rest) = if version[0] == 1 {
        let (len, rest) = rest.split_first_chunk::<2>().ok_or_else(not_npy)?;
        (u32::from(u16::from_le_bytes(*len)), rest)
    } else {
        let (len, rest) = rest.split_first_chunk::<4>().ok_or_else(not_npy)?;
        (u32::from_le_bytes(*len), rest)
    };
    let (header, data) = rest.split_at_checked(len as usize).ok_or_else(not_npy)?;
    let header = str::from_utf8(header).map_err(|_| not_npy())?;
    let kind = value_of(header, "descr").unwrap_or_default();
    if value_of(header, "fortran_order") != Some("False") {
        return Err("not in C order; save numpy.ascontiguousarray of it".to_owned());
    }
    let shape = value_of(header, "shape").ok_or_else(not_npy)?;
    let lengths: Option<Vec<usize>> = shape
        .split(',')
        .map(str::trim)
        .filter(|length| !length.is_empty())
        .map(|length| length.parse().ok())
        .collect();
    let (frames, features) = match lengths.ok_or_else(not_npy)?.as_slice() {
        &[features] => (1, features),
        &[frames, features] => (frames, features),
        other => {
            let dimensions = other.len();
            return Err(format!(
                "an array of {dimensions} dimensions; give a vector, or frames x features"
            ));
        }
    };
    let count = frames.checked_mul(features).filter(|&count| count > 0);
    let count = count.ok_or_else(|| format!("an array without numbers: ({shape})"))?;
    let values = match kind.trim_matches(['\'', '"']) {
        "<f4" => values(data, count, f32::from_le_bytes),
        "<f8" => values(data, count, |bytes| f64::from_le_bytes(bytes) as f32),
        other => return Err(format!("numbers of type {other}; save them as float32 or float64")),
    };
    let values =
        values.ok_or_else(|| format!("cut off or too long: ({shape}) needs {count} numbers"))?;
    if let Some(wrong) = values.iter().find(|value| !value.is_finite()) {
        return Err(format!("holds {wrong}; every number must be finite"));
    }
    Ok(GivenFrames {
        values,
        features,
        is_vector: !shape.trim_end_matches([',', ' ']).contains(','),
    })
}

/// `'name': value` of a header, which is a Python dictionary; of a tuple what is in its parentheses.
fn value_of<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = header.split_once(&format!("'{name}'"))?;
    let after = after.trim_start().strip_prefix(':')?.trim_start();
    match after.strip_prefix('(') {
        Some(inner) => Some(inner.split_once(')')?.0),
        None => Some(after.split([',', '}']).next()?.trim()),
    }
}

fn values<const N: usize>(
    data: &[u8],
    count: usize,
    of: impl Fn([u8; N]) -> f32,
) -> Option<Vec<f32>> {
    let (numbers, rest) = data.as_chunks::<N>();
    (rest.is_empty() && numbers.len() == count)
        .then(|| numbers.iter().map(|&bytes| of(bytes)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    fn header(kind: &str, shape: &str) -> String {
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n")
    }

    #[test]
    fn vectors_and_frames_of_both_widths_are_read() {
        let four: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let vector = read(&npy(&header("<f4", "4,"), &four)).unwrap();
        assert_eq!((vector.values.as_slice(), vector.features), (&[1.0, 2.0, 3.0, 4.0][..], 4));
        assert!(vector.is_vector);
        let frames = read(&npy(&header("<f4", "2, 2"), &four)).unwrap();
        assert_eq!((frames.features, frames.is_vector), (2, false));
        let two: Vec<u8> = [0.5_f64, -0.25].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(read(&npy(&header("<f8", "1, 2"), &two)).unwrap().values, [0.5, -0.25]);
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let one = 1.0_f32.to_le_bytes();
        let nan = f32::NAN.to_le_bytes();
        let fortran = header("<f4", "1, 1").replace("False", "True");
        for (bytes, expected) in [
            (b"RIFF".to_vec(), "not an npy file"),
            (npy("", &[]), "not in C order"),
            (npy(&fortran, &one), "not in C order"),
            (npy(&header("<i8", "1"), &[0; 8]), "numbers of type <i8"),
            (npy(&header("<f4", "1, 1, 1"), &one), "3 dimensions"),
            (npy(&header("<f4", "0, 4"), &[]), "without numbers"),
            (npy(&header("<f4", "2"), &one), "needs 2 numbers"),
            (npy(&header("<f4", "18446744073709551615, 2"), &one), "without numbers"),
            (npy(&header("<f4", "1"), &nan), "holds NaN"),
        ] {
            let error = read(&bytes).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let whole = npy(&header("<f4", "1"), &one);
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err());
        }
    }
}

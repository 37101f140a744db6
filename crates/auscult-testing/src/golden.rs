//! Reads the golden numbers and compares against them.
//!
//! Two packs exist: the small one in `testdata/`, which is always there, and the
//! large one outside the repository, which a test must do without: see [`shared`].

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use npyz::{DType, NpyFile, Order, TypeChar};

/// Why a golden file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// The file could not be opened or is cut short.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system or the parser said.
        source: io::Error,
    },
    /// The file holds something this loader does not take.
    #[error("{}: got {got}, expected {expected}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What was found.
        got: String,
        /// What is allowed.
        expected: &'static str,
    },
}

/// An array as stored: row-major values, widened to `f64`, and their shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The length of each axis, outermost first; empty for a scalar.
    pub shape: Vec<usize>,
    /// The values, the last axis fastest.
    pub values: Vec<f64>,
}

/// How far a number may be from the golden one: `absolute + relative * |want|`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// The part that does not depend on the number.
    pub absolute: f64,
    /// The part that grows with the magnitude of the golden number.
    pub relative: f64,
}

impl Tolerance {
    /// A tolerance that is the same for every number.
    pub const fn absolute(absolute: f64) -> Self {
        Self { absolute, relative: 0.0 }
    }

    /// A tolerance in proportion to the golden number.
    pub const fn relative(relative: f64) -> Self {
        Self { absolute: 0.0, relative }
    }
}

/// The folder of the large golden pack, or `None` if this machine does not have it.
///
/// `AUSCULT_GOLDEN` names the folder; without it, `../shared/golden` beside the
/// workspace is tried. A test that gets `None` reports itself as skipped.
pub fn shared() -> Option<PathBuf> {
    let folder = match std::env::var_os("AUSCULT_GOLDEN") {
        Some(folder) => PathBuf::from(folder),
        None => workspace().join("../shared/golden"),
    };
    folder.is_dir().then_some(folder)
}

/// The folder of the small golden files that are part of the repository.
pub fn testdata() -> PathBuf {
    workspace().join("testdata")
}

fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Reads a `.npy` file of little-endian `f4`, `f8`, `i2`, `i4` or `i8` in C order.
///
/// # Errors
///
/// Returns [`GoldenError::Read`] if the file is missing, truncated or not npy, and
/// [`GoldenError::Unsupported`] if it has another element type or Fortran order.
pub fn read_npy(path: impl AsRef<Path>) -> Result<Array, GoldenError> {
    let path = path.as_ref();
    let read_error = |source| GoldenError::Read { path: path.to_path_buf(), source };
    let file = File::open(path).map_err(read_error)?;
    let npy = NpyFile::new(BufReader::new(file)).map_err(read_error)?;
    if npy.order() == Order::Fortran && npy.shape().len() > 1 {
        return Err(unsupported(path, "Fortran order", "C order"));
    }
    let shape = npy.shape().iter().map(|&length| length as usize).collect();
    let values = read_values(path, npy)?;
    Ok(Array { shape, values })
}

fn read_values<R: Read>(path: &Path, npy: NpyFile<R>) -> Result<Vec<f64>, GoldenError> {
    const ALLOWED: &str = "little-endian f4, f8, i2, i4 or i8";
    let dtype = npy.dtype();
    let DType::Plain(plain) = &dtype else {
        return Err(unsupported(path, &dtype.descr(), ALLOWED));
    };
    match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 8) => widen(path, npy, |value: f64| value),
        (TypeChar::Float, 4) => widen(path, npy, |value: f32| f64::from(value)),
        (TypeChar::Int, 8) => widen(path, npy, |value: i64| value as f64),
        (TypeChar::Int, 4) => widen(path, npy, |value: i32| f64::from(value)),
        (TypeChar::Int, 2) => widen(path, npy, |value: i16| f64::from(value)),
        _ => Err(unsupported(path, &dtype.descr(), ALLOWED)),
    }
}

fn widen<R: Read, T: npyz::Deserialize>(
    path: &Path,
    npy: NpyFile<R>,
    convert: impl Fn(T) -> f64,
) -> Result<Vec<f64>, GoldenError> {
    let values = npy.into_vec::<T>();
    let values = values.map_err(|source| GoldenError::Read { path: path.to_path_buf(), source })?;
    Ok(values.into_iter().map(convert).collect())
}

/// Reads a mono 16-bit PCM WAV file as `int16 / 32768`, in `[-1, 1)`.
///
/// For the project's own files: any sample rate, chunks other than `fmt ` and
/// `data` are skipped.
///
/// # Errors
///
/// Returns [`GoldenError::Read`] if the file cannot be read and
/// [`GoldenError::Unsupported`] if it is not mono 16-bit PCM.
pub fn read_wav_pcm16(path: impl AsRef<Path>) -> Result<Vec<f32>, GoldenError> {
    let path = path.as_ref();
    let bytes =
        fs::read(path).map_err(|source| GoldenError::Read { path: path.to_path_buf(), source })?;
    if bytes.get(..4) != Some(b"RIFF") || bytes.get(8..12) != Some(b"WAVE") {
        return Err(unsupported(path, "another container", "RIFF/WAVE"));
    }
    let format = chunk(&bytes, *b"fmt ").unwrap_or_default();
    // Format code 1 (PCM), 1 channel; bits per sample stand at offset 14.
    if format.get(..4) != Some(&[1, 0, 1, 0]) || format.get(14..16) != Some(&[16, 0]) {
        return Err(unsupported(path, "another sample format", "mono 16-bit PCM"));
    }
    let Some(data) = chunk(&bytes, *b"data") else {
        return Err(unsupported(path, "no data chunk", "a whole data chunk"));
    };
    let (samples, _) = data.as_chunks::<2>();
    Ok(samples.iter().map(|&pair| f32::from(i16::from_le_bytes(pair)) / 32768.0).collect())
}

/// The body of the first RIFF chunk with this name, if it is all there.
fn chunk(bytes: &[u8], name: [u8; 4]) -> Option<&[u8]> {
    let mut rest = bytes.get(12..)?;
    loop {
        let (found, tail) = rest.split_first_chunk::<4>()?;
        let (length, body) = tail.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        if *found == name {
            return body.get(..length);
        }
        rest = body.get(length + length % 2..)?;
    }
}

fn unsupported(path: &Path, got: &str, expected: &'static str) -> GoldenError {
    GoldenError::Unsupported { path: path.to_path_buf(), got: got.to_owned(), expected }
}

/// Checks that every number is within the tolerance of its golden one.
///
/// Two equal infinities agree; NaN agrees with nothing.
///
/// # Panics
///
/// Panics if the lengths differ or a number is too far off. The message names the
/// worst index, both values there and the error.
#[expect(clippy::panic, reason = "an assertion, only called from tests")]
#[track_caller]
pub fn assert_close(name: &str, got: &[f64], want: &[f64], tolerance: Tolerance) {
    assert!(got.len() == want.len(), "{name}: got {} numbers, want {}", got.len(), want.len());
    let excess = |index: usize| excess(got[index], want[index], tolerance);
    let wrong = (0..got.len()).filter(|&index| excess(index) > 0.0);
    let count = wrong.clone().count();
    let Some(worst) = wrong.max_by(|&a, &b| excess(a).total_cmp(&excess(b))) else { return };
    let (got_value, want_value) = (got[worst], want[worst]);
    let error = (got_value - want_value).abs();
    panic!(
        "{name}: {count} of {} numbers off; worst at {worst}: got {got_value:e}, want {want_value:e}, \
         error {error:e} with tolerance {:e} absolute + {:e} relative",
        got.len(),
        tolerance.absolute,
        tolerance.relative,
    );
}

/// By how much the error is over the tolerance; infinite when NaN is involved.
fn excess(got: f64, want: f64, tolerance: Tolerance) -> f64 {
    if got.total_cmp(&want).is_eq() {
        return 0.0;
    }
    let over = (got - want).abs() - (tolerance.absolute + tolerance.relative * want.abs());
    if over.is_nan() { f64::INFINITY } else { over }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy_bytes(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Array, GoldenError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        fs::write(&path, bytes).unwrap();
        read_npy(&path)
    }

    #[test]
    fn every_promised_element_type_is_widened() {
        let cases: [(&str, Vec<u8>); 5] = [
            ("<f4", [1.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect()),
            ("<f8", [1.5f64, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect()),
            ("<i2", [1i16, -2].iter().flat_map(|v| v.to_le_bytes()).collect()),
            ("<i4", [1i32, -2].iter().flat_map(|v| v.to_le_bytes()).collect()),
            ("<i8", [1i64, -2].iter().flat_map(|v| v.to_le_bytes()).collect()),
        ];
        for (descr, data) in cases {
            let array = read(&npy_bytes(descr, "False", "(1, 2)", &data)).unwrap();
            assert_eq!(array.shape, [1, 2], "{descr}");
            let first = if descr.contains('f') { 1.5 } else { 1.0 };
            assert_eq!(array.values, [first, -2.0], "{descr}");
        }
    }

    #[test]
    fn other_element_types_and_orders_are_refused() {
        let error = read(&npy_bytes("|u1", "False", "(2,)", &[1, 2])).unwrap_err();
        assert!(error.to_string().contains("f4, f8, i2, i4 or i8"), "{error}");
        let error = read(&npy_bytes("<i2", "True", "(1, 2)", &[1, 0, 2, 0])).unwrap_err();
        assert!(error.to_string().contains("expected C order"), "{error}");
    }

    #[test]
    fn truncated_array_is_an_error() {
        assert!(read(&npy_bytes("<f8", "False", "(2,)", &[0; 9])).is_err());
    }

    #[test]
    #[ignore = "needs the large golden pack; run with AUSCULT_GOLDEN=FOLDER and --run-ignored only"]
    fn every_array_of_the_large_pack_opens() {
        let folder = shared().expect("set AUSCULT_GOLDEN to the folder of the pack");
        let mut count = 0;
        for entry in fs::read_dir(folder.join("backend")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "npy") {
                let array = read_npy(&path).unwrap();
                assert_eq!(array.shape.iter().product::<usize>(), array.values.len());
                count += 1;
            }
        }
        assert!(count > 0);
    }

    #[test]
    fn numbers_within_tolerance_pass() {
        let tolerance = Tolerance { absolute: 1e-3, relative: 1e-2 };
        assert_close(
            "near",
            &[1.0, 100.5, f64::INFINITY],
            &[1.001, 100.0, f64::INFINITY],
            tolerance,
        );
    }

    #[test]
    #[should_panic(expected = "mfcc: 2 of 3 numbers off; worst at 2: got 5e0, want 3e0, error 2e0")]
    fn the_worst_number_is_named() {
        assert_close("mfcc", &[1.0, 2.5, 5.0], &[1.0, 2.0, 3.0], Tolerance::absolute(0.1));
    }

    #[test]
    #[should_panic(expected = "worst at 0")]
    fn nan_is_never_close() {
        assert_close("nan", &[f64::NAN], &[0.0], Tolerance::absolute(f64::MAX));
    }
}

//! Writes mono 16-bit PCM WAV files.

use std::io::{self, Write};

/// The bytes before the first sample: the RIFF, format and data headers.
pub const HEADER_LEN: usize = 44;

/// Writes samples in `[-1, 1)` as a mono 16-bit PCM WAV file.
///
/// Samples are rounded to the nearest step of 1/32768; those outside the range
/// saturate, and NaN becomes 0.
///
/// # Errors
///
/// Returns an error if the writer fails, or with [`io::ErrorKind::InvalidInput`] if
/// the samples do not fit into a 4 GiB file or the sample rate is above 2 GHz.
///
/// # Examples
///
/// ```
/// let mut bytes = Vec::new();
/// auscult_testing::wav::write(&mut bytes, &[0.0, 0.5, -1.0, 2.0], 16_000)?;
/// assert_eq!(bytes.len(), auscult_testing::wav::HEADER_LEN + 8);
/// assert_eq!(bytes[44..], [0, 0, 0, 0x40, 0, 0x80, 0xff, 0x7f]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(writer: &mut dyn Write, samples: &[f32], sample_rate: u32) -> io::Result<()> {
    let mut bytes = header(samples.len(), sample_rate)?;
    bytes.extend(samples.iter().flat_map(|&sample| quantise(sample).to_le_bytes()));
    writer.write_all(&bytes)
}

fn header(sample_count: usize, sample_rate: u32) -> io::Result<Vec<u8>> {
    let data_len = u32::try_from(sample_count).ok().and_then(|count| count.checked_mul(2));
    let riff_len = data_len.and_then(|len| len.checked_add(HEADER_LEN as u32 - 8));
    let (Some(data_len), Some(riff_len), Some(byte_rate)) =
        (data_len, riff_len, sample_rate.checked_mul(2))
    else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{sample_count} samples at {sample_rate} Hz do not fit into a WAV file"),
        ));
    };
    let mut bytes = Vec::with_capacity(HEADER_LEN + data_len as usize);
    bytes.extend(b"RIFF");
    bytes.extend(riff_len.to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16u32.to_le_bytes());
    bytes.extend([1, 0, 1, 0]); // PCM, one channel
    bytes.extend(sample_rate.to_le_bytes());
    bytes.extend(byte_rate.to_le_bytes());
    bytes.extend([2, 0, 16, 0]); // bytes a frame, bits a sample
    bytes.extend(b"data");
    bytes.extend(data_len.to_le_bytes());
    Ok(bytes)
}

fn quantise(sample: f32) -> i16 {
    // `as` saturates and takes NaN to 0.
    (sample * 32768.0).round() as i16
}

#[cfg(all(test, feature = "golden"))]
mod tests {
    use super::*;
    use crate::golden::read_wav_pcm16;

    #[test]
    fn samples_on_the_grid_come_back_exactly() {
        let samples: Vec<f32> =
            (-32768..32768).step_by(37).map(|step: i32| step as f32 / 32768.0).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wav");
        let mut file = std::fs::File::create(&path).unwrap();
        write(&mut file, &samples, 16_000).unwrap();
        assert_eq!(read_wav_pcm16(&path).unwrap(), samples);
    }

    #[test]
    fn loud_samples_saturate_and_nan_is_silent() {
        let cases = [(1.0, i16::MAX), (-7.0, i16::MIN), (f32::NAN, 0), (0.4 / 32768.0, 0)];
        for (sample, step) in cases {
            assert_eq!(quantise(sample), step, "{sample}");
        }
    }
}

//! Sound as a WAV file: 16 bits, mono.

use super::data_address;

/// A data address of the samples.
///
/// Full scale is 1; samples beyond it are cut, samples that are not finite become 0.
pub(crate) fn wave_address(samples: &[f32], sample_rate: u32) -> String {
    data_address("audio/wav", &wave(samples, sample_rate))
}

fn wave(samples: &[f32], sample_rate: u32) -> Vec<u8> {
    const BYTES_PER_SAMPLE: u16 = 2;
    // The format counts bytes in 32 bits; what does not fit is not in the file.
    let most = (u32::MAX as usize - 36) / usize::from(BYTES_PER_SAMPLE);
    let samples = &samples[..samples.len().min(most)];
    let data_len = samples.len() as u32 * u32::from(BYTES_PER_SAMPLE);
    let mut bytes = Vec::with_capacity(44 + data_len as usize);
    bytes.extend(b"RIFF");
    bytes.extend((36 + data_len).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16_u32.to_le_bytes());
    bytes.extend(1_u16.to_le_bytes()); // plain integers
    bytes.extend(1_u16.to_le_bytes()); // one channel
    bytes.extend(sample_rate.to_le_bytes());
    bytes.extend(sample_rate.saturating_mul(u32::from(BYTES_PER_SAMPLE)).to_le_bytes());
    bytes.extend(BYTES_PER_SAMPLE.to_le_bytes());
    bytes.extend((BYTES_PER_SAMPLE * 8).to_le_bytes());
    bytes.extend(b"data");
    bytes.extend(data_len.to_le_bytes());
    for &sample in samples {
        let scaled = if sample.is_finite() { sample * 32_768.0 } else { 0.0 };
        // The cast saturates at full scale.
        bytes.extend((scaled.round() as i16).to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_samples_are_those_of_a_wav_file() {
        let bytes = wave(&[0.0, 0.5, -1.0, 2.0, f32::NAN], 16_000);
        assert_eq!(bytes.len(), 44 + 10);
        assert_eq!(&bytes[..4], b"RIFF");
        assert_eq!(bytes[4..8], 46_u32.to_le_bytes());
        assert_eq!(bytes[24..28], 16_000_u32.to_le_bytes());
        let samples: Vec<i16> =
            bytes[44..].chunks(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
        assert_eq!(samples, [0, 16_384, -32_768, 32_767, 0]);
    }

    #[test]
    fn no_sound_is_a_file_without_samples() {
        assert_eq!(wave(&[], 8_000).len(), 44);
    }
}

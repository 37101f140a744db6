//! Raw samples: bytes become channels.

use crate::site::{Pcm, SampleFormat};

/// Takes bytes in pieces of any size.
#[derive(Debug)]
pub(super) struct Decoder {
    pcm: Pcm,
    /// The beginning of a frame whose rest has not arrived.
    rest: Vec<u8>,
}

impl SampleFormat {
    fn bytes(self) -> usize {
        match self {
            Self::S16le => 2,
            Self::S24le => 3,
            Self::S32le | Self::F32le => 4,
        }
    }

    fn sample(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::S16le, &[a, b]) => f32::from(i16::from_le_bytes([a, b])) / 32_768.0,
            // The sign is in the highest byte.
            (Self::S24le, &[a, b, c]) => {
                (i32::from_le_bytes([0, a, b, c]) >> 8) as f32 / 8_388_608.0
            }
            (Self::S32le, &[a, b, c, d]) => {
                (f64::from(i32::from_le_bytes([a, b, c, d])) / 2_147_483_648.0) as f32
            }
            (Self::F32le, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            _ => 0.0,
        }
    }
}

impl Decoder {
    pub(super) fn new(pcm: Pcm) -> Self {
        Self { pcm, rest: Vec::new() }
    }

    /// The samples of each channel in these bytes and what was left before.
    pub(super) fn channels(&mut self, bytes: &[u8]) -> Vec<Vec<f32>> {
        self.rest.extend_from_slice(bytes);
        let (width, count) = (self.pcm.format.bytes(), usize::from(self.pcm.channels));
        let frame = width * count;
        let whole = self.rest.len() / frame * frame;
        let mut channels = vec![Vec::with_capacity(whole / frame); count];
        for frame in self.rest[..whole].chunks_exact(frame) {
            for (channel, sample) in channels.iter_mut().zip(frame.chunks_exact(width)) {
                channel.push(self.pcm.format.sample(sample));
            }
        }
        self.rest.drain(..whole);
        channels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_any_cut() {
        for (format, bytes, expected) in [
            (SampleFormat::S16le, vec![0, 64, 0, 192], [0.5, -0.5]),
            (SampleFormat::S24le, vec![0, 0, 64, 0, 0, 192], [0.5, -0.5]),
            (SampleFormat::S32le, vec![0, 0, 0, 64, 0, 0, 0, 192], [0.5, -0.5]),
            (
                SampleFormat::F32le,
                [0.5_f32.to_le_bytes(), (-0.5_f32).to_le_bytes()].concat(),
                [0.5, -0.5],
            ),
        ] {
            let pcm = Pcm { sample_rate: 16_000, channels: 2, format };
            for cut in 0..=bytes.len() {
                let mut decoder = Decoder::new(pcm);
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for piece in [&bytes[..cut], &bytes[cut..]] {
                    let channels = decoder.channels(piece);
                    left.extend(&channels[0]);
                    right.extend(&channels[1]);
                }
                assert_eq!((left[0], right[0]), (expected[0], expected[1]), "{format:?} {cut}");
                assert_eq!(left.len(), 1);
            }
        }
    }
}

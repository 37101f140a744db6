//! Sound files made by hand, for the tests of this crate.

use std::io::{Cursor, Read};
use std::path::PathBuf;

use crate::{AudioClip, ClipReader, Error, ReadSettings, Result};

/// A WAV file in the making; every field can be set to a lie.
#[derive(Debug, Clone)]
pub(crate) struct Wav {
    pub(crate) id: [u8; 4],
    pub(crate) tag: u16,
    pub(crate) channels: u16,
    pub(crate) rate: u32,
    pub(crate) bits: u16,
    pub(crate) is_extensible: bool,
    pub(crate) data: Vec<u8>,
    /// What the header says about the length of `data`.
    pub(crate) stated_len: Option<u32>,
    /// The length in the ds64 chunk, if there is one.
    pub(crate) long_len: Option<u64>,
}

impl Wav {
    pub(crate) fn new(tag: u16, bits: u16, data: Vec<u8>) -> Self {
        Self {
            id: *b"RIFF",
            tag,
            channels: 1,
            rate: 16_000,
            bits,
            is_extensible: false,
            data,
            stated_len: None,
            long_len: None,
        }
    }

    /// 16-bit mono at 16 kHz.
    pub(crate) fn of_samples(samples: &[i16]) -> Self {
        Self::new(1, 16, samples.iter().flat_map(|sample| sample.to_le_bytes()).collect())
    }

    pub(crate) fn rate(self, rate: u32) -> Self {
        Self { rate, ..self }
    }

    pub(crate) fn channels(self, channels: u16) -> Self {
        Self { channels, ..self }
    }

    /// Everything before the samples.
    pub(crate) fn header(&self) -> Vec<u8> {
        let frame_bytes = self.channels.wrapping_mul(self.bits.div_ceil(8));
        let mut format = Vec::new();
        let tag = if self.is_extensible { 0xFFFE } else { self.tag };
        format.extend(tag.to_le_bytes());
        format.extend(self.channels.to_le_bytes());
        format.extend(self.rate.to_le_bytes());
        format.extend(self.rate.wrapping_mul(u32::from(frame_bytes)).to_le_bytes());
        format.extend(frame_bytes.to_le_bytes());
        format.extend(self.bits.to_le_bytes());
        if self.is_extensible {
            format.extend(22_u16.to_le_bytes());
            format.extend(self.bits.to_le_bytes());
            format.extend(0_u32.to_le_bytes());
            format.extend(self.tag.to_le_bytes());
            format.extend(*b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71");
        }
        let mut chunks = b"WAVE".to_vec();
        if let Some(len) = self.long_len {
            let mut sizes = 0_u64.to_le_bytes().to_vec();
            sizes.extend(len.to_le_bytes());
            sizes.extend([0; 12]);
            chunks.extend(chunk(*b"ds64", &sizes));
        }
        chunks.extend(chunk(*b"fmt ", &format));
        chunks.extend(chunk(*b"LIST", b"odd"));
        let data_len = self.data.len() as u32;
        let riff_len = (chunks.len() as u32 + 8).wrapping_add(data_len);
        chunks.extend(b"data");
        chunks.extend(self.stated_len.unwrap_or(data_len).to_le_bytes());
        let mut header = self.id.to_vec();
        header.extend(riff_len.to_le_bytes());
        header.extend(chunks);
        header
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.header();
        bytes.extend(&self.data);
        bytes
    }
}

fn chunk(id: [u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = id.to_vec();
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    bytes
}

/// Whole-number noise that is the same in every run.
pub(crate) fn noise(len: usize) -> Vec<i16> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 16) as u16).cast_signed()
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// 16-bit samples as f32, the way they must come out.
pub(crate) fn scaled(samples: &[i16]) -> Vec<f32> {
    samples.iter().map(|&sample| f32::from(sample) / 32_768.0).collect()
}

/// A tone of amplitude 0.5.
pub(crate) fn tone(frequency: f64, rate: u32, len: usize) -> Vec<f32> {
    let step = std::f64::consts::TAU * frequency / f64::from(rate);
    (0..len).map(|index| (0.5 * (step * index as f64).sin()) as f32).collect()
}

/// The level of `samples` in dB, 0 for a root mean square of 1.
pub(crate) fn level(samples: &[f32]) -> f64 {
    let power: f64 = samples.iter().map(|&sample| f64::from(sample).powi(2)).sum();
    10.0 * (power / samples.len() as f64).log10()
}

/// Everything a reader gives for some bytes.
pub(crate) fn read(bytes: Vec<u8>, settings: ReadSettings) -> Vec<Result<AudioClip>> {
    read_stream(Cursor::new(bytes), settings)
}

pub(crate) fn read_stream(
    stream: impl Read + Send + Sync + 'static,
    settings: ReadSettings,
) -> Vec<Result<AudioClip>> {
    match ClipReader::from_stream("test", stream, &settings.check().unwrap()) {
        Ok(reader) => reader.collect(),
        Err(error) => vec![Err(error)],
    }
}

/// The samples of an input that is shorter than one clip.
pub(crate) fn read_short(bytes: Vec<u8>) -> Vec<f32> {
    let mut clips = read(bytes, ReadSettings::default());
    assert_eq!(clips.len(), 1);
    clips.remove(0).unwrap().samples
}

/// The error that an input gives, and nothing else.
pub(crate) fn read_error(bytes: Vec<u8>) -> Error {
    let mut clips = read(bytes, ReadSettings::default());
    assert_eq!(clips.len(), 1);
    clips.remove(0).unwrap_err()
}

/// A file in the workspace's `testdata/audio`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/audio").join(name)
}

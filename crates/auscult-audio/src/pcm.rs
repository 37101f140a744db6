//! Uncompressed samples become f32, straight from the bytes.

use std::io::{self, BufReader, Read};

use symphonia::core::io::MediaSource;

use crate::decode::{Block, Format};

/// The most bytes that are read at once; what a slow pipe gives is passed on as it comes.
const READ_BYTES: usize = 64 * 1024;

/// How one sample is written.
///
/// Integers are divided by their full scale (32768 for 16 bits), so the result is
/// in -1..1 and 8, 16 and 24 bits are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Unsigned8,
    Signed8,
    Signed16(Order),
    Signed24(Order),
    Signed32(Order),
    Float32(Order),
    Float64(Order),
    ALaw,
    MuLaw,
}

/// Which byte of a sample comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Encoding {
    /// A signed integer of `bytes` bytes.
    pub(crate) fn signed(bytes: usize, order: Order) -> Option<Self> {
        match bytes {
            1 => Some(Self::Signed8),
            2 => Some(Self::Signed16(order)),
            3 => Some(Self::Signed24(order)),
            4 => Some(Self::Signed32(order)),
            _ => None,
        }
    }

    /// A floating-point number of `bytes` bytes.
    pub(crate) fn float(bytes: usize, order: Order) -> Option<Self> {
        match bytes {
            4 => Some(Self::Float32(order)),
            8 => Some(Self::Float64(order)),
            _ => None,
        }
    }

    /// The length of one sample in bytes.
    pub(crate) fn sample_bytes(self) -> usize {
        match self {
            Self::Unsigned8 | Self::Signed8 | Self::ALaw | Self::MuLaw => 1,
            Self::Signed16(_) => 2,
            Self::Signed24(_) => 3,
            Self::Signed32(_) | Self::Float32(_) => 4,
            Self::Float64(_) => 8,
        }
    }

    /// A short name in the manner of ffmpeg, such as `pcm_s16le`.
    pub(crate) fn name(self) -> String {
        let (kind, order) = match self {
            Self::Unsigned8 => ("u8", None),
            Self::Signed8 => ("s8", None),
            Self::Signed16(order) => ("s16", Some(order)),
            Self::Signed24(order) => ("s24", Some(order)),
            Self::Signed32(order) => ("s32", Some(order)),
            Self::Float32(order) => ("f32", Some(order)),
            Self::Float64(order) => ("f64", Some(order)),
            Self::ALaw => ("alaw", None),
            Self::MuLaw => ("mulaw", None),
        };
        let order = match order {
            None => "",
            Some(Order::Little) => "le",
            Some(Order::Big) => "be",
        };
        format!("pcm_{kind}{order}")
    }

    /// Appends the samples in `bytes`, whose length is a multiple of the sample's.
    pub(crate) fn decode(self, bytes: &[u8], samples: &mut Vec<f32>) {
        match self {
            Self::Unsigned8 => {
                samples.extend(bytes.iter().map(|&byte| (f32::from(byte) - 128.0) / 128.0));
            }
            Self::Signed8 => {
                samples.extend(bytes.iter().map(|&byte| f32::from(byte.cast_signed()) / 128.0));
            }
            Self::Signed16(order) => extend(bytes, samples, |sample| {
                f32::from(order.pick(sample, i16::from_le_bytes, i16::from_be_bytes)) / 32_768.0
            }),
            Self::Signed24(order) => extend(bytes, samples, |[a, b, c]: [u8; 3]| {
                let (low, high) = order.pick((a, c), |ends| ends, |(a, c)| (c, a));
                let value = i32::from_le_bytes([0, low, b, high]) >> 8;
                value as f32 / 8_388_608.0
            }),
            Self::Signed32(order) => extend(bytes, samples, |sample| {
                let value = order.pick(sample, i32::from_le_bytes, i32::from_be_bytes);
                (f64::from(value) / 2_147_483_648.0) as f32
            }),
            Self::Float32(order) => extend(bytes, samples, |sample| {
                order.pick(sample, f32::from_le_bytes, f32::from_be_bytes)
            }),
            Self::Float64(order) => extend(bytes, samples, |sample| {
                order.pick(sample, f64::from_le_bytes, f64::from_be_bytes) as f32
            }),
            Self::ALaw => samples.extend(bytes.iter().copied().map(a_law)),
            Self::MuLaw => samples.extend(bytes.iter().copied().map(mu_law)),
        }
    }
}

impl Order {
    fn pick<I, O>(self, input: I, little: impl Fn(I) -> O, big: impl Fn(I) -> O) -> O {
        match self {
            Self::Little => little(input),
            Self::Big => big(input),
        }
    }
}

fn extend<const N: usize>(bytes: &[u8], samples: &mut Vec<f32>, value: impl Fn([u8; N]) -> f32) {
    let (chunks, _) = bytes.as_chunks::<N>();
    samples.extend(chunks.iter().map(|chunk| value(*chunk)));
}

/// ITU-T G.711 A-law, 13 bits scaled to 16.
fn a_law(byte: u8) -> f32 {
    let byte = byte ^ 0x55;
    let exponent = (byte & 0x70) >> 4;
    let step = (i16::from(byte & 0x0f) << 4) + 8;
    let magnitude = if exponent == 0 { step } else { (step + 0x100) << (exponent - 1) };
    f32::from(if byte & 0x80 == 0 { -magnitude } else { magnitude }) / 32_768.0
}

/// ITU-T G.711 mu-law, 14 bits scaled to 16.
fn mu_law(byte: u8) -> f32 {
    let byte = !byte;
    let exponent = (byte & 0x70) >> 4;
    let magnitude = (((i16::from(byte & 0x0f) << 3) + 0x84) << exponent) - 0x84;
    f32::from(if byte & 0x80 == 0 { magnitude } else { -magnitude }) / 32_768.0
}

/// A stream of uncompressed frames, positioned at the first one.
pub(crate) struct PcmReader {
    reader: BufReader<Box<dyn MediaSource>>,
    encoding: Encoding,
    format: Format,
    /// Bytes of sound still to come by the header; `None` if the header does not know.
    remaining: Option<u64>,
    /// Bytes before the sound.
    start: u64,
    bytes: Vec<u8>,
    /// How many of `bytes` are an unfinished frame from the read before.
    carried: usize,
}

impl PcmReader {
    /// Reads `byte_len` bytes of frames, or all there are.
    pub(crate) fn new(
        reader: BufReader<Box<dyn MediaSource>>,
        encoding: Encoding,
        sample_rate: u32,
        channels: usize,
        byte_len: Option<u64>,
    ) -> Self {
        let frame_bytes = encoding.sample_bytes() * channels;
        Self {
            reader,
            encoding,
            format: Format {
                sample_rate,
                channels,
                codec: encoding.name(),
                bits: Some(8 * encoding.sample_bytes() as u32),
            },
            remaining: byte_len.map(|bytes| bytes - bytes % frame_bytes as u64),
            start: 0,
            bytes: vec![0; READ_BYTES.max(frame_bytes)],
            carried: 0,
        }
    }

    /// The same with `start` bytes before the sound.
    pub(crate) fn starting_at(self, start: u64) -> Self {
        Self { start, ..self }
    }

    /// How many frames a file of `file_len` bytes has, and how many bytes of what its header promises
    /// it lacks.
    pub(crate) fn found_in(&self, file_len: u64) -> (u64, u64) {
        let found = file_len.saturating_sub(self.start);
        let frame_bytes = (self.encoding.sample_bytes() * self.format.channels) as u64;
        let missing = self.remaining.map_or(0, |promised| promised.saturating_sub(found));
        (found / frame_bytes, missing)
    }

    /// How long the sound of a file of `file_len` bytes is, in seconds.
    pub(crate) fn seconds_in(&self, file_len: u64) -> f64 {
        let frame_bytes = (self.encoding.sample_bytes() * self.format.channels) as u64;
        let (found, _) = self.found_in(file_len);
        let frames = self.remaining.map_or(found, |promised| found.min(promised / frame_bytes));
        frames as f64 / f64::from(self.format.sample_rate)
    }

    pub(crate) fn format(&self) -> &Format {
        &self.format
    }

    /// Fills `samples` with the next frames; the error says why the sound stops early.
    pub(crate) fn next_block(&mut self, samples: &mut Vec<f32>) -> Result<Block, String> {
        samples.clear();
        let frame_bytes = self.encoding.sample_bytes() * self.format.channels;
        let limit = self.remaining.map_or(self.bytes.len(), |remaining| {
            usize::try_from(remaining).map_or(self.bytes.len(), |bytes| bytes.min(self.bytes.len()))
        });
        while self.carried < frame_bytes.min(limit) {
            match self.reader.read(&mut self.bytes[self.carried..limit]) {
                Ok(0) => return self.end(),
                Ok(read) => self.carried += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        let whole = self.carried - self.carried % frame_bytes;
        if whole == 0 {
            return Ok(Block::End);
        }
        self.encoding.decode(&self.bytes[..whole], samples);
        self.bytes.copy_within(whole..self.carried, 0);
        self.carried -= whole;
        self.remaining = self.remaining.map(|remaining| remaining - whole as u64);
        Ok(Block::Samples)
    }

    /// Passes over frames, as far as the header promises them, and says how many they were.
    pub(crate) fn skip(&mut self, frames: u64) -> Result<u64, String> {
        let frame_bytes = (self.encoding.sample_bytes() * self.format.channels) as u64;
        let wanted = frames.saturating_mul(frame_bytes);
        let bytes = self.remaining.map_or(wanted, |remaining| wanted.min(remaining));
        self.remaining = self.remaining.map(|remaining| remaining - bytes);
        // The bytes that were read already come first.
        let carried = bytes.min(self.carried as u64);
        self.bytes.copy_within(carried as usize..self.carried, 0);
        self.carried -= carried as usize;
        let ahead = bytes - carried;
        let skipped = match i64::try_from(ahead) {
            Ok(ahead) if self.reader.get_ref().is_seekable() => self.reader.seek_relative(ahead),
            _ => io::copy(&mut self.reader.by_ref().take(ahead), &mut io::sink()).map(drop),
        };
        skipped.map(|()| bytes / frame_bytes).map_err(|error| error.to_string())
    }

    /// The stream has no more bytes; that is an error if the header promised more.
    fn end(&self) -> Result<Block, String> {
        match self.remaining {
            Some(missing) if missing > 0 => Err(cut_off(missing - self.carried as u64)),
            _ => Ok(Block::End),
        }
    }
}

/// Why a file that lacks `missing` bytes is damaged.
pub(crate) fn cut_off(missing: u64) -> String {
    format!("the file ends {missing} bytes before the sound its header promises")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoding: Encoding, bytes: &[u8]) -> Vec<f32> {
        let mut samples = Vec::new();
        encoding.decode(bytes, &mut samples);
        samples
    }

    #[test]
    fn every_16_bit_value_is_divided_by_32768() {
        let values: Vec<i16> = (i16::MIN..=i16::MAX).collect();
        let expected: Vec<_> = values.iter().map(|&value| f32::from(value) / 32_768.0).collect();
        let little: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let big: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        assert_eq!(decoded(Encoding::Signed16(Order::Little), &little), expected);
        assert_eq!(decoded(Encoding::Signed16(Order::Big), &big), expected);
    }

    #[test]
    fn integers_fill_the_range_from_minus_one_to_one() {
        let cases: [(Encoding, &[u8]); 6] = [
            (Encoding::Unsigned8, &[0, 192]),
            (Encoding::Signed8, &[0x80, 0x40]),
            (Encoding::Signed24(Order::Little), &[0, 0, 0x80, 0, 0, 0x40]),
            (Encoding::Signed24(Order::Big), &[0x80, 0, 0, 0x40, 0, 0]),
            (Encoding::Signed32(Order::Little), &[0, 0, 0, 0x80, 0, 0, 0, 0x40]),
            (Encoding::Signed32(Order::Big), &[0x80, 0, 0, 0, 0x40, 0, 0, 0]),
        ];
        for (encoding, bytes) in cases {
            assert_eq!(decoded(encoding, bytes), [-1.0, 0.5], "{encoding:?}");
        }
    }

    #[test]
    fn floats_pass_unchanged_also_when_not_finite() {
        let values = [0.1, f32::INFINITY, 3.5];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        assert_eq!(decoded(Encoding::Float32(Order::Big), &bytes), values);
        let bytes = f64::NAN.to_le_bytes();
        assert!(decoded(Encoding::Float64(Order::Little), &bytes)[0].is_nan());
    }

    /// Decoded values of the 16-bit reference implementation (Sun g711.c).
    #[test]
    fn companded_values_match_the_tables_of_g_711() {
        let a_law: [(u8, i16); 5] =
            [(0x00, -5_504), (0x55, -8), (0xD5, 8), (0x2A, -32_256), (0xAA, 32_256)];
        let mu_law: [(u8, i16); 5] =
            [(0x00, -32_124), (0x7F, 0), (0xFF, 0), (0x80, 32_124), (0xF0, 120)];
        for (encoding, table) in [(Encoding::ALaw, a_law), (Encoding::MuLaw, mu_law)] {
            for (byte, value) in table {
                let expected = f32::from(value) / 32_768.0;
                assert_eq!(decoded(encoding, &[byte]), [expected], "{encoding:?} {byte:#04x}");
            }
        }
    }
}

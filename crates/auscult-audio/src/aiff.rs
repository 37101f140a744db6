//! The headers of AIFF and AIFF-C files.
//!
//! Read here and not by symphonia so that a cut file still gives the sound it has.

use crate::Result;
use crate::chunks::{Chunks, Layout};
use crate::input::Input;
use crate::pcm::{Encoding, Order, PcmReader};

const CONVERT: &str = "ffmpeg -i in.aiff -c:a pcm_s16be out.aiff";

/// Reads the header and stops at the first sample.
///
/// The common chunk must come before the sound, as every writer in use has it.
pub(crate) fn open(input: Input) -> Result<PcmReader> {
    let mut chunks = Chunks::new(input);
    let [_, _, form] = chunks.read_words("FORM header")?;
    let mut layout = None;
    loop {
        let [id, len] = chunks.read_words("chunk header")?;
        let len = u32::from_be_bytes(len);
        match &id {
            b"COMM" => layout = Some(read_layout(&mut chunks, len, form == *b"AIFC")?),
            b"SSND" => {
                let Some(layout) = layout else {
                    return Err(chunks.damaged("the sound comes before its description"));
                };
                let [offset, _] = chunks.read_words("sound chunk")?;
                let offset = u64::from(u32::from_be_bytes(offset));
                chunks.skip_exactly(offset)?;
                let byte_len = known_len(len).map(|len| len.saturating_sub(8 + offset));
                return Ok(chunks.into_pcm(&layout, byte_len));
            }
            _ => chunks.skip_chunk(u64::from(len))?,
        }
    }
}

/// The length of the sound chunk, unless it is what programs write when they cannot know it.
///
/// Into a pipe, sox writes 0x7F000000 rounded down to a frame, and 8 for the chunk's own header.
fn known_len(len: u32) -> Option<u64> {
    let is_guess =
        len == 0 || len >= u32::MAX - 0xFF || (0x7F00_0000 - 512..=0x7F00_0008).contains(&len);
    (!is_guess).then_some(u64::from(len))
}

/// What the common chunk says: channels, frames, bits, rate and, in AIFF-C, the coding.
fn read_layout(chunks: &mut Chunks, len: u32, is_aifc: bool) -> Result<Layout> {
    let needed = if is_aifc { 22 } else { 18 };
    if len < needed {
        let reason = format!("the common chunk has {len} bytes, not {needed} or more");
        return Err(chunks.damaged(&reason));
    }
    let mut chunk = [0; 22];
    let known = &mut chunk[..needed as usize];
    chunks.fill(known, "common chunk")?;
    chunks.skip_chunk(u64::from(len - needed))?;
    let word = |at: usize| u16::from_be_bytes([chunk[at], chunk[at + 1]]);
    let channels = usize::from(word(0));
    let sample_bytes = usize::from(word(6)).div_ceil(8);
    let sample_rate = extended_to_rate([chunk[8], chunk[9]], &chunk[10..18]);
    crate::decode::check_format(chunks.label(), sample_rate, channels)?;
    let coding = if is_aifc { [chunk[18], chunk[19], chunk[20], chunk[21]] } else { *b"NONE" };
    let encoding = encoding(coding, sample_bytes).ok_or_else(|| {
        let coding = coding.escape_ascii();
        chunks.unsupported(format!("AIFF with coding {coding} and {} bits", word(6)), CONVERT)
    })?;
    Ok(Layout { encoding, sample_rate, channels })
}

fn encoding(coding: [u8; 4], sample_bytes: usize) -> Option<Encoding> {
    match &coding {
        b"NONE" | b"twos" | b"in24" | b"in32" => Encoding::signed(sample_bytes, Order::Big),
        b"sowt" => Encoding::signed(sample_bytes, Order::Little),
        b"raw " if sample_bytes == 1 => Some(Encoding::Unsigned8),
        b"fl32" | b"FL32" => Some(Encoding::Float32(Order::Big)),
        b"fl64" | b"FL64" => Some(Encoding::Float64(Order::Big)),
        b"alaw" | b"ALAW" => Some(Encoding::ALaw),
        b"ulaw" | b"ULAW" => Some(Encoding::MuLaw),
        _ => None,
    }
}

/// An 80-bit extended float as a rate in whole Hz; 0 if it is none.
fn extended_to_rate(sign_and_exponent: [u8; 2], mantissa: &[u8]) -> u32 {
    let exponent = i32::from(i16::from_be_bytes(sign_and_exponent)) - 16_383;
    let mantissa = mantissa.iter().fold(0, |value: u64, &byte| value << 8 | u64::from(byte));
    if (0..=31).contains(&exponent) { (mantissa >> (63 - exponent)) as u32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{noise, read, read_error, read_short, scaled};
    use crate::{Error, ReadSettings};

    /// An AIFF-C file, or AIFF if there is no coding, of one channel at 16 kHz.
    fn aiff(coding: Option<&[u8; 4]>, bits: u16, data: &[u8]) -> Vec<u8> {
        let mut common = 1_u16.to_be_bytes().to_vec();
        common.extend((data.len() as u32 * 8 / u32::from(bits)).to_be_bytes());
        common.extend(bits.to_be_bytes());
        common.extend(b"\x40\x0c\xfa\0\0\0\0\0\0\0");
        if let Some(coding) = coding {
            common.extend(coding);
            common.extend(b"\0\0");
        }
        let mut bytes = b"FORM\0\0\0\0".to_vec();
        bytes.extend(if coding.is_some() { b"AIFC" } else { b"AIFF" });
        bytes.extend(b"COMM");
        bytes.extend((common.len() as u32).to_be_bytes());
        bytes.extend(&common);
        bytes.extend(b"SSND");
        bytes.extend((data.len() as u32 + 8).to_be_bytes());
        bytes.extend([0; 8]);
        bytes.extend(data);
        bytes
    }

    fn big_endian(samples: &[i16]) -> Vec<u8> {
        samples.iter().flat_map(|sample| sample.to_be_bytes()).collect()
    }

    #[test]
    fn codings_of_the_same_samples_agree() {
        let samples = noise(200);
        let values = scaled(&samples);
        let little: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let float: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        let files = [
            aiff(None, 16, &big_endian(&samples)),
            aiff(Some(b"NONE"), 16, &big_endian(&samples)),
            aiff(Some(b"sowt"), 16, &little),
            aiff(Some(b"fl32"), 32, &float),
        ];
        for bytes in files {
            assert_eq!(read_short(bytes), values);
        }
    }

    #[test]
    fn cut_file_gives_what_it_has() {
        let mut bytes = aiff(None, 16, &big_endian(&noise(200)));
        bytes.truncate(bytes.len() - 100);
        let clips = read(bytes, ReadSettings::default());
        let [Ok(piece), Err(Error::Damaged { .. })] = &clips[..] else { panic!("{clips:?}") };
        assert_eq!(piece.samples, scaled(&noise(150)));
    }

    #[test]
    fn length_that_stands_for_unknown_is_no_error() {
        let mut bytes = aiff(None, 16, &big_endian(&noise(200)));
        let at = bytes.windows(4).position(|id| id == b"SSND").unwrap() + 4;
        bytes[at..at + 4].copy_from_slice(&0x7F00_0008_u32.to_be_bytes());
        assert_eq!(read_short(bytes), scaled(&noise(200)));
    }

    #[test]
    fn unknown_coding_is_refused_by_name() {
        let error = read_error(aiff(Some(b"ima4"), 16, &[0; 8])).to_string();
        assert!(error.starts_with("test: AIFF with coding ima4 and 16 bits is not supported"));
    }

    #[test]
    fn rates_are_read_from_extended_floats() {
        let cases = [
            (44_100, [0x40, 0x0E, 0xAC, 0x44]),
            (48_000, [0x40, 0x0E, 0xBB, 0x80]),
            (11_025, [0x40, 0x0C, 0xAC, 0x44]),
            (0, [0xC0, 0x0C, 0xFA, 0x00]),
            (0, [0x7F, 0xFF, 0x80, 0x00]),
        ];
        for (rate, [a, b, c, d]) in cases {
            assert_eq!(extended_to_rate([a, b], &[c, d, 0, 0, 0, 0, 0, 0]), rate);
        }
    }
}

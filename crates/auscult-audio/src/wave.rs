//! The headers of WAV files and of their 64-bit forms RF64 and BW64.
//!
//! WAV is read here and not by symphonia, which does not know RF64, refuses more
//! than 26 channels and cannot tell a cut file from one that was streamed.

use crate::Result;
use crate::chunks::{Chunks, Layout};
use crate::decode::check_format;
use crate::input::Input;
use crate::pcm::{Encoding, Order, PcmReader};

const CONVERT: &str = "ffmpeg -i in.wav -c:a pcm_s16le out.wav";

/// Reads the header and stops at the first sample.
pub(crate) fn open(input: Input) -> Result<PcmReader> {
    let file_len = input.media.is_seekable().then(|| input.media.byte_len()).flatten();
    let mut chunks = Chunks::new(input);
    let [_, riff_len, _] = chunks.words("RIFF header")?;
    let riff_end = u64::from(u32::from_le_bytes(riff_len)) + 8;
    let mut long_len = None;
    let mut layout = None;
    loop {
        let [id, len] = chunks.words("chunk header")?;
        let len = u32::from_le_bytes(len);
        match &id {
            b"ds64" => long_len = Some(read_long_len(&mut chunks, len)?),
            b"fmt " => layout = Some(read_layout(&mut chunks, len)?),
            b"data" => {
                let Some(layout) = layout else {
                    return Err(chunks.damaged("the sound comes before its description"));
                };
                let byte_len = match long_len {
                    Some(long) if len == u32::MAX => known_long_len(long),
                    _ if len == 0 && file_len == Some(riff_end) => Some(0),
                    _ => known_len(len),
                };
                return Ok(chunks.into_pcm(&layout, byte_len));
            }
            _ => chunks.skip_chunk(u64::from(len))?,
        }
    }
}

/// The length of the sound, unless it is what programs write when they cannot know it.
///
/// Into a pipe, `GStreamer` writes 0, ffmpeg 0xFFFFFFFF, sox 0x7FFFF000 rounded down to
/// a frame, and arecord about 0x80000000.
fn known_len(len: u32) -> Option<u64> {
    let is_guess =
        len == 0 || len >= u32::MAX - 0xFF || (0x7FFF_F000 - 512..=0x8000_0000).contains(&len);
    (!is_guess).then_some(u64::from(len))
}

fn known_long_len(len: u64) -> Option<u64> {
    (len != 0 && len != u64::MAX).then_some(len)
}

/// The length of the sound by the 64-bit size chunk.
fn read_long_len(chunks: &mut Chunks, len: u32) -> Result<u64> {
    if len < 16 {
        return Err(chunks.damaged(&format!("the ds64 chunk has {len} bytes, not 28")));
    }
    let mut sizes = [[0; 8]; 2];
    chunks.fill(sizes.as_flattened_mut(), "ds64 chunk")?;
    chunks.skip_chunk(u64::from(len) - 16)?;
    let [_, data_len] = sizes;
    Ok(u64::from_le_bytes(data_len))
}

fn read_layout(chunks: &mut Chunks, len: u32) -> Result<Layout> {
    if len < 16 {
        let reason = format!("the format chunk has {len} bytes, not 16 or more");
        return Err(chunks.damaged(&reason));
    }
    let mut chunk = [0; 26];
    let known = chunk.len().min(len as usize);
    chunks.fill(&mut chunk[..known], "format chunk")?;
    chunks.skip_chunk(u64::from(len) - known as u64)?;
    let word = |at: usize| u16::from_le_bytes([chunk[at], chunk[at + 1]]);
    let channels = usize::from(word(2));
    let sample_rate = u32::from(word(4)) | u32::from(word(6)) << 16;
    check_format(chunks.label(), sample_rate, channels)?;
    // WAVE_FORMAT_EXTENSIBLE carries the real tag in the first bytes of its GUID.
    let tag = if word(0) == 0xFFFE { word(24) } else { word(0) };
    let sample_bytes = container_bytes(usize::from(word(12)), channels, word(14));
    let encoding = encoding(tag, sample_bytes).ok_or_else(|| {
        let bits = word(14);
        chunks.unsupported(format!("WAV with format tag {tag:#06x} and {bits} bits"), CONVERT)
    })?;
    Ok(Layout { encoding, sample_rate, channels })
}

/// The bytes one sample takes: from the frame size if it makes sense, else from the bits.
fn container_bytes(frame_bytes: usize, channels: usize, bits: u16) -> usize {
    let from_bits = usize::from(bits).div_ceil(8);
    let from_frame = frame_bytes / channels;
    let fits = frame_bytes.is_multiple_of(channels) && from_frame >= from_bits;
    if fits && from_frame > 0 { from_frame } else { from_bits }
}

fn encoding(tag: u16, sample_bytes: usize) -> Option<Encoding> {
    match (tag, sample_bytes) {
        (1, 1) => Some(Encoding::Unsigned8),
        (1, bytes) => Encoding::signed(bytes, Order::Little),
        (3, bytes) => Encoding::float(bytes, Order::Little),
        (6, 1) => Some(Encoding::ALaw),
        (7, 1) => Some(Encoding::MuLaw),
        _ => None,
    }
}

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
    let [_, riff_len, _] = chunks.read_words("RIFF header")?;
    let riff_end = u64::from(u32::from_le_bytes(riff_len)) + 8;
    let mut long_len = None;
    let mut layout = None;
    loop {
        let [id, len] = chunks.read_words("chunk header")?;
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

#[cfg(test)]
mod tests {
    use crate::testing::{Wav, fixture, noise, read, read_error, read_short, scaled};
    use crate::{Error, Extent, ReadSettings};

    #[test]
    fn sixteen_bits_come_out_exactly() {
        let samples = noise(5_000);
        assert_eq!(read_short(Wav::of_samples(&samples).bytes()), scaled(&samples));
    }

    #[test]
    fn all_sample_formats_agree() {
        let samples = noise(300);
        let widened = |zeros: usize| -> Vec<u8> {
            let wide = |sample: &i16| [vec![0; zeros], sample.to_le_bytes().to_vec()].concat();
            samples.iter().flat_map(wide).collect()
        };
        let values = scaled(&samples);
        let float = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let double = values.iter().flat_map(|value| f64::from(*value).to_le_bytes()).collect();
        let cases = [
            Wav::new(1, 16, widened(0)),
            Wav::new(1, 24, widened(1)),
            Wav::new(1, 32, widened(2)),
            Wav::new(3, 32, float),
            Wav::new(3, 64, double),
        ];
        for wav in cases {
            let extensible = Wav { is_extensible: true, ..wav.clone() };
            assert_eq!(read_short(wav.bytes()), values, "{} bits", wav.bits);
            assert_eq!(read_short(extensible.bytes()), values, "{} bits extensible", wav.bits);
        }
    }

    #[test]
    fn eight_bits_and_companded_sounds_are_read() {
        for (tag, value) in [(1, 16_384), (6, 344), (7, 1_884)] {
            let samples = read_short(Wav::new(tag, 8, vec![0xC0; 10]).bytes());
            assert_eq!(samples, scaled(&[value; 10]), "tag {tag}");
        }
    }

    #[test]
    fn sixty_four_bit_forms_are_read() {
        let samples = noise(100);
        for id in [*b"RF64", *b"BW64"] {
            let short = Wav::of_samples(&samples);
            let long_len = Some(short.data.len() as u64);
            let wav = Wav { id, stated_len: Some(u32::MAX), long_len, ..short };
            assert_eq!(read_short(wav.bytes()), scaled(&samples));
        }
    }

    #[test]
    fn cut_long_file_is_reported() {
        let short = Wav::of_samples(&noise(100));
        let long_len = Some(5_000_000_000);
        let wav = Wav { id: *b"RF64", stated_len: Some(u32::MAX), long_len, ..short };
        let clips = read(wav.bytes(), ReadSettings::default());
        assert!(matches!(clips[..], [Ok(_), Err(Error::Damaged { .. })]), "{clips:?}");
    }

    #[test]
    fn lengths_that_stand_for_unknown_are_no_error() {
        let samples = noise(100);
        for len in [0, u32::MAX, 0x7FFF_F000, 0x7FFF_F000 - 4, 0x8000_0000] {
            let wav = Wav { stated_len: Some(len), ..Wav::of_samples(&samples) };
            assert_eq!(read_short(wav.bytes()), scaled(&samples), "{len:#x}");
        }
    }

    #[test]
    fn cut_file_gives_what_it_has_and_says_where_it_ends() {
        let samples = noise(16_000);
        let bytes = Wav::of_samples(&samples).bytes();
        let clips = read(bytes[..bytes.len() - 16_001].to_vec(), ReadSettings::default());
        let [Ok(piece), Err(error)] = &clips[..] else { panic!("{clips:?}") };
        assert_eq!(piece.extent, Extent::CutByDamage);
        assert_eq!(piece.samples, scaled(&samples[..7_999]));
        assert_eq!(
            error.to_string(),
            "test: damaged after 0.500 s: the file ends 16001 bytes before the sound its header \
             promises; record or copy the file again"
        );
    }

    #[test]
    fn what_follows_the_sound_is_left_out() {
        let samples = noise(100);
        let mut bytes = Wav::of_samples(&samples).bytes();
        bytes.extend(b"LIST\x04\0\0\0INFO");
        assert_eq!(read_short(bytes), scaled(&samples));
    }

    #[test]
    fn file_without_samples_is_refused() {
        assert!(matches!(read_error(Wav::of_samples(&[]).bytes()), Error::NoSound { .. }));
    }

    #[test]
    fn limits_are_named_in_the_errors() {
        let wav = Wav::of_samples(&noise(64));
        let cases = [
            (wav.clone().channels(0), "test: has 0 channels, allowed are 1 to 64"),
            (wav.clone().channels(65), "test: has 65 channels, allowed are 1 to 64"),
            (wav.clone().rate(0), "test: has a sample rate of 0 Hz, allowed are 1000 to 768000 Hz"),
            (wav.clone().rate(u32::MAX), "test: has a sample rate of 4294967295 Hz"),
            (Wav { tag: 0x55, ..wav.clone() }, "test: WAV with format tag 0x0055 and 16 bits"),
            (Wav { bits: 64, ..wav.clone() }, "test: WAV with format tag 0x0001 and 64 bits"),
            (Wav { bits: 0, ..wav }, "test: WAV with format tag 0x0001 and 0 bits"),
        ];
        for (wav, message) in cases {
            let error = read_error(wav.bytes()).to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn sixty_four_channels_are_read() {
        let samples = noise(64 * 10);
        let expected: Vec<_> = scaled(&samples).into_iter().step_by(64).collect();
        assert_eq!(read_short(Wav::of_samples(&samples).channels(64).bytes()), expected);
    }

    #[test]
    fn adpcm_is_refused_by_its_number() {
        let error = read_error(std::fs::read(fixture("tone_adpcm.wav")).unwrap()).to_string();
        assert!(error.contains("format tag 0x0011 and 4 bits"), "{error}");
    }

    #[test]
    fn endless_header_is_refused() {
        let mut bytes = Wav::of_samples(&[]).header();
        bytes.truncate(12);
        bytes.extend(b"JUNK\xff\xff\xff\x7f");
        assert!(read_error(bytes).to_string().contains("no sound in the first 64 MiB"));
    }
}

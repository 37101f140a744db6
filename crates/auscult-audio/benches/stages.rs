//! Reading 10 s of sound from memory, one thread: `cargo bench -p auscult-audio`.
//!
//! Comparisons with other programs are in `bench/`.
#![expect(clippy::unwrap_used, reason = "a benchmark stops where its set-up fails")]

use std::io::Cursor;

use auscult_audio::{ChannelRule, ClipReader, Location, ReadSettings};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// A WAV file of noise.
fn wav(sample_rate: u32, channels: u16, bits: u16) -> Vec<u8> {
    let frame_bytes = channels * bits / 8;
    let data_len = sample_rate * 10 * u32::from(frame_bytes);
    let mut bytes = Vec::new();
    bytes.extend(b"RIFF");
    bytes.extend((data_len + 36).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    bytes.extend(channels.to_le_bytes());
    bytes.extend(sample_rate.to_le_bytes());
    bytes.extend((sample_rate * u32::from(frame_bytes)).to_le_bytes());
    bytes.extend(frame_bytes.to_le_bytes());
    bytes.extend(bits.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend(data_len.to_le_bytes());
    let mut state = 1_u32;
    bytes.extend((0..data_len).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    bytes
}

fn read(bencher: Bencher<'_, '_>, bytes: &[u8], channel: ChannelRule) {
    let settings = ReadSettings { channel, ..ReadSettings::default() }.check().unwrap();
    bencher.with_inputs(|| Cursor::new(bytes.to_vec())).bench_local_values(|stream| {
        let reader = ClipReader::from_stream("noise", black_box(stream), &settings).unwrap();
        reader.map(|clip| clip.unwrap().samples.len()).sum::<usize>()
    });
}

#[divan::bench(args = [16, 24, 32])]
fn wav_bits(bencher: Bencher<'_, '_>, bits: u16) {
    read(bencher, &wav(16_000, 1, bits), ChannelRule::Index(0));
}

#[divan::bench(args = [2, 8])]
fn wav_channels(bencher: Bencher<'_, '_>, channels: u16) {
    read(bencher, &wav(16_000, channels, 16), ChannelRule::Mean);
}

#[divan::bench(args = [8_000, 44_100, 48_000])]
fn wav_rate(bencher: Bencher<'_, '_>, sample_rate: u32) {
    read(bencher, &wav(sample_rate, 1, 16), ChannelRule::Index(0));
}

#[divan::bench(args = ["saw16.flac", "tone.mp3", "tone.ogg", "tone.m4a"])]
fn compressed(bencher: Bencher<'_, '_>, name: &str) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/audio");
    // M4A is read from its end, so from a file.
    let (location, settings) =
        (Location::File(folder.join(name)), ReadSettings::default().check().unwrap());
    bencher.bench_local(|| {
        let reader = ClipReader::open(black_box(&location), &settings).unwrap();
        reader.map(|clip| clip.unwrap().samples.len()).sum::<usize>()
    });
}

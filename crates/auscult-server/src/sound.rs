//! Sound of the history: read by the library, sent as WAV.

use std::path::Path;

use auscult::{
    Cancel,
    audio::{ChannelRule, ClipRange, ClipReader, Location, ReadSettings, native_rate},
};

/// Mono sound.
#[derive(Debug, Clone)]
pub(crate) struct Sound {
    pub(crate) samples: Vec<f32>,
    pub(crate) rate: u32,
}

/// Why sound cannot be had.
#[derive(Debug)]
pub(crate) enum SoundError {
    /// It is longer than this many seconds.
    TooLong(f64),
    Audio(auscult::audio::Error),
}

impl From<auscult::audio::Error> for SoundError {
    fn from(error: auscult::audio::Error) -> Self {
        Self::Audio(error)
    }
}

/// Samples that are held in memory at most.
const MOST_SAMPLES: f64 = 40e6;

/// The longest sound that is read whole, in seconds.
const LONGEST: f64 = 600.0;

impl Sound {
    /// Reads a file whole, at its own rate.
    pub(crate) fn read(path: &Path, channel: usize) -> Result<Self, SoundError> {
        let location = Location::File(path.to_owned());
        let rate = native_rate(&location)?;
        let longest = LONGEST.min(MOST_SAMPLES / f64::from(rate.max(1)));
        // A file that is shorter than one clip is one short clip.
        let settings = ReadSettings {
            sample_rate: rate,
            channel: ChannelRule::Index(channel),
            clip_seconds: longest,
            hop_seconds: None,
            range: ClipRange::First,
        };
        let clip = ClipReader::open(&location, &settings.check()?)?.next();
        let samples = clip.transpose()?.map(|clip| clip.samples).unwrap_or_default();
        if samples.len() as f64 >= longest * f64::from(rate) {
            return Err(SoundError::TooLong(longest));
        }
        Ok(Self { samples, rate })
    }

    /// Reads a part of a file, at its own rate. What is before it is read and let go, so that a file of hours takes
    /// time and no memory.
    pub(crate) fn read_part(
        path: &Path,
        channel: ChannelRule,
        from_seconds: f64,
        seconds: f64,
    ) -> Result<Self, SoundError> {
        let location = Location::File(path.to_owned());
        let rate = native_rate(&location)?;
        let longest = LONGEST.min(MOST_SAMPLES / f64::from(rate.max(1)));
        if seconds > longest {
            return Err(SoundError::TooLong(longest));
        }
        let at = |seconds: f64| (seconds * f64::from(rate)).round().max(0.0) as usize;
        let (from, to) = (at(from_seconds), at(from_seconds + seconds));
        let settings = ReadSettings {
            sample_rate: rate,
            channel,
            clip_seconds: 1.0,
            ..ReadSettings::default()
        };
        let (mut samples, mut passed) = (Vec::new(), 0);
        for piece in ClipReader::open(&location, &settings.check()?)? {
            let piece = piece?.samples;
            let end = passed + piece.len();
            let part = from.clamp(passed, end) - passed..to.clamp(passed, end) - passed;
            samples.extend_from_slice(&piece[part]);
            passed = end;
            if passed >= to {
                break;
            }
        }
        Ok(Self { samples, rate })
    }

    /// A part of it.
    pub(crate) fn part(mut self, from_seconds: f64, seconds: f64) -> Self {
        let at = |seconds: f64| {
            let sample = (seconds * f64::from(self.rate)).round().max(0.0) as usize;
            sample.min(self.samples.len())
        };
        let (from, to) = (at(from_seconds), at(from_seconds + seconds));
        self.samples = self.samples[from..to.max(from)].to_vec();
        self
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.samples.len() as f64 / f64::from(self.rate.max(1))
    }

    /// As a WAV file of 16 bits.
    pub(crate) fn wav(&self) -> Vec<u8> {
        let bytes = 2 * self.samples.len() as u32;
        let mut wav = wav_header(self.rate, 1, 16, 1, bytes);
        for sample in &self.samples {
            let value = (sample.clamp(-1.0, 1.0) * 32_767.0).round() as i16;
            wav.extend(value.to_le_bytes());
        }
        wav
    }
}

/// Whether sound is longer than so many seconds. No more than that is read, and nothing of it is kept; a part that cannot
/// be read ends it.
pub(crate) fn is_longer(
    path: &Path,
    seconds: f64,
    cancel: &Cancel,
) -> Result<bool, auscult::audio::Error> {
    let location = Location::File(path.to_owned());
    let sample_rate = native_rate(&location)?;
    let channel = ChannelRule::Index(0);
    let settings =
        ReadSettings { sample_rate, channel, clip_seconds: 1.0, ..ReadSettings::default() };
    let mut reader = ClipReader::open(&location, &settings.check()?)?;
    while let Some(Ok(_)) = reader.next() {
        if reader.facts().seconds_read > seconds {
            return Ok(true);
        }
        if cancel.is_cancelled() {
            break;
        }
    }
    Ok(false)
}

/// The head of a WAV file: `form` is 1 for integers and 3 for floating point.
pub(crate) fn wav_header(rate: u32, channels: u16, bits: u16, form: u16, bytes: u32) -> Vec<u8> {
    let frame = channels * bits / 8;
    let mut head = Vec::with_capacity(44);
    head.extend(b"RIFF");
    head.extend(bytes.saturating_add(36).to_le_bytes());
    head.extend(b"WAVEfmt ");
    head.extend(16_u32.to_le_bytes());
    head.extend(form.to_le_bytes());
    head.extend(channels.to_le_bytes());
    head.extend(rate.to_le_bytes());
    head.extend(rate.saturating_mul(u32::from(frame)).to_le_bytes());
    head.extend(frame.to_le_bytes());
    head.extend(bits.to_le_bytes());
    head.extend(b"data");
    head.extend(bytes.to_le_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.wav");
        let samples: Vec<f32> = (0..8_000).map(|at| (at as f32 * 0.1).sin() * 0.5).collect();
        let sound = Sound { samples, rate: 8_000 };
        std::fs::write(&path, sound.wav()).unwrap();
        let read = Sound::read(&path, 0).unwrap();
        assert_eq!((read.rate, read.samples.len()), (8_000, 8_000));
        let far = read.samples.iter().zip(&sound.samples).map(|(a, b)| (a - b).abs());
        assert!(far.fold(0.0, f32::max) < 1e-4);
        let part = read.part(0.25, 0.5);
        assert_eq!((part.samples.len(), part.seconds()), (4_000, 0.5));
        assert_eq!(part.part(9.0, 1.0).samples.len(), 0);
        assert!(matches!(Sound::read(&path, 3), Err(SoundError::Audio(_))));
        let whole = Sound::read(&path, 0).unwrap().samples;
        let first = ChannelRule::Index(0);
        for (from, seconds) in [(0.0, 1.0), (0.25, 0.5), (0.9, 5.0), (3.0, 1.0)] {
            let part = Sound::read_part(&path, first, from, seconds).unwrap();
            assert_eq!(
                part.samples,
                read_again(&whole, from, seconds),
                "{seconds} s from {from} s"
            );
        }
        let third = Sound::read_part(&path, ChannelRule::Index(3), 0.0, 1.0);
        assert!(matches!(third, Err(SoundError::Audio(_))));
    }

    fn read_again(samples: &[f32], from: f64, seconds: f64) -> Vec<f32> {
        Sound { samples: samples.to_vec(), rate: 8_000 }.part(from, seconds).samples
    }

    #[test]
    fn a_part_of_a_recording_of_hours_is_read_on_its_channel() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.wav");
        // An hour of two channels; the second one says which second it is.
        let (rate, seconds) = (1_000_u32, 3_600_u32);
        let samples = (0..seconds).flat_map(|second| {
            let frame = [0_i16.to_le_bytes(), (second as i16).to_le_bytes()].concat();
            frame.repeat(rate as usize)
        });
        let samples: Vec<u8> = samples.collect();
        let mut wav = wav_header(rate, 2, 16, 1, samples.len() as u32);
        wav.extend(samples);
        std::fs::write(&path, wav).unwrap();
        assert!(matches!(Sound::read(&path, 1), Err(SoundError::TooLong(_))));
        let part = Sound::read_part(&path, ChannelRule::Index(1), 3_000.0, 2.0).unwrap();
        let heard: Vec<i16> =
            part.samples.iter().map(|it| (it * 32_768.0).round() as i16).collect();
        assert_eq!(heard, [vec![3_000; 1_000], vec![3_001; 1_000]].concat());
    }
}

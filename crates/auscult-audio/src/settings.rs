//! How sound is to be read: rate, channel and clip length.

use auscult_core::ClipSettings;

use crate::{ChannelRule, Error, Result};

/// The lowest sample rate of an input, in Hz.
pub const MIN_SAMPLE_RATE: u32 = 1_000;

/// The highest sample rate of an input, in Hz.
pub const MAX_SAMPLE_RATE: u32 = 768_000;

/// The longest time from one clip's start to the next, in seconds: one clip an hour.
///
/// It may be longer than a clip: a microphone that listens all day need not be scored all day.
pub const MAX_HOP_SECONDS: f64 = 3_600.0;

/// Which clips of an input are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ClipRange {
    /// All clips, to the end of the input.
    #[default]
    All,
    /// The first clip; decoding stops there.
    First,
}

/// How sound is to be read, not yet checked.
///
/// # Examples
///
/// ```
/// use auscult_audio::ReadSettings;
///
/// let settings = ReadSettings { clip_seconds: 2.0, hop_seconds: Some(1.0), ..Default::default() };
/// assert_eq!(settings.check()?.clip_len(), 32_000);
/// # Ok::<(), auscult_audio::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReadSettings {
    /// The sample rate of the clips, in Hz.
    pub sample_rate: u32,
    /// Which channel of the input is used.
    pub channel: ChannelRule,
    /// The length of a clip, in seconds.
    pub clip_seconds: f64,
    /// The time from one clip's start to the next, in seconds; `None` means one clip length.
    pub hop_seconds: Option<f64>,
    /// Which clips are read.
    pub range: ClipRange,
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self {
            sample_rate: 16_000,
            channel: ChannelRule::default(),
            clip_seconds: 10.0,
            hop_seconds: None,
            range: ClipRange::default(),
        }
    }
}

impl ReadSettings {
    /// Checks the settings and turns times into sample counts, rounded to the nearest sample.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Clip`] if the sample rate or the clip length is outside what
    /// [`ClipSettings::check`] allows, and [`Error::Setting`] if the hop is shorter than one sample
    /// or longer than [`MAX_HOP_SECONDS`].
    pub fn check(self) -> Result<CheckedReadSettings> {
        let clip = ClipSettings { sample_rate: self.sample_rate, seconds: self.clip_seconds };
        let clip_len = clip.check()?.samples();
        let hop_len = match self.hop_seconds {
            Some(seconds) => hop_len(seconds, self.sample_rate)?,
            None => clip_len,
        };
        Ok(CheckedReadSettings { settings: self, clip_len, hop_len })
    }
}

fn hop_len(seconds: f64, rate: u32) -> Result<usize> {
    let samples = (seconds * f64::from(rate)).round();
    if samples >= 1.0 && seconds <= MAX_HOP_SECONDS {
        return Ok(samples as usize);
    }
    Err(Error::Setting {
        name: "clip hop",
        value: format!("{seconds} s"),
        allowed: format!("at least one sample (1/{rate} s) and at most {MAX_HOP_SECONDS} s"),
    })
}

/// How sound is to be read, known to be sound. Made by [`ReadSettings::check`].
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedReadSettings {
    settings: ReadSettings,
    clip_len: usize,
    hop_len: usize,
}

impl CheckedReadSettings {
    /// The settings that were checked.
    pub fn settings(&self) -> &ReadSettings {
        &self.settings
    }

    /// The sample rate of the clips, in Hz.
    pub fn sample_rate(&self) -> u32 {
        self.settings.sample_rate
    }

    /// The length of a full clip, in samples.
    pub fn clip_len(&self) -> usize {
        self.clip_len
    }

    /// The distance from one clip's start to the next, in samples.
    pub fn hop_len(&self) -> usize {
        self.hop_len
    }
}

#[cfg(test)]
mod tests {
    use auscult_core::{MAX_CLIP_SECONDS, MIN_CLIP_SECONDS};

    use super::*;

    #[test]
    fn defaults_are_ten_seconds_at_sixteen_kilohertz() {
        let checked = ReadSettings::default().check().unwrap();
        assert_eq!((checked.clip_len(), checked.hop_len()), (160_000, 160_000));
    }

    #[test]
    fn times_that_are_not_times_are_refused() {
        for seconds in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-9, 3_601.0] {
            let clip = ReadSettings { clip_seconds: seconds, ..Default::default() };
            assert!(matches!(clip.check(), Err(Error::Clip(_))));
            let hop = ReadSettings { hop_seconds: Some(seconds), ..Default::default() };
            assert!(matches!(hop.check(), Err(Error::Setting { name: "clip hop", .. })));
        }
    }

    #[test]
    fn limits_of_clips_are_those_of_the_core() {
        for (seconds, is_allowed) in [
            (MIN_CLIP_SECONDS, true),
            (MAX_CLIP_SECONDS, true),
            (0.99 * MIN_CLIP_SECONDS, false),
            (1.01 * MAX_CLIP_SECONDS, false),
        ] {
            let settings = ReadSettings { clip_seconds: seconds, ..Default::default() };
            assert_eq!(settings.check().is_ok(), is_allowed, "{seconds} s");
        }
        let settings = ReadSettings { sample_rate: 0, ..Default::default() };
        assert_eq!(
            settings.check().unwrap_err().to_string(),
            "sample rate must be 1000 to 384000 Hz, got 0"
        );
    }

    #[test]
    fn hops_may_be_longer_than_clips() {
        let settings = ReadSettings { hop_seconds: Some(MAX_HOP_SECONDS), ..Default::default() };
        assert_eq!(settings.check().unwrap().hop_len(), 57_600_000);
    }
}

//! 1. A clip: mono samples of a fixed length, and whether they are worth scoring.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The lowest sample rate of a clip, in Hz.
pub const MIN_CLIP_SAMPLE_RATE: u32 = 1_000;

/// The highest sample rate of a clip, in Hz.
pub const MAX_CLIP_SAMPLE_RATE: u32 = 384_000;

/// The shortest clip, in seconds.
pub const MIN_CLIP_SECONDS: f64 = 0.1;

/// The longest clip, in seconds.
pub const MAX_CLIP_SECONDS: f64 = 600.0;

/// How long a clip is and how often it was sampled.
///
/// # Examples
///
/// ```
/// let clip = auscult_core::ClipSettings::default().check()?;
/// assert_eq!(clip.samples(), 160_000);
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipSettings {
    /// Samples a second; sound at other rates is resampled before it comes here.
    pub sample_rate: u32,
    /// Length of a clip; shorter sound is padded with zeros at the end, longer sound is cut.
    pub seconds: f64,
}

impl Default for ClipSettings {
    /// 10 s at 16 kHz, as in the paper.
    fn default() -> Self {
        Self { sample_rate: 16_000, seconds: 10.0 }
    }
}

impl ClipSettings {
    /// Makes the settings usable.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if the rate is outside [`MIN_CLIP_SAMPLE_RATE`] to [`MAX_CLIP_SAMPLE_RATE`]
    /// or the length outside [`MIN_CLIP_SECONDS`] to [`MAX_CLIP_SECONDS`].
    pub fn check(self) -> Result<ClipLength> {
        let (min, max) = (MIN_CLIP_SAMPLE_RATE, MAX_CLIP_SAMPLE_RATE);
        if !(min..=max).contains(&self.sample_rate) {
            let allowed = format!("{min} to {max} Hz");
            return Err(Error::setting("sample rate", allowed, self.sample_rate));
        }
        let (min, max) = (MIN_CLIP_SECONDS, MAX_CLIP_SECONDS);
        if !(min..=max).contains(&self.seconds) {
            let allowed = format!("{min} to {max} seconds");
            return Err(Error::setting("clip length", allowed, self.seconds));
        }
        let samples = (self.seconds * f64::from(self.sample_rate)).round() as usize;
        Ok(ClipLength { sample_rate: self.sample_rate, samples })
    }
}

/// The length of a clip in samples: checked [`ClipSettings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClipLength {
    sample_rate: u32,
    samples: usize,
}

impl ClipLength {
    /// Samples in one clip.
    pub fn samples(self) -> usize {
        self.samples
    }

    /// Samples a second.
    pub fn sample_rate(self) -> u32 {
        self.sample_rate
    }
}

/// What a look at the samples alone says about a clip.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ClipCondition {
    /// Fit to be scored.
    Usable,
    /// Not scored: no sound at all.
    Silent,
    /// Not scored: every sample has the same value.
    Constant {
        /// That value.
        value: f32,
    },
    /// Not scored: some samples are NaN or infinite.
    NotFinite {
        /// Index of the first one.
        sample: usize,
    },
    /// Not scored: mostly padding.
    TooShort {
        /// Samples there are.
        samples: usize,
        /// Samples there must be.
        needed: usize,
    },
}

/// A clip must hold at least this share of its nominal length: silence fills the rest, and a clip that
/// is mostly silence is far from every machine.
pub const SHORTEST_SHARE: f64 = 0.5;

/// A signal whose peak is below -96 dBFS is below the last bit of 16-bit sound.
const SILENCE_PEAK: f32 = 1.0 / 65_536.0;

impl ClipCondition {
    /// Looks at the samples of a clip, before padding.
    pub fn of(samples: &[f32], length: ClipLength) -> Self {
        let is_whole =
            |block: &[f32]| block.iter().fold(true, |all, value| all & value.is_finite());
        if !samples.chunks(1024).all(is_whole)
            && let Some(sample) = samples.iter().position(|value| !value.is_finite())
        {
            return Self::NotFinite { sample };
        }
        let needed = (SHORTEST_SHARE * length.samples() as f64).ceil() as usize;
        if samples.len() < needed {
            return Self::TooShort { samples: samples.len(), needed };
        }
        // Samples are finite here: their sizes are ordered like their bits.
        let peak = samples.iter().fold(0, |peak: u32, value| peak.max(value.abs().to_bits()));
        let peak = f32::from_bits(peak);
        if peak < SILENCE_PEAK {
            return Self::Silent;
        }
        if let Some(&value) = samples.first()
            && samples.chunks(1024).all(|block| {
                block.iter().fold(true, |all, &other| all & ((other - value).abs() < SILENCE_PEAK))
            })
        {
            return Self::Constant { value };
        }
        Self::Usable
    }

    /// Whether the clip can be scored as the sound of a machine.
    pub fn is_usable(self) -> bool {
        self == Self::Usable
    }

    /// A short name for tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Silent => "silent",
            Self::Constant { .. } => "constant",
            Self::NotFinite { .. } => "not-finite",
            Self::TooShort { .. } => "too-short",
        }
    }
}

impl std::fmt::Display for ClipCondition {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usable => write!(formatter, "usable"),
            Self::Silent => write!(
                formatter,
                "silent: the peak is below -96 dBFS; check the microphone and that the machine ran"
            ),
            Self::Constant { value } => write!(
                formatter,
                "constant: every sample is {value}; check the sensor and its cable"
            ),
            Self::NotFinite { sample } => write!(
                formatter,
                "not finite: sample {sample} is NaN or infinite; export the recording again"
            ),
            Self::TooShort { samples, needed } => write!(
                formatter,
                "too short: {}, at least {needed} (half a clip) are needed; record longer, or choose shorter clips",
                crate::plural(*samples, "sample")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length() -> ClipLength {
        ClipSettings { sample_rate: 16_000, seconds: 1.0 }.check().unwrap()
    }

    #[test]
    fn conditions_are_distinguished() {
        let tone: Vec<f32> = (0..16_000).map(|i| (i as f32 * 0.3).sin() * 0.5).collect();
        assert_eq!(ClipCondition::of(&tone, length()), ClipCondition::Usable);
        assert_eq!(ClipCondition::of(&vec![0.0; 16_000], length()), ClipCondition::Silent);
        assert_eq!(
            ClipCondition::of(&vec![0.25; 16_000], length()),
            ClipCondition::Constant { value: 0.25 }
        );
        let mut broken = tone.clone();
        broken[77] = f32::NAN;
        assert_eq!(ClipCondition::of(&broken, length()), ClipCondition::NotFinite { sample: 77 });
        assert_eq!(
            ClipCondition::of(&tone[..7_999], length()),
            ClipCondition::TooShort { samples: 7_999, needed: 8_000 }
        );
    }

    #[test]
    fn absurd_settings_are_refused_with_the_range() {
        let error = ClipSettings { seconds: f64::NAN, ..Default::default() }.check().unwrap_err();
        assert_eq!(error.to_string(), "clip length must be 0.1 to 600 seconds, got NaN");
    }
}

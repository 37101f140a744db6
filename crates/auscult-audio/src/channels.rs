//! Many channels become one.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// The most channels an input may have.
pub const MAX_CHANNELS: usize = 64;

/// Which sound of a many-channel recording is used.
///
/// Written as `0`, `1`, ... for one channel, counted from 0, `mean`, or `0-1` for channel 0 with what channel 1 hears taken
/// away.
///
/// # Examples
///
/// ```
/// use auscult_audio::ChannelRule;
///
/// assert_eq!("mean".parse::<ChannelRule>()?, ChannelRule::Mean);
/// assert_eq!(ChannelRule::default().to_string(), "0");
/// # Ok::<(), auscult_audio::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChannelRule {
    /// One channel, counted from 0.
    Index(usize),
    /// The arithmetic mean of all channels, summed in f64.
    Mean,
    /// One channel, its spectrum lowered by that of another, which stands further away from the machine: a microphone that
    /// hears the hall. Channels are counted from 0.
    Without {
        /// The channel that is near the machine.
        near: usize,
        /// The channel that hears the hall.
        far: usize,
    },
}

impl ChannelRule {
    /// The highest channel that is needed; `None` if any number will do.
    pub(crate) fn highest(self) -> Option<usize> {
        match self {
            Self::Index(index) => Some(index),
            Self::Mean => None,
            Self::Without { near, far } => Some(near.max(far)),
        }
    }
}

impl Default for ChannelRule {
    fn default() -> Self {
        Self::Index(0)
    }
}

impl fmt::Display for ChannelRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Mean => f.write_str("mean"),
            Self::Without { near, far } => write!(f, "{near}-{far}"),
        }
    }
}

impl FromStr for ChannelRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "mean" {
            return Ok(Self::Mean);
        }
        let number = |text: &str| text.parse().ok().filter(|&index| index < MAX_CHANNELS);
        let rule = match text.split_once('-') {
            None => number(text).map(Self::Index),
            Some((near, far)) => number(near)
                .zip(number(far))
                .filter(|(near, far)| near != far)
                .map(|(near, far)| Self::Without { near, far }),
        };
        rule.ok_or_else(|| Error::Setting {
            name: "channel",
            value: format!("`{text}`"),
            allowed: format!(
                "a number from 0 to {}, `mean`, or two numbers such as `0-1` (0 is near, 1 hears the hall)",
                MAX_CHANNELS - 1
            ),
        })
    }
}

/// Appends the mono sound of `interleaved` (frames × channels) to `mono`.
///
/// The caller has checked that the channels of the rule are below `channels` and
/// that `channels` is not 0. A frame cut short at the end is left out. Of two channels the near one is taken:
/// what the far one hears is taken from it by [`crate::far::FarTaken`].
pub(crate) fn mix_down(
    interleaved: &[f32],
    channels: usize,
    rule: ChannelRule,
    mono: &mut Vec<f32>,
) {
    match rule {
        _ if channels == 1 => mono.extend_from_slice(interleaved),
        ChannelRule::Index(index) | ChannelRule::Without { near: index, .. } => {
            mono.extend(interleaved.chunks_exact(channels).map(|frame| frame[index]));
        }
        ChannelRule::Mean => {
            mono.extend(interleaved.chunks_exact(channels).map(mean));
        }
    }
}

fn mean(frame: &[f32]) -> f32 {
    let sum: f64 = frame.iter().copied().map(f64::from).sum();
    (sum / frame.len() as f64) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed(rule: ChannelRule) -> Vec<f32> {
        let mut mono = Vec::new();
        mix_down(&[0.0, 1.0, 0.5, 0.25, -1.0, 1.0], 2, rule, &mut mono);
        mono
    }

    #[test]
    fn one_channel_is_picked_by_its_number() {
        assert_eq!(mixed(ChannelRule::Index(1)), [1.0, 0.25, 1.0]);
    }

    #[test]
    fn mean_averages_the_channels() {
        assert_eq!(mixed(ChannelRule::Mean), [0.5, 0.375, 0.0]);
    }

    #[test]
    fn rules_read_back_what_they_write() {
        let two = ChannelRule::Without { near: 0, far: 63 };
        for rule in [ChannelRule::Index(0), ChannelRule::Index(63), ChannelRule::Mean, two] {
            assert_eq!(rule.to_string().parse::<ChannelRule>().unwrap(), rule);
        }
    }

    #[test]
    fn nonsense_channel_is_refused() {
        for text in ["", "left", "-1", "64", "1.0", "0-0", "0-64", "0-1-2", "0-"] {
            let error = text.parse::<ChannelRule>().unwrap_err().to_string();
            assert!(
                error.starts_with("channel must be a number from 0 to 63, `mean`, or"),
                "{error}"
            );
            assert!(error.ends_with(&format!("got `{text}`")), "{error}");
        }
    }
}

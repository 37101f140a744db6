//! Many channels become one.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// The most channels an input may have.
pub const MAX_CHANNELS: usize = 64;

/// Which sound of a many-channel recording is used.
///
/// Written as `0`, `1`, ... for one channel, counted from 0, or `mean`.
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
        }
    }
}

impl FromStr for ChannelRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "mean" {
            return Ok(Self::Mean);
        }
        match text.parse() {
            Ok(index) if index < MAX_CHANNELS => Ok(Self::Index(index)),
            _ => Err(Error::Setting {
                name: "channel",
                value: format!("`{text}`"),
                allowed: format!("a number from 0 to {} or `mean`", MAX_CHANNELS - 1),
            }),
        }
    }
}

/// Appends the mono sound of `interleaved` (frames × channels) to `mono`.
///
/// The caller has checked that an [`ChannelRule::Index`] is below `channels` and
/// that `channels` is not 0. A frame cut short at the end is left out.
pub(crate) fn mix_down(
    interleaved: &[f32],
    channels: usize,
    rule: ChannelRule,
    mono: &mut Vec<f32>,
) {
    match rule {
        _ if channels == 1 => mono.extend_from_slice(interleaved),
        ChannelRule::Index(index) => {
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
        for rule in [ChannelRule::Index(0), ChannelRule::Index(63), ChannelRule::Mean] {
            assert_eq!(rule.to_string().parse::<ChannelRule>().unwrap(), rule);
        }
    }

    #[test]
    fn nonsense_channel_is_refused() {
        for text in ["", "left", "-1", "64", "1.0"] {
            let error = text.parse::<ChannelRule>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!("channel must be a number from 0 to 63 or `mean`, got `{text}`")
            );
        }
    }
}

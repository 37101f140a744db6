//! `auscult tune`.

use std::{path::PathBuf, str::FromStr, time::Duration};

use auscult::{Preset, audio::ChannelRule};
use clap::Args;

use super::{InputArguments, KeepingArguments, SampleRate, VisitArguments};

#[derive(Debug, Args)]
#[command(after_help = "\
Normal clips are changed as a fault might change them (a band of another clip, a tilt, a tone, a
resonance, a shift in frequency, backwards, gaps), and the settings are ranked by how well they
tell the changed clips of left-out visits from the unchanged ones. Known faults are never used: what
a manifest labels as anomalous or keeps for testing is left out. Made-up
faults are not faults: a preset stays unless something else is clearly better on them, and even then
the choice can be worse on real faults (see docs/tuning.md). Compare it with the preset on known-bad
clips; without any, use the preset.

Examples:
  auscult tune recordings/ -o pump.json                 all settings; minutes for 100 clips of 10 s
  auscult tune recordings/ -o pump.json --budget 5m     what can be tried in five minutes
  auscult tune recordings/ -o pump.json --outliers fan/ other machines count as anomalies too
  auscult tune recordings/ -o pump.json --front-end ced an encoder too; longer
  auscult fit recordings/ --settings pump.json -o pump.auscult

Run again to go on where a run stopped: results are kept in SETTINGS.state.json.")]
pub(crate) struct TuneArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,

    /// The settings file to write (JSON), for auscult fit --settings.
    #[arg(short, long, value_name = "SETTINGS", help_heading = None)]
    pub(crate) output: PathBuf,

    /// Sound of other machines: files, folders, patterns or manifests.
    #[arg(long, value_name = "PATH", num_args = 1.., help_heading = None)]
    pub(crate) outliers: Vec<PathBuf>,

    /// Stop after this time (90s, 5m, 1h) or after this many settings (200); all settings if not
    /// given.
    #[arg(long, value_name = "TIME|N", help_heading = None, allow_negative_numbers = true)]
    pub(crate) budget: Option<Budget>,

    /// The presets to start from: best, fast, paper; all if not given.
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = None)]
    pub(crate) preset: Vec<Preset>,

    /// Try these front ends too: encoders such as ced, or ced:layer-6 for another layer. log-mel,
    /// mfcc and lpc are always tried.
    #[arg(long, value_name = "NAME", help_heading = None)]
    pub(crate) front_end: Vec<FrontEndNames>,

    /// Use at most this many normal clips, spread evenly over the visits, and half as many of other
    /// machines.
    #[arg(long, value_name = "N", default_value_t = 120, help_heading = None)]
    #[arg(allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(4..=2000))]
    #[arg(hide_short_help = true)]
    pub(crate) max_clips: u16,

    /// Seed of the changes.
    #[arg(long, default_value_t = 1, help_heading = None)]
    #[arg(hide_short_help = true)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) visits: VisitArguments,

    #[command(flatten)]
    pub(crate) keeping: KeepingArguments,

    /// Length of a clip, 0.1 to 600 s. If not given: that of the recordings where they all agree and
    /// are 1 to 10 s long, otherwise 10. Longer recordings are cut into clips.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    #[arg(help_heading = "Reading sound")]
    #[arg(hide_short_help = true)]
    pub(crate) clip_seconds: Option<f64>,

    /// Sample rate everything is brought to, 1000 to 384000 Hz, or native: that of the recordings.
    #[arg(long, default_value = "16000", value_name = "HZ|native", allow_negative_numbers = true)]
    #[arg(help_heading = "Reading sound")]
    #[arg(hide_short_help = true)]
    pub(crate) sample_rate: SampleRate,

    /// Which channel to take: 0, 1, ..., mean, or 0-1: channel 0 without what channel 1 hears.
    #[arg(long, default_value = "0", value_name = "0|mean|N|0-1", allow_negative_numbers = true)]
    #[arg(help_heading = "Reading sound")]
    #[arg(hide_short_help = true)]
    pub(crate) channel: ChannelRule,

    /// Print the whole ranking as JSON.
    #[arg(long, help_heading = None)]
    pub(crate) json: bool,
}

/// Names of front ends with commas between them; commas in parentheses are part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontEndNames(pub(crate) Vec<String>);

impl FromStr for FrontEndNames {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut depth = 0_usize;
        let is_between = |character: char| {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            character == ',' && depth == 0
        };
        Ok(Self(text.split(is_between).map(str::to_owned).collect()))
    }
}

/// When a study has tried enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    /// After this time in this run.
    Time(Duration),
    /// After this many settings in all.
    Candidates(usize),
}

/// A day; longer is a typing mistake.
const LONGEST_SECONDS: f64 = 86_400.0;

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || {
            format!(
                "a time up to a day such as 90s, 5m or 1h, or a number of settings from 1 on, not {text:?}"
            )
        };
        if let Ok(count) = text.parse::<usize>() {
            return if count > 0 { Ok(Self::Candidates(count)) } else { Err(refused()) };
        }
        let unit = match text.chars().last() {
            Some('s') => 1.0,
            Some('m') => 60.0,
            Some('h') => 3_600.0,
            _ => return Err(refused()),
        };
        let number: f64 = text[..text.len() - 1].parse().map_err(|_| refused())?;
        let seconds = number * unit;
        if !(seconds > 0.0 && seconds <= LONGEST_SECONDS) {
            return Err(refused());
        }
        Ok(Self::Time(Duration::from_secs_f64(seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_ends_are_told_apart_by_the_commas_outside_parentheses() {
        let names = |text: &str| text.parse::<FrontEndNames>().unwrap().0;
        assert_eq!(names("ced,beats"), ["ced", "beats"]);
        let one = "ced(neighbours=1,exponent=auto)";
        assert_eq!(names(&format!("{one},ced:layer-6")), [one, "ced:layer-6"]);
    }

    #[test]
    fn a_budget_is_a_time_or_a_number() {
        assert_eq!("90s".parse(), Ok(Budget::Time(Duration::from_secs(90))));
        assert_eq!("1.5m".parse(), Ok(Budget::Time(Duration::from_secs(90))));
        assert_eq!("1h".parse(), Ok(Budget::Time(Duration::from_secs(3_600))));
        assert_eq!("200".parse(), Ok(Budget::Candidates(200)));
        for refused in ["", "0", "0s", "-5m", "m", "5 minutes", "99h", "NaNs", "5µ"] {
            assert!(refused.parse::<Budget>().is_err(), "{refused}");
        }
    }
}

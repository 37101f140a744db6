//! Where sound comes from and how it is read.

use std::{fmt, path::PathBuf, str::FromStr};

use auscult::{
    LabelFolders,
    audio::{ChannelRule, ClipRange, SampleColumn},
};
use clap::{Args, ValueEnum};

use super::EncoderArguments;

/// Where sound comes from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading sound")]
pub(crate) struct InputArguments {
    /// Files, folders, patterns, manifests, or - for standard input.
    ///
    /// Folders are searched with all sub-folders. Manifests are CSV, JSONL or Parquet with a path
    /// column; visit and domain if you have them.
    #[arg(required = true, value_name = "PATH", help_heading = None)]
    pub(crate) paths: Vec<PathBuf>,

    /// Time from the start of one clip to the next in long recordings; one clip length if not
    /// given. Shorter makes clips overlap.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) hop_seconds: Option<f64>,

    /// Which clips of a recording to take.
    #[arg(long, value_enum, default_value_t = Clips::All)]
    #[arg(hide_short_help = true)]
    pub(crate) clips: Clips,

    /// Take every .csv file as a recording and not as a manifest: the column with its samples (a name
    /// in the header, or a number from 0) and their rate, such as acceleration@25600. Numbers go from
    /// -1 to 1; for others give the full scale of the sensor: acceleration@25600/16.
    #[arg(long, value_name = "COLUMN@HZ[/FULL_SCALE]")]
    #[arg(hide_short_help = true)]
    pub(crate) samples_csv: Option<SampleColumn>,
}

/// The sample rate of clips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SampleRate {
    Hertz(u32),
    /// That of the recordings.
    Native,
}

impl FromStr for SampleRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "native" {
            return Ok(Self::Native);
        }
        let refused = |_| "a sample rate is 1000 to 384000 Hz, or native".to_owned();
        text.parse().map(Self::Hertz).map_err(refused)
    }
}

impl fmt::Display for SampleRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hertz(rate) => rate.fmt(formatter),
            Self::Native => formatter.write_str("native"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clips {
    /// All clips; a rest shorter than a clip at the end of a longer recording is left out.
    All,
    /// The first clip of each file only.
    First,
}

impl From<Clips> for ClipRange {
    fn from(clips: Clips) -> Self {
        match clips {
            Clips::All => Self::All,
            Clips::First => Self::First,
        }
    }
}

/// How references are grouped.
#[derive(Debug, Args)]
#[command(next_help_heading = "Visits")]
pub(crate) struct VisitArguments {
    /// The visit these recordings belong to, such as a date.
    ///
    /// Without it the first sub-folder of a given folder, or a manifest column, names the visit.
    /// Thresholds are learned by leaving out whole visits, so record on at least two.
    #[arg(long)]
    pub(crate) visit: Option<String>,

    /// The domain these recordings belong to, such as source or target. score
    /// --domain then judges by the threshold of that domain alone.
    #[arg(long)]
    #[arg(hide_short_help = true)]
    pub(crate) domain: Option<String>,

    /// Whether folders called normal, abnormal, faulty and the like are labels.
    ///
    /// use takes them as labels and learns the normal ones only, ignore takes them as visits. Without
    /// it a folder of normal and one of faulty recordings side by side are labels, and others are
    /// asked about, or refused where nobody can answer.
    #[arg(long, value_enum, value_name = "use|ignore")]
    pub(crate) label_folders: Option<LabelFoldersName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelFoldersName {
    /// Folder names are labels.
    Use,
    /// Folder names are visits.
    Ignore,
}

impl VisitArguments {
    /// Whether folders whose names look like labels are labels.
    pub(crate) fn label_folders(&self) -> LabelFolders {
        match self.label_folders {
            None => LabelFolders::Unknown,
            Some(LabelFoldersName::Use) => LabelFolders::Use,
            Some(LabelFoldersName::Ignore) => LabelFolders::Ignore,
        }
    }
}

/// How sound becomes vectors.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Front end")]
pub(crate) struct FrontEndArguments {
    /// How sound becomes numbers: log-mel (energy in mel bands), modulation (how fast it beats), mfcc
    /// (cepstrum), lpc (spectrum of an all-pole model), or an encoder: ced (bundled; slower and
    /// usually better), beats, eat (see auscult encoder list). Several score together with + between
    /// them, such as ced+mfcc; @raw and @ldn after a member say whether its distances are normalised:
    /// ced@raw+ced@ldn. How a member compares may stand in parentheses:
    /// modulation(metric=scaled,neighbours=3)+ced(exponent=auto). Beside --preset, options in
    /// parentheses change its members. log-mel if not given; fit then takes the preset best, unless
    /// --convention or an option of comparing is given.
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) front_end: Option<String>,

    /// Which form of the front end. log-mel: s15 (default), kaldi, dcase, mimii, beats-input, eat-input;
    /// mfcc: kaldi (default), no-lifter, s15, s15-no-lifter, librosa; lpc: inverse (default),
    /// spectrum.
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    pub(crate) convention: Option<String>,

    /// Length of a clip; that of the recordings if they agree and are 1 to 10 s long, otherwise 10.
    ///
    /// 0.1 to 600 s. Longer recordings are cut into clips, shorter ones padded with silence.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) clip_seconds: Option<f64>,

    /// Sample rate everything is brought to, 1000 to 384000 Hz; 16000 if not given. native is the rate
    /// of the recordings, which must all have the same: nothing is resampled then.
    #[arg(long, value_name = "HZ|native", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) sample_rate: Option<SampleRate>,

    /// Which channel to take: 0 (if not given), 1, ..., mean, or 0-1: channel 0, at the machine, with
    /// what channel 1 hears of the hall taken away.
    #[arg(long, value_name = "0|mean|N|0-1", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) channel: Option<ChannelRule>,

    #[command(flatten)]
    pub(crate) encoder: EncoderArguments,
}

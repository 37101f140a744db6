//! What is worth a look before a verdict is believed, as sentences.

use std::{fmt, ops::RangeInclusive};

use super::{ClipQuality, Coding, Hum, QUIET_DBFS};

/// Something worth a look before a verdict is believed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Remark {
    /// Hardly above the last bits of 16-bit sound.
    Quiet(f64),
    /// Overdriven; the share of samples at full scale.
    Clipped(f64),
    /// A constant is added to the signal.
    Offset(f64),
    /// The signal stands still: how often, and how long in total.
    Dropouts(usize, f64),
    /// Much of the energy is in lines of a mains frequency.
    Hum(Hum),
    /// The spectrum ends here, as after upsampling or a low-pass filter.
    NarrowBand(f64),
    /// Shorter than a clip: seconds of sound, and seconds of the clip.
    Short(f64, f64),
    /// The spectrum goes on above this frequency, where that of every reference ends.
    WiderBand(f64),
    /// Stored in another way than the references: how, and how they are.
    Coding(Coding, Coding),
    /// So many dB louder than the loudest reference, or quieter than the quietest if negative.
    Loudness(f64),
}

/// Share of clipped samples that is remarked on.
const CLIPPED_SHARE: f64 = 0.001;

/// An offset of 1 % of full scale is more than converters have.
const OFFSET: f64 = 0.01;

/// How far beyond its references' levels a clip may be before that is remarked on, in dB: as far as
/// they are apart themselves, at least and at most this much. Few references say little about
/// the spread of a machine.
const LOUDNESS_DB: RangeInclusive<f64> = 3.0..=10.0;

/// From this many references on their spread is trusted.
const FEWEST_LEVELS: usize = 8;

/// A remark on a level outside what the references' levels make likely.
pub(super) fn loudness(level_dbfs: f64, references: impl Iterator<Item = f64>) -> Option<Remark> {
    let start = (f64::INFINITY, f64::NEG_INFINITY, 0_usize);
    let (lowest, highest, count) = references
        .fold(start, |(low, high, count), level| (low.min(level), high.max(level), count + 1));
    let (least, most) = (*LOUDNESS_DB.start(), *LOUDNESS_DB.end());
    let margin = if count < FEWEST_LEVELS { most } else { (highest - lowest).clamp(least, most) };
    let beyond = level_dbfs - level_dbfs.clamp(lowest.min(highest), highest.max(lowest));
    (lowest <= highest && beyond.abs() >= margin).then_some(Remark::Loudness(beyond))
}

/// Recorders cut a little early; less than this share of a clip is remarked on.
const WHOLE_SHARE: f64 = 0.95;

/// Share of the energy in lines of the mains that is remarked on, with at least two lines.
const HUM_SHARE: f64 = 0.2;

impl ClipQuality {
    /// What is remarkable, the gravest first.
    pub fn remarks(&self) -> impl Iterator<Item = Remark> {
        let hum = self.hum.filter(|hum| hum.share >= HUM_SHARE && hum.lines >= 2);
        [
            (self.dropouts > 0).then_some(Remark::Dropouts(self.dropouts, self.dropout_seconds)),
            (self.clipped_share >= CLIPPED_SHARE).then_some(Remark::Clipped(self.clipped_share)),
            (self.level_dbfs < QUIET_DBFS).then_some(Remark::Quiet(self.level_dbfs)),
            (self.offset.abs() >= OFFSET).then_some(Remark::Offset(self.offset)),
            self.bandwidth_hertz.map(Remark::NarrowBand),
            hum.map(Remark::Hum),
        ]
        .into_iter()
        .flatten()
    }

    /// A remark if silence fills a noticeable part of a clip of `clip_seconds` seconds.
    pub fn shortness(&self, clip_seconds: f64) -> Option<Remark> {
        (self.seconds < WHOLE_SHARE * clip_seconds)
            .then_some(Remark::Short(self.seconds, clip_seconds))
    }
}

impl Remark {
    /// A short name for tables and counts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quiet(_) => "quiet",
            Self::Clipped(_) => "clipped",
            Self::Offset(_) => "offset",
            Self::Dropouts(..) => "dropouts",
            Self::Hum(_) => "mains hum",
            Self::NarrowBand(_) => "narrow band",
            Self::Short(..) => "short",
            Self::WiderBand(_) => "wider band",
            Self::Coding(..) => "coding",
            Self::Loudness(_) => "loudness",
        }
    }
}

impl fmt::Display for Remark {
    /// What was found; what to do about it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quiet(level) => write!(
                formatter,
                "quiet: {level:.0} dBFS is hardly above the last bits of 16-bit sound; raise the gain"
            ),
            Self::Clipped(share) => write!(
                formatter,
                "clipped: {:.1} % of the samples are at full scale; lower the recording level",
                share * 100.0
            ),
            Self::Offset(offset) => write!(
                formatter,
                "offset: the signal is shifted by {:.1} % of full scale (DC); check the sensor or use its high-pass",
                offset * 100.0
            ),
            Self::Dropouts(count, seconds) => write!(
                formatter,
                "dropouts: the signal stands still {count} times, {seconds:.2} s in total; check the cable and the recorder's load"
            ),
            Self::Hum(hum) => write!(
                formatter,
                "mains hum: {:.0} % of the energy is in lines at multiples of {} Hz; check cable and grounding, unless the machine turns at that rate",
                hum.share * 100.0,
                hum.mains_hertz
            ),
            Self::NarrowBand(hertz) => write!(
                formatter,
                "narrow band: nothing above {:.1} kHz, as after upsampling or a low-pass filter; compare only with references recorded the same way",
                hertz / 1000.0
            ),
            Self::Short(seconds, clip_seconds) => write!(
                formatter,
                "short: {seconds:.1} s of sound, silence fills the clip up to {clip_seconds:.1} s; its score says \
                 little unless the references are as short: record longer, or choose shorter clips"
            ),
            Self::WiderBand(hertz) => write!(
                formatter,
                "wider band: there is sound above {:.1} kHz, where all references end; compare only with references \
                 recorded the same way",
                hertz / 1000.0
            ),
            Self::Coding(coding, references) => write!(
                formatter,
                "coding: {coding}, and the references are {references}; the coding alone changes scores, so do not \
                 blame the machine: record as the references were recorded"
            ),
            Self::Loudness(decibels) => {
                let (than, reference) =
                    if *decibels > 0.0 { ("louder", "loudest") } else { ("quieter", "quietest") };
                write!(
                    formatter,
                    "loudness: {:.0} dB {than} than the {reference} reference; scores compare the shapes of \
                     spectra and hardly their level: check gain and place of the microphone, and the machine",
                    decibels.abs()
                )
            }
        }
    }
}

//! How a recording is stored, and what recordings of a machine usually are like.

use std::fmt;

use serde::Serialize;

use super::{ClipQuality, Remark, remarks::loudness};
use crate::Provenance;

/// How a recording is stored: coding, depth and rate change what is heard of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordingKind {
    /// A short name of its coding, such as `pcm_s16le`, `flac` or `mp3`.
    pub codec: String,
    /// Bits a sample; `None` where a coding has none, or they are not known.
    pub bits: Option<u32>,
    /// Samples a second, before they are brought to the rate of clips.
    pub sample_rate: u32,
}

impl RecordingKind {
    /// What its coding does to sound.
    pub fn coding(&self) -> Coding {
        let is = |names: &[&str]| names.iter().any(|name| self.codec.starts_with(name));
        match self.codec.as_str() {
            _ if is(&["mp1", "mp2", "mp3"]) => Coding::Mp3,
            _ if is(&["aac"]) => Coding::Aac,
            _ if is(&["vorbis"]) => Coding::Vorbis,
            _ if is(&["opus"]) => Coding::Opus,
            _ if is(&["pcm_alaw", "pcm_mulaw"]) => Coding::Telephone,
            _ if self.bits.is_some_and(|bits| bits < FULL_BITS) => {
                Coding::FewBits(self.bits.unwrap_or_default())
            }
            _ => Coding::Lossless,
        }
    }
}

/// From this depth on rounding is not heard.
const FULL_BITS: u32 = 16;

/// What a coding does to sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Coding {
    /// Nothing: samples of 16 bits or more, as they were recorded.
    Lossless,
    /// Rounds to this many bits.
    FewBits(u32),
    /// 8 bits on a logarithmic scale.
    Telephone,
    /// Leaves out what people do not hear.
    Mp3,
    /// The same.
    Aac,
    /// The same.
    Vorbis,
    /// The same.
    Opus,
}

impl fmt::Display for Coding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lossless => formatter.write_str("lossless"),
            Self::FewBits(bits) => write!(formatter, "{bits}-bit sound"),
            Self::Telephone => formatter.write_str("8-bit telephone sound"),
            Self::Mp3 => formatter.write_str("MP3"),
            Self::Aac => formatter.write_str("AAC"),
            Self::Vorbis => formatter.write_str("Vorbis"),
            Self::Opus => formatter.write_str("Opus"),
        }
    }
}

/// What is known about how a reference was recorded.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ReferenceRecording {
    /// How it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<RecordingKind>,
    /// Where its spectrum ends as if cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_hertz: Option<f64>,
    /// Share of its energy in lines of the mains, 0 to 1.
    pub mains_share: f64,
    /// Its levels in the bands of [`third_octaves`](super::third_octaves), in dBFS; empty if unknown.
    #[serde(skip)]
    pub spectrum_dbfs: Vec<f32>,
}

/// What the recordings of a machine's references are like, to remark on others.
#[derive(Debug, Clone, PartialEq)]
pub struct UsualRecording {
    clip_seconds: f64,
    levels: Vec<f64>,
    /// Each that is there, once.
    codings: Vec<Coding>,
    /// References whose bandwidth is known, and the narrowest and widest of those that are cut off.
    measured: usize,
    cut_off: Vec<f64>,
    mains_shares: Vec<f64>,
}

/// Bandwidths differ by less than this share by chance: they are found in steps.
const SAME_BANDWIDTH: f64 = 0.1;

impl UsualRecording {
    /// What references say, for clips of `clip_seconds`.
    pub fn of<'a>(references: impl IntoIterator<Item = &'a Provenance>, clip_seconds: f64) -> Self {
        let mut usual = Self {
            clip_seconds,
            levels: Vec::new(),
            codings: Vec::new(),
            measured: 0,
            cut_off: Vec::new(),
            mains_shares: Vec::new(),
        };
        for from in references {
            usual.levels.extend(from.level_dbfs);
            let Some(recording) = &from.recording else { continue };
            usual.codings.extend(recording.kind.as_ref().map(RecordingKind::coding));
            usual.measured += 1;
            usual.cut_off.extend(recording.bandwidth_hertz);
            usual.mains_shares.push(recording.mains_share);
        }
        usual.codings.sort();
        usual.codings.dedup();
        for sorted in [&mut usual.levels, &mut usual.cut_off, &mut usual.mains_shares] {
            sorted.sort_by(f64::total_cmp);
        }
        usual
    }

    /// The level of the references: lowest, middle and highest.
    pub fn levels(&self) -> Option<[f64; 3]> {
        let levels = &self.levels;
        Some([*levels.first()?, levels[levels.len() / 2], *levels.last()?])
    }

    /// The middle share of energy that references have in lines of the mains.
    pub fn mains_share(&self) -> Option<f64> {
        self.mains_shares.get(self.mains_shares.len() / 2).copied()
    }

    /// Everything remarkable about a clip's recording: the remarks on itself that are not usual for this machine,
    /// one if it is shorter than a clip, and those on how it differs from the references.
    pub fn remarks<'a>(
        &'a self,
        quality: &'a ClipQuality,
        kind: Option<&RecordingKind>,
    ) -> impl Iterator<Item = Remark> + use<'a> {
        let own = quality.remarks().filter(|remark| !self.is_usual(*remark));
        let coding = kind.and_then(|kind| self.other_coding(kind));
        let short = quality.shortness(self.clip_seconds);
        let loudness = loudness(quality.level_dbfs, self.levels.iter().copied());
        coding.into_iter().chain(short).chain(own).chain(self.wider_band(quality)).chain(loudness)
    }

    /// Whether the references are recorded like this themselves.
    fn is_usual(&self, remark: Remark) -> bool {
        let Remark::NarrowBand(hertz) = remark else { return false };
        self.cut_off.iter().any(|cut_off| (cut_off - hertz).abs() <= SAME_BANDWIDTH * hertz)
    }

    fn other_coding(&self, kind: &RecordingKind) -> Option<Remark> {
        let coding = kind.coding();
        let usual = *self.codings.first()?;
        (!self.codings.contains(&coding)).then_some(Remark::Coding(coding, usual))
    }

    /// A clip with sound where all references have none.
    fn wider_band(&self, quality: &ClipQuality) -> Option<Remark> {
        let widest = *self.cut_off.last().filter(|_| self.cut_off.len() == self.measured)?;
        let is_wider = quality.has_spectrum
            && quality.bandwidth_hertz.is_none_or(|hertz| hertz > (1.0 + SAME_BANDWIDTH) * widest);
        is_wider.then_some(Remark::WiderBand(widest))
    }
}

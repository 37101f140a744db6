//! The parts of a header as they are written. **None of these structs ever changes**: what a new
//! version writes in another way gets a struct of its own.
//!
//! When live settings change, the conversions here say what an old file means. Choices and numbers
//! with a range are the live types: names that users type stay the same, and a file with a number out
//! of range is refused while it is read.

use serde::{Deserialize, Serialize};

use super::Content;
use crate::{
    BandSettings, Basis, BeamSettings, CalibrationScheme, ClipSettings, Combine, Confidence,
    DensityExponent, DensityRule, FalseAlarmRate, FrontEndIdentity, Metric, ModelSettings,
    Provenance, ScoreOf, Storage, View, Weights,
    alarm::{AlarmSettings, Latch},
    beam::{EnsembleSettings, Standardise},
    features::{MemberSettings, Normalisation},
};

/// A header whose alarm is an `A`, whose ensembles are an `E` and whose references are an `R`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header<A, E = Ensemble, R = Reference> {
    settings: Settings<A, E>,
    axis_len: usize,
    views: Vec<View>,
    calibration_basis: Basis,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calibration_domains: Vec<Option<String>>,
    references: Vec<R>,
}

impl<A, E, R> Header<A, E, R>
where
    E: From<EnsembleSettings> + Into<EnsembleSettings>,
    R: From<Provenance> + Into<Provenance>,
{
    pub(super) fn new(content: Content, alarm: Option<A>) -> Self {
        Self {
            settings: Settings::new(content.settings, alarm),
            axis_len: content.axis_len,
            views: content.views,
            calibration_basis: content.calibration_basis,
            calibration_domains: content.calibration_domains,
            references: content.references.into_iter().map(Into::into).collect(),
        }
    }

    /// What it says, and the alarm, which is left out there.
    pub(super) fn content(self) -> (Content, Option<A>) {
        let (settings, alarm) = self.settings.live();
        let content = Content {
            settings,
            axis_len: self.axis_len,
            views: self.views,
            calibration_basis: self.calibration_basis,
            calibration_domains: self.calibration_domains,
            references: self.references.into_iter().map(Into::into).collect(),
        };
        (content, alarm)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings<A, E> {
    clip: Clip,
    channel: String,
    front_end: FrontEnd,
    detector: Detector<E>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_references: Option<usize>,
    #[serde(default, skip_serializing_if = "Storage::is_default")]
    storage: Storage,
    false_alarm_rate: FalseAlarmRate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence: Option<Confidence>,
    #[serde(default)]
    calibration: CalibrationScheme,
    // No `default`: it would ask for one of `A`, and a missing option is `None` anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    alarm: Option<A>,
}

impl<A, E: From<EnsembleSettings> + Into<EnsembleSettings>> Settings<A, E> {
    fn new(live: ModelSettings, alarm: Option<A>) -> Self {
        Self {
            clip: live.clip.into(),
            channel: live.channel,
            front_end: live.front_end.into(),
            detector: live.detector.into(),
            max_references: live.max_references,
            storage: live.storage,
            false_alarm_rate: live.false_alarm_rate,
            confidence: live.confidence,
            calibration: live.calibration,
            alarm,
        }
    }

    fn live(self) -> (ModelSettings, Option<A>) {
        let settings = ModelSettings {
            clip: self.clip.into(),
            channel: self.channel,
            front_end: self.front_end.into(),
            detector: self.detector.into(),
            max_references: self.max_references,
            storage: self.storage,
            false_alarm_rate: self.false_alarm_rate,
            confidence: self.confidence,
            calibration: self.calibration,
            weights: Weights::default(),
            alarm: None,
            alarm_budget: None,
        };
        (settings, self.alarm)
    }
}

/// A struct that is written field by field, and its conversions to and from the live one.
macro_rules! mirror {
    ($name:ident = $live:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),+ $(,)? }) => {
        #[derive(Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name { $($(#[$attribute])* $field: $type),+ }

        impl From<$live> for $name {
            fn from(live: $live) -> Self {
                Self { $($field: live.$field.into()),+ }
            }
        }

        impl From<$name> for $live {
            fn from(wire: $name) -> Self {
                Self { $($field: wire.$field.into()),+ }
            }
        }
    };
}

mirror!(Clip = ClipSettings { sample_rate: u32, seconds: f64 });

mirror!(FrontEnd = FrontEndIdentity { name: String, settings: serde_json::Value });

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    source: String,
    start_seconds: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    domain: Option<String>,
    #[serde(default)]
    digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level_dbfs: Option<f64>,
}

impl From<Provenance> for Reference {
    /// What only later versions hold is not there, or another one would be written.
    fn from(live: Provenance) -> Self {
        let Provenance { source, start_seconds, visit, domain, digest, level_dbfs, .. } = live;
        Self { source, start_seconds, visit, domain, digest, level_dbfs }
    }
}

impl From<Reference> for Provenance {
    fn from(wire: Reference) -> Self {
        let Reference { source, start_seconds, visit, domain, digest, level_dbfs } = wire;
        Self { source, start_seconds, visit, domain, digest, level_dbfs, recording: None }
    }
}

mirror!(Alarm = AlarmSettings {
    raise: usize,
    window: usize,
    clear: usize,
    on_delay_seconds: f64,
    off_delay_seconds: f64,
    latch: Latch,
    no_data_after_seconds: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hop_seconds: Option<f64>,
});

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    name: String,
    positions: usize,
    bands: Bands,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    normalisation: Option<Normalisation>,
}

impl From<MemberSettings> for Member {
    /// What only later versions hold is not there, or another one would be written.
    fn from(live: MemberSettings) -> Self {
        let MemberSettings { name, positions, bands, start, normalisation, .. } = live;
        Self { name, positions, bands: bands.into(), start, normalisation }
    }
}

impl From<Member> for MemberSettings {
    fn from(wire: Member) -> Self {
        Self {
            name: wire.name,
            positions: wire.positions,
            bands: wire.bands.into(),
            start: wire.start,
            normalisation: wire.normalisation,
            views: Vec::new(),
            metric: None,
            neighbours: None,
            exponent: None,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Bands {
    Whole,
    Windows { width: usize, stride: usize },
}

impl From<BandSettings> for Bands {
    fn from(live: BandSettings) -> Self {
        match live {
            BandSettings::Whole => Self::Whole,
            BandSettings::Windows { width, stride } => Self::Windows { width, stride },
        }
    }
}

impl From<Bands> for BandSettings {
    fn from(wire: Bands) -> Self {
        match wire {
            Bands::Whole => Self::Whole,
            Bands::Windows { width, stride } => Self::Windows { width, stride },
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Exponent {
    Fixed(f64),
    Auto,
}

impl From<DensityExponent> for Exponent {
    fn from(live: DensityExponent) -> Self {
        match live {
            DensityExponent::Fixed(exponent) => Self::Fixed(exponent),
            DensityExponent::Auto => Self::Auto,
        }
    }
}

impl From<Exponent> for DensityExponent {
    fn from(wire: Exponent) -> Self {
        match wire {
            Exponent::Fixed(exponent) => Self::Fixed(exponent),
            Exponent::Auto => Self::Auto,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ensemble {
    members: Vec<Member>,
    combine: Combine,
}

impl From<EnsembleSettings> for Ensemble {
    fn from(live: EnsembleSettings) -> Self {
        let members = live.members.into_iter().map(Into::into).collect();
        Self { members, combine: live.combine }
    }
}

impl From<Ensemble> for EnsembleSettings {
    fn from(wire: Ensemble) -> Self {
        let members = wire.members.into_iter().map(Into::into).collect();
        Self { members, combine: wire.combine, standardise: Standardise::LeftOut }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Detector<E> {
    bands: Bands,
    views: Vec<View>,
    metric: Metric,
    neighbours: usize,
    exponent: Exponent,
    rule: DensityRule,
    aggregation: Combine,
    fusion: Combine,
    #[serde(default, skip_serializing_if = "ScoreOf::is_default")]
    score_of: ScoreOf,
    // No `default`, as with the alarm.
    #[serde(skip_serializing_if = "Option::is_none")]
    ensemble: Option<E>,
}

impl<E: From<EnsembleSettings>> From<BeamSettings> for Detector<E> {
    fn from(live: BeamSettings) -> Self {
        Self {
            bands: live.bands.into(),
            views: live.views,
            metric: live.metric,
            neighbours: live.neighbours,
            exponent: live.exponent.into(),
            rule: live.rule,
            aggregation: live.aggregation,
            fusion: live.fusion,
            score_of: live.score_of,
            ensemble: live.ensemble.map(Into::into),
        }
    }
}

impl<E: Into<EnsembleSettings>> From<Detector<E>> for BeamSettings {
    fn from(wire: Detector<E>) -> Self {
        Self {
            bands: wire.bands.into(),
            views: wire.views,
            metric: wire.metric,
            neighbours: wire.neighbours,
            exponent: wire.exponent.into(),
            rule: wire.rule,
            aggregation: wire.aggregation,
            fusion: wire.fusion,
            score_of: wire.score_of,
            ensemble: wire.ensemble.map(Into::into),
        }
    }
}

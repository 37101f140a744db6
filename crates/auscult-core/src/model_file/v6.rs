//! Headers of version 6: how each reference was recorded. Its levels in third-octave bands are in the tensor
//! `spectra`; the rest is as in version 5.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    Content,
    container::{from_text, to_text},
    v4::BudgetedAlarm,
    v5::Ensemble,
    wire::Header,
};
use crate::{
    Provenance, Result,
    quality::{RecordingKind, ReferenceRecording},
};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recording: Option<Recording>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bandwidth_hertz: Option<f64>,
    mains_share: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    codec: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bits: Option<u32>,
    sample_rate: u32,
}

pub(super) fn header(content: Content) -> Result<Box<RawValue>> {
    let alarm = BudgetedAlarm::of(&content.settings);
    to_text(&Header::<_, Ensemble, Reference>::new(content, alarm))
}

pub(super) fn content(header: &RawValue) -> Result<Content> {
    let (content, alarm) =
        from_text::<Header<BudgetedAlarm, Ensemble, Reference>>(header)?.content();
    Ok(BudgetedAlarm::put_into(content, alarm))
}

impl From<Provenance> for Reference {
    fn from(live: Provenance) -> Self {
        Self {
            source: live.source,
            start_seconds: live.start_seconds,
            visit: live.visit,
            domain: live.domain,
            digest: live.digest,
            level_dbfs: live.level_dbfs,
            recording: live.recording.map(Into::into),
        }
    }
}

impl From<Reference> for Provenance {
    fn from(wire: Reference) -> Self {
        Self {
            source: wire.source,
            start_seconds: wire.start_seconds,
            visit: wire.visit,
            domain: wire.domain,
            digest: wire.digest,
            level_dbfs: wire.level_dbfs,
            recording: wire.recording.map(Into::into),
        }
    }
}

impl From<ReferenceRecording> for Recording {
    fn from(live: ReferenceRecording) -> Self {
        let ReferenceRecording { kind, bandwidth_hertz, mains_share, .. } = live;
        Self { kind: kind.map(Into::into), bandwidth_hertz, mains_share }
    }
}

impl From<Recording> for ReferenceRecording {
    /// The levels are read from their tensor.
    fn from(wire: Recording) -> Self {
        let Recording { kind, bandwidth_hertz, mains_share } = wire;
        let kind = kind.map(Into::into);
        Self { kind, bandwidth_hertz, mains_share, spectrum_dbfs: Vec::new() }
    }
}

impl From<RecordingKind> for Kind {
    fn from(live: RecordingKind) -> Self {
        let RecordingKind { codec, bits, sample_rate } = live;
        Self { codec, bits, sample_rate }
    }
}

impl From<Kind> for RecordingKind {
    fn from(wire: Kind) -> Self {
        let Kind { codec, bits, sample_rate } = wire;
        Self { codec, bits, sample_rate }
    }
}

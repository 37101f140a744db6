//! Headers of version 5: members of an ensemble with views and ways of comparing of their own, their
//! standardisation over visits, and the scaled distance, whose maps are in the tensors `maps.<n>`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    Content,
    container::{from_text, to_text},
    v4::BudgetedAlarm,
    wire::{Bands, Exponent, Header},
};
use crate::{
    Combine, Metric, Result, View,
    beam::{EnsembleSettings, Standardise},
    features::{MemberSettings, Normalisation},
};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ensemble {
    members: Vec<Member>,
    combine: Combine,
    standardise: Standardise,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    name: String,
    positions: usize,
    bands: Bands,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    normalisation: Option<Normalisation>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    views: Vec<View>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metric: Option<Metric>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    neighbours: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exponent: Option<Exponent>,
}

pub(super) fn header(content: Content) -> Result<Box<RawValue>> {
    let alarm = BudgetedAlarm::of(&content.settings);
    to_text(&Header::<_, Ensemble>::new(content, alarm))
}

pub(super) fn content(header: &RawValue) -> Result<Content> {
    let (content, alarm) = from_text::<Header<BudgetedAlarm, Ensemble>>(header)?.content();
    Ok(BudgetedAlarm::put_into(content, alarm))
}

impl From<EnsembleSettings> for Ensemble {
    fn from(live: EnsembleSettings) -> Self {
        let EnsembleSettings { members, combine, standardise } = live;
        Self { members: members.into_iter().map(Into::into).collect(), combine, standardise }
    }
}

impl From<Ensemble> for EnsembleSettings {
    fn from(wire: Ensemble) -> Self {
        let Ensemble { members, combine, standardise } = wire;
        Self { members: members.into_iter().map(Into::into).collect(), combine, standardise }
    }
}

impl From<MemberSettings> for Member {
    fn from(live: MemberSettings) -> Self {
        Self {
            name: live.name,
            positions: live.positions,
            bands: live.bands.into(),
            start: live.start,
            normalisation: live.normalisation,
            views: live.views,
            metric: live.metric,
            neighbours: live.neighbours,
            exponent: live.exponent.map(Into::into),
        }
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
            views: wire.views,
            metric: wire.metric,
            neighbours: wire.neighbours,
            exponent: wire.exponent.map(Into::into),
        }
    }
}

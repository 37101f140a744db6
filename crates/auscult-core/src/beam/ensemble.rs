//! Several front ends in one detector: each member's score on a common scale.
//!
//! A member's score is taken as its logarithm and standardised by the mean and deviation of the
//! member's own left-out log scores, so that members of different nature weigh the same. The
//! members' numbers are combined, and the exponential of that is the score: above 0, and in the
//! order of the standardised scores.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{
    BandLayout, BandSettings, Combine, Error, Result,
    features::{MemberSettings, Normalisation},
};

/// The members of an ensemble, in the order of their parts of the axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleSettings {
    /// One a front end.
    pub members: Vec<MemberSettings>,
    /// How standardised scores become one.
    pub combine: Combine,
}

impl EnsembleSettings {
    /// The positions of each member on the common axis.
    pub fn places(&self) -> Vec<Range<usize>> {
        let mut end = 0_usize;
        let place = |member: &MemberSettings| {
            let start = member.start.unwrap_or(end);
            end = start.saturating_add(member.positions);
            start..end
        };
        self.members.iter().map(place).collect()
    }

    /// The parts of the common axis that members have, in order, each once.
    pub fn parts(&self) -> Vec<Range<usize>> {
        let mut parts = self.places();
        parts.sort_by_key(|place| (place.start, place.end));
        parts.dedup();
        parts
    }

    /// The bands of all members on one axis, and which of them are whose.
    pub(super) fn layout(&self, axis_len: usize) -> Result<(BandLayout, Vec<Range<usize>>)> {
        let parts = self.parts();
        let starts = std::iter::once(0).chain(parts.iter().map(|part| part.end));
        let are_touching = parts.iter().zip(starts).all(|(part, start)| part.start == start);
        let end = parts.last().map_or(0, |part| part.end);
        if self.members.len() < 2 || !are_touching || end != axis_len {
            let allowed = format!("two members or more with {axis_len} positions together");
            return Err(Error::setting("ensemble", allowed, format!("{parts:?}")));
        }
        let (mut bands, mut members) = (Vec::new(), Vec::new());
        for (member, Range { start, .. }) in self.members.iter().zip(self.places()) {
            let first = bands.len();
            let own = member.bands.layout(member.positions)?;
            bands.extend(own.bands().iter().map(|band| start + band.start..start + band.end));
            members.push(first..bands.len());
        }
        Ok((BandLayout::of_bands(axis_len, bands), members))
    }

    /// Refuses members that differ in nothing, and normalisation where there is none.
    pub(super) fn check(&self, neighbours: usize) -> Result<()> {
        let forms: Vec<(Range<usize>, BandSettings, usize)> = self
            .members
            .iter()
            .zip(self.places())
            .map(|(member, place)| (place, member.bands, member.neighbours(neighbours)))
            .collect();
        for (index, member) in self.members.iter().enumerate() {
            if neighbours == 0 && member.normalisation == Some(Normalisation::Density) {
                let allowed = format!("1 or more for {}", member.label());
                return Err(Error::setting("neighbours", allowed, neighbours));
            }
            if let Some(same) = forms[..index].iter().position(|form| *form == forms[index]) {
                let got = format!("{} and {}", self.members[same].label(), member.label());
                return Err(Error::setting("members of an ensemble", "all different", got));
            }
        }
        Ok(())
    }
}

/// Mean and deviation of a member's left-out log scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standardisation {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

/// The score of a clip that equals a reference; its logarithm must be finite.
const SMALLEST_SCORE: f64 = 1e-12;

impl Standardisation {
    /// From a member's left-out scores; nothing to standardise by gives plain log scores.
    pub(super) fn of(scores: impl Iterator<Item = f64> + Clone) -> Self {
        let logs = scores.map(log);
        let count = logs.clone().count() as f64;
        if count == 0.0 {
            return Self { mean: 0.0, deviation: 1.0 };
        }
        let mean = logs.clone().sum::<f64>() / count;
        let square = logs.map(|log| (log - mean) * (log - mean)).sum::<f64>() / count;
        Self { mean, deviation: if square > 0.0 { square.sqrt() } else { 1.0 } }
    }

    pub(super) fn apply(self, score: f64) -> f64 {
        (log(score) - self.mean) / self.deviation
    }
}

fn log(score: f64) -> f64 {
    score.max(SMALLEST_SCORE).ln()
}

/// The clip's score from its members' scores.
pub(super) fn combine(
    how: Combine,
    scores: impl ExactSizeIterator<Item = f64>,
    standardisation: &[Standardisation],
) -> f64 {
    how.over(scores.zip(standardisation).map(|(score, by)| by.apply(score))).exp()
}

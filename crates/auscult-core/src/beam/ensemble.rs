//! Several front ends in one detector: each member's score on a common scale.
//!
//! A member's score is taken as its logarithm and standardised, so that members of different nature
//! weigh the same; where mean and deviation come from, [`Standardise`] says. The members' numbers are
//! combined, and the exponential of that is the score: above 0, and in the order of the standardised
//! scores.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{
    BandLayout, BandSettings, Combine, DensityExponent, Error, Metric, Result, View,
    features::{MemberSettings, Normalisation},
    names::named_choices,
};

/// The members of an ensemble, in the order of their parts of the axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleSettings {
    /// One a front end.
    pub members: Vec<MemberSettings>,
    /// How standardised scores become one.
    pub combine: Combine,
    /// What they are standardised by.
    #[serde(default, skip_serializing_if = "Standardise::is_default")]
    pub standardise: Standardise,
}

/// What a member's log scores are standardised by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Standardise {
    /// Mean and deviation of the left-out log scores that calibrate as well.
    #[default]
    LeftOut,
    /// The mean of the log scores of references left out one by one, and the deviation of the log
    /// scores of references against the other visits only (without visits, against the other half):
    /// how far the member wanders when the recording does.
    OtherVisits,
}

named_choices!(Standardise, "standardisation of members", {
    LeftOut => "left-out",
    OtherVisits => "other-visits",
});

impl Standardise {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
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
        // One alone has nothing to be combined with, but a common scale for several memories.
        let fewest = if self.standardise == Standardise::OtherVisits { 1 } else { 2 };
        if self.members.len() < fewest || !are_touching || end != axis_len {
            let allowed = format!("{fewest} members or more with {axis_len} positions together");
            return Err(Error::setting("ensemble", allowed, format!("{parts:?}")));
        }
        let (mut bands, mut members) = (Vec::new(), Vec::new());
        for (member, place) in self.members.iter().zip(self.places()) {
            let (first, length) = (bands.len(), member.view_len());
            let own = member.bands.layout(length)?;
            for start in (place.start..place.end).step_by(length) {
                bands.extend(own.bands().iter().map(|band| start + band.start..start + band.end));
            }
            members.push(first..bands.len());
        }
        Ok((BandLayout::of_bands(axis_len, bands), members))
    }

    /// Refuses members that differ in nothing, and what cannot be.
    pub(super) fn check(&self, detector: BandRule, views: &[View]) -> Result<()> {
        let forms: Vec<(Range<usize>, BandSettings, BandRule)> = self
            .members
            .iter()
            .zip(self.places())
            .map(|(member, place)| (place, member.bands, BandRule::of_member(member, detector)))
            .collect();
        for (index, member) in self.members.iter().enumerate() {
            let rule = forms[index].2;
            rule.exponent.check()?;
            if rule.neighbours == 0 && member.normalisation == Some(Normalisation::Density) {
                let allowed = format!("1 or more for {}", member.label());
                return Err(Error::setting("neighbours", allowed, rule.neighbours));
            }
            let own = member.views.len();
            if own > 0 && (own > 2 || member.positions % own != 0 || views != [View::Mean]) {
                let allowed = "one or two, of equal length, and one view of the whole";
                let got = format!("{:?} of {views:?}", member.views);
                return Err(Error::setting("views of a member", allowed, got));
            }
            if let Some(same) = forms[..index].iter().position(|form| *form == forms[index]) {
                let got = format!("{} and {}", self.members[same].label(), member.label());
                return Err(Error::setting("members of an ensemble", "all different", got));
            }
        }
        Ok(())
    }
}

/// How the clips of one band are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BandRule {
    pub(crate) metric: Metric,
    pub(crate) neighbours: usize,
    pub(crate) exponent: DensityExponent,
}

impl BandRule {
    /// The rule of a member where the detector's own is `detector`.
    pub(super) fn of_member(member: &MemberSettings, detector: Self) -> Self {
        Self {
            metric: member.metric.unwrap_or(detector.metric),
            neighbours: member.neighbours(detector.neighbours),
            exponent: member.exponent.unwrap_or(detector.exponent),
        }
    }
}

/// What a member's log scores are standardised by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standardisation {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

/// The score of a clip that equals a reference; its logarithm must be finite.
const SMALLEST_SCORE: f64 = 1e-12;

/// Further away is as far as this: the score stays a number.
const MOST_DEVIATIONS: f64 = 300.0;

/// What is added to scores whose spread over visits is known, to the same end.
const SCORE_FLOOR: f64 = 1e-9;

impl Standardisation {
    /// Changes nothing but the form.
    pub(super) const PLAIN: Self = Self { mean: 0.0, deviation: 1.0 };

    /// From a member's left-out scores; nothing to standardise by gives plain log scores.
    pub(super) fn of_left_out(scores: impl Iterator<Item = f64> + Clone) -> Self {
        Moments::of(scores.map(|score| score.max(SMALLEST_SCORE).ln()))
            .map_or(Self::PLAIN, |all| Self { mean: all.mean, deviation: all.deviation })
    }

    /// From scores of references left out one by one, and against other visits. Fewer than two of
    /// the latter say nothing about a spread: then it is that of the former.
    pub(super) fn of_visits(left_out: &[f64], elsewhere: &[f64]) -> Self {
        let moments = |scores: &[f64]| Moments::of(scores.iter().map(|s| (s + SCORE_FLOOR).ln()));
        let Some(own) = moments(left_out) else { return Self::PLAIN };
        let wide = if elsewhere.len() < 2 { None } else { moments(elsewhere) };
        Self { mean: own.mean, deviation: wide.unwrap_or(own).deviation }
    }

    pub(super) fn apply(self, score: f64, how: Standardise) -> f64 {
        let log = match how {
            Standardise::LeftOut => score.max(SMALLEST_SCORE).ln(),
            Standardise::OtherVisits => (score + SCORE_FLOOR).ln(),
        };
        (log - self.mean) / self.deviation
    }
}

/// Mean and population deviation; the deviation of equal numbers is 1, it divides.
#[derive(Clone, Copy)]
struct Moments {
    mean: f64,
    deviation: f64,
}

impl Moments {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let count = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / count;
        let square = values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
        (count > 0.0)
            .then_some(Self { mean, deviation: if square > 0.0 { square.sqrt() } else { 1.0 } })
    }
}

impl EnsembleSettings {
    /// The clip's score from its members' scores.
    pub(super) fn combine(
        &self,
        scores: impl ExactSizeIterator<Item = f64>,
        standardisation: &[Standardisation],
    ) -> f64 {
        let standardised =
            scores.zip(standardisation).map(|(score, by)| by.apply(score, self.standardise));
        self.combine.over(standardised).clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS).exp()
    }
}

//! Settings of the band-wise detector, and the method names that stand for them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{BandRule, EnsembleSettings, Standardise};
use crate::{
    BandLayout, BandSettings, Combine, DensityExponent, DensityRule, Metric, Result, View,
    features::{FrontEnd, MemberSettings},
    names::named_choices,
};

/// The methods of the paper, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// The nearest reference, whole vector, mean view.
    Global,
    /// Nearest references per band, mean view.
    Beam,
    /// BEAM on the mean and the max view, fused.
    #[default]
    AdaBeam,
}

named_choices!(Method, "method", {
    Global => "global",
    Beam => "beam",
    AdaBeam => "adabeam",
});

/// What the score of a band is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ScoreOf {
    /// How far the band is from the references.
    #[default]
    Distance,
    /// The mean of the band's own values: for front ends whose values say how abnormal a clip is,
    /// such as the errors of a network. The references then only show what is normal.
    Value,
}

named_choices!(ScoreOf, "score of a band", { Distance => "distance", Value => "value" });

impl ScoreOf {
    /// What is larger than normal where something differs.
    pub(crate) fn measure(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Value => "error",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Settings of [`Beam`]; the default values are the paper's.
///
/// Global matching is one band over the whole axis, so this is the only nearest-neighbour back end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeamSettings {
    /// How the axis is cut.
    pub bands: BandSettings,
    /// The views compared; two views make AdaBEAM.
    pub views: Vec<View>,
    /// How far apart two bands are.
    pub metric: Metric,
    /// Neighbours in a local scale (the paper's K); 0 compares plain distances.
    pub neighbours: usize,
    /// How much of the local scale counts.
    pub exponent: DensityExponent,
    /// Which ratio local density normalisation takes.
    pub rule: DensityRule,
    /// How band scores become a view score.
    pub aggregation: Combine,
    /// How view scores become the clip score.
    pub fusion: Combine,
    /// What the score of a band is.
    #[serde(default, skip_serializing_if = "ScoreOf::is_default")]
    pub score_of: ScoreOf,
    /// The members, if several front ends score together; then `bands` is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<EnsembleSettings>,
}

impl BeamSettings {
    /// The paper's settings of a method for a front end.
    ///
    /// AdaBEAM on a front end with one view is BEAM.
    pub fn paper(method: Method, front_end: &dyn FrontEnd) -> Self {
        let bands = match method {
            Method::Global => BandSettings::Whole,
            Method::Beam | Method::AdaBeam => front_end.default_bands(),
        };
        let views = match method {
            Method::Global | Method::Beam => vec![View::Mean],
            Method::AdaBeam => front_end.views().to_vec(),
        };
        let mut members = front_end.members();
        if method == Method::Global {
            for member in &mut members {
                member.bands = BandSettings::Whole;
            }
        }
        // Members with views of their own are compared as themselves say, whatever the method.
        let is_stacked = members.iter().any(|member| !member.views.is_empty());
        let standardise =
            if is_stacked { Standardise::OtherVisits } else { Standardise::default() };
        let ensemble = EnsembleSettings { members, combine: Combine::Mean, standardise };
        let ensemble = (!ensemble.members.is_empty()).then_some(ensemble);
        Self { ensemble, ..Self::new(bands, views) }
    }

    /// These settings with the paper's bands, views and members of a method for a front end.
    #[must_use]
    pub fn with_method(self, method: Method, front_end: &dyn FrontEnd) -> Self {
        let Self { bands, views, ensemble, .. } = Self::paper(method, front_end);
        Self { bands, views, ensemble, ..self }
    }

    /// The paper's settings with these bands and views.
    pub fn new(bands: BandSettings, views: Vec<View>) -> Self {
        Self {
            bands,
            views,
            metric: Metric::default(),
            neighbours: 1,
            exponent: DensityExponent::default(),
            rule: DensityRule::default(),
            aggregation: Combine::Mean,
            fusion: Combine::Mean,
            score_of: ScoreOf::default(),
            ensemble: None,
        }
    }

    /// These settings with scores on a scale that several memories have in common: standardised as
    /// members of presets are. Scores of an ensemble are that already.
    #[must_use]
    pub fn standardised(self, axis_len: usize) -> Self {
        if self.ensemble.is_some() {
            return self;
        }
        let only = MemberSettings::of(String::new(), axis_len, self.bands);
        let standardise = Standardise::OtherVisits;
        let ensemble =
            EnsembleSettings { members: vec![only], combine: Combine::Mean, standardise };
        Self { ensemble: Some(ensemble), ..self }
    }

    /// Makes the settings usable on an axis of `axis_len` positions.
    ///
    /// # Errors
    ///
    /// Whatever setting is out of range.
    pub fn check(self, axis_len: usize) -> Result<Beam> {
        let (layout, members) = match &self.ensemble {
            Some(ensemble) => ensemble.layout(axis_len)?,
            None => (self.bands.layout(axis_len)?, Vec::new()),
        };
        if let Some(ensemble) = &self.ensemble {
            ensemble.check(self.rule(), &self.views)?;
        }
        self.exponent.check()?;
        let mut seen = self.views.clone();
        seen.dedup();
        if self.views.is_empty() || seen.len() != self.views.len() || self.views.len() > 2 {
            let got = format!("{:?}", self.views);
            return Err(crate::Error::setting("views", "mean, max, or both once", got));
        }
        Ok(Beam { settings: self, layout, members })
    }
}

impl BeamSettings {
    /// Whether members compare in ways of their own, or distances have maps.
    pub(crate) fn has_own_ways(&self) -> bool {
        let own = |member: &MemberSettings| {
            !member.views.is_empty()
                || member.metric.is_some()
                || member.neighbours.is_some()
                || member.exponent.is_some()
        };
        self.metric == Metric::Scaled
            || self.ensemble.as_ref().is_some_and(|ensemble| {
                ensemble.standardise != Standardise::LeftOut || ensemble.members.iter().any(own)
            })
    }

    /// How bands are compared unless a member says otherwise.
    fn rule(&self) -> BandRule {
        BandRule { metric: self.metric, neighbours: self.neighbours, exponent: self.exponent }
    }
}

/// The band-wise detector: checked [`BeamSettings`].
#[derive(Debug, Clone, PartialEq)]
pub struct Beam {
    pub(super) settings: BeamSettings,
    pub(super) layout: BandLayout,
    /// The bands of each member of an ensemble; empty for a single front end.
    pub(super) members: Vec<Range<usize>>,
}

impl Beam {
    /// The settings it was made from.
    pub fn settings(&self) -> &BeamSettings {
        &self.settings
    }

    /// The member of an ensemble a band is of; `None` for a single front end.
    pub fn member_of(&self, band: usize) -> Option<&MemberSettings> {
        let member = self.members.iter().position(|bands| bands.contains(&band))?;
        self.settings.ensemble.as_ref()?.members.get(member)
    }

    /// How a band is compared.
    pub(super) fn rule_of(&self, band: usize) -> BandRule {
        let own = self.settings.rule();
        self.member_of(band).map_or(own, |member| BandRule::of_member(member, own))
    }

    /// The view a band is of, where a view of the detector has those of its members one after the
    /// other; otherwise that view.
    pub fn view_of(&self, view: View, band: usize) -> View {
        let of_member = || {
            let member = self.members.iter().position(|bands| bands.contains(&band))?;
            let bands = &self.members[member];
            let views = &self.settings.ensemble.as_ref()?.members[member].views;
            views.get((band - bands.start) * views.len() / bands.len()).copied()
        };
        of_member().unwrap_or(view)
    }

    /// Whether a memory without some references has other maps, exponents or standardisation than
    /// the whole, so that its scores need a fit of its own.
    pub(super) fn needs_refits(&self) -> bool {
        let visits = self.settings.ensemble.as_ref().map(|ensemble| ensemble.standardise);
        visits == Some(Standardise::OtherVisits)
            || (0..self.layout.bands().len())
                .any(|band| self.rule_of(band).metric == Metric::Scaled)
    }

    /// Whether distances of some bands are of another kind than those of others.
    pub(crate) fn has_different_distances(&self) -> bool {
        let bands = 1..self.layout.bands().len();
        bands.into_iter().any(|band| self.rule_of(band).metric != self.rule_of(0).metric)
    }

    /// Whether bands are divided by their mean left-out score, whatever their exponent.
    pub(super) fn divides_bands(&self) -> bool {
        let visits = self.settings.ensemble.as_ref().map(|ensemble| ensemble.standardise);
        visits == Some(Standardise::OtherVisits)
    }

    /// Where its bands are.
    pub fn layout(&self) -> &BandLayout {
        &self.layout
    }
}

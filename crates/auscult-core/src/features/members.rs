//! The members of an ensemble: which part of the axis each scores, and in which form.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Axis, Ensemble, Extractor, FrontEnd, FrontEndIdentity, NetworkSize};
use crate::{
    BandSettings, DensityExponent, Error, Metric, Result, names::named_choices, pooling::View,
};

/// One member of an ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberSettings {
    /// What the member is called in explanations.
    pub name: String,
    /// Positions of the axis that are the member's.
    pub positions: usize,
    /// How they are cut.
    pub bands: BandSettings,
    /// Where they begin, if not after those of the member before: members may share positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// How its distances are normalised, if not as the detector says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalisation: Option<Normalisation>,
    /// The views it compares, one after the other in its part of the axis; empty if it compares
    /// those of the detector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<View>,
    /// How far apart two of its bands are, if not as the detector says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// Neighbours in its local scales, if not as the detector says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<usize>,
    /// How much of the local scale counts, if not as the detector says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent: Option<DensityExponent>,
}

/// How a member of a stacked ensemble compares its clips: every member has views of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberOptions {
    /// The views it compares, mean before max; two views make AdaBEAM.
    pub views: Vec<View>,
    /// How its axis is cut, if not as its front end says.
    pub bands: Option<BandSettings>,
    /// How far apart two bands are.
    pub metric: Metric,
    /// Neighbours in a local scale.
    pub neighbours: usize,
    /// How much of the local scale counts.
    pub exponent: DensityExponent,
}

/// What becomes of the distances of one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Normalisation {
    /// Plain distances.
    Raw,
    /// Local density normalisation, with the neighbours and the exponent of the detector.
    Density,
}

named_choices!(Normalisation, "normalisation", { Raw => "raw", Density => "ldn" });

/// What stands between the name of a member and its normalisation.
pub const FORM_SEPARATOR: char = '@';

impl MemberSettings {
    /// A member with all of a front end's axis, cut and compared as usual.
    pub(crate) fn whole(name: String, front_end: &dyn FrontEnd) -> Self {
        Self::of(name, front_end.axis().len(), front_end.default_bands())
    }

    /// A member with these positions and bands, compared as usual.
    pub(crate) fn of(name: String, positions: usize, bands: BandSettings) -> Self {
        Self {
            name,
            positions,
            bands,
            start: None,
            normalisation: None,
            views: Vec::new(),
            metric: None,
            neighbours: None,
            exponent: None,
        }
    }

    /// Positions of one of its views.
    pub(crate) fn view_len(&self) -> usize {
        self.positions / self.views.len().max(1)
    }

    /// The name with the normalisation, such as `ced@raw`, as users type it.
    pub fn label(&self) -> String {
        match self.normalisation {
            None => self.name.clone(),
            Some(form) => format!("{}{FORM_SEPARATOR}{form}", self.name),
        }
    }

    /// Neighbours in its local scales, where the detector says `neighbours`.
    pub(crate) fn neighbours(&self, neighbours: usize) -> usize {
        if self.normalisation == Some(Normalisation::Raw) {
            0
        } else {
            self.neighbours.unwrap_or(neighbours)
        }
    }
}

/// A front end whose vectors several members score, each in its own form: with plain distances, or
/// normalised by local density.
///
/// The vectors are computed and stored once; [`crate::beam::BeamSettings`] made for it have the members.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use auscult_core::{
///     BeamSettings, ClipSettings, Method,
///     features::{FrontEndSettings, MemberFrontEnd, Normalisation},
/// };
///
/// let length = ClipSettings::default().check()?;
/// let mfcc = FrontEndSettings::named("mfcc", None)?.build(length)?;
/// let both = [Normalisation::Raw, Normalisation::Density].map(|form| (Arc::clone(&mfcc), Some(form)));
/// let front_end = MemberFrontEnd::join(both.to_vec())?;
/// assert_eq!(front_end.identity(), mfcc.identity());
/// let detector = BeamSettings::paper(Method::Beam, &*front_end);
/// assert_eq!(detector.ensemble.map(|ensemble| ensemble.members.len()), Some(2));
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemberFrontEnd {
    front_end: Arc<dyn FrontEnd>,
    members: Vec<MemberSettings>,
}

impl MemberFrontEnd {
    /// Puts members together, each a front end and its form; equal front ends become one.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] with fewer than two members, or the same one twice.
    pub fn join(
        members: Vec<(Arc<dyn FrontEnd>, Option<Normalisation>)>,
    ) -> Result<Arc<dyn FrontEnd>> {
        let mut distinct: Vec<Arc<dyn FrontEnd>> = Vec::new();
        let mut forms: Vec<(usize, Option<Normalisation>)> = Vec::new();
        for (front_end, normalisation) in members {
            let identity = front_end.identity();
            let known = distinct.iter().position(|known| known.identity() == identity);
            forms.push((known.unwrap_or(distinct.len()), normalisation));
            if known.is_none() {
                distinct.push(front_end);
            }
        }
        let identities: Vec<FrontEndIdentity> =
            distinct.iter().map(|front_end| front_end.identity()).collect();
        let names = Ensemble::member_names(&identities);
        let start = |index: usize| distinct[..index].iter().map(|one| one.axis().len()).sum();
        let member = |&(index, normalisation): &(usize, _)| MemberSettings {
            start: Some(start(index)),
            normalisation,
            ..MemberSettings::whole(names[index].clone(), &*distinct[index])
        };
        let settings: Vec<MemberSettings> = forms.iter().map(member).collect();
        let repeated = settings.iter().enumerate().find(|(at, one)| settings[..*at].contains(one));
        if let Some((_, member)) = repeated {
            let (allowed, got) =
                ("two different ones or more", format!("{} twice", member.label()));
            return Err(Error::setting("front ends of an ensemble", allowed, got));
        }
        let shares = distinct.len() < settings.len();
        let front_end: Arc<dyn FrontEnd> = match distinct.as_slice() {
            [only] if shares => Arc::clone(only),
            _ => Arc::new(Ensemble::new(distinct)?),
        };
        if !shares && settings.iter().all(|member| member.normalisation.is_none()) {
            return Ok(front_end);
        }
        Ok(Arc::new(Self { front_end, members: settings }))
    }
}

impl MemberFrontEnd {
    /// Stacks members that each have views and ways of comparing of their own; the same front end
    /// with the same views becomes one.
    ///
    /// The vector of a clip is one view after the other, member by member, so a member with one view
    /// costs no room for a second.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] with fewer than two members, the same one twice, or views that a front end
    /// does not have.
    pub fn stack(members: Vec<(Arc<dyn FrontEnd>, MemberOptions)>) -> Result<Arc<dyn FrontEnd>> {
        let mut distinct: Vec<(Arc<dyn FrontEnd>, Vec<View>)> = Vec::new();
        let mut places = Vec::with_capacity(members.len());
        for (front_end, options) in &members {
            let identity = front_end.identity();
            let is_known = |(known, views): &(Arc<dyn FrontEnd>, Vec<View>)| {
                known.identity() == identity && *views == options.views
            };
            let known = distinct.iter().position(is_known);
            places.push(known.unwrap_or(distinct.len()));
            if known.is_none() {
                distinct.push((Arc::clone(front_end), options.views.clone()));
            }
        }
        let ensemble = Ensemble::stacked(distinct)?;
        let parts = ensemble.parts();
        let settings = members.into_iter().zip(places).map(|((front_end, options), at)| {
            let (name, place) = &parts[at];
            MemberSettings {
                positions: place.len(),
                bands: options.bands.unwrap_or_else(|| front_end.default_bands()),
                start: Some(place.start),
                views: options.views,
                metric: Some(options.metric),
                neighbours: Some(options.neighbours),
                exponent: Some(options.exponent),
                ..MemberSettings::whole(name.clone(), &*front_end)
            }
        });
        let settings: Vec<MemberSettings> = settings.collect();
        if settings.len() < 2 {
            return Err(Error::setting("members of an ensemble", "two or more", settings.len()));
        }
        Ok(Arc::new(Self { front_end: Arc::new(ensemble), members: settings }))
    }
}

impl FrontEnd for MemberFrontEnd {
    fn identity(&self) -> FrontEndIdentity {
        self.front_end.identity()
    }

    fn axis(&self) -> &Axis {
        self.front_end.axis()
    }

    fn views(&self) -> &'static [View] {
        self.front_end.views()
    }

    fn default_bands(&self) -> BandSettings {
        self.front_end.default_bands()
    }

    fn members(&self) -> Vec<MemberSettings> {
        self.members.clone()
    }

    fn ensemble(&self) -> Option<&Ensemble> {
        self.front_end.ensemble()
    }

    fn network(&self) -> Option<NetworkSize> {
        self.front_end.network()
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        self.front_end.extractor()
    }
}

//! Several front ends as one: their vectors one after the other.

use std::sync::Arc;

use super::{Axis, Extractor, FrontEnd, FrontEndIdentity, MemberSettings, NetworkSize};
use crate::{BandSettings, ClipVectors, Error, Result, pooling::View};

/// Front ends that score together; see [`crate::beam::EnsembleSettings`].
///
/// # Examples
///
/// ```
/// use auscult_core::{ClipSettings, FrontEnd, features::{Ensemble, FrontEndSettings}};
///
/// let length = ClipSettings::default().check()?;
/// let member = |name| FrontEndSettings::named(name, None)?.build(length);
/// let both = Ensemble::new(vec![member("log-mel")?, member("mfcc")?])?;
/// assert_eq!(both.identity().name, "log-mel+mfcc");
/// assert_eq!(both.axis().len(), 128 + 90);
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ensemble {
    members: Vec<Member>,
    axis: Axis,
    views: &'static [View],
}

#[derive(Debug, Clone)]
struct Member {
    front_end: Arc<dyn FrontEnd>,
    /// The views that stand one after the other; empty where all members have the ensemble's.
    stacked: Vec<View>,
}

/// What stands between the names of members.
pub const SEPARATOR: char = '+';

impl Ensemble {
    /// Puts front ends together; the ensemble has the views all of them have.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] with fewer than two members, or the same one twice.
    pub fn new(members: Vec<Arc<dyn FrontEnd>>) -> Result<Self> {
        let one_view = members.iter().find(|member| member.views().len() < 2);
        let views = one_view.or(members.first()).map_or(&[View::Mean][..], |member| member.views());
        let member = |front_end| Member { front_end, stacked: Vec::new() };
        Self::of(members.into_iter().map(member).collect(), views)
    }

    /// Stacks front ends: the vector of a clip is every named view of every member, one after the
    /// other, so members need not have the same views.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if a front end does not have the views, or comes twice with the same ones.
    pub fn stacked(members: Vec<(Arc<dyn FrontEnd>, Vec<View>)>) -> Result<Self> {
        for (front_end, views) in &members {
            let known: Vec<View> =
                front_end.views().iter().copied().filter(|view| views.contains(view)).collect();
            if known != *views || views.is_empty() {
                let of = front_end.views().iter().map(|view| view.name()).collect::<Vec<_>>();
                let allowed = format!("one or more of {}, in this order", of.join(", "));
                return Err(Error::setting("views of a member", allowed, format!("{views:?}")));
            }
        }
        let member = |(front_end, stacked)| Member { front_end, stacked };
        Self::of(members.into_iter().map(member).collect(), &[View::Mean])
    }

    fn of(members: Vec<Member>, views: &'static [View]) -> Result<Self> {
        let identities: Vec<FrontEndIdentity> =
            members.iter().map(|member| member.front_end.identity()).collect();
        let is_repeated = |at: usize| {
            (0..at).any(|other| {
                identities[other] == identities[at] && members[other].stacked == members[at].stacked
            })
        };
        let fewest = if members.iter().any(|member| member.stacked.is_empty()) { 2 } else { 1 };
        if members.len() < fewest || (0..members.len()).any(is_repeated) {
            let names: Vec<String> = identities.iter().map(ToString::to_string).collect();
            let allowed = "two different ones or more";
            return Err(Error::setting("front ends of an ensemble", allowed, names.join(", ")));
        }
        let names = Self::member_names(&identities);
        let axes = names.into_iter().zip(&members).flat_map(|(name, member)| {
            let axis = member.front_end.axis().clone();
            std::iter::repeat_n((name, axis), member.stacked.len().max(1))
        });
        Ok(Self { axis: Axis::joined(axes.collect()), members, views })
    }

    /// The front ends, each once.
    pub fn front_ends(&self) -> impl ExactSizeIterator<Item = &Arc<dyn FrontEnd>> {
        self.members.iter().map(|member| &member.front_end)
    }

    /// The vectors of a clip from those of its front ends, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::Views`] or [`Error::VectorLength`] if they are of other front ends.
    pub fn join(&self, parts: &[ClipVectors]) -> Result<ClipVectors> {
        let mut vectors = ClipVectors::for_front_end(self);
        let mut start = 0;
        for (member, part) in self.members.iter().zip(parts) {
            start = member.place(part, start, &mut vectors)?;
        }
        if parts.len() != self.members.len() || start != self.axis.len() {
            let (what, expected) = ("the members' vectors", self.axis.len());
            return Err(Error::VectorLength { what, got: start, expected });
        }
        Ok(vectors)
    }

    /// The name and the positions of each member.
    pub(super) fn parts(&self) -> Vec<(String, std::ops::Range<usize>)> {
        let identities: Vec<FrontEndIdentity> =
            self.members.iter().map(|member| member.front_end.identity()).collect();
        let mut end = 0;
        let part = |(name, member): (String, &Member)| {
            let start = end;
            end += member.front_end.axis().len() * member.stacked.len().max(1);
            (name, start..end)
        };
        Self::member_names(&identities).into_iter().zip(&self.members).map(part).collect()
    }

    /// What members are called in reasons: by their name, with their form where that is not enough.
    pub fn member_names(identities: &[FrontEndIdentity]) -> Vec<String> {
        let name = |identity: &FrontEndIdentity| {
            let of_name = identities.iter().filter(|other| other.name == identity.name);
            if of_name.count() > 1 { identity.to_string() } else { identity.name.clone() }
        };
        identities.iter().map(name).collect()
    }
}

impl FrontEnd for Ensemble {
    fn identity(&self) -> FrontEndIdentity {
        let members: Vec<FrontEndIdentity> =
            self.members.iter().map(|member| member.front_end.identity()).collect();
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        let name = names.join(&SEPARATOR.to_string());
        let stacked: Vec<&[View]> =
            self.members.iter().map(|member| member.stacked.as_slice()).collect();
        let settings = if stacked.iter().all(|views| views.is_empty()) {
            serde_json::json!({ "members": members })
        } else {
            serde_json::json!({ "members": members, "views": stacked })
        };
        FrontEndIdentity { name, settings }
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        self.views
    }

    fn default_bands(&self) -> BandSettings {
        BandSettings::Whole
    }

    fn network(&self) -> Option<NetworkSize> {
        let networks = self.members.iter().map(|member| member.front_end.network());
        networks.fold(None, NetworkSize::sum)
    }

    fn members(&self) -> Vec<MemberSettings> {
        let member = |((name, place), member): ((String, std::ops::Range<usize>), &Member)| {
            let whole = MemberSettings::whole(name, &*member.front_end);
            MemberSettings { positions: place.len(), views: member.stacked.clone(), ..whole }
        };
        self.parts().into_iter().zip(&self.members).map(member).collect()
    }

    fn ensemble(&self) -> Option<&Ensemble> {
        Some(self)
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        let part = |member: &Member| Part {
            extractor: member.front_end.extractor(),
            vectors: ClipVectors::for_front_end(&*member.front_end),
            member: member.clone(),
        };
        Box::new(EnsembleExtractor { parts: self.members.iter().map(part).collect() })
    }
}

struct EnsembleExtractor {
    parts: Vec<Part>,
}

struct Part {
    extractor: Box<dyn Extractor>,
    vectors: ClipVectors,
    member: Member,
}

impl Member {
    /// Puts its vectors where they belong, from position `start` on; says where they end.
    fn place(&self, own: &ClipVectors, start: usize, vectors: &mut ClipVectors) -> Result<usize> {
        if self.stacked.is_empty() {
            vectors.copy_part(start, own)?;
            return Ok(start + own.axis_len());
        }
        let mut end = start;
        for &view in &self.stacked {
            vectors.copy_view(end, own, view)?;
            end += own.axis_len();
        }
        Ok(end)
    }
}

impl Extractor for EnsembleExtractor {
    /// Members have frames of different lengths in time: there are no common ones.
    fn for_each_frame(&mut self, _: &[f32], _: &mut dyn FnMut(&[f32])) -> Result<()> {
        let reason = "several front ends have no common frames; use the mean or max view, or one \
                      front end";
        Err(Error::FrontEnd { reason: reason.to_owned() })
    }

    fn extract_into(&mut self, samples: &[f32], vectors: &mut ClipVectors) -> Result<()> {
        let mut start = 0;
        for Part { extractor, vectors: own, member } in &mut self.parts {
            extractor.extract_into(samples, own)?;
            start = member.place(own, start, vectors)?;
        }
        Ok(())
    }
}

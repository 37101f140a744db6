//! Several front ends as one: their vectors one after the other.

use std::sync::Arc;

use super::{Axis, Extractor, FrontEnd, FrontEndIdentity, MemberSettings};
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
    members: Vec<Arc<dyn FrontEnd>>,
    axis: Axis,
    views: &'static [View],
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
        let identities: Vec<FrontEndIdentity> =
            members.iter().map(|member| member.identity()).collect();
        let repeated =
            identities.iter().enumerate().any(|(at, one)| identities[..at].contains(one));
        if members.len() < 2 || repeated {
            let names: Vec<String> = identities.iter().map(ToString::to_string).collect();
            let allowed = "two different ones or more";
            return Err(Error::setting("front ends of an ensemble", allowed, names.join(", ")));
        }
        let names = Self::member_names(&identities);
        let axes = names.into_iter().zip(members.iter().map(|member| member.axis().clone()));
        let one_view = members.iter().find(|member| member.views().len() < 2);
        let views = one_view.or(members.first()).map_or(&[View::Mean][..], |member| member.views());
        Ok(Self { axis: Axis::joined(axes.collect()), members, views })
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
            self.members.iter().map(|member| member.identity()).collect();
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        FrontEndIdentity {
            name: names.join(&SEPARATOR.to_string()),
            settings: serde_json::json!({ "members": members }),
        }
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

    fn members(&self) -> Vec<MemberSettings> {
        let identities: Vec<FrontEndIdentity> =
            self.members.iter().map(|member| member.identity()).collect();
        let names = Self::member_names(&identities);
        let member = |(member, name): (&Arc<dyn FrontEnd>, String)| MemberSettings {
            name,
            positions: member.axis().len(),
            bands: member.default_bands(),
            start: None,
            normalisation: None,
        };
        self.members.iter().zip(names).map(member).collect()
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        let part = |member: &Arc<dyn FrontEnd>| {
            (member.extractor(), ClipVectors::for_front_end(&**member))
        };
        Box::new(EnsembleExtractor { parts: self.members.iter().map(part).collect() })
    }
}

struct EnsembleExtractor {
    parts: Vec<(Box<dyn Extractor>, ClipVectors)>,
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
        for (extractor, own) in &mut self.parts {
            extractor.extract_into(samples, own)?;
            vectors.copy_part(start, own)?;
            start += own.axis_len();
        }
        Ok(())
    }
}

//! Front ends by name, from wherever they come.

use std::{fmt, sync::Arc};

use super::{Ensemble, FrontEnd, FrontEndIdentity, FrontEndSettings};
use crate::{ClipLength, Error, Result};

/// Something that brings front ends of its own, such as encoders with their weights.
///
/// The core knows neither files nor tensors: a program that has them hands a source to
/// [`FrontEnds`], and every model file that names one of its front ends can be used.
pub trait FrontEndSource: fmt::Debug + Send + Sync {
    /// The names of the front ends it brings, as model files hold them.
    fn names(&self) -> Vec<String>;

    /// Plans the front end a model file names, for clips of one length.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from giving the same numbers as when the model was made.
    fn build(&self, identity: &FrontEndIdentity, length: ClipLength) -> Result<Arc<dyn FrontEnd>>;
}

/// Every front end a program has: the built-in ones and those of its sources.
///
/// # Examples
///
/// ```
/// use auscult_core::{ClipSettings, features::{FrontEnds, FrontEndSettings}};
///
/// let length = ClipSettings::default().check()?;
/// let identity = FrontEndSettings::default().build(length)?.identity();
/// let front_end = FrontEnds::built_in().build(&identity, length)?;
/// assert_eq!(front_end.identity(), identity);
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FrontEnds {
    sources: Vec<Arc<dyn FrontEndSource>>,
}

impl FrontEnds {
    /// Those of this crate.
    pub fn built_in() -> Self {
        Self::default()
    }

    /// These and those of one more source.
    #[must_use]
    pub fn with(mut self, source: Arc<dyn FrontEndSource>) -> Self {
        self.sources.push(source);
        self
    }

    /// The names of all front ends.
    pub fn names(&self) -> Vec<String> {
        let own = FrontEndSettings::NAMES.iter().map(|&name| name.to_owned());
        own.chain(self.sources.iter().flat_map(|source| source.names())).collect()
    }

    /// Plans the front end a model file names, for clips of one length.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] if nothing here brings it, and whatever its source says.
    pub fn build(
        &self,
        identity: &FrontEndIdentity,
        length: ClipLength,
    ) -> Result<Arc<dyn FrontEnd>> {
        if let Some(members) = identity.members() {
            // A member is never an ensemble: otherwise a damaged file could nest them without end.
            if members.iter().any(|member| member.members().is_some()) {
                let reason = format!("front end {} has ensembles as members", identity.name);
                return Err(Error::DamagedModel { reason });
            }
            let front_ends: Vec<Arc<dyn FrontEnd>> =
                members.iter().map(|member| self.build(member, length)).collect::<Result<_>>()?;
            let ensemble = match identity.stacked_views()? {
                None => Ensemble::new(front_ends)?,
                Some(views) => Ensemble::stacked(front_ends.into_iter().zip(views).collect())?,
            };
            return Ok(Arc::new(ensemble));
        }
        if FrontEndSettings::NAMES.contains(&identity.name.as_str()) {
            return FrontEndSettings::from_identity(identity)?.build(length);
        }
        let source = self.sources.iter().find(|source| source.names().contains(&identity.name));
        match source {
            Some(source) => source.build(identity, length),
            None => Err(Error::UnknownName {
                what: "front end",
                got: identity.name.clone(),
                known: self.names().join(", "),
            }),
        }
    }
}

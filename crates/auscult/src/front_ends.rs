//! 3. Front ends by name: the built-in ones, encoders, several at once, and those of a model.

use std::{path::PathBuf, sync::Arc};

use auscult_autoencoder::{AutoencoderFrontEnd, Form, SpectrogramFrontEnd};
use auscult_core::{
    BeamSettings, ClipLength, FrontEnd, FrontEndIdentity, FrontEndSettings, Method, Model,
    features::{
        Axis, Ensemble, FORM_SEPARATOR, FrontEndSource, FrontEnds as Registry, MemberFrontEnd,
        SEPARATOR,
    },
};
use auscult_encoders::{Bundled, EncoderFrontEnd, EncoderLibrary, EncoderRequest};

use crate::{Error, Result, VectorCache, members::MemberSpec};

/// A front end as users name it.
///
/// # Examples
///
/// ```
/// use auscult::{ClipSettings, FrontEnd, FrontEnds, FrontEndSpec};
///
/// let length = ClipSettings::default().check()?;
/// let mfcc = FrontEnds::standard().named(&FrontEndSpec::of("mfcc"), length)?;
/// assert_eq!(mfcc.axis().len(), 90);
/// # Ok::<(), auscult::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontEndSpec {
    /// `log-mel`, `mfcc`, `lpc`, `modulation`, the name of an encoder, or several with `+` between them. A member's
    /// convention follows a colon, its normalisation an `@`: `ced:layer-6@raw+mfcc`. Members that compare in ways of
    /// their own say so in parentheses: see [`MemberSpec`].
    pub name: String,
    /// Which form of the front end; `None` for the usual one.
    pub convention: Option<String>,
    /// What is taken of encoders.
    pub encoder: EncoderRequest,
}

impl FrontEndSpec {
    /// A front end in its usual form.
    pub fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), convention: None, encoder: EncoderRequest::default() }
    }

    /// The front ends it names.
    ///
    /// # Errors
    ///
    /// [`Error::Member`] if one cannot be read.
    pub fn members(&self) -> Result<Vec<MemberSpec>> {
        MemberSpec::parse_all(&self.name)
    }
}

impl Default for FrontEndSpec {
    fn default() -> Self {
        Self::of("log-mel")
    }
}

/// Every front end that can be made here.
#[derive(Debug, Clone)]
pub struct FrontEnds {
    encoders: Arc<EncoderLibrary>,
    file: Option<PathBuf>,
    is_beside_others: bool,
    others: Registry,
    cache: Option<Arc<VectorCache>>,
}

impl FrontEnds {
    /// What models call a function of somebody's own; only who has it can bring it, by [`FrontEnds::with`].
    pub const PYTHON: &str = "python";

    /// The built-in front ends, the bundled encoder, and encoders in the cache folder
    /// (`$AUSCULT_ENCODERS`, or the user's cache folder).
    pub fn standard() -> Self {
        Self::new(encoder_folder(), None)
    }

    /// The same with the weights of an encoder in a file, which goes before everything else.
    pub fn with_encoder_file(file: impl Into<PathBuf>) -> Self {
        Self::new(encoder_folder(), Some(file.into()))
    }

    /// Encoders from this folder only, and the file that goes before it.
    pub fn new(folder: Option<PathBuf>, file: Option<PathBuf>) -> Self {
        let library = EncoderLibrary::new(bundled()).with_folder(folder).with_file(file.clone());
        let (encoders, others) = (Arc::new(library), Registry::built_in());
        Self { encoders, file, is_beside_others: false, others, cache: None }
    }

    /// The same for a table with several encoders: a file with weights is for those of its kind and size, and the others
    /// are looked for as if there were no file.
    #[must_use]
    pub fn beside_others(self) -> Self {
        let encoders = Arc::new(self.encoders.beside_others());
        Self { encoders, is_beside_others: true, ..self }
    }

    /// These and the front ends of one more source, for models that were made with them.
    #[must_use]
    pub fn with(mut self, source: Arc<dyn FrontEndSource>) -> Self {
        self.others = self.others.with(source);
        self
    }

    /// The same, with vectors of encoders that are made by name kept in a cache; `None` computes all anew. Those of models
    /// are never kept: what is scored is heard once.
    #[must_use]
    pub fn with_cache(mut self, cache: Option<Arc<VectorCache>>) -> Self {
        self.cache = cache;
        self
    }

    /// Where encoders are looked for.
    pub fn encoders(&self) -> &Arc<EncoderLibrary> {
        &self.encoders
    }

    /// Everything that a model file may name, apart from autoencoders.
    pub fn registry(&self) -> Registry {
        self.others.clone().with(Arc::clone(&self.encoders) as Arc<dyn FrontEndSource>)
    }

    /// A front end by name; several names with `+` between them are an ensemble.
    ///
    /// # Errors
    ///
    /// If the name or its convention is not known, weights are missing, or an option is for encoders and the front end is
    /// not one.
    pub fn named(&self, spec: &FrontEndSpec, length: ClipLength) -> Result<Arc<dyn FrontEnd>> {
        let FrontEndSpec { name, convention, encoder } = spec;
        // In a table the file need not be for every front end.
        if !self.is_beside_others {
            self.refuse_unused_file(name, name)?;
        }
        let members = spec.members()?;
        if let [only] = members.as_slice() {
            if only.normalisation.is_some() {
                return Err(Error::FormOfOne { name: name.clone() });
            }
            if only.options.is_none() {
                return self.one(name, convention.as_deref(), encoder, length);
            }
            let own = only.convention.as_deref().or(convention.as_deref());
            return self.one(&only.front_end, own, encoder, length);
        }
        if convention.is_some() {
            return Err(Error::ConventionOfSeveral);
        }
        let is_encoder = |member: &MemberSpec| EncoderLibrary::knows(&member.front_end);
        if !members.iter().any(is_encoder) && *encoder != EncoderRequest::default() {
            return Err(Error::NotAnEncoder { name: name.clone() });
        }
        let none = EncoderRequest::default();
        let is_stacked = members.iter().any(|member| member.options.is_some());
        let made = members.into_iter().map(|member| {
            let encoder = if is_encoder(&member) { encoder } else { &none };
            let convention = member.convention.as_deref();
            Ok((self.one(&member.front_end, convention, encoder, length)?, member))
        });
        let made: Vec<(Arc<dyn FrontEnd>, MemberSpec)> = made.collect::<Result<_>>()?;
        if !is_stacked {
            let forms = made.into_iter().map(|(made, member)| (made, member.normalisation));
            return Ok(MemberFrontEnd::join(forms.collect())?);
        }
        let stacked = made.into_iter().map(|(made, member)| {
            let options = member.member_options(&*made);
            (made, options)
        });
        Ok(MemberFrontEnd::stack(stacked.collect())?)
    }

    /// How a front end made from `spec` compares unless somebody says otherwise: as its members say,
    /// or as the paper does.
    ///
    /// # Errors
    ///
    /// [`Error::Member`] if the members cannot be read.
    pub fn usual_detector(
        &self,
        spec: &FrontEndSpec,
        front_end: &dyn FrontEnd,
    ) -> Result<BeamSettings> {
        match spec.members()?.as_slice() {
            [only] => Ok(only.detector(front_end)),
            _ => Ok(BeamSettings::paper(Method::AdaBeam, front_end)),
        }
    }

    /// A single front end by name.
    fn one(
        &self,
        name: &str,
        convention: Option<&str>,
        encoder: &EncoderRequest,
        length: ClipLength,
    ) -> Result<Arc<dyn FrontEnd>> {
        if EncoderLibrary::knows(name) {
            let mut request = encoder.clone();
            if let Some(convention) = convention {
                if !encoder.layers.is_empty() {
                    let (name, convention) = (name.to_owned(), convention.to_owned());
                    return Err(Error::LayerTwice { name, convention });
                }
                request.layers = vec![layer(name, convention)?];
            }
            let front_end = self.encoders.front_end(name, &request, length)?;
            return Ok(match &self.cache {
                Some(cache) => cache.around(front_end, length),
                None => front_end,
            });
        }
        let is_built_in = FrontEndSettings::NAMES.contains(&name);
        if !is_built_in && name != SpectrogramFrontEnd::NAME {
            if name.contains(':') {
                return Err(Error::ConventionInName { name: name.to_owned() });
            }
            let encoders = auscult_encoders::KNOWN.iter().map(|known| known.name);
            let known: Vec<&str> =
                FrontEndSettings::NAMES.iter().copied().chain(encoders).collect();
            return Err(Error::UnknownFrontEnd { name: name.to_owned(), known: known.join(", ") });
        }
        if *encoder != EncoderRequest::default() {
            return Err(Error::NotAnEncoder { name: name.to_owned() });
        }
        if is_built_in {
            return Ok(FrontEndSettings::named(name, convention)?.build(length)?);
        }
        let form = convention.map_or(Ok(Form::default()), str::parse)?;
        Ok(Arc::new(SpectrogramFrontEnd::new(form, length)?))
    }

    /// The front end a model was made with; that of an autoencoder is in the model itself.
    ///
    /// # Errors
    ///
    /// If nothing here brings it ([`Error::FunctionNeeded`] for somebody's function), or gives other numbers than when the
    /// model was made.
    pub fn of_model(&self, model: &Model) -> Result<Arc<dyn FrontEnd>> {
        let settings = model.settings();
        let (identity, length) = (&settings.front_end, settings.clip.check()?);
        self.refuse_unused_file(&format!("the model's {}", identity.name), &identity.name)?;
        if identity.name == Self::PYTHON && !self.others.names().contains(&identity.name) {
            return Err(Error::FunctionNeeded { front_end: identity.to_string() });
        }
        let front_end: Arc<dyn FrontEnd> = if identity.name == AutoencoderFrontEnd::NAME {
            Arc::new(AutoencoderFrontEnd::of_model(identity, &settings.weights, length)?)
        } else {
            self.registry().build(identity, length)?
        };
        model.check_front_end(&*front_end)?;
        Ok(front_end)
    }

    /// The axis of the front end a model was made with; needs no weights of encoders.
    ///
    /// # Errors
    ///
    /// If nothing here brings the front end.
    pub fn axis_of_model(&self, model: &Model) -> Result<Axis> {
        let settings = model.settings();
        let (identity, length) = (&settings.front_end, settings.clip.check()?);
        if identity.name == AutoencoderFrontEnd::NAME {
            return Ok(self.of_model(model)?.axis().clone());
        }
        let axis = |identity: &FrontEndIdentity, positions: usize| -> Result<Axis> {
            if identity.name == Self::PYTHON {
                return Ok(Axis::other(positions));
            }
            if self.encoders.names().contains(&identity.name) {
                return Ok(EncoderFrontEnd::axis_of(identity, positions, length)?);
            }
            Ok(self.registry().build(identity, length)?.axis().clone())
        };
        let ensemble = settings.detector.ensemble.as_ref();
        let (Some(members), Some(ensemble)) = (identity.members(), ensemble) else {
            return axis(identity, model.references().axis_len());
        };
        let names = Ensemble::member_names(&members);
        let stacked = identity.stacked_views()?;
        let mut axes = Vec::new();
        for (at, (name, (member, part))) in
            names.into_iter().zip(members.iter().zip(ensemble.parts())).enumerate()
        {
            let views = stacked.as_ref().and_then(|views| views.get(at)).map_or(1, Vec::len).max(1);
            let one = axis(member, part.len() / views)?;
            axes.extend(std::iter::repeat_n((name, one), views));
        }
        Ok(Axis::joined(axes))
    }

    /// Refuses a file with weights where `names`, separated by +, have no encoder that it is for: figures would pass for
    /// those of its weights.
    ///
    /// # Errors
    ///
    /// [`Error::UnusedEncoderFile`], which calls the front end `what`; [`Error::UnusedTableFile`] of a table.
    pub fn refuse_unused_file(&self, what: &str, names: &str) -> Result<()> {
        let is_encoder = |member: &str| {
            let end = member.find([':', '(', FORM_SEPARATOR]).unwrap_or(member.len());
            self.encoders.file_is_for(member[..end].trim())
        };
        match self.file.as_ref().filter(|_| !names.split(SEPARATOR).any(is_encoder)) {
            None => Ok(()),
            Some(file) if self.is_beside_others => {
                Err(Error::UnusedTableFile { file: file.clone() })
            }
            Some(file) => {
                Err(Error::UnusedEncoderFile { file: file.clone(), name: what.to_owned() })
            }
        }
    }
}

impl Default for FrontEnds {
    fn default() -> Self {
        Self::standard()
    }
}

/// Where pulled encoders are: `$AUSCULT_ENCODERS`, or the user's cache folder.
pub fn encoder_folder() -> Option<PathBuf> {
    let variable = std::env::var_os("AUSCULT_ENCODERS").filter(|value| !value.is_empty());
    variable.map(PathBuf::from).or_else(|| auscult_files::cache_folder("encoders"))
}

#[cfg(feature = "ced-tiny")]
fn bundled() -> Vec<Bundled> {
    vec![Bundled { name: auscult_ced_tiny::NAME, bytes: auscult_ced_tiny::WEIGHTS }]
}

#[cfg(not(feature = "ced-tiny"))]
fn bundled() -> Vec<Bundled> {
    Vec::new()
}

/// The layer a convention of an encoder names, such as `layer-6`.
fn layer(name: &str, convention: &str) -> Result<usize> {
    let number = convention.strip_prefix("layer-").and_then(|number| number.parse().ok());
    number.ok_or_else(|| Error::NotALayer {
        name: name.to_owned(),
        convention: convention.to_owned(),
    })
}

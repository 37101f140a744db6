//! The encoders of this machine: bundled, pulled, or named by the user.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use auscult_kernels::Isa;

use auscult_core::{
    ClipLength, FrontEnd, FrontEndIdentity,
    features::{FrontEndSource, FrontEnds},
};

use crate::{
    Architecture, Checkpoint, Encoder, EncoderFrontEnd, EncoderSettings, Error, KnownEncoder,
    Precision, Result,
    front_end::{StoredSettings, core_error},
    known::KNOWN,
};

/// Weights that are part of the program.
#[derive(Debug, Clone, Copy)]
pub struct Bundled {
    /// The encoder's name.
    pub name: &'static str,
    /// A checkpoint.
    pub bytes: &'static [u8],
}

/// Where encoders are looked for.
///
/// Each encoder is read once; a file the user names goes before everything else.
#[derive(Debug, Default)]
pub struct EncoderLibrary {
    bundled: Vec<Bundled>,
    folder: Option<PathBuf>,
    file: Option<PathBuf>,
    is_beside_others: bool,
    loaded: Mutex<Vec<(Place, Precision, Arc<Encoder>)>>,
}

/// Where weights are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Bundled(&'static str),
    File(PathBuf),
}

/// What is asked of an encoder's tokens; everything left out has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EncoderRequest {
    /// Layers, in any order.
    pub layers: Vec<usize>,
    /// Rows of tokens in a band.
    pub rows_per_band: Option<usize>,
    /// Whether the class token is taken.
    pub class_token: bool,
    /// What linear layers are computed in; `None` for the default of the kind
    /// ([`Architecture::default_precision`]).
    pub precision: Option<Precision>,
}

impl EncoderLibrary {
    /// Weights that are part of the program.
    pub fn new(bundled: Vec<Bundled>) -> Self {
        Self { bundled, ..Self::default() }
    }

    /// This library with a folder of pulled encoders.
    #[must_use]
    pub fn with_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.folder = folder;
        self
    }

    /// This library with a file that goes before everything else.
    #[must_use]
    pub fn with_file(mut self, file: Option<PathBuf>) -> Self {
        self.file = file;
        self
    }

    /// This library for a table with several encoders: the file is for those of its kind and size, and the others are
    /// looked for as if there were no file.
    #[must_use]
    pub fn beside_others(&self) -> Self {
        let (bundled, folder, file) =
            (self.bundled.clone(), self.folder.clone(), self.file.clone());
        Self { bundled, folder, file, is_beside_others: true, ..Self::default() }
    }

    /// Whether a name is that of an encoder or of a kind of encoder.
    pub fn knows(name: &str) -> bool {
        KnownEncoder::named(name).is_some()
    }

    /// Where the weights of a known encoder are on this machine, in words.
    pub fn where_is(&self, known: &KnownEncoder) -> Option<String> {
        match self.place_of(known).ok()? {
            Place::File(path) => Some(path.display().to_string()),
            Place::Bundled(_) => Some("part of this program".to_owned()),
        }
    }

    /// The encoder of a name.
    ///
    /// # Errors
    ///
    /// [`Error::NoWeights`] if it is not on this machine, [`Error::OtherWeights`] if the file the
    /// user named holds another kind, and those of loading it.
    pub fn encoder(&self, name: &str, precision: Precision) -> Result<Arc<Encoder>> {
        self.encoder_up_to(name, precision, usize::MAX)
    }

    /// The encoder of a name, to be run up to layer `last` at least.
    fn encoder_up_to(&self, name: &str, precision: Precision, last: usize) -> Result<Arc<Encoder>> {
        let Some(known) = KnownEncoder::named(name) else {
            return Err(auscult_core::Error::UnknownName {
                what: "encoder",
                got: name.to_owned(),
                known: KNOWN.iter().map(|known| known.name).collect::<Vec<_>>().join(", "),
            }
            .into());
        };
        let place = self.place_for(known)?;
        let encoder = self.load(place.clone(), precision, last)?;
        match place {
            Place::File(path) if self.file.as_ref() == Some(&path) => {
                if encoder.architecture() != known.architecture {
                    let (wanted, given) = (name.to_owned(), encoder.label());
                    return Err(Error::OtherKind { path, wanted, given });
                }
            }
            Place::File(path) => {
                known.check_size(&encoder).map_err(|error| error.in_file(&path))?;
            }
            Place::Bundled(_) => known.check_size(&encoder)?,
        }
        Ok(encoder)
    }

    /// The weights of a name, to be trained further.
    ///
    /// # Errors
    ///
    /// Those of [`EncoderLibrary::encoder`].
    pub fn checkpoint(&self, name: &str) -> Result<Checkpoint> {
        // Refuses what is unknown, missing or of another kind.
        self.encoder(name, Precision::F32)?;
        let known = KnownEncoder::named(name);
        let known = known.ok_or_else(|| Error::NoWeights { name: name.to_owned() })?;
        self.open(&self.place_for(known)?)
    }

    /// Whether the file that goes before everything else is for the encoder of a name; what is wrong with the file is
    /// told by whoever loads it.
    pub fn file_is_for(&self, name: &str) -> bool {
        let known = KnownEncoder::named(name).zip(self.file.as_ref());
        known.is_some_and(|(known, file)| self.is_of(file, known).unwrap_or(true))
    }

    fn is_of(&self, file: &Path, known: &KnownEncoder) -> Result<bool> {
        if !self.is_beside_others {
            return Ok(true);
        }
        let encoder = self.load(Place::File(file.to_owned()), Precision::F32, 0)?;
        let is_of_kind = encoder.architecture() == known.architecture;
        Ok(is_of_kind && known.check_size(&encoder).is_ok())
    }

    /// Where the weights that are taken for a known encoder are: the user's file, if it is for that one.
    fn place_for(&self, known: &KnownEncoder) -> Result<Place> {
        match &self.file {
            Some(file) if self.is_of(file, known)? => Ok(Place::File(file.clone())),
            _ => self.place_of(known),
        }
    }

    /// Where the weights of a known encoder are, whatever file the user named.
    fn place_of(&self, known: &KnownEncoder) -> Result<Place> {
        // Bundled weights go first: a model must not change because something was pulled.
        if let Some(bundled) = self.bundled.iter().find(|bundled| bundled.name == known.name) {
            return Ok(Place::Bundled(bundled.name));
        }
        match self.folder.as_ref().map(|folder| folder.join(known.file)) {
            Some(path) if path.is_file() => Ok(Place::File(path)),
            _ => Err(Error::NoWeights { name: known.name.to_owned() }),
        }
    }

    /// A front end of a name, with what is asked of it.
    ///
    /// # Errors
    ///
    /// Those of [`EncoderLibrary::encoder`] and [`EncoderFrontEnd::new`].
    pub fn front_end(
        &self,
        name: &str,
        request: &EncoderRequest,
        length: ClipLength,
    ) -> Result<Arc<dyn FrontEnd>> {
        // A name that is not known is refused below.
        let kind = KnownEncoder::named(name).map(|known| known.architecture);
        let default = kind.map(|kind| kind.default_layer(usize::MAX));
        let last = request.layers.iter().copied().max().or(default).unwrap_or(usize::MAX);
        let precision = request.precision.or(kind.map(Architecture::default_precision));
        let encoder = self.encoder_up_to(name, precision.unwrap_or_default(), last)?;
        let mut settings = EncoderSettings::for_encoder(&encoder);
        if !request.layers.is_empty() {
            settings.layers.clone_from(&request.layers);
            settings.layers.sort_unstable();
            if let Some([twice, ..]) = settings.layers.windows(2).find(|pair| pair[0] == pair[1]) {
                let got = format!("{twice} twice");
                return Err(Error::setting("layers", "different ones", got));
            }
        }
        settings.rows_per_band = request.rows_per_band.unwrap_or(settings.rows_per_band);
        settings.class_token = request.class_token;
        Ok(Arc::new(EncoderFrontEnd::new(encoder, settings, length)?))
    }

    /// The encoder with a fingerprint, wherever it is.
    fn with_fingerprint(
        &self,
        architecture: Architecture,
        stored: &StoredSettings,
    ) -> Result<Arc<Encoder>> {
        let precision = stored.precision.parse()?;
        let last = stored.layers.iter().copied().max().unwrap_or(usize::MAX);
        let mut others = Vec::new();
        for place in self.places(architecture) {
            let encoder = self.load(place.clone(), precision, last)?;
            if encoder.fingerprint() == stored.fingerprint {
                return Ok(encoder);
            }
            others.push(match place {
                Place::File(path) => format!("{} in {}", encoder.label(), path.display()),
                Place::Bundled(_) => encoder.label(),
            });
        }
        if others.is_empty() {
            return Err(Error::NoWeights { name: stored.encoder.clone() });
        }
        let fingerprint = stored.fingerprint.get(..12).unwrap_or(&stored.fingerprint);
        let wanted = format!("{} ({fingerprint})", stored.encoder);
        Err(Error::OtherWeights { wanted, given: others.join(", ") })
    }

    /// Where weights of a kind may be, best first.
    fn places(&self, architecture: Architecture) -> Vec<Place> {
        if let Some(file) = &self.file {
            return vec![Place::File(file.clone())];
        }
        let known = || KNOWN.iter().filter(move |known| known.architecture == architecture);
        let bundled =
            self.bundled.iter().filter(|bundled| known().any(|known| known.name == bundled.name));
        let pulled = self.folder.iter().flat_map(|folder| {
            known().map(|known| folder.join(known.file)).filter(|path| path.is_file())
        });
        bundled.map(|bundled| Place::Bundled(bundled.name)).chain(pulled.map(Place::File)).collect()
    }

    fn open(&self, place: &Place) -> Result<Checkpoint> {
        match place {
            Place::File(path) => Checkpoint::open(path),
            Place::Bundled(name) => {
                let bundled = self.bundled.iter().find(|bundled| bundled.name == *name);
                let bytes = bundled.map(|bundled| bundled.bytes).unwrap_or_default();
                Checkpoint::from_static(bytes)
            }
        }
    }

    fn load(&self, place: Place, precision: Precision, last: usize) -> Result<Arc<Encoder>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = |(at, how, encoder): &&(Place, Precision, Arc<Encoder>)| {
            *at == place && *how == precision && encoder.reaches(last)
        };
        if let Some((_, _, encoder)) = loaded.iter().find(wanted) {
            return Ok(Arc::clone(encoder));
        }
        let encoder = self
            .open(&place)
            .and_then(|checkpoint| Encoder::load_up_to(&checkpoint, Isa::best(), precision, last))
            .map_err(|error| match &place {
                Place::File(path) => error.in_file(path),
                Place::Bundled(_) => error,
            })?;
        let encoder = Arc::new(encoder);
        loaded.push((place, precision, Arc::clone(&encoder)));
        Ok(encoder)
    }

    /// The built-in front ends and these.
    pub fn front_ends(self: &Arc<Self>) -> FrontEnds {
        FrontEnds::built_in().with(Arc::clone(self) as Arc<dyn FrontEndSource>)
    }
}

impl FrontEndSource for EncoderLibrary {
    fn names(&self) -> Vec<String> {
        Architecture::ALL.iter().map(|architecture| architecture.name().to_owned()).collect()
    }

    fn build(
        &self,
        identity: &FrontEndIdentity,
        length: ClipLength,
    ) -> auscult_core::Result<Arc<dyn FrontEnd>> {
        let (architecture, stored) = StoredSettings::read(identity)?;
        let encoder = self.with_fingerprint(architecture, &stored).map_err(core_error)?;
        let front_end = EncoderFrontEnd::new(encoder, stored.into_settings(), length);
        let front_end = front_end.map_err(core_error)?;
        Ok(Arc::new(front_end))
    }
}

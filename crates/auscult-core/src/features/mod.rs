//! 2. Front ends: from the samples of a clip to a feature map with an ordered axis.
//!
//! A [`FrontEnd`] is shared and immutable; each thread asks it for an [`Extractor`], which owns
//! every buffer it needs and allocates nothing per clip. Sibling files have the same parts: a
//! convention with a name, settings, the front end, its extractor.

mod axis;
mod burg;
mod butterflies;
mod chirp;
mod cosine;
mod ensemble;
mod fft;
mod filter_bank;
mod framing;
mod lanes;
mod log_mel;
mod logarithm;
mod lpc;
mod mel;
mod members;
mod mfcc;
mod modulation;
mod registry;
mod spectrum;

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

pub use self::{
    axis::{Axis, AxisMeaning, AxisPart, Level},
    ensemble::{Ensemble, SEPARATOR},
    log_mel::{LogMel, LogMelConvention, LogMelSettings},
    lpc::{Lpc, LpcConvention, LpcSettings},
    members::{FORM_SEPARATOR, MemberFrontEnd, MemberOptions, MemberSettings, Normalisation},
    mfcc::{Mfcc, MfccConvention, MfccSettings},
    modulation::{Modulation, ModulationSettings},
    registry::{FrontEndSource, FrontEnds},
};
use crate::{
    BandSettings, ClipLength, Error, Result,
    pooling::{ClipVectors, Pooling, View},
};

/// Turns clips into feature maps (frames x axis).
///
/// Anything with an ordered axis fits: implement this trait and [`Extractor`] and the whole back
/// end works on it (see `examples/custom_front_end.rs` of the crate `auscult`).
pub trait FrontEnd: fmt::Debug + Send + Sync {
    /// The name and settings that make two front ends give the same numbers.
    fn identity(&self) -> FrontEndIdentity;

    /// What the positions of a feature vector stand for.
    fn axis(&self) -> &Axis;

    /// The views a clip has: mean and max, or one only when there are no frames to pool.
    fn views(&self) -> &'static [View];

    /// The bands the paper uses with this front end.
    fn default_bands(&self) -> BandSettings;

    /// The members of an ensemble of front ends, in the order of their parts of the axis; empty
    /// for a single one.
    fn members(&self) -> Vec<MemberSettings> {
        Vec::new()
    }

    /// The ensemble it is, if it is one.
    fn ensemble(&self) -> Option<&Ensemble> {
        None
    }

    /// How large the network is that it runs; `None` if it runs none.
    fn network(&self) -> Option<NetworkSize> {
        None
    }

    /// A worker with its own buffers; one a thread.
    fn extractor(&self) -> Box<dyn Extractor>;
}

/// How large a network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NetworkSize {
    /// Numbers it has learnt, of all layers.
    pub parameters: usize,
    /// Multiplications, each with an addition, for one clip: linear layers, convolutions and attention, up to the
    /// layer that is taken.
    pub multiply_accumulates: u64,
}

impl NetworkSize {
    /// Two networks together; either may not be there.
    pub(crate) fn sum(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(Self {
                parameters: one.parameters + other.parameters,
                multiply_accumulates: one.multiply_accumulates + other.multiply_accumulates,
            }),
            (one, other) => one.or(other),
        }
    }
}

/// Computes feature maps; owns the buffers.
pub trait Extractor: Send {
    /// Calls `sink` with each frame of the clip, in time order, each of the axis's length.
    ///
    /// `samples` is padded with zeros or cut to the clip length.
    ///
    /// # Errors
    ///
    /// Whatever the front end cannot do with the clip; the built-in ones take any samples.
    fn for_each_frame(&mut self, samples: &[f32], sink: &mut dyn FnMut(&[f32])) -> Result<()>;

    /// Pools the frames of a clip into `vectors`, one vector a view.
    ///
    /// # Errors
    ///
    /// Those of [`Extractor::for_each_frame`], [`Error::NotFinite`] if a feature is NaN or infinite,
    /// [`Error::VectorLength`] if a frame is not as long as `vectors`, and [`Error::NoFrames`].
    fn extract_into(&mut self, samples: &[f32], vectors: &mut ClipVectors) -> Result<()> {
        let mut pooling = Pooling::start(vectors);
        self.for_each_frame(samples, &mut |frame| pooling.add(frame))?;
        pooling.finish()
    }
}

/// Name and settings of a front end, as the model file holds them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrontEndIdentity {
    /// The name users type, such as `log-mel`.
    pub name: String,
    /// Everything else that changes the numbers.
    pub settings: serde_json::Value,
}

impl FrontEndIdentity {
    /// A front end that its name says everything about.
    pub fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), settings: serde_json::Value::Null }
    }

    /// The members of an ensemble; `None` for a single front end.
    pub fn members(&self) -> Option<Vec<Self>> {
        serde_json::from_value(self.settings.get("members")?.clone()).ok()
    }

    /// The views of each member of a stacked ensemble; `None` where members have common ones.
    ///
    /// # Errors
    ///
    /// [`Error::DamagedModel`] if there is not a list of views for each member.
    pub fn stacked_views(&self) -> Result<Option<Vec<Vec<View>>>> {
        let Some(views) = self.settings.get("views") else { return Ok(None) };
        let views: Option<Vec<Vec<View>>> = serde_json::from_value(views.clone()).ok();
        let members = self.members().map(|members| members.len());
        match views {
            Some(views) if Some(views.len()) == members => Ok(Some(views)),
            _ => {
                let reason = format!("the views of front end {} make no sense", self.name);
                Err(Error::DamagedModel { reason })
            }
        }
    }

    /// Refuses `got` where `expected` is compared; what was made by hand has neither.
    pub(crate) fn check_same(expected: Option<&Arc<Self>>, got: Option<&Arc<Self>>) -> Result<()> {
        match (expected, got) {
            (Some(expected), Some(got)) if !Arc::ptr_eq(expected, got) => expected.check(got),
            _ => Ok(()),
        }
    }

    /// Refuses another front end than this one.
    pub(crate) fn check(&self, got: &Self) -> Result<()> {
        if self == got {
            return Ok(());
        }
        let (mut expected, mut given) = (self.to_string(), got.to_string());
        if expected == given {
            expected = format!("{expected} {}", self.settings);
            given = format!("{given} {}", got.settings);
        }
        Err(Error::OtherFrontEnd { expected, got: given })
    }
}

impl fmt::Display for FrontEndIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |key: &str| self.settings.get(key).and_then(|value| value.as_str());
        if let Some(members) = self.members() {
            let names: Vec<String> = members.iter().map(ToString::to_string).collect();
            return formatter.write_str(&names.join(" + "));
        }
        match (text("convention"), text("encoder"), self.settings.get("layers")) {
            (Some(convention), ..) => write!(formatter, "{} ({convention})", self.name),
            (_, Some(encoder), Some(layers)) => {
                let layers = layers.to_string();
                write!(formatter, "{encoder} (layer {})", layers.trim_matches(['[', ']']))
            }
            _ => write!(formatter, "{}", self.name),
        }
    }
}

/// The front ends this crate brings, with their settings.
///
/// # Examples
///
/// ```
/// use auscult_core::{ClipSettings, features::FrontEndSettings};
///
/// let front_end = FrontEndSettings::named("mfcc", Some("librosa"))?
///     .build(ClipSettings::default().check()?)?;
/// assert_eq!(front_end.axis().len(), 90);
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FrontEndSettings {
    /// Log-mel filter bank energies.
    LogMel(LogMelSettings),
    /// Mel-frequency cepstral coefficients.
    Mfcc(MfccSettings),
    /// Spectrum of an all-pole model of the whole clip.
    Lpc(LpcSettings),
    /// How the loudness of frequency bands beats in time.
    Modulation(ModulationSettings),
}

impl Default for FrontEndSettings {
    fn default() -> Self {
        Self::LogMel(LogMelSettings::default())
    }
}

impl FrontEndSettings {
    /// The names [`FrontEndSettings::named`] knows.
    pub const NAMES: &'static [&'static str] = &["log-mel", "mfcc", "lpc", "modulation"];

    /// A front end by name, with the named convention or its default one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] with the known names, [`Error::Setting`] if a convention is given to a
    /// front end that has none.
    pub fn named(name: &str, convention: Option<&str>) -> Result<Self> {
        fn parse<T: std::str::FromStr<Err = Error> + Default>(name: Option<&str>) -> Result<T> {
            name.map_or_else(|| Ok(T::default()), str::parse)
        }
        match name {
            "log-mel" => Ok(Self::LogMel(LogMelSettings { convention: parse(convention)? })),
            "mfcc" => Ok(Self::Mfcc(MfccSettings {
                convention: parse(convention)?,
                ..MfccSettings::default()
            })),
            "lpc" => Ok(Self::Lpc(LpcSettings {
                convention: parse(convention)?,
                ..LpcSettings::default()
            })),
            "modulation" => match convention {
                None => Ok(Self::Modulation(ModulationSettings::default())),
                Some(got) => Err(Error::setting("convention of modulation", "none", got)),
            },
            _ => Err(Error::UnknownName {
                what: "front end",
                got: name.to_owned(),
                known: Self::NAMES.join(", "),
            }),
        }
    }

    /// The front end a model file names.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] if this crate does not bring it, [`Error::DamagedModel`] if its
    /// settings make no sense.
    pub fn from_identity(identity: &FrontEndIdentity) -> Result<Self> {
        fn parse<T: serde::de::DeserializeOwned>(identity: &FrontEndIdentity) -> Result<T> {
            serde_json::from_value(identity.settings.clone()).map_err(|error| Error::DamagedModel {
                reason: format!("settings of front end {}: {error}", identity.name),
            })
        }
        match identity.name.as_str() {
            "log-mel" => Ok(Self::LogMel(parse(identity)?)),
            "mfcc" => Ok(Self::Mfcc(parse(identity)?)),
            "lpc" => Ok(Self::Lpc(parse(identity)?)),
            "modulation" => Ok(Self::Modulation(parse(identity)?)),
            other => Self::named(other, None),
        }
    }

    /// Plans the front end for clips of one length.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if a setting is out of range or the clip is shorter than one frame.
    pub fn build(&self, length: ClipLength) -> Result<Arc<dyn FrontEnd>> {
        Ok(match self {
            Self::LogMel(settings) => Arc::new(LogMel::new(settings, length)?),
            Self::Mfcc(settings) => Arc::new(Mfcc::new(settings, length)?),
            Self::Lpc(settings) => Arc::new(Lpc::new(settings, length)?),
            Self::Modulation(settings) => Arc::new(Modulation::new(settings, length)?),
        })
    }
}

/// The identity of settings that serialise.
fn identity_of(name: &str, settings: &impl Serialize) -> FrontEndIdentity {
    FrontEndIdentity {
        name: name.to_owned(),
        // The built-in settings are plain numbers and names: they always serialise.
        settings: serde_json::to_value(settings).unwrap_or_default(),
    }
}

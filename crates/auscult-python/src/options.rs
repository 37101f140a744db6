//! What callers choose, as plain values: the package checks their types, the library their range.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use auscult::{
    BandSettings, BeamSettings, Calibrate, ClipLength, ClipRules, ClipSettings, Control, Error,
    FrontEnd, FrontEndChoice, FrontEndSpec, FrontEnds, LabelFolders, Learn, LearnMethod, Listen,
    Method, Preset, Promise, Sources,
    audio::{ClipRange, MemorySound},
    beam::BeamOverrides,
    members::MemberSpec,
    tuning::{Tune, TuneBudget, TunedSettings},
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::{
    arrays,
    error::{CallError, OrRaise, from_json},
    own::{OwnFrontEnd, OwnSource},
};

type Result<T> = std::result::Result<T, CallError>;

/// Recordings: paths, or arrays with their names and rates.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SourceOptions<'py> {
    paths: Vec<PathBuf>,
    sounds: Vec<(String, PyReadonlyArray1<'py, f32>, u32)>,
    /// One for each path or array; empty if nobody knows.
    visits: Vec<Option<String>>,
    domains: Vec<Option<String>>,
    samples_csv: Option<String>,
}

/// Recordings that need the interpreter no more.
pub(crate) struct GivenSources {
    paths: Vec<PathBuf>,
    pub(crate) sounds: Vec<MemorySound>,
    visits: Vec<Option<String>>,
    domains: Vec<Option<String>>,
    samples_csv: Option<String>,
}

impl SourceOptions<'_> {
    /// Copies arrays, so that nobody changes them while they are read.
    pub(crate) fn given(self, py: Python<'_>) -> PyResult<GivenSources> {
        let sound = |(name, array, rate): &(String, PyReadonlyArray1<'_, f32>, u32)| {
            MemorySound::new(name.as_str(), *rate, arrays::vector(array)?).or_raise(py)
        };
        Ok(GivenSources {
            sounds: self.sounds.iter().map(sound).collect::<PyResult<_>>()?,
            paths: self.paths,
            visits: self.visits,
            domains: self.domains,
            samples_csv: self.samples_csv,
        })
    }
}

impl GivenSources {
    /// The recordings that these stand for.
    pub(crate) fn open(&self) -> Result<Sources> {
        let has_names = !self.visits.is_empty() || !self.domains.is_empty();
        if !self.sounds.is_empty() {
            let one = |sound: &MemorySound| Ok(Sources::of_sounds([sound.clone()])?);
            return self.named(self.sounds.iter().map(one));
        }
        if has_names {
            return self.named(self.paths.iter().map(|path| self.expand([path])));
        }
        self.expand(&self.paths)
    }

    fn expand<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) -> Result<Sources> {
        match &self.samples_csv {
            Some(column) => Ok(Sources::of_tables(paths, &column.parse()?)?),
            None => Ok(Sources::of(paths)?),
        }
    }

    /// All of them, each with its visit and domain.
    fn named(&self, each: impl Iterator<Item = Result<Sources>>) -> Result<Sources> {
        let mut all: Option<Sources> = None;
        for (index, sources) in each.enumerate() {
            let mut sources = sources?;
            if let Some(Some(visit)) = self.visits.get(index) {
                sources = sources.of_visit(visit);
            }
            if let Some(Some(domain)) = self.domains.get(index) {
                sources = sources.of_domain(domain);
            }
            all = Some(match all {
                Some(before) => before.and(sources),
                None => sources,
            });
        }
        all.ok_or_else(|| Error::NoSources { problems: Vec::new() }.into())
    }
}

/// How to learn; what is `None` is as `auscult fit` has it without options.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct LearnOptions {
    preset: Option<String>,
    front_end: Option<String>,
    /// An `auscult._own.Function` instead of a name.
    function: Option<Py<PyAny>>,
    convention: Option<String>,
    /// [`BeamOverrides`] as JSON.
    compare: String,
    /// [`TunedSettings`] as JSON.
    settings: Option<String>,
    encoder_file: Option<PathBuf>,
    clip_seconds: Option<f64>,
    clip_rate: Option<u32>,
    /// Whether clips have the rate of the recordings.
    native_rate: bool,
    hop_seconds: Option<f64>,
    first_clips: bool,
    channel: Option<String>,
    label_folders: Option<String>,
    max_references: Option<usize>,
    storage: Option<String>,
    false_alarm_rate: Option<String>,
    confidence: Option<String>,
    calibration: Option<String>,
    alarm_budget: Option<String>,
}

impl LearnOptions {
    /// How to learn from these recordings.
    pub(crate) fn learn(&self, sources: &Sources, control: &Control) -> Result<Learn> {
        let defaults = Learn::default();
        let clip = ClipSettings {
            seconds: self.clip_seconds.unwrap_or(defaults.clip.seconds),
            sample_rate: if self.native_rate {
                sources.native_rate()?
            } else {
                self.clip_rate.unwrap_or(defaults.clip.sample_rate)
            },
        };
        let learn = Learn {
            clip,
            channel: parsed(self.channel.as_ref())?.unwrap_or(defaults.channel),
            hop_seconds: self.hop_seconds,
            rules: rules(self.first_clips),
            label_folders: label_folders(self.label_folders.as_deref())?,
            front_ends: front_ends(self.encoder_file.as_ref()),
            max_references: self.max_references,
            storage: parsed(self.storage.as_ref())?.unwrap_or(defaults.storage),
            false_alarm_rate: parsed(self.false_alarm_rate.as_ref())?
                .unwrap_or(defaults.false_alarm_rate),
            confidence: parsed(self.confidence.as_ref())?,
            calibration: parsed(self.calibration.as_ref())?.unwrap_or(defaults.calibration),
            alarm_budget: parsed(self.alarm_budget.as_ref())?,
            control: control.clone(),
            ..defaults
        };
        self.compared(learn)
    }

    /// With the front end and the way of comparing that were chosen.
    fn compared(&self, learn: Learn) -> Result<Learn> {
        let overrides: BeamOverrides = from_json(&self.compare)?;
        if let Some(settings) = &self.settings {
            let registry = learn.front_ends.registry();
            let unusable = |error| {
                refused(format!("settings are what Machine.tune gives or its file holds: {error}"))
            };
            let file = TunedSettings::from_json(settings, &registry).map_err(unusable)?;
            let front_end = file.front_end(&registry, file.clip.check()?)?;
            let detector = overrides.apply(&file.detector, &*front_end)?;
            let (channel, clip) = (file.channel.parse()?, file.clip);
            let (front_end, method) =
                (FrontEndChoice::Custom(front_end), LearnMethod::Compare(detector));
            return Ok(Learn { clip, channel, front_end, method, ..learn });
        }
        let preset = match &self.preset {
            Some(name) => Some(name.parse::<Preset>().map_err(refused)?),
            None => None,
        };
        let is_plain = self.front_end.is_none()
            && self.function.is_none()
            && self.convention.is_none()
            && overrides == BeamOverrides::default();
        if is_plain {
            return Ok(learn.with_preset(preset.unwrap_or_default()));
        }
        let length = learn.clip.check()?;
        let (made, usual) = match preset {
            Some(preset) => self.changed(preset, overrides, &learn, length)?,
            None => self.front_end(&learn.front_ends, length, overrides.band_width)?,
        };
        let detector = overrides.apply(&usual, &*made)?;
        let (front_end, method) = (FrontEndChoice::Custom(made), LearnMethod::Compare(detector));
        Ok(Learn { front_end, method, ..learn })
    }

    /// A preset with what is said of its members by name, which is all that can be said beside it but for how they are
    /// combined.
    fn changed(
        &self,
        preset: Preset,
        overrides: BeamOverrides,
        learn: &Learn,
        length: ClipLength,
    ) -> Result<(Arc<dyn FrontEnd>, BeamSettings)> {
        let beside = |what: &str| {
            refused(format!(
                "{what} cannot be given beside the preset {preset}, which chooses it; leave one out, or name the member it \
                 is for, as in front_end=\"modulation(neighbours=5)\""
            ))
        };
        if self.function.is_some() || self.convention.is_some() {
            return Err(beside("a front end"));
        }
        if (BeamOverrides { combine_members: None, ..overrides }) != BeamOverrides::default() {
            return Err(beside("how clips are compared"));
        }
        let (made, usual, note) = match &self.front_end {
            None => preset.build(&learn.front_ends, length)?,
            Some(text) => {
                let members = MemberSpec::parse_all(text)?;
                if members.iter().any(|member| member.options.is_none()) {
                    return Err(beside("a front end"));
                }
                preset.build_with(text, &learn.front_ends, length)?
            }
        };
        if let Some(note) = note {
            learn.control.report(auscult::Event::Note(&note));
        }
        Ok((made, usual))
    }

    /// The front end that was named or given, and how the paper compares with it.
    fn front_end(
        &self,
        front_ends: &FrontEnds,
        length: ClipLength,
        band_width: Option<usize>,
    ) -> Result<(Arc<dyn FrontEnd>, BeamSettings)> {
        if let Some(function) = &self.function {
            let function = Python::attach(|py| function.clone_ref(py));
            // Nobody knows the bands of a function but its owner.
            let bands = band_width.map_or(BandSettings::Whole, BandSettings::touching);
            let made = Arc::new(OwnFrontEnd::of_function(function, length, bands)?);
            let usual = BeamSettings::paper(Method::AdaBeam, &*made);
            return Ok((made, usual));
        }
        let name = self.front_end.clone().unwrap_or_else(|| "log-mel".to_owned());
        let spec = FrontEndSpec { convention: self.convention.clone(), ..FrontEndSpec::of(name) };
        let made = front_ends.named(&spec, length)?;
        let usual = front_ends.usual_detector(&spec, &*made)?;
        Ok((made, usual))
    }
}

/// How to add recordings to a machine.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AddOptions {
    hop_seconds: Option<f64>,
    first_clips: bool,
    label_folders: Option<String>,
}

impl AddOptions {
    pub(crate) fn learn(&self, control: &Control) -> Result<Learn> {
        Ok(Learn {
            hop_seconds: self.hop_seconds,
            rules: rules(self.first_clips),
            label_folders: label_folders(self.label_folders.as_deref())?,
            control: control.clone(),
            ..Learn::default()
        })
    }
}

/// How to listen.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ListenOptions {
    channel: Option<String>,
    hop_seconds: Option<f64>,
    first_clips: bool,
    domain: Option<String>,
    pub(crate) explain: bool,
}

impl ListenOptions {
    pub(crate) fn listen(&self, control: &Control) -> Result<Listen> {
        Ok(Listen {
            channel: parsed(self.channel.as_ref())?,
            hop_seconds: self.hop_seconds,
            rules: rules(self.first_clips),
            domain: self.domain.clone(),
            explain: self.explain,
            jobs: None,
            control: control.clone(),
        })
    }
}

/// What to change about a calibration.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CalibrateOptions {
    scheme: Option<String>,
    false_alarm_rate: Option<String>,
    confidence: Option<String>,
    budget: Option<String>,
    hop_seconds: Option<f64>,
    clear: Option<usize>,
}

impl CalibrateOptions {
    /// Changes, where `own` is what the model promises.
    pub(crate) fn calibrate(&self, own: Promise) -> Result<Calibrate> {
        let defaults = Calibrate::default();
        let promise = Promise {
            rate: parsed(self.false_alarm_rate.as_ref())?.unwrap_or(own.rate),
            confidence: parsed(self.confidence.as_ref())?.or(own.confidence),
        };
        Ok(Calibrate {
            scheme: parsed(self.scheme.as_ref())?,
            promise: Some(promise),
            budget: parsed(self.budget.as_ref())?,
            hop_seconds: self.hop_seconds,
            clear: self.clear.unwrap_or(defaults.clear),
        })
    }
}

/// How settings are chosen.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TuneOptions {
    clip_seconds: Option<f64>,
    clip_rate: Option<u32>,
    channel: Option<String>,
    hop_seconds: Option<f64>,
    first_clips: bool,
    label_folders: Option<String>,
    presets: Vec<String>,
    encoders: Vec<String>,
    max_clips: Option<usize>,
    seed: Option<u64>,
    most_settings: Option<usize>,
    most_seconds: Option<f64>,
}

impl TuneOptions {
    pub(crate) fn tune(&self, control: &Control) -> Result<Tune> {
        let defaults = Tune::default();
        let presets: Vec<Preset> =
            self.presets.iter().map(|name| name.parse().map_err(refused)).collect::<Result<_>>()?;
        let encoder = |name: &String| match name.split_once(':') {
            Some((name, convention)) => {
                FrontEndSpec { convention: Some(convention.to_owned()), ..FrontEndSpec::of(name) }
            }
            None => FrontEndSpec::of(name),
        };
        let seconds = self.most_seconds.map(|seconds| {
            std::time::Duration::try_from_secs_f64(seconds)
                .map_err(|_| refused(format!("most seconds must be 0 or more, got {seconds}")))
        });
        let budget = match (seconds.transpose()?, self.most_settings) {
            (Some(time), _) => Some(TuneBudget::Time(time)),
            (None, Some(most)) => Some(TuneBudget::Candidates(most)),
            (None, None) => None,
        };
        Ok(Tune {
            clip: ClipSettings {
                seconds: self.clip_seconds.unwrap_or(defaults.clip.seconds),
                sample_rate: self.clip_rate.unwrap_or(defaults.clip.sample_rate),
            },
            channel: parsed(self.channel.as_ref())?.unwrap_or(defaults.channel),
            hop_seconds: self.hop_seconds,
            rules: rules(self.first_clips),
            label_folders: label_folders(self.label_folders.as_deref())?,
            presets: if presets.is_empty() { defaults.presets.clone() } else { presets },
            encoders: self.encoders.iter().map(encoder).collect(),
            max_clips: self.max_clips.unwrap_or(defaults.max_clips),
            seed: self.seed.unwrap_or(defaults.seed),
            budget,
            control: control.clone(),
            ..defaults
        })
    }
}

/// The front ends of this build, or those with the weights in a file.
pub(crate) fn front_ends(encoder_file: Option<&PathBuf>) -> FrontEnds {
    encoder_file.map_or_else(FrontEnds::standard, FrontEnds::with_encoder_file)
}

/// These and the function that a model was made with.
pub(crate) fn with_function(front_ends: FrontEnds, function: Option<Py<PyAny>>) -> FrontEnds {
    match function {
        Some(function) => front_ends.with(Arc::new(OwnSource(function))),
        None => front_ends,
    }
}

fn rules(first_clips: bool) -> ClipRules {
    let clips = if first_clips { ClipRange::First } else { ClipRange::All };
    ClipRules { clips, ..ClipRules::field() }
}

fn label_folders(name: Option<&str>) -> Result<LabelFolders> {
    match name {
        None => Ok(LabelFolders::Unknown),
        Some("use") => Ok(LabelFolders::Use),
        Some("ignore") => Ok(LabelFolders::Ignore),
        Some(other) => Err(refused(format!("label folders must be use or ignore, got {other:?}"))),
    }
}

fn parsed<T: std::str::FromStr>(text: Option<&String>) -> Result<Option<T>>
where
    CallError: From<T::Err>,
{
    text.map(|text| text.parse().map_err(CallError::from)).transpose()
}

/// An error about a value, with this text.
fn refused(reason: impl ToString) -> CallError {
    CallError::Value(reason.to_string())
}

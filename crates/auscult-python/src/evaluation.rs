//! Data sets and protocols, with front ends of the caller's own beside ours.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use auscult::{
    BandSettings, ClipLength, ClipRules, ClipSettings, Control, Event, FrontEndIdentity,
    FrontEndSpec, FrontEnds, Reading, VectorCache,
    audio::ChannelRule,
    encoders::EncoderRequest,
    metrics::{Domain, Label},
};
use auscult_eval::{
    Error, Result,
    datasets::{ClipFile, Dataset, DatasetKind, Truth},
    fine_tuning::FineTuning,
    given::{GivenFrames, GivenFrontEnd, clips_of, systems_of},
    protocol::Protocol,
    run::{
        DataTables, FrontEndName, RunFacts, RunResults, RunSettings, SectionResult, Threshold,
        evaluate, identities, latex, markdown, page, write_submission,
    },
    systems::SystemSettings,
};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::{
    arrays, control,
    error::{OrRaise, input_error},
    own::{OwnFrontEnd, OwnShape},
    threads,
};

/// The names of the protocols that come with the package.
#[pyfunction]
pub(crate) fn protocol_names() -> Vec<&'static str> {
    Protocol::names().collect()
}

/// Which clips of a data set are wanted.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DataOptions {
    dataset: Option<String>,
    roots: Vec<PathBuf>,
    truth: Vec<PathBuf>,
    machines: Vec<String>,
    sets: Vec<String>,
}

impl DataOptions {
    fn open(&self, kind: DatasetKind, roots: &[PathBuf], sets: &[String]) -> Result<Dataset> {
        let truth = Truth::open_for(kind, &self.truth)?;
        let mut dataset = Dataset::open(kind, roots, truth.as_ref())?;
        let sets = if self.sets.is_empty() { sets } else { &self.sets };
        dataset.keep(&self.machines, sets)?;
        Ok(dataset)
    }

    fn kind(&self) -> Result<Option<DatasetKind>> {
        self.dataset.as_ref().map(|name| name.parse()).transpose()
    }

    /// The data sets of a protocol that are there.
    fn open_all(&self, protocol: &Protocol, facts: &mut RunFacts) -> Result<Vec<Dataset>> {
        if let Some(kind) = self.kind()? {
            return Ok(vec![self.open(kind, &self.roots, &[])?]);
        }
        let mut datasets = Vec::new();
        for &kind in &protocol.datasets {
            let is_only_one = protocol.datasets.len() == 1;
            let found = self.roots.iter().filter_map(|root| kind.locate(root, is_only_one));
            let roots: Vec<PathBuf> = found.collect();
            if roots.is_empty() {
                facts.not_run.push(format!("{kind}: skipped, data set not found"));
            } else {
                datasets.push(self.open(kind, &roots, &protocol.sets)?);
            }
        }
        if datasets.is_empty() {
            let names: Vec<String> = protocol.datasets.iter().map(ToString::to_string).collect();
            let roots: Vec<String> =
                self.roots.iter().map(|root| root.display().to_string()).collect();
            let reason = format!(
                "none of {} is in {}; put each in a folder of its name, or name the data set if the folder is one",
                names.join(", "),
                roots.join(" and ")
            );
            return Err(Error::Dataset { kind: protocol.name.clone(), reason });
        }
        Ok(datasets)
    }
}

/// The clips of a data set as JSON: a list of rows, and remarks on what was found.
#[pyfunction]
pub(crate) fn load_dataset(py: Python<'_>, options: DataOptions) -> PyResult<String> {
    let load = || -> Result<String> {
        let kind = match options.kind()? {
            Some(kind) => kind,
            None => DatasetKind::guess(&options.roots)?,
        };
        let dataset = options.open(kind, &options.roots, &[])?;
        let rows: Vec<Value> = dataset
            .clips
            .iter()
            .map(|clip| {
                json!({
                    "path": clip.file.label(),
                    "name": clip.name,
                    "machine": clip.machine,
                    "section": clip.section,
                    "set": clip.set,
                    "split": clip.split,
                    "label": clip.label.map(Label::name),
                    "domain": clip.domain.map(Domain::name),
                    "attributes": clip.attributes,
                })
            })
            .collect();
        let remarks = dataset.remarks();
        Ok(json!({ "dataset": kind.to_string(), "rows": rows, "remarks": remarks }).to_string())
    };
    threads::compute(py, load)?.or_raise(py)
}

/// How many samples the clips of a protocol have, and at which rate.
#[pyfunction]
#[pyo3(signature = (protocol, clip_seconds=None))]
pub(crate) fn protocol_length(
    py: Python<'_>,
    protocol: PathBuf,
    clip_seconds: Option<f64>,
) -> PyResult<(usize, u32)> {
    let protocol = Protocol::find(&protocol).or_raise(py)?;
    let seconds = clip_seconds.unwrap_or(protocol.clip_seconds);
    let length =
        ClipSettings { sample_rate: protocol.sample_rate, seconds }.check().or_raise(py)?;
    Ok((length.samples(), length.sample_rate()))
}

/// A front end of the caller's own: a function, or vectors of every clip in the order of [`load_dataset`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OwnOptions<'py> {
    name: String,
    /// Tells one version of it from another, so that results are not mixed up.
    token: String,
    axis_len: usize,
    has_frames: bool,
    band_width: Option<usize>,
    function: Option<Py<PyAny>>,
    vectors: Option<PyReadonlyArray2<'py, f32>>,
}

/// An own front end that waits for the data sets.
struct Own {
    name: String,
    token: String,
    axis_len: usize,
    has_frames: bool,
    band_width: Option<usize>,
    numbers: OwnGiven,
}

enum OwnGiven {
    Function(Py<PyAny>),
    Matrix(Vec<f32>),
}

impl OwnOptions<'_> {
    fn given(self, py: Python<'_>) -> PyResult<Own> {
        let numbers = match (self.function, &self.vectors) {
            (Some(function), _) => OwnGiven::Function(function),
            (None, Some(vectors)) => OwnGiven::Matrix(arrays::matrix(vectors)?.0.to_vec()),
            (None, None) => {
                return Err(input_error(py, "a front end needs a function or vectors"));
            }
        };
        Ok(Own {
            name: self.name,
            token: self.token,
            axis_len: self.axis_len,
            has_frames: self.has_frames,
            band_width: self.band_width,
            numbers,
        })
    }
}

impl Own {
    fn systems(&self) -> Vec<SystemSettings> {
        systems_of(&self.name, self.band_width.is_some(), self.has_frames)
    }

    fn build(self, datasets: &[Dataset], reading: &Reading) -> Result<Arc<dyn auscult::FrontEnd>> {
        let function = match self.numbers {
            OwnGiven::Function(function) => function,
            OwnGiven::Matrix(values) => {
                let given = rows_of(&self.name, &values, self.axis_len, datasets)?;
                let width = self.band_width;
                let name = &self.name;
                return Ok(Arc::new(GivenFrontEnd::new(name, name, width, given, reading)?));
            }
        };
        let settings = json!({ "own": self.token });
        let identity = FrontEndIdentity { name: self.name, settings };
        let shape = OwnShape { axis_len: self.axis_len, has_frames: self.has_frames };
        let bands = self.band_width.map_or(BandSettings::Whole, BandSettings::touching);
        let rate = reading.length().sample_rate();
        Ok(Arc::new(OwnFrontEnd::new(identity, shape, bands, rate, function)))
    }
}

/// A vector for each clip, in the order of [`load_dataset`].
fn rows_of<'a>(
    name: &str,
    values: &[f32],
    features: usize,
    datasets: &'a [Dataset],
) -> Result<Vec<(&'a ClipFile, GivenFrames)>> {
    let clips = clips_of(datasets);
    let rows = values.len() / features.max(1);
    if rows != clips.len() {
        let reason = format!(
            "has {rows} vectors, and there are {} clips; give one for each row of datasets.load, in its order",
            clips.len()
        );
        return Err(Error::Dataset { kind: name.to_owned(), reason });
    }
    let rows = values.chunks_exact(features).map(|row| GivenFrames {
        values: row.to_vec(),
        features,
        is_vector: true,
    });
    Ok(clips.into_iter().zip(rows).collect())
}

/// What to run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunOptions {
    /// A name, or a file.
    protocol: PathBuf,
    /// Systems beside those of the protocol, as JSON; the usual ones of own front ends if not given.
    systems: Option<String>,
    /// Whether the protocol's own systems are left out.
    only_own: bool,
    clip_seconds: Option<f64>,
    out: Option<PathBuf>,
    cache: Option<PathBuf>,
    samples: usize,
    command: String,
    machine: String,
}

/// Runs a protocol on the data sets that are there.
#[pyfunction]
pub(crate) fn run_protocol(
    py: Python<'_>,
    options: RunOptions,
    data: DataOptions,
    own: Vec<OwnOptions<'_>>,
    sink: &Bound<'_, PyAny>,
) -> PyResult<BenchRun> {
    let own: Vec<Own> = own.into_iter().map(|own| own.given(py)).collect::<PyResult<_>>()?;
    control::watch(py, sink, |control| run(&options, &data, own, control))
}

fn run(
    options: &RunOptions,
    data: &DataOptions,
    own: Vec<Own>,
    control: &Control,
) -> Result<BenchRun> {
    let mut protocol = Protocol::find(&options.protocol)?;
    if let Some(seconds) = options.clip_seconds.filter(|&it| it != protocol.clip_seconds) {
        protocol.clip_seconds = seconds;
        protocol.forget_paper();
    }
    refuse_taken_names(&own, &protocol)?;
    let wrong = |reason: String| Error::Protocol { path: options.protocol.clone(), reason };
    let systems: Vec<SystemSettings> = match &options.systems {
        Some(systems) => serde_json::from_str(systems).map_err(|error| wrong(error.to_string()))?,
        None => own.iter().flat_map(Own::systems).collect(),
    };
    if options.only_own {
        protocol.systems.clear();
        protocol.diagnostics.clear();
    }
    protocol.systems.extend(systems);
    for system in &protocol.systems {
        system.check()?;
    }
    let clip = ClipSettings { sample_rate: protocol.sample_rate, seconds: protocol.clip_seconds };
    let channel: ChannelRule = protocol.channel.parse()?;
    let mut facts = RunFacts {
        command: options.command.clone(),
        program: format!("auscult {} for Python", env!("CARGO_PKG_VERSION")),
        machine: options.machine.clone(),
        ..RunFacts::default()
    };
    facts.remarks = protocol.choose_members(clip.check()?);
    let datasets =
        if protocol.needs_data() { data.open_all(&protocol, &mut facts)? } else { Vec::new() };
    for dataset in &datasets {
        facts.data.insert(dataset.kind.to_string(), dataset.fingerprint());
        facts.remarks.extend(dataset.remarks());
    }
    for note in facts.remarks.iter().chain(&facts.not_run) {
        control.report(Event::Note(note));
    }
    let reading = Reading::new(clip, channel, None, ClipRules::protocol())?;
    let own: Vec<Arc<dyn auscult::FrontEnd>> =
        own.into_iter().map(|own| own.build(&datasets, &reading)).collect::<Result<_>>()?;
    let cache = options.cache.clone().map(|folder| Arc::new(VectorCache::new(folder)));
    let front_ends = FrontEnds::standard().with_cache(cache);
    let maker = |name: &FrontEndName, length| make(name, length, &own, &front_ends);
    let named = FrontEndName::all(&protocol.systems, &protocol.diagnostics);
    facts.front_ends = identities(&named, clip.check()?, &maker);
    let tables = DataTables::of(&protocol, &datasets, clip.check()?, &maker)?;
    let settings =
        RunSettings { clip, channel, out: options.out.as_deref(), front_ends: &maker, control };
    let mut sections = Vec::new();
    for dataset in datasets.iter().filter(|_| !named.is_empty()) {
        let found = evaluate(dataset, &protocol.systems, &protocol.diagnostics, &settings)?;
        let found = found.ok_or(auscult::Error::Cancelled)?;
        sections.extend(found.sections);
        facts.missing = found.missing;
    }
    for missing in &facts.missing {
        let text = format!("not run: {}: {}", missing.front_end, missing.reason);
        control.report(Event::Problem(&text));
    }
    let results = RunResults::new(protocol, facts, &sections, options.samples).with_data(tables);
    for problem in &results.problems {
        control.report(Event::Problem(problem));
    }
    Ok(BenchRun { results, sections })
}

/// An own front end would take the place of the one that has its name, in the protocol's rows too.
fn refuse_taken_names(own: &[Own], protocol: &Protocol) -> Result<()> {
    let mut taken = FrontEnds::standard().registry().names();
    let named = FrontEndName::all(&protocol.systems, &protocol.diagnostics);
    taken.extend(named.values().flat_map(|named| named.name.split('+')).map(str::to_owned));
    taken.sort();
    taken.dedup();
    match own.iter().find(|own| taken.contains(&own.name)) {
        None => Ok(()),
        Some(own) => Err(auscult::core::Error::Setting {
            setting: "the name of an own front end",
            allowed: format!("none of {}", taken.join(", ")),
            got: own.name.clone(),
        }
        .into()),
    }
}

/// An own front end, a built-in one, or an encoder on this machine.
fn make(
    named: &FrontEndName,
    length: ClipLength,
    own: &[Arc<dyn auscult::FrontEnd>],
    front_ends: &FrontEnds,
) -> std::result::Result<Arc<dyn auscult::FrontEnd>, String> {
    if let Some(own) = own.iter().find(|own| own.identity().name == named.name) {
        return Ok(Arc::clone(own));
    }
    if FineTuning::seed_of(&named.name).is_some() {
        return Err("its encoder is trained by the program: auscult bench run".to_owned());
    }
    let spec = FrontEndSpec {
        name: named.name.clone(),
        convention: named.convention.clone(),
        encoder: EncoderRequest { precision: named.precision, ..EncoderRequest::default() },
    };
    front_ends.named(&spec, length).map_err(|error| error.to_string())
}

/// What a run came to.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct BenchRun {
    results: RunResults,
    sections: Vec<SectionResult>,
}

#[pymethods]
impl BenchRun {
    /// Everything as JSON, as `results.json` of the program has it.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.results).or_raise(py)
    }

    /// The sections with the score of every clip, as JSON.
    fn sections(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.sections).or_raise(py)
    }

    fn markdown(&self) -> String {
        markdown(&self.results)
    }

    fn latex(&self) -> String {
        latex(&self.results)
    }

    fn page(&self) -> String {
        page(&self.results)
    }

    /// Writes the files of a submission.
    fn submission(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        system: &str,
        threshold: &str,
    ) -> PyResult<Vec<PathBuf>> {
        let threshold = match threshold {
            "gamma" => Threshold::Gamma,
            "quantile" => Threshold::Quantile,
            other => {
                let text = format!("the threshold must be gamma or quantile, got {other:?}");
                return Err(input_error(py, text));
            }
        };
        let written = write_submission(&self.sections, system, threshold, Path::new(&folder));
        Ok(written.or_raise(py)?.files)
    }
}

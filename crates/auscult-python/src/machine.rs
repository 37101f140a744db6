//! A machine: everything the library does with one.

use std::{path::PathBuf, sync::Arc};

use auscult::{
    ClipRecord, Error, Event, Forget, Model, Scorer, Sources,
    tuning::{Search, StateFile, TunedSettings},
};
use auscult_report::Report;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyBytes};
use serde_json::json;

use crate::{
    arrays, control,
    error::{CallError, OrRaise},
    live::Live,
    options::{
        AddOptions, CalibrateOptions, GivenSources, LearnOptions, ListenOptions, SourceOptions,
        TuneOptions, front_ends, with_function,
    },
    records::Records,
    threads,
    waiting::Waiting,
};

/// A machine that is never changed; what changes one gives another.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct Machine {
    machine: Arc<auscult::Machine>,
    /// Making one costs more than a clip does.
    scorers: Waiting<Scorer<'static>>,
}

impl Machine {
    fn of(machine: auscult::Machine) -> Self {
        Self { machine: Arc::new(machine), scorers: Waiting::default() }
    }

    fn model(&self) -> &Model {
        self.machine.model()
    }

    /// Lends a scorer that nobody else has.
    fn with_scorer<T>(&self, work: impl FnOnce(&mut Scorer<'static>) -> T) -> T {
        let spare = self.scorers.take();
        let mut scorer = spare.unwrap_or_else(|| Scorer::shared(Arc::clone(&self.machine)));
        let result = work(&mut scorer);
        self.scorers.put(scorer);
        result
    }
}

#[pymethods]
impl Machine {
    #[staticmethod]
    fn learn(
        py: Python<'_>,
        sources: SourceOptions<'_>,
        options: LearnOptions,
        sink: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let given = sources.given(py)?;
        let machine = control::watch(py, sink, |control| {
            let sources = given.open()?;
            let learn = options.learn(&sources, control)?;
            let machine = auscult::Machine::learn(sources, &learn)?;
            report_doubts(&machine, control);
            Ok::<_, CallError>(machine)
        })?;
        Ok(Self::of(machine))
    }

    #[staticmethod]
    #[pyo3(signature = (path, encoder_file=None, function=None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        encoder_file: Option<PathBuf>,
        function: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let front_ends = with_function(front_ends(encoder_file.as_ref()), function);
        let open = || auscult::Machine::open_with(path, &front_ends);
        Ok(Self::of(threads::compute(py, open)?.or_raise(py)?))
    }

    #[staticmethod]
    #[pyo3(signature = (bytes, function=None))]
    fn from_bytes(py: Python<'_>, bytes: &[u8], function: Option<Py<PyAny>>) -> PyResult<Self> {
        let front_ends = with_function(front_ends(None), function);
        let open = || {
            let model = Model::from_bytes(bytes)?;
            Ok::<_, CallError>(auscult::Machine::from_model(model, &front_ends)?)
        };
        Ok(Self::of(threads::compute(py, open)?.or_raise(py)?))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.model().to_bytes()).or_raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.machine.save(path)).or_raise(py)
    }

    /// One clip at the model's rate, without any detour; `None` if it is not scored, of which `listen` has more to say.
    fn score_clip(
        &self,
        py: Python<'_>,
        name: &str,
        samples: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Option<Records>> {
        let samples = arrays::vector(&samples)?;
        let score = || self.with_scorer(|scorer| scorer.score(samples));
        let front_end = &self.model().settings().front_end;
        let mut record = threads::compute_one(py, front_end, score)?.or_raise(py)?;
        name.clone_into(&mut record.path);
        Ok(record.scored.is_some().then(|| Records::of(vec![record])))
    }

    /// Every clip of the recordings.
    fn listen(
        &self,
        py: Python<'_>,
        sources: SourceOptions<'_>,
        options: ListenOptions,
        sink: &Bound<'_, PyAny>,
    ) -> PyResult<Records> {
        let given = sources.given(py)?;
        control::watch(py, sink, |control| self.records_of(given, &options, control))
    }

    /// The samples of the clip that starts at `start_seconds`; `None` if the recording cannot be read again.
    fn samples_at<'py>(
        &self,
        py: Python<'py>,
        records: &Records,
        path: &str,
        start_seconds: f64,
    ) -> Option<Bound<'py, PyArray1<f32>>> {
        let location = records.location(path);
        let samples = py.detach(|| self.machine.reading().samples_at(&location, start_seconds));
        samples.map(|samples| PyArray1::from_vec(py, samples))
    }

    fn add(
        &self,
        py: Python<'_>,
        sources: SourceOptions<'_>,
        options: AddOptions,
        sink: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let given = sources.given(py)?;
        let grown = control::watch(py, sink, |control| {
            Ok::<_, CallError>(self.machine.add(given.open()?, &options.learn(control)?)?)
        })?;
        Ok(Self::of(grown))
    }

    fn forget(
        &self,
        py: Python<'_>,
        visits: Vec<String>,
        sources: Vec<String>,
        indices: Vec<usize>,
    ) -> PyResult<Self> {
        let forget = Forget { visits, sources, indices };
        Ok(Self::of(threads::compute(py, || self.machine.forget(&forget))?.or_raise(py)?))
    }

    fn coreset(&self, py: Python<'_>, most: usize) -> PyResult<Self> {
        Ok(Self::of(threads::compute(py, || self.machine.coreset(most))?.or_raise(py)?))
    }

    /// The calibrated machine, and the plan of an alarm budget as JSON.
    fn calibrate(
        &self,
        py: Python<'_>,
        options: CalibrateOptions,
    ) -> PyResult<(Self, Option<String>)> {
        let calibrate = || {
            let calibrate = options.calibrate(self.model().settings().promise())?;
            Ok::<_, CallError>(self.machine.calibrate(&calibrate)?)
        };
        let (machine, plan) = threads::compute(py, calibrate)?.or_raise(py)?;
        let plan = plan.map(|plan| {
            let is_kept = plan.is_kept();
            serde_json::to_string(&json!({ "is_kept": is_kept, "plan": plan })).or_raise(py)
        });
        Ok((Self::of(machine), plan.transpose()?))
    }

    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        threads::compute(py, || self.machine.verify())?.or_raise(py)
    }

    fn live(&self, py: Python<'_>, sample_rate: u32) -> PyResult<Live> {
        Live::new(py, &self.machine, sample_rate)
    }

    /// Writes the page about the machine and these records, whole or not at all.
    fn write_page(
        &self,
        py: Python<'_>,
        path: PathBuf,
        title: &str,
        records: &Records,
    ) -> PyResult<()> {
        let write = || -> Result<(), CallError> {
            auscult::files::check_target(&path)?;
            let page = self.report(title, records).render();
            Ok(auscult::files::write_atomically(&path, page.as_bytes())?)
        };
        threads::compute(py, write)?.or_raise(py)
    }

    /// Everything else that is known about it, as JSON.
    fn facts(&self, py: Python<'_>) -> PyResult<String> {
        let (model, learned) = (self.model(), self.machine.learned());
        let standing = model.standing();
        let preset = auscult::Preset::of_model(&front_ends(None), model);
        let facts = json!({
            "settings": model.settings(),
            "front_end": model.settings().front_end.to_string(),
            "preset": preset.filter(|found| found.differs.is_empty()).map(|found| found.preset.name()),
            "references": model.references().provenance(),
            "threshold": model.threshold(),
            "promised": standing.is_promised(),
            "shortcoming": standing.lack().map(|lack| lack.to_string()),
            "basis": model.calibration().basis().name(),
            "domains": self.machine.domains(),
            "hash": &**self.machine.hash(),
            "files": learned.files,
            "visits": learned.visits,
            "left_out": learned.left_out.iter().map(|one| json!({
                "path": one.path,
                "start_seconds": one.start_seconds,
                "kind": one.reason.name(),
                "text": one.to_string(),
            })).collect::<Vec<_>>(),
            "budget": learned.budget,
        });
        serde_json::to_string(&facts).or_raise(py)
    }

    /// Left-out scores of the references, ascending: what new normal clips score.
    fn calibration_scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.model().calibration().scores())
    }

    /// The name of its front end, as model files hold it.
    #[getter]
    fn front_end_name(&self) -> &str {
        &self.model().settings().front_end.name
    }

    #[getter]
    fn sample_rate(&self) -> u32 {
        self.machine.reading().length().sample_rate()
    }

    #[getter]
    fn clip_samples(&self) -> usize {
        self.machine.reading().length().samples()
    }

    #[getter]
    fn reference_count(&self) -> usize {
        self.model().references().len()
    }

    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.model().threshold()
    }
}

impl Machine {
    fn records_of(
        &self,
        given: GivenSources,
        options: &ListenOptions,
        control: &auscult::Control,
    ) -> Result<Records, CallError> {
        let mut listening = self.machine.listen_with(given.open()?, &options.listen(control)?)?;
        let (mut records, mut problems) = (Vec::<ClipRecord>::new(), Vec::new());
        let mut first = None;
        for clip in listening.by_ref() {
            match clip {
                Ok(record) => records.push(record),
                Err(Error::Cancelled) => return Err(Error::Cancelled.into()),
                Err(error) => {
                    control.report(Event::Problem(&error.to_string()));
                    problems.push(error.to_string());
                    first.get_or_insert(error);
                }
            }
        }
        if let (true, Some(error)) = (records.is_empty(), first) {
            return Err(error.into());
        }
        let summary = listening.summary();
        let sounds = if options.explain { given.sounds } else { Vec::new() };
        Ok(Records::of_run(records, problems, summary, sounds))
    }

    fn report<'a>(&'a self, title: &'a str, records: &'a Records) -> Report<'a> {
        let place = |path: &str| records.location(path);
        Report::of_run(title, &self.machine, records.list(), &auscult::Listen::default(), &place)
            .with_changed(records.changed())
    }
}

/// Says why the verdicts of a new machine are not to be relied on.
fn report_doubts(machine: &auscult::Machine, control: &auscult::Control) {
    if let Some(lack) = machine.model().standing().lack() {
        control.report(Event::Problem(&format!("verdicts are not promised yet: {lack}")));
    }
    if let Some(doubt) = &machine.learned().doubt {
        control.report(Event::Problem(doubt));
    }
}

/// Settings chosen from normal recordings: JSON of the settings, and of the ranking.
#[pyfunction]
pub(crate) fn tune(
    py: Python<'_>,
    sources: SourceOptions<'_>,
    outliers: Option<SourceOptions<'_>>,
    options: TuneOptions,
    sink: &Bound<'_, PyAny>,
) -> PyResult<(String, String)> {
    let given = sources.given(py)?;
    let others = outliers.map(|outliers| outliers.given(py)).transpose()?;
    control::watch(py, sink, |control| {
        let tune = options.tune(control)?;
        let outliers: Option<Sources> = others.as_ref().map(GivenSources::open).transpose()?;
        let search = Search::new(given.open()?, outliers, &tune)?;
        let ranking = search.run(&mut StateFile::in_memory(&search))?;
        if control.is_cancelled() {
            return Err(CallError::from(Error::Cancelled));
        }
        let chosen = ranking.recommended().ok_or(Error::Cancelled)?;
        let candidate = &chosen.evaluation.candidate;
        let settings = TunedSettings::new(candidate, tune.clip, tune.channel.to_string());
        let ranking = json!({ "chosen": chosen, "ranking": ranking.candidates });
        Ok((settings.to_json()?, ranking.to_string()))
    })
}

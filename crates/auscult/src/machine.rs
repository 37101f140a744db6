//! A machine: a model with everything needed to learn, listen and explain.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, OnceLock},
};

use auscult_core::{
    CalibrationScheme, ClipRecord, ClipVectors, Explanation, FrontEnd, Judge, Model, Promise,
    Standing,
    alarm::{AlarmBudget, BudgetPlan},
    quality::UsualRecording,
    record::{BandNames, RecordPromise},
};

use crate::{
    Changed, ClipRules, Error, FrontEnds, IntoSources, Learn, Learned, Listen, Listening, Live,
    Reading, Result, Scorer, Sources, Threads, changed::RunTally, learn,
};

/// What a machine sounds like when it is well, ready to be compared with.
///
/// # Examples
///
/// ```no_run
/// use auscult::{Learn, Machine, Sources};
///
/// let pump = Machine::learn("recordings/", &Learn::default())?;
/// pump.save("pump.auscult")?;
/// for clip in pump.listen(Sources::of(["today/"])?) {
///     let clip = clip?;
///     println!("{} {} {}", clip.name(), clip.verdict(), clip.reason());
/// }
/// # Ok::<(), auscult::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Machine {
    model: Model,
    front_end: Arc<dyn FrontEnd>,
    /// Thresholds of the domains the model knows.
    judges: BTreeMap<String, (Judge, RecordPromise)>,
    promise: RecordPromise,
    names: BandNames,
    usual_recording: UsualRecording,
    reading: Reading,
    hash: OnceLock<Arc<str>>,
    learned: Learned,
}

impl Machine {
    /// Learns how a machine sounds from normal recordings, exactly as `auscult fit` does.
    ///
    /// Sub-folders are visits, manifests may name visits, domains and labels; what is silent, damaged, a copy or not
    /// labelled as normal is left out, and [`Machine::learned`] says so.
    ///
    /// # Errors
    ///
    /// If there is nothing to learn from, a setting is out of range, folder names look like labels
    /// ([`Error::LabelFolders`]), the alarm budget cannot be kept ([`Error::BudgetNotKept`]), or the work was cancelled.
    pub fn learn(sources: impl IntoSources, learn: &Learn) -> Result<Self> {
        learn::learn(sources.into_sources()?, learn)
    }

    /// Opens a model file with the front ends of this build and the encoders in the user's cache folder.
    ///
    /// # Errors
    ///
    /// If the file is not an undamaged model of a known version, or its front end cannot be made here.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &FrontEnds::standard())
    }

    /// Opens a model file with these front ends.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::open`].
    pub fn open_with(path: impl AsRef<Path>, front_ends: &FrontEnds) -> Result<Self> {
        let (model, fingerprint) = auscult_files::load_with_fingerprint(path)?;
        let machine = Self::from_model(model, front_ends)?;
        // Set once, here: nobody has seen the machine yet.
        let _ = machine.hash.set(Arc::from(fingerprint));
        Ok(machine)
    }

    /// A machine from a model that is in memory already.
    ///
    /// # Errors
    ///
    /// If the model's front end cannot be made.
    pub fn from_model(model: Model, front_ends: &FrontEnds) -> Result<Self> {
        let front_end = front_ends.of_model(&model)?;
        let learned = Learned::of_model(&model);
        Self::assemble(model, front_end, learned)
    }

    pub(crate) fn assemble(
        model: Model,
        front_end: Arc<dyn FrontEnd>,
        learned: Learned,
    ) -> Result<Self> {
        let basis = model.calibration().basis();
        let promise = |standing: Standing| RecordPromise {
            is_promised: standing.is_promised(),
            condition: standing.condition(basis).map(Arc::from),
        };
        let judges = model.calibration().domain_names().into_iter().filter_map(|domain| {
            let judge = model.judge_of_domain(domain)?;
            let promise = promise(judge.standing());
            Some((domain.to_owned(), (judge, promise)))
        });
        let settings = model.settings();
        let channel = settings.channel.parse()?;
        let reading = Reading::new(settings.clip, channel, None, ClipRules::field())?;
        Ok(Self {
            judges: judges.collect(),
            promise: promise(model.standing()),
            names: BandNames::new(&model, front_end.axis()),
            usual_recording: model.usual_recording(),
            reading,
            hash: OnceLock::new(),
            model,
            front_end,
            learned,
        })
    }

    /// This machine with another model of the same front end.
    fn with_model(&self, model: Model) -> Result<Self> {
        let learned = Learned::of_model(&model);
        Self::assemble(model, Arc::clone(&self.front_end), learned)
    }

    /// Writes the model file, replacing what is there only once all of it is on the disk.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or something that is not a model is there already.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        auscult_files::check_model_target(path.as_ref())?;
        Ok(auscult_files::save(&self.model, path)?)
    }

    /// Scores every clip of the sources, in their order.
    ///
    /// A recording that cannot be read is an `Err` in its place, and the next ones follow. Clips that are not the sound
    /// of a machine have a record without a score.
    pub fn listen(&self, sources: Sources) -> Listening<'_> {
        Listening::new(self, sources, &self.reading, Threads::default(), &Listen::default())
    }

    /// The same with other settings.
    ///
    /// # Errors
    ///
    /// If a setting is out of range, or the model does not know the domain.
    pub fn listen_with(&self, sources: Sources, listen: &Listen) -> Result<Listening<'_>> {
        if let Some(domain) = &listen.domain {
            self.check_domain(domain)?;
        }
        let channel = listen.channel.unwrap_or(self.reading.channel());
        let clip = self.model.settings().clip;
        let reading = Reading::new(clip, channel, listen.hop_seconds, listen.rules)?;
        Ok(Listening::new(self, sources, &reading, Threads::new(listen.jobs)?, listen))
    }

    /// Whether records that belong together show that the recording or the machine has changed as a whole, and how.
    ///
    /// The same as [`RunSummary::changed`](crate::RunSummary::changed) of the run they are from; `None` if nothing has
    /// changed, or too little is known to tell.
    pub fn changed<'r>(
        &self,
        records: impl IntoIterator<Item = &'r ClipRecord>,
    ) -> Option<Changed> {
        let mut run = RunTally::default();
        records.into_iter().for_each(|record| run.add(record));
        run.changed(self)
    }

    /// Scores clips that are in memory already, one after the other.
    pub fn scorer(&self) -> Scorer<'_> {
        Scorer::new(self)
    }

    /// Scores sound as it comes, pushed in pieces of any size at the model's sample rate.
    pub fn live(&self) -> Live<'_> {
        Live::new(self, self.reading.length().sample_rate())
    }

    /// The same for sound at another sample rate, which is resampled.
    ///
    /// # Errors
    ///
    /// If the rate is out of range.
    pub fn live_at(&self, sample_rate: u32) -> Result<Live<'_>> {
        let mut live = Live::new(self, sample_rate);
        live.prepare()?;
        Ok(live)
    }

    /// Every band of a clip with its reasons. `samples` is one clip at the model's rate.
    ///
    /// # Errors
    ///
    /// [`Error::Unusable`] if the clip is not the sound of a machine, [`Error::LongClip`] if it is more than one clip.
    pub fn explain(&self, samples: &[f32]) -> Result<Explanation> {
        self.scorer().explain(samples)
    }

    /// This machine with more normal recordings, the same as learning all of them in this order.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::learn`]. Recordings that are all known already are not an error: the machine comes back
    /// unchanged, and [`Machine::learned`] names them.
    pub fn add(&self, sources: impl IntoSources, learn: &Learn) -> Result<Self> {
        learn::add(self, sources.into_sources()?, learn)
    }

    /// This machine without some of its references, the same as learning only the others.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToForget`] if one of them is not there, [`Error::NothingLeft`] if none would stay.
    pub fn forget(&self, forget: &Forget) -> Result<Self> {
        self.with_model(forget.apply(&self.model)?)
    }

    /// This machine with at most `most` references, chosen to cover all of them.
    ///
    /// # Errors
    ///
    /// If `most` is 0.
    pub fn coreset(&self, most: usize) -> Result<Self> {
        self.with_model(self.model.with_coreset(most)?)
    }

    /// Fits the references again and compares every number, but for rounding.
    ///
    /// # Errors
    ///
    /// With what differs.
    pub fn verify(&self) -> Result<()> {
        Ok(self.model.verify()?)
    }

    /// This machine with another promise, calibrated in another way, or with an alarm rule for a budget.
    ///
    /// A rule that was chosen for another rate or calibration is taken out. Where no rule keeps the budget, the machine
    /// keeps the one it has, and the plan says what is missing.
    ///
    /// # Errors
    ///
    /// If there are too few visits, files or clips to leave out, or a setting is out of range.
    pub fn calibrate(&self, calibrate: &Calibrate) -> Result<(Self, Option<BudgetPlan>)> {
        let (model, plan) = calibrate.apply(&self.model)?;
        Ok((self.with_model(model)?, plan))
    }

    /// This machine with another false-alarm rate; its alarm rule, chosen for its own rate, is taken out.
    ///
    /// # Errors
    ///
    /// Never for a rate that could be made.
    pub fn at_rate(&self, rate: auscult_core::FalseAlarmRate) -> Result<Self> {
        if rate == self.model.settings().false_alarm_rate {
            return Ok(self.clone());
        }
        let model = self.model.clone().with_false_alarm_rate(rate).with_alarm(None)?;
        let machine = self.with_model(model)?;
        // The references are the same: the clips were compared with the same model.
        let _ = machine.hash.set(Arc::clone(self.hash()));
        Ok(machine)
    }

    /// What was learnt from, and what was left out.
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// The model: settings, references, calibration.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The front end the model was made with.
    pub fn front_end(&self) -> &Arc<dyn FrontEnd> {
        &self.front_end
    }

    /// How sound is read for this machine.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Identifies the model: a fingerprint of its file.
    pub fn hash(&self) -> &Arc<str> {
        self.hash.get_or_init(|| {
            // A model that can be held can be written.
            let bytes = self.model.to_bytes().unwrap_or_default();
            Arc::from(auscult_files::fingerprint(&bytes))
        })
    }

    /// The domains that have thresholds of their own.
    pub fn domains(&self) -> Vec<String> {
        self.judges.keys().cloned().collect()
    }

    /// What the threshold of a domain, or of all clips, is worth.
    pub fn standing(&self, domain: Option<&str>) -> Standing {
        let judge = domain.and_then(|domain| self.judges.get(domain));
        judge.map_or_else(|| self.model.standing(), |(judge, _)| judge.standing())
    }

    /// The thresholds of a domain, if the model knows it.
    pub(crate) fn judge(&self, domain: Option<&str>) -> Option<(&str, &Judge, &RecordPromise)> {
        let (domain, (judge, promise)) = self.judges.get_key_value(domain?)?;
        Some((domain, judge, promise))
    }

    /// What a verdict is worth where no domain is known.
    pub(crate) fn promise(&self) -> &RecordPromise {
        &self.promise
    }

    /// What the references' recordings are like.
    pub fn usual_recording(&self) -> &UsualRecording {
        &self.usual_recording
    }

    pub(crate) fn names(&self) -> &BandNames {
        &self.names
    }

    pub(crate) fn explain_vectors(
        &self,
        vectors: &ClipVectors,
        scored: &auscult_core::ScoredClip,
    ) -> Explanation {
        Explanation::new(&self.model, self.front_end.axis(), vectors, scored)
    }

    fn check_domain(&self, domain: &str) -> Result<()> {
        if self.judges.contains_key(domain) {
            return Ok(());
        }
        Err(Error::UnknownDomain { domain: domain.to_owned(), known: self.domains() })
    }
}

/// Which references to forget; all that match one of these.
#[derive(Debug, Clone, Default)]
pub struct Forget {
    /// Those of these visits.
    pub visits: Vec<String>,
    /// Those of these recordings.
    pub sources: Vec<String>,
    /// Those at these places.
    pub indices: Vec<usize>,
}

impl Forget {
    /// A model without these references, the same as a fresh fit on the others; needs no front end.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::forget`].
    pub fn apply(&self, model: &Model) -> Result<Model> {
        Ok(model.with_only(&self.kept(model)?)?)
    }

    fn kept(&self, model: &Model) -> Result<Vec<usize>> {
        let provenance = model.references().provenance();
        let visits: BTreeSet<&str> =
            provenance.iter().filter_map(|from| from.visit.as_deref()).collect();
        let sources: BTreeSet<&str> = provenance.iter().map(|from| from.source.as_str()).collect();
        if let Some(visit) = self.visits.iter().find(|visit| !visits.contains(visit.as_str())) {
            return Err(Error::NothingToForget(format!("belongs to visit {visit:?}")));
        }
        if let Some(source) = self.sources.iter().find(|one| !sources.contains(one.as_str())) {
            return Err(Error::NothingToForget(format!("comes from {source:?}")));
        }
        let count = provenance.len();
        if let Some(index) = self.indices.iter().find(|index| **index >= count) {
            return Err(Error::NothingToForget(format!(
                "has index {index}, they go up to {}",
                count - 1
            )));
        }
        let is_kept = |index: &usize| {
            let from = &provenance[*index];
            !self.indices.contains(index)
                && !self.sources.contains(&from.source)
                && !from.visit.as_ref().is_some_and(|visit| self.visits.contains(visit))
        };
        let kept: Vec<usize> = (0..count).filter(is_kept).collect();
        if kept.is_empty() { Err(Error::NothingLeft) } else { Ok(kept) }
    }
}

/// What to change about a calibration; everything left out stays.
#[derive(Debug, Clone)]
pub struct Calibrate {
    /// How calibration scores are made.
    pub scheme: Option<CalibrationScheme>,
    /// The promise.
    pub promise: Option<Promise>,
    /// The alarm budget to choose a rule for.
    pub budget: Option<AlarmBudget>,
    /// Time from one clip to the next that the rule is chosen for; the clip length if not given.
    pub hop_seconds: Option<f64>,
    /// Normal clips in a row that clear an alarm.
    pub clear: usize,
}

impl Calibrate {
    /// A model with these changes; needs no front end.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::calibrate`].
    pub fn apply(&self, model: &Model) -> Result<(Model, Option<BudgetPlan>)> {
        let settings = model.settings();
        let is_other_scheme = self.scheme.is_some_and(|scheme| scheme != settings.calibration);
        let promise = self.promise.unwrap_or(settings.promise());
        let is_other_rate = promise.rate != settings.false_alarm_rate;
        let hop_seconds = self.hop_seconds.unwrap_or(settings.clip.seconds);
        let mut changed = match self.scheme {
            Some(scheme) => model.with_calibration(scheme)?,
            None => model.clone(),
        };
        changed = changed.with_promise(promise);
        if is_other_rate || is_other_scheme {
            changed = changed.with_alarm(None)?;
        }
        let plan = self
            .budget
            .map(|budget| BudgetPlan::new(&changed, budget, hop_seconds, self.clear))
            .transpose()?;
        if let Some(plan) = &plan {
            changed = plan.apply(changed)?;
        }
        Ok((changed, plan))
    }
}

impl Default for Calibrate {
    fn default() -> Self {
        let clear = auscult_core::alarm::AlarmSettings::default().clear;
        Self { scheme: None, promise: None, budget: None, hop_seconds: None, clear }
    }
}

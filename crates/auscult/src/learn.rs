//! 6. Learning: normal recordings become a machine.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    num::NonZeroUsize,
    sync::Arc,
};

use auscult_audio::{ChannelRule, Extent, Source};
use auscult_autoencoder::{
    AutoencoderFrontEnd, AutoencoderModelSettings, FittedAutoencoder, SpectrogramFrontEnd,
    TrainingEvent, TrainingPlan, TrainingSettings, fit_model,
};
use auscult_core::{
    BeamSettings, CalibrationScheme, ClipCondition, ClipQuality, ClipSettings, ClipVectors,
    Confidence, Control, Event, FalseAlarmRate, FrontEnd, Method, Model, ModelSettings, Provenance,
    References, Storage,
    alarm::{AlarmBudget, AlarmSettings, BudgetPlan},
    memory,
    record::clip_name,
};
use serde::Serialize;

use crate::{
    ClipRules, Error, FrontEndSpec, FrontEnds, Machine, QualitySummary, Reading, Result, Sources,
    input_quality::QualityTally,
    reading::{JudgedClip, Piece, Threads, Worker},
    rules::CopyRule,
    sources::NotNormal,
};

/// How to learn; the default is what `auscult fit` does without options.
#[derive(Debug, Clone)]
pub struct Learn {
    /// Length and rate of clips.
    pub clip: ClipSettings,
    /// Which channel is taken.
    pub channel: ChannelRule,
    /// Time from one clip's start to the next; the clip length if not given.
    pub hop_seconds: Option<f64>,
    /// Which clips are used.
    pub rules: ClipRules,
    /// Whether folders whose names look like labels are labels.
    pub label_folders: LabelFolders,
    /// What sound is turned into.
    pub front_end: FrontEndChoice,
    /// Where front ends come from.
    pub front_ends: FrontEnds,
    /// How clips are compared, or what is trained.
    pub method: LearnMethod,
    /// At most this many references stay in memory, chosen to cover the rest.
    pub max_references: Option<usize>,
    /// How the references are kept.
    pub storage: Storage,
    /// The promised false-alarm rate.
    pub false_alarm_rate: FalseAlarmRate,
    /// How sure the promise is of these references; `None` promises it on average.
    pub confidence: Option<Confidence>,
    /// What is left out to learn how unseen normal sound scores.
    pub calibration: CalibrationScheme,
    /// An alarm budget instead of a rate: chooses the rate and the alarm rule.
    pub alarm_budget: Option<AlarmBudget>,
    /// Threads to use; those of the current rayon pool if not given.
    pub jobs: Option<NonZeroUsize>,
    /// Who is told, and who may stop it.
    pub control: Control,
}

/// What sound is turned into.
#[derive(Debug, Clone)]
pub enum FrontEndChoice {
    /// A front end by name.
    Named(FrontEndSpec),
    /// One of the caller's own, for the clip settings of [`Learn`].
    Custom(Arc<dyn FrontEnd>),
}

/// How clips are compared, or what is trained.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum LearnMethod {
    /// Comparing with references in the usual way of the front end: AdaBEAM where it has two views, otherwise BEAM.
    Usual,
    /// Comparing with references in this way.
    Compare(BeamSettings),
    /// Errors of a network; the front end is its own.
    Autoencoder(AutoencoderModelSettings),
}

/// Whether folders whose names look like labels (`normal`, `abnormal`, ...) are labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabelFolders {
    /// Nobody has said: such folders are an error, so that faults are not learnt as normal.
    #[default]
    Unknown,
    /// They are: only the normal ones are learnt.
    Use,
    /// They are visits like any other.
    Ignore,
}

impl Default for Learn {
    fn default() -> Self {
        Self {
            clip: ClipSettings::default(),
            channel: ChannelRule::default(),
            hop_seconds: None,
            rules: ClipRules::field(),
            label_folders: LabelFolders::default(),
            front_end: FrontEndChoice::Named(FrontEndSpec::default()),
            front_ends: FrontEnds::standard(),
            method: LearnMethod::Usual,
            max_references: None,
            storage: Storage::default(),
            false_alarm_rate: FalseAlarmRate::default(),
            confidence: None,
            calibration: CalibrationScheme::default(),
            alarm_budget: None,
            jobs: None,
            control: Control::default(),
        }
    }
}

impl Learn {
    /// Learning from clips of another length.
    #[must_use]
    pub fn with_clip_seconds(mut self, seconds: f64) -> Self {
        self.clip.seconds = seconds;
        self
    }

    /// Learning with another front end, by name.
    #[must_use]
    pub fn with_front_end(mut self, name: impl Into<String>) -> Self {
        self.front_end = FrontEndChoice::Named(FrontEndSpec::of(name));
        self
    }

    /// The front end, for clips of this length.
    fn front_end(&self) -> Result<Arc<dyn FrontEnd>> {
        match (&self.method, &self.front_end) {
            (LearnMethod::Autoencoder(settings), _) => {
                let form = settings.training.form;
                Ok(Arc::new(SpectrogramFrontEnd::new(form, self.clip.check()?)?))
            }
            (_, FrontEndChoice::Named(spec)) => self.front_ends.named(spec, self.clip.check()?),
            (_, FrontEndChoice::Custom(front_end)) => Ok(Arc::clone(front_end)),
        }
    }

    fn detector(&self, front_end: &dyn FrontEnd) -> BeamSettings {
        match &self.method {
            LearnMethod::Compare(settings) => settings.clone(),
            // On a front end with one view this is BEAM.
            LearnMethod::Usual => BeamSettings::paper(Method::AdaBeam, front_end),
            // The detector comes with the trained network.
            LearnMethod::Autoencoder(_) => {
                BeamSettings::new(front_end.default_bands(), front_end.views().to_vec())
            }
        }
    }

    fn model_settings(&self, front_end: &dyn FrontEnd) -> Result<ModelSettings> {
        let detector = self.detector(front_end);
        if !matches!(self.method, LearnMethod::Autoencoder(_)) {
            detector.clone().check(front_end.axis().len())?;
        }
        if self.max_references == Some(0) {
            let (allowed, got) = ("at least 1".to_owned(), "0".to_owned());
            let setting = "max references";
            return Err(auscult_core::Error::Setting { setting, allowed, got }.into());
        }
        Ok(ModelSettings {
            channel: self.channel.to_string(),
            max_references: self.max_references,
            storage: self.storage,
            false_alarm_rate: self.false_alarm_rate,
            confidence: self.confidence,
            calibration: self.calibration,
            ..ModelSettings::new(self.clip, front_end, detector)
        })
    }
}

/// What a machine was learnt from, and what was left out.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    /// Recordings that were read.
    pub files: usize,
    /// Clips in memory.
    pub references: usize,
    /// The visits they come from.
    pub visits: BTreeSet<String>,
    /// Recordings and clips that were not learnt from, each with its reason.
    pub left_out: Vec<LeftOut>,
    /// Input quality of the clips.
    pub quality: Option<QualitySummary>,
    /// How the alarm budget is kept, if one was given.
    pub budget: Option<BudgetPlan>,
    /// Why the threshold of a trained network may mislead.
    pub doubt: Option<TrainingDoubt>,
}

impl Learned {
    /// What a model file tells: left-out clips are not in it.
    pub(crate) fn of_model(model: &Model) -> Self {
        let provenance = model.references().provenance();
        Self {
            files: provenance.iter().map(|from| &from.source).collect::<BTreeSet<_>>().len(),
            references: provenance.len(),
            visits: provenance.iter().filter_map(|from| from.visit.clone()).collect(),
            ..Self::default()
        }
    }

    /// Recordings and clips that should have been usable and were not.
    pub fn failures(&self) -> usize {
        self.left_out.iter().filter(|left_out| left_out.reason.is_failure()).count()
    }

    /// Clips that were there already.
    pub fn copies(&self) -> usize {
        let is_copy = |one: &&LeftOut| matches!(one.reason, LeftOutReason::Copy { .. });
        self.left_out.iter().filter(is_copy).count()
    }
}

/// A recording or clip that was not learnt from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// The recording.
    pub path: String,
    /// Where the clip starts in it; `None` for a whole recording.
    pub start_seconds: Option<f64>,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why something was not learnt from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum LeftOutReason {
    /// Not the sound of a machine.
    Unusable {
        /// What it is.
        condition: ClipCondition,
    },
    /// The front end cannot compute with it.
    NoFeatures {
        /// What went wrong.
        reason: String,
    },
    /// The same sound as a clip that is there already.
    Copy {
        /// That clip.
        of: String,
    },
    /// The recording, or the rest of it, cannot be read.
    Unreadable {
        /// What went wrong; names the recording.
        reason: String,
    },
    /// A manifest keeps it for testing.
    ForTesting,
    /// It is labelled as anomalous.
    Anomalous,
    /// Its label is not known.
    UnknownLabel {
        /// The label.
        label: String,
    },
}

impl LeftOutReason {
    /// Whether it should have been usable: labels and copies are choices, the rest are failures.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Copy { .. } | Self::ForTesting | Self::Anomalous)
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = clip_name(&self.path, self.start_seconds.unwrap_or_default());
        match &self.reason {
            LeftOutReason::Unusable { condition } => {
                write!(formatter, "skipped {name}: {condition}")
            }
            LeftOutReason::NoFeatures { reason } => write!(formatter, "skipped {name}: {reason}"),
            LeftOutReason::Unreadable { reason } => write!(formatter, "skipped {reason}"),
            LeftOutReason::Copy { of } if *of == name => {
                write!(formatter, "left out {name}: it is already there")
            }
            LeftOutReason::Copy { of } => {
                write!(formatter, "left out {name}: it is the same sound as {of}")
            }
            LeftOutReason::ForTesting => write!(formatter, "left out {name}: kept for testing"),
            LeftOutReason::Anomalous => {
                write!(formatter, "left out {name}: labelled as anomalous")
            }
            LeftOutReason::UnknownLabel { label } => write!(
                formatter,
                "skipped {name}: the label {label:?} is not known; label it normal or anomaly"
            ),
        }
    }
}

/// Why the threshold of a trained network may mislead.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum TrainingDoubt {
    /// This share of the clips the network was trained on is above it.
    Tight(f64),
    /// Clips a network never heard score this many times as high as those it was trained on.
    Loose(f64),
}

impl TrainingDoubt {
    fn of(fitted: &FittedAutoencoder) -> Option<Self> {
        if fitted.is_tight() {
            return Some(Self::Tight(fitted.training_above));
        }
        fitted.is_loose().then_some(Self::Loose(fitted.left_out_ratio))
    }
}

impl fmt::Display for TrainingDoubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tight(share) => write!(
                formatter,
                "the threshold is tight: {:.0} % of the clips the model's own network was trained on are above it, \
                 because short trainings end differently by chance; train for more epochs",
                100.0 * share
            ),
            Self::Loose(ratio) => write!(
                formatter,
                "the threshold is loose: clips a network never heard score {ratio:.1} times as high as those the \
                 model's own was trained on; give more recordings or visits, or train for more epochs"
            ),
        }
    }
}

pub(crate) fn learn(sources: Sources, learn: &Learn) -> Result<Machine> {
    let front_end = learn.front_end()?;
    let settings = learn.model_settings(&*front_end)?;
    let reading = Reading::new(learn.clip, learn.channel, learn.hop_seconds, learn.rules)?;
    let threads = Arc::new(Threads::new(learn.jobs)?);
    let gathered = gather(sources, &reading, &front_end, None, &threads, learn)?;
    let Gathered { references, mut learned } = gathered;
    if references.is_empty() {
        return Err(Error::NothingToLearn { files: learned.files });
    }
    let mut model = match &learn.method {
        LearnMethod::Autoencoder(autoencoder) => {
            let fitted =
                threads.run(|| train(settings, &references, autoencoder, &learn.control))?;
            learned.doubt = TrainingDoubt::of(&fitted);
            fitted.model
        }
        _ => threads.run(|| Model::fit(settings, references))?,
    };
    if let Some(budget) = learn.alarm_budget {
        let hop_seconds = learn.hop_seconds.unwrap_or(learn.clip.seconds);
        let clear = AlarmSettings::default().clear;
        let plan = BudgetPlan::new(&model, budget, hop_seconds, clear)?;
        if !plan.is_kept() {
            return Err(Error::BudgetNotKept(Box::new(plan)));
        }
        model = plan.apply(model)?;
        learned.budget = Some(plan);
    }
    learned.count(&model);
    let front_end = match &learn.method {
        LearnMethod::Autoencoder(_) => autoencoder_of(&model)?,
        _ => front_end,
    };
    Machine::assemble(model, front_end, learned)
}

pub(crate) fn add(machine: &Machine, sources: Sources, learn: &Learn) -> Result<Machine> {
    let model = machine.model();
    let reading = Reading::new(
        model.settings().clip,
        machine.reading().channel(),
        learn.hop_seconds,
        learn.rules,
    )?;
    let threads = Arc::new(Threads::new(learn.jobs)?);
    let front_end = machine.front_end();
    let known = Some(model.references());
    let Gathered { references, mut learned } =
        gather(sources, &reading, front_end, known, &threads, learn)?;
    if references.is_empty() && learned.copies() == 0 {
        return Err(Error::NothingToLearn { files: learned.files });
    }
    let grown = match references.is_empty() {
        true => model.clone(),
        false => threads.run(|| model.with_added(&references))?,
    };
    learned.count(&grown);
    Machine::assemble(grown, Arc::clone(front_end), learned)
}

impl Learned {
    fn count(&mut self, model: &Model) {
        let Self { references, visits, .. } = Self::of_model(model);
        self.references = references;
        self.visits = visits;
    }
}

fn autoencoder_of(model: &Model) -> Result<Arc<dyn FrontEnd>> {
    let settings = model.settings();
    let (identity, length) = (&settings.front_end, settings.clip.check()?);
    Ok(Arc::new(AutoencoderFrontEnd::of_model(identity, &settings.weights, length)?))
}

fn train(
    settings: ModelSettings,
    references: &References,
    autoencoder: &AutoencoderModelSettings,
    control: &Control,
) -> Result<FittedAutoencoder> {
    let plan = TrainingPlan::new(&settings, references, autoencoder)?;
    if let Some(note) = few_steps(&autoencoder.training, plan.fewest_steps()) {
        control.report(Event::Note(&note));
    }
    control.report(Event::Started { what: "epochs", total: plan.epochs(), name: "" });
    let fitted = fit_model(settings, references, autoencoder, &|event| {
        if matches!(event, TrainingEvent::Epoch(_)) {
            control.report(Event::Advanced);
        }
        control.flow()
    });
    control.report(Event::Finished);
    fitted.map_err(|error| match error {
        auscult_autoencoder::Error::Stopped => Error::Cancelled,
        error => error.into(),
    })
}

/// What to say of a training that is too short to mean something.
pub fn few_steps(training: &TrainingSettings, steps: usize) -> Option<String> {
    (steps < TrainingSettings::FEWEST_USEFUL_STEPS).then(|| {
        format!(
            "{steps} training steps are few, and below {} scores say little; give more recordings, or more epochs \
             than {}",
            TrainingSettings::FEWEST_USEFUL_STEPS,
            training.epochs
        )
    })
}

/// References and what was left out.
struct Gathered {
    references: References,
    learned: Learned,
}

/// What a worker makes of a clip to learn from.
type Extracted = std::result::Result<(ClipVectors, String, Option<ClipQuality>), LeftOutReason>;

/// Reads normal recordings into references; what was left out is reported and listed.
fn gather(
    mut sources: Sources,
    reading: &Reading,
    front_end: &Arc<dyn FrontEnd>,
    known: Option<&References>,
    threads: &Arc<Threads>,
    learn: &Learn,
) -> Result<Gathered> {
    let control = &learn.control;
    let mut gathering = Gathering::new(front_end, known, reading, control);
    sources.apply_label_folders(learn.label_folders)?;
    sources.notes().iter().for_each(|note| control.report(Event::Note(note)));
    let not_normal = sources.keep_normal()?;
    let (sources, problems) = sources.into_parts();
    for problem in problems {
        control.report(Event::Problem(&problem));
        let reason = LeftOutReason::Unreadable { reason: problem.to_string() };
        gathering.leave_out_silently(String::new(), None, reason);
    }
    gathering.leave_out_labelled(not_normal);
    let rules = reading.rules();
    let work = move |worker: &mut Worker, _: &Source, clip: &JudgedClip| -> Extracted {
        if !rules.learns_from(clip.condition, clip.extent) {
            return Err(LeftOutReason::Unusable { condition: clip.condition });
        }
        let extracted = worker.extractor.extract_into(&clip.samples, &mut worker.vectors);
        let failed =
            |error: auscult_core::Error| LeftOutReason::NoFeatures { reason: error.to_string() };
        extracted.map_err(failed)?;
        let quality = worker.meter.measure(&clip.samples);
        Ok((worker.vectors.clone(), memory::digest(&clip.samples), quality))
    };
    let mut clips = reading.read_all(front_end, sources, threads, control, work);
    for piece in clips.by_ref() {
        match piece {
            Piece::Clip(clip) => {
                let place = (&*clip.source, clip.start_seconds);
                gathering.take(place, clip.extent, clip.result)?;
            }
            Piece::End(end) => {
                gathering.learned.files += 1;
                if let Some(reason) = end.problem {
                    let path = end.source.label.clone();
                    gathering.leave_out(path, None, LeftOutReason::Unreadable { reason });
                }
            }
        }
    }
    if clips.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let Gathering { references, mut learned, quality, .. } = gathering;
    learned.quality = quality.summary();
    Ok(Gathered { references, learned })
}

/// References as they come in.
struct Gathering<'a> {
    references: References,
    learned: Learned,
    /// Names of the clips that are there already, by content.
    seen: BTreeMap<String, String>,
    quality: QualityTally,
    copies: CopyRule,
    clip_seconds: f64,
    control: &'a Control,
}

/// More copies than these are listed and not reported one by one.
const MOST_COPIES_REPORTED: usize = 10;

impl<'a> Gathering<'a> {
    fn new(
        front_end: &Arc<dyn FrontEnd>,
        known: Option<&References>,
        reading: &Reading,
        control: &'a Control,
    ) -> Self {
        let known = known.map(References::provenance).unwrap_or_default();
        let length = reading.length();
        Self {
            references: References::for_front_end(&**front_end),
            learned: Learned::default(),
            seen: known.iter().map(|from| (from.digest.clone(), from.source.clone())).collect(),
            quality: QualityTally::default(),
            copies: reading.rules().copies,
            clip_seconds: length.samples() as f64 / f64::from(length.sample_rate()),
            control,
        }
    }

    fn leave_out_silently(
        &mut self,
        path: String,
        start_seconds: Option<f64>,
        reason: LeftOutReason,
    ) -> &LeftOut {
        self.learned.left_out.push(LeftOut { path, start_seconds, reason });
        &self.learned.left_out[self.learned.left_out.len() - 1]
    }

    fn leave_out(&mut self, path: String, start_seconds: Option<f64>, reason: LeftOutReason) {
        let control = self.control;
        let is_failure = reason.is_failure();
        let left_out = self.leave_out_silently(path, start_seconds, reason);
        if is_failure {
            control.report(Event::Problem(left_out));
        } else {
            control.report(Event::Note(left_out));
        }
    }

    fn leave_out_labelled(&mut self, sources: Vec<(Source, NotNormal)>) {
        let (mut for_testing, mut anomalous) = (0, 0);
        for (source, reason) in sources {
            match reason {
                NotNormal::ForTesting => {
                    for_testing += 1;
                    self.leave_out_silently(source.label, None, LeftOutReason::ForTesting);
                }
                NotNormal::Anomalous => {
                    anomalous += 1;
                    self.leave_out_silently(source.label, None, LeftOutReason::Anomalous);
                }
                NotNormal::UnknownLabel(label) => {
                    self.leave_out(source.label, None, LeftOutReason::UnknownLabel { label });
                }
            }
        }
        let recordings = |count: usize| match count {
            1 => "1 recording".to_owned(),
            count => format!("{count} recordings"),
        };
        if for_testing > 0 {
            let left_out = recordings(for_testing);
            let why = "that the manifest keeps for testing (split: test)";
            self.control.report(Event::Note(&format!("left out {left_out} {why}")));
        }
        if anomalous > 0 {
            let left_out = recordings(anomalous);
            let why = "labelled as anomalous: a model learns from normal sound";
            self.control.report(Event::Note(&format!("left out {left_out} {why}")));
        }
    }

    fn take(
        &mut self,
        (source, start_seconds): (&Source, f64),
        extent: Extent,
        extracted: Extracted,
    ) -> Result<()> {
        let path = source.label.clone();
        let name = clip_name(&path, start_seconds);
        let (vectors, digest, quality) = match extracted {
            // How the recording ended says what happened.
            Err(_) if extent == Extent::CutByDamage => return Ok(()),
            Err(reason) => {
                self.leave_out(path, Some(start_seconds), reason);
                return Ok(());
            }
            Ok(extracted) => extracted,
        };
        if self.copies == CopyRule::Skip
            && let Some(of) = self.seen.get(&digest).cloned()
        {
            let reason = LeftOutReason::Copy { of };
            if self.learned.copies() < MOST_COPIES_REPORTED {
                self.leave_out(path, Some(start_seconds), reason);
            } else {
                self.leave_out_silently(path, Some(start_seconds), reason);
            }
            return Ok(());
        }
        let remarks: Vec<(&'static str, String)> = quality
            .iter()
            .flat_map(|it| it.shortness(self.clip_seconds).into_iter().chain(it.remarks()))
            .map(|remark| (remark.name(), remark.to_string()))
            .collect();
        let level_dbfs = quality.map(|quality| quality.level_dbfs);
        self.quality.add(&name, level_dbfs, &remarks, self.control);
        self.seen.insert(digest.clone(), name);
        let (visit, domain) = (source.visit.clone(), source.domain.clone());
        let from = Provenance { source: path, start_seconds, visit, domain, digest, level_dbfs };
        Ok(self.references.push(&vectors, from)?)
    }
}

//! 6. Learning: normal recordings become a machine.

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Arc};

use crate::{
    ClipRules, Error, FrontEndSpec, FrontEnds, Learned, LeftOut, LeftOutReason, Machine, Preset,
    Reading, Result, Sources,
    input_quality::QualityTally,
    learned::TrainingDoubt,
    reading::{JudgedClip, Piece, Threads, Worker},
    rules::CopyRule,
    sources::{NotNormal, report_not_normal},
};
use auscult_audio::{ChannelRule, Extent, Source};
use auscult_autoencoder::{
    AutoencoderFrontEnd, AutoencoderModelSettings, FittedAutoencoder, SpectrogramFrontEnd,
    TrainingEvent, TrainingPlan, TrainingSettings, fit_model,
};
use auscult_core::{
    BeamSettings, CalibrationScheme, ClipQuality, ClipSettings, ClipVectors, Confidence, Control,
    Event, FalseAlarmRate, FrontEnd, Method, Model, ModelSettings, Provenance, References, Storage,
    alarm::{AlarmBudget, AlarmSettings, BudgetPlan},
    memory,
    quality::ReferenceRecording,
    record::clip_name,
};

/// How to learn; the default is what `auscult fit` does without options.
#[derive(Debug, Clone)]
pub struct Learn {
    /// Length and rate of clips.
    pub clip: ClipSettings,
    /// Whether clips are as long as the recordings where these are all of one length from 1 to 10 s, unless `clip` has
    /// another length than the usual one. Not for a front end of the caller's own, which has its length already.
    pub clip_of_recordings: bool,
    /// Which channel is taken.
    pub channel: ChannelRule,
    /// Time from one clip's start to the next; the clip length if not given.
    pub hop_seconds: Option<f64>,
    /// Which clips are used.
    pub rules: ClipRules,
    /// Whether folders whose names look like labels are labels.
    pub label_folders: LabelFolders,
    /// What sound is turned into and how it is compared, unless `front_end` or `method` say so.
    pub preset: Preset,
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
    /// That of the preset.
    OfPreset,
    /// A front end by name; how it is compared is then said by the method, not by the preset.
    Named(FrontEndSpec),
    /// One of the caller's own, for the clip settings of [`Learn`].
    Custom(Arc<dyn FrontEnd>),
}

/// How clips are compared, or what is trained.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum LearnMethod {
    /// Comparing with references in the usual way of the front end: as its members or the preset say, otherwise AdaBEAM
    /// where it has two views and BEAM where it has one.
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
            clip_of_recordings: true,
            channel: ChannelRule::default(),
            hop_seconds: None,
            rules: ClipRules::field(),
            label_folders: LabelFolders::default(),
            preset: Preset::default(),
            front_end: FrontEndChoice::OfPreset,
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
        self.clip_of_recordings = false;
        self
    }

    /// Learning with another front end, by name.
    #[must_use]
    pub fn with_front_end(mut self, name: impl Into<String>) -> Self {
        self.front_end = FrontEndChoice::Named(FrontEndSpec::of(name));
        self
    }

    /// Learning with another preset.
    #[must_use]
    pub fn with_preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self.front_end = FrontEndChoice::OfPreset;
        self
    }

    /// Length and rate of the clips of these recordings.
    fn clip_of(&self, sources: &Sources) -> ClipSettings {
        let is_given = self.clip.seconds != ClipSettings::default().seconds;
        let is_custom = matches!(self.front_end, FrontEndChoice::Custom(_));
        if !self.clip_of_recordings || is_given || is_custom {
            return self.clip;
        }
        let Some(seconds) = sources.common_seconds() else { return self.clip };
        let note = format!("clips are {seconds} s long, as all recordings are");
        self.control.report(Event::Note(&note));
        ClipSettings { seconds, ..self.clip }
    }

    /// The front end for clips of this length, and how it is usually compared.
    fn front_end(&self) -> Result<(Arc<dyn FrontEnd>, BeamSettings)> {
        let length = self.clip.check()?;
        if let LearnMethod::Autoencoder(settings) = &self.method {
            let front_end = SpectrogramFrontEnd::new(settings.training.form, length)?;
            // The detector comes with the trained network.
            let detector = BeamSettings::new(front_end.default_bands(), front_end.views().to_vec());
            return Ok((Arc::new(front_end), detector));
        }
        match &self.front_end {
            FrontEndChoice::OfPreset => {
                let (front_end, detector, note) = self.preset.build(&self.front_ends, length)?;
                if let Some(note) = note {
                    self.control.report(Event::Note(&note));
                }
                Ok((front_end, detector))
            }
            FrontEndChoice::Named(spec) => {
                let front_end = self.front_ends.named(spec, length)?;
                let detector = self.front_ends.usual_detector(spec, &*front_end)?;
                Ok((front_end, detector))
            }
            FrontEndChoice::Custom(front_end) => {
                // On a front end with one view this is BEAM.
                let detector = BeamSettings::paper(Method::AdaBeam, &**front_end);
                Ok((Arc::clone(front_end), detector))
            }
        }
    }

    fn model_settings(
        &self,
        front_end: &dyn FrontEnd,
        usual: BeamSettings,
    ) -> Result<ModelSettings> {
        let detector = match &self.method {
            LearnMethod::Compare(settings) => settings.clone(),
            LearnMethod::Usual | LearnMethod::Autoencoder(_) => usual,
        };
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

pub(crate) fn learn(sources: Sources, learn: &Learn) -> Result<Machine> {
    let learn = &Learn { clip: learn.clip_of(&sources), ..learn.clone() };
    let (front_end, usual) = learn.front_end()?;
    let settings = learn.model_settings(&*front_end, usual)?;
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
    let grown = if references.is_empty() {
        model.clone()
    } else {
        threads.run(|| model.with_added(&references))?
    };
    learned.count(&grown);
    Machine::assemble(grown, Arc::clone(front_end), learned)
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
type Extracted = std::result::Result<Extract, LeftOutReason>;

/// A clip that becomes a reference.
struct Extract {
    vectors: ClipVectors,
    digest: String,
    quality: Option<ClipQuality>,
    recording: ReferenceRecording,
}

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
        let recording = ReferenceRecording {
            kind: Some((*clip.recording).clone()),
            bandwidth_hertz: quality.and_then(|quality| quality.bandwidth_hertz),
            mains_share: quality.and_then(|quality| quality.hum).map_or(0.0, |hum| hum.share),
            spectrum_dbfs: worker.meter.spectrum_dbfs().to_vec(),
        };
        let (vectors, digest) = (worker.vectors.clone(), memory::digest(&clip.samples));
        Ok(Extract { vectors, digest, quality, recording })
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
    quality.report(control);
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
            seen: known
                .iter()
                .map(|from| (from.digest.clone(), clip_name(&from.source, from.start_seconds)))
                .collect(),
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
        report_not_normal(&sources, self.control);
        for (source, reason) in sources {
            let reason = match reason {
                NotNormal::ForTesting => LeftOutReason::ForTesting,
                NotNormal::Anomalous => LeftOutReason::Anomalous,
                NotNormal::UnknownLabel(label) => LeftOutReason::UnknownLabel { label },
                NotNormal::Unlabelled => LeftOutReason::Unlabelled,
            };
            self.leave_out_silently(source.label, None, reason);
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
        let Extract { vectors, digest, quality, recording } = match extracted {
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
        self.quality.add(&name, level_dbfs, &remarks);
        self.seen.insert(digest.clone(), name);
        let (visit, domain) = (source.visit.clone(), source.domain.clone());
        let recording = Some(recording);
        let from = Provenance {
            source: path,
            start_seconds,
            visit,
            domain,
            digest,
            level_dbfs,
            recording,
        };
        Ok(self.references.push(&vectors, from)?)
    }
}

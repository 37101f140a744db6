//! Everything that belongs to one machine: its ear, its models, its engine, and what is written of it.

use std::{collections::VecDeque, fmt, path::PathBuf, sync::Arc};

use auscult::{
    ClipCondition, ClipLength, ClipRecord, ClipRules, ClipSettings, FrontEnds, Machine, Reading,
    Scorer,
    alarm::{AlarmState, Observation},
    audio::{ChannelRule, Location, Source},
    quality::QualityMeter,
    record::TimeOrigin,
};

use super::{
    ear::{Ear, Seam, Sound},
    engine::{ClipInput, Command, Engine, EngineMemory, Input},
    event::Event,
    health,
    learner::{Fitted, Learner, Lesson, SAMPLE_RATE},
    models::{self, Models, OpenModel},
    ring::Ring,
    status::{LastEvent, MachineStatus, Shelved, SourceStatus},
};
use crate::{
    clock::{Clock, day, utc},
    data::DataFolder,
    error::{Error, Result},
    history::{ClipRow, Commit, NewModel, SeenFile, SoundRow, Standing, Writer},
    site::{Keep, MachineSpec, SourceSpec, StartRule},
};

/// What all machines share.
#[derive(Clone)]
pub struct Surroundings {
    /// The clock.
    pub clock: Clock,
    /// The data folder.
    pub data: DataFolder,
    /// Who writes the history.
    pub writer: Writer,
    /// Where front ends come from.
    pub front_ends: FrontEnds,
    /// Which sinks want to be told of an event.
    pub sinks: Arc<dyn Fn(&Event) -> Vec<String> + Send + Sync>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Surroundings").field("data", &self.data).finish_non_exhaustive()
    }
}

/// A recording of a watched folder.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Where it is.
    pub path: PathBuf,
    /// How it is remembered.
    pub seen: SeenFile,
}

/// The scorers of one thread, shared by all of its machines with the same front end.
#[derive(Debug, Default)]
pub struct Scorers {
    scorers: Vec<(String, Scorer<'static>)>,
}

impl Scorers {
    fn of(&mut self, machine: &Arc<Machine>) -> &mut Scorer<'static> {
        let key = format!("{:?} {:?}", machine.front_end().identity(), machine.reading().length());
        let place = self.scorers.iter().position(|(known, _)| *known == key);
        let place = place.unwrap_or_else(|| {
            self.scorers.push((key, Scorer::shared(Arc::clone(machine))));
            self.scorers.len() - 1
        });
        let scorer = &mut self.scorers[place].1;
        scorer.switch_to(machine);
        scorer
    }
}

/// Scores that a sparkline shows.
const TREND: usize = 60;

/// A checkpoint this often, in seconds.
const CHECKPOINT_SECONDS: f64 = 86_400.0;

/// One machine being watched.
#[derive(Debug)]
pub struct Watch {
    pub(super) spec: MachineSpec,
    pub(super) id: i64,
    pub(super) around: Surroundings,
    pub(super) models: Models,
    pub(super) learner: Option<Learner>,
    pub(super) engine: Engine,
    ear: Option<Ear>,
    ring: Option<Ring>,
    meter: Option<QualityMeter>,
    pub(super) status: MachineStatus,
    last_checkpoint: f64,
    seam: Option<Seam>,
    last_rate: Option<u32>,
    trend: VecDeque<f64>,
    is_operating: Option<String>,
}

/// A clip with where it came from.
struct Heard<'a> {
    samples: &'a [f32],
    began: f64,
    origin: TimeOrigin,
    path: &'a str,
    start_seconds: f64,
}

impl Watch {
    /// Goes on where the history left the machine.
    ///
    /// # Errors
    ///
    /// If its model cannot be opened or the history cannot be read.
    pub fn open(spec: MachineSpec, around: Surroundings) -> Result<Self> {
        let now = around.clock.now();
        let name = spec.name.clone();
        let id = around.writer.call(move |history| history.machine(&name, now))?;
        let standing = around.writer.call(move |history| history.standing(id))?;
        let models =
            Models::open(&spec, id, &around.data, &around.writer, &around.front_ends, now)?;
        let learner = match models.is_empty() {
            true => {
                let rounds = around.writer.call(move |history| history.models(id))?.len();
                Some(Learner::open(&spec, &around.data, rounds + 1))
            }
            false => None,
        };
        let (memory, status) = match standing {
            Some(Standing { memory, status }) => (memory, Some(status)),
            None => (EngineMemory::new(now), None),
        };
        let model = models.of_state(memory.tag.as_deref());
        let rules = models::rules(&spec, model)?;
        let (stamp, normal) = (model.map(OpenModel::stamp), model.and_then(OpenModel::normal_runs));
        let is_first = status.is_none();
        let status = status.unwrap_or_else(|| new_status(&spec));
        let trend = status.trend.iter().copied().collect();
        let last = around.writer.call(move |history| history.last_rules(id))?;
        let old_rules = last.and_then(|rules| rules.check().ok());
        let engine = Engine::resume(spec.name.clone(), old_rules.unwrap_or(rules), memory);
        let mut watch = Self {
            spec,
            id,
            around,
            models,
            learner,
            engine,
            ear: None,
            ring: None,
            meter: None,
            status,
            last_checkpoint: 0.0,
            seam: None,
            last_rate: None,
            trend,
            is_operating: None,
        };
        let mut commit = Commit::of(id);
        if is_first {
            // A replay needs somewhere to begin.
            watch.checkpoint(&mut commit);
        }
        if watch.engine.facts().model != stamp {
            let reason = match &stamp {
                Some(stamp) => format!("model version {} judges from now on", stamp.version),
                None => "learning: there is no model yet".to_owned(),
            };
            watch.checkpoint(&mut commit);
            watch.engine.watch_drift(normal);
            let rules = rules.record();
            watch.apply(now, Input::Model { model: stamp, reason, rules }, &mut commit);
        } else if old_rules.is_some_and(|old| old != rules) {
            watch.checkpoint(&mut commit);
            watch.apply(now, Input::Rules { rules: rules.record() }, &mut commit);
        }
        watch.finish(commit)?;
        Ok(watch)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Its number in the history.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// What it was made from.
    pub fn spec(&self) -> &MachineSpec {
        &self.spec
    }

    /// How sound is cut into clips for it.
    fn reading(&self) -> Result<Reading> {
        match self.models.of_state(self.engine.facts().tag.as_deref()) {
            Some(model) => Ok(model.machine.reading().clone()),
            None => {
                let clip = ClipSettings { seconds: self.spec.clip_seconds, sample_rate: SAMPLE_RATE };
                let channel = ChannelRule::default();
                Ok(Reading::new(clip, channel, None, ClipRules::field())?)
            }
        }
    }

    /// Sound has arrived.
    ///
    /// # Errors
    ///
    /// If it cannot be resampled, or the history has ended.
    pub fn hear(&mut self, sound: &Sound, scorers: &mut Scorers) -> Result<Option<Lesson>> {
        if sound.stands_alone {
            self.ear = None;
        }
        if let Some(seam) = self.ear.as_ref().and_then(|ear| ear.seam(sound)) {
            if let Seam::Rate(before, now) = seam {
                let text = format!("the sample rate changed from {before} to {now} Hz");
                self.source_changed(true, &text)?;
            }
            self.seam = Some(seam);
            self.ear = None;
        }
        let mut ear = match self.ear.take() {
            Some(ear) => ear,
            None => Ear::new(sound, self.reading()?.settings())?,
        };
        let mut clips: Vec<(Vec<f32>, f64)> = Vec::new();
        ear.push(&sound.samples, &mut |clip, began| clips.push((clip.to_vec(), began)))?;
        self.ear = Some(ear);
        let mut commit = Commit::of(self.id);
        for (samples, began) in &clips {
            let (path, origin) = ("live", TimeOrigin::Caller);
            let heard =
                Heard { samples, began: *began, origin, path, start_seconds: 0.0 };
            self.take(&heard, scorers, &mut commit)?;
        }
        if !clips.is_empty() {
            self.finish(commit)?;
        }
        self.lesson_if_ready()
    }

    /// A recording was put into its folder. It is done with once this is on disk.
    ///
    /// # Errors
    ///
    /// If the history has ended.
    pub fn read(&mut self, recording: &Recording, scorers: &mut Scorers) -> Result<Option<Lesson>> {
        let mut commit = Commit::of(self.id);
        commit.seen = Some(recording.seen.clone());
        let source = Source::new(Location::File(recording.path.clone()));
        let path = recording.path.display().to_string();
        let now = self.around.clock.now();
        let recorded = source.recorded_at();
        // A recording is not from the future, whatever its name says.
        let (began, origin) = match recorded.filter(|it| it.unix_seconds <= now + 60.0) {
            Some(recorded) => (recorded.unix_seconds, recorded.origin),
            None => (now, TimeOrigin::Caller),
        };
        match self.reading()?.clips(&source.location) {
            Ok(clips) => {
                for clip in clips {
                    match clip {
                        Ok(clip) => {
                            let rate = clip.recording.sample_rate;
                            if let Some(before) = self.last_rate.replace(rate).filter(|it| *it != rate) {
                                let text = format!(
                                    "recordings have {rate} Hz now, and had {before} Hz: {path}"
                                );
                                self.apply(
                                    now,
                                    Input::Source { is_alive: true, text },
                                    &mut commit,
                                );
                            }
                            let heard = Heard {
                                samples: &clip.samples,
                                began: began + clip.start_seconds,
                                origin,
                                path: &path,
                                start_seconds: clip.start_seconds,
                            };
                            self.take(&heard, scorers, &mut commit)?;
                        }
                        Err(error) => self.take_unreadable(&path, began, origin, &error, &mut commit),
                    }
                }
            }
            Err(error) => self.take_unreadable(&path, began, origin, &error, &mut commit),
        }
        self.finish(commit)?;
        self.lesson_if_ready()
    }

    /// A recording, or the rest of one, that cannot be read: that is told, and never scored as sound.
    fn take_unreadable(
        &mut self,
        path: &str,
        began: f64,
        origin: TimeOrigin,
        error: &auscult::audio::Error,
        commit: &mut Commit,
    ) {
        tracing::warn!(machine = self.spec.name, path, %error, "a recording cannot be read");
        let mut record = ClipRecord::of(path, 0.0, ClipCondition::Usable);
        record.error = Some(error.to_string());
        record.reason = error.to_string();
        let heard = Heard { samples: &[], began, origin, path, start_seconds: 0.0 };
        // One broken file is not a broken microphone: the state stays as it is.
        let observation = match self.engine.state() {
            AlarmState::Learning => Observation::Learning,
            AlarmState::NotRunning => Observation::NotRunning,
            AlarmState::SensorFault => Observation::SensorFault,
            _ => Observation::Normal,
        };
        if observation == Observation::Normal {
            // It says nothing of the machine: it counts neither for nor against an alarm.
            self.engine_row(&record, &heard, None, None, commit);
        } else {
            self.engine_row(&record, &heard, Some(observation), None, commit);
        }
    }

    /// Judges one clip and writes down what comes of it.
    fn take(&mut self, heard: &Heard<'_>, scorers: &mut Scorers, commit: &mut Commit) -> Result<()> {
        let tag = self.engine.facts().tag.clone();
        let model = self.models.of_state(tag.as_deref()).cloned();
        let mut record = match &model {
            Some(model) => scorers.of(&model.machine).score(heard.samples)?,
            None => self.measure(heard.samples)?,
        };
        record.path = heard.path.to_owned();
        record.start_seconds = heard.start_seconds;
        let level = record.quality.map(|quality| quality.level_dbfs);
        let gate = self.spec.running.as_ref().and_then(|running| running.above_dbfs);
        let is_off = tag.as_deref() == Some("off");
        let below = gate.filter(|gate| level.is_some_and(|level| level < *gate));
        let fault = health::judge(&record).filter(|_| !is_off);
        let observation = if is_off {
            record.reason = "not running, says the plant".to_owned();
            Observation::NotRunning
        } else if let Some(fault) = fault {
            record.reason = fault.to_string();
            Observation::SensorFault
        } else if let (Some(gate), Some(level)) = (below, level) {
            record.reason = format!("not running: {level:.0} dBFS, and it runs above {gate:.0} dBFS");
            Observation::NotRunning
        } else if record.error.is_some() || !record.condition.is_usable() {
            Observation::Learning
        } else if let Some(scored) = &record.scored {
            Observation::of(record.condition, Some(scored.verdict))
        } else {
            Observation::Learning
        };
        let mut sound = None;
        if self.learner.is_some() {
            self.learn(heard, &mut record, observation, commit)?;
        } else if self.spec.keep == Keep::All && observation != Observation::NotRunning {
            sound = Some(self.keep_clip(heard, commit)?);
        }
        let rate = self.reading()?.length().sample_rate();
        let ring_seconds = self.spec.ring_seconds + self.spec.clip_seconds;
        let ring = self.ring.get_or_insert_with(|| Ring::new(ring_seconds, rate));
        ring.push(heard.samples, heard.began);
        self.engine_row(&record, heard, Some(observation), sound, commit);
        self.seam = None;
        Ok(())
    }

    /// What can be said of a clip without a model.
    fn measure(&mut self, samples: &[f32]) -> Result<ClipRecord> {
        let length: ClipLength = self.reading()?.length();
        let meter = self.meter.get_or_insert_with(|| QualityMeter::new(length.sample_rate()));
        let mut record = ClipRecord::of("", 0.0, ClipCondition::of(samples, length));
        record.quality = meter.measure(samples);
        record.seconds = samples.len() as f64 / f64::from(length.sample_rate());
        Ok(record)
    }

    fn learn(
        &mut self,
        heard: &Heard<'_>,
        record: &mut ClipRecord,
        observation: Observation,
        commit: &mut Commit,
    ) -> Result<()> {
        let Some(learner) = &mut self.learner else { return Ok(()) };
        if observation != Observation::Learning || !record.condition.is_usable() {
            learner.rejected += 1;
            return Ok(());
        }
        let written = learner.add(&self.spec, &self.around.data, heard.samples, heard.began)?;
        let status = learner.status(&self.spec);
        record.reason = format!("learning: {}", status.text);
        if let Some((file, bytes)) = written {
            commit.sounds.push(SoundRow {
                file,
                time: heard.began,
                seconds: record.seconds,
                bytes,
                purpose: "learning",
            });
        }
        Ok(())
    }

    fn keep_clip(&self, heard: &Heard<'_>, commit: &mut Commit) -> Result<String> {
        let rate = self.reading()?.length().sample_rate();
        let file = self.sound_file(heard.began, "clip");
        let bytes = self.around.data.write(&file, &auscult_report::flac(heard.samples, rate))?;
        let seconds = heard.samples.len() as f64 / f64::from(rate);
        commit.sounds.push(SoundRow {
            file: file.clone(),
            time: heard.began,
            seconds,
            bytes,
            purpose: "all",
        });
        Ok(file)
    }

    fn sound_file(&self, began: f64, what: &str) -> String {
        let (name, day) = (&self.spec.name, day(began));
        format!("sound/{name}/{day}/{:.0}-{what}.flac", 1_000.0 * began)
    }

    /// Tells the engine of a clip and adds its row; without an observation only the row is added.
    fn engine_row(
        &mut self,
        record: &ClipRecord,
        heard: &Heard<'_>,
        observation: Option<Observation>,
        sound: Option<String>,
        commit: &mut Commit,
    ) {
        let end = heard.began + record.seconds;
        let now = self.around.clock.now();
        let bands = if record.is_anomalous() { health::bands(record) } else { Vec::new() };
        let heard_text = Some(record.heard.clone()).filter(|text| !text.is_empty());
        let nearest = record.difference.as_ref().map(|it| it.closest.to_string());
        // A clip without an observation keeps its place in the order, and moves nothing.
        let input = ClipInput {
            observation: observation.unwrap_or(Observation::Learning),
            began: heard.began,
            score: record.score(),
            p_value: record.p_value(),
            reason: record.reason.clone(),
            heard: heard_text.clone(),
            differs_most: record.differs_most.clone(),
            bands: bands.clone(),
            nearest: nearest.clone(),
        };
        self.checkpoint_if_due(commit);
        let events = match observation {
            Some(_) => self.engine.apply(end.min(now), &Input::Clip(input)),
            None => self.engine.skip(end.min(now)),
        };
        let mut remarks: Vec<String> =
            record.remark_names().into_iter().map(str::to_owned).collect();
        if let Some(Seam::Gap(seconds)) = self.seam {
            remarks.push(format!("gap of {seconds:.1} s"));
        }
        if end > now + 2.0 {
            remarks.push("ahead of the clock".to_owned());
        }
        let facts = self.engine.facts();
        let model = self.models.of_state(facts.tag.as_deref()).map(|model| model.row.id);
        commit.clips.push(ClipRow {
            step: facts.step,
            taken: facts.time,
            observation,
            time: heard.began,
            time_origin: heard.origin.name().to_owned(),
            path: record.path.clone(),
            start_seconds: record.start_seconds,
            seconds: record.seconds,
            score: record.score(),
            p_value: record.p_value(),
            calibrated: record.calibrated(),
            verdict: record.verdict().name().to_owned(),
            reason: record.reason.clone(),
            heard: heard_text,
            differs_most: record.differs_most.clone(),
            promised: record.promise.is_promised,
            promised_if: record.promise.condition.as_deref().map(str::to_owned),
            alarm: self.engine.state().name().to_owned(),
            domain: record.domain.clone(),
            level_dbfs: record.quality.map(|quality| quality.level_dbfs),
            remarks,
            copy_of: record.copy_of.clone(),
            error: record.error.clone(),
            model,
            bands,
            nearest,
            sound,
        });
        let status = &mut self.status;
        status.clips += 1;
        status.reason.clone_from(&record.reason);
        status.last_clip = Some(utc(heard.began));
        status.level_dbfs = record.quality.map(|quality| quality.level_dbfs);
        if let Some(score) = record.score() {
            (status.score, status.p_value) = (Some(score), record.p_value());
            if self.trend.len() == TREND {
                self.trend.pop_front();
            }
            self.trend.push_back(score);
        }
        self.announce(events, commit);
    }

    /// Time passes.
    ///
    /// # Errors
    ///
    /// If the history has ended.
    pub fn tick(&mut self) -> Result<()> {
        let events = self.engine.advance(self.around.clock.now());
        if events.is_empty() {
            return Ok(());
        }
        let mut commit = Commit::of(self.id);
        self.announce(events, &mut commit);
        self.finish(commit)
    }

    /// The source was lost or is back.
    ///
    /// # Errors
    ///
    /// If the history has ended.
    pub fn source_changed(&mut self, is_alive: bool, text: &str) -> Result<()> {
        let was = self.status.source.clone();
        if is_alive == was.alive && was.problem.as_deref().unwrap_or(text) == text && was.alive {
            // A first sign of life is not news.
            return Ok(());
        }
        self.status.source.alive = is_alive;
        self.status.source.problem = (!is_alive).then(|| text.to_owned());
        let mut commit = Commit::of(self.id);
        let input = Input::Source { is_alive, text: text.to_owned() };
        self.apply(self.around.clock.now(), input, &mut commit);
        self.finish(commit)
    }

    /// The source works for the first time since the start: known, not told.
    ///
    /// # Errors
    ///
    /// If the history has ended.
    pub fn source_began(&mut self) -> Result<()> {
        if self.engine.facts().source.is_some() {
            return self.source_changed(true, "the source is back");
        }
        self.status.source.alive = true;
        self.status.source.problem = None;
        Ok(())
    }

    /// The source has not delivered anything since the start: known, not told.
    ///
    /// # Errors
    ///
    /// If the history has ended.
    pub fn source_waits(&mut self, text: &str) -> Result<()> {
        self.status.source.alive = false;
        self.status.source.problem = Some(text.to_owned());
        self.finish(Commit::of(self.id))
    }

    /// Where front ends come from.
    pub fn front_ends(&self) -> &FrontEnds {
        &self.around.front_ends
    }

    /// The clock was set.
    ///
    /// # Errors
    ///
    /// If the history has ended.
    pub fn clock_set(&mut self, seconds: f64) -> Result<()> {
        if let Some(ear) = &mut self.ear {
            ear.shift_clock(seconds);
        }
        let mut commit = Commit::of(self.id);
        let at = self.engine.facts().time;
        self.apply(at, Input::Clock { seconds }, &mut commit);
        self.finish(commit)
    }

    /// Somebody, or another system, says something.
    ///
    /// # Errors
    ///
    /// If the command makes no sense now, or the history has ended.
    pub fn obey(&mut self, command: Command) -> Result<String> {
        if let Command::Acknowledge { .. } = command
            && self.engine.state() != AlarmState::Alarm
        {
            let name = &self.spec.name;
            let text = format!("{name} has no alarm to acknowledge: it is {}", self.engine.state());
            return Err(Error::Refused(text));
        }
        if let Command::Tag { state } = &command {
            if self.is_operating.as_ref() == Some(state) {
                return Ok(String::new());
            }
            self.is_operating = Some(state.clone());
            // Another state may have another model, and clips of another length.
            self.ear = None;
        }
        let mut commit = Commit::of(self.id);
        self.apply(self.around.clock.now(), Input::Command(command), &mut commit);
        let text = commit.events.first().map(|event| event.reason.clone()).unwrap_or_default();
        self.finish(commit)?;
        Ok(text)
    }

    /// Begins watching if enough was learnt and nobody has to say so.
    fn lesson_if_ready(&mut self) -> Result<Option<Lesson>> {
        let Some(learner) = &mut self.learner else { return Ok(None) };
        if self.spec.learn.start != StartRule::Itself || !learner.is_ready(&self.spec) {
            return Ok(None);
        }
        learner.lesson(&self.spec, &self.around.data).map(Some)
    }

    /// A model was made, or could not be.
    ///
    /// # Errors
    ///
    /// If it cannot be kept.
    pub fn fitted(&mut self, fitted: Result<Fitted>) -> Result<()> {
        let now = self.around.clock.now();
        let Some(learner) = &mut self.learner else { return Ok(()) };
        let Fitted { machine, odd } = match fitted {
            Ok(fitted) => fitted,
            Err(error) => {
                let reason = match &error {
                    Error::Library(auscult::Error::BudgetNotKept(plan)) => models::missing(plan),
                    error => error.to_string(),
                };
                tracing::warn!(machine = self.spec.name, %reason, "still learning");
                learner.failed(reason);
                return self.finish(Commit::of(self.id));
            }
        };
        let learned = learner.status(&self.spec);
        let note = format!("learnt from {} visits and {} clips", learned.visits, learned.clips);
        let new = NewModel::of(&machine, String::new(), "learned", note.clone());
        let (data, writer) = (&self.around.data, &self.around.writer);
        let model = models::adopt(machine, new, &self.spec, self.id, data, writer, now)?;
        self.learner = None;
        let mut commit = Commit::of(self.id);
        for file in odd {
            // By its name: when the clip began.
            let began = file.rsplit('/').next().and_then(|name| name.strip_suffix(".flac"));
            let began = began.and_then(|name| name.parse::<f64>().ok()).unwrap_or(0.0) / 1_000.0;
            let reason = "unlike all other clips it was learnt with".to_owned();
            let step = self.step_at(began).unwrap_or(0);
            commit.waiting.push((step, began, file, reason));
        }
        let text = format!("watching from now on: {note}");
        self.take_model(model, &text, &mut commit)?;
        self.finish(commit)
    }

    fn step_at(&self, began: f64) -> Option<u64> {
        let id = self.id;
        let query = crate::history::ClipQuery {
            machine: Some(id),
            from: Some(began - 0.002),
            to: Some(began + 0.002),
        };
        let found = self.around.writer.call(move |history| {
            let mut step = None;
            history.clips(&query, &mut |clip| {
                step = Some(clip.row.step);
                Ok(())
            })?;
            Ok(step)
        });
        found.ok().flatten()
    }

    /// Another model judges from now on.
    pub(super) fn take_model(
        &mut self,
        model: OpenModel,
        reason: &str,
        commit: &mut Commit,
    ) -> Result<()> {
        let (stamp, normal) = (model.stamp(), model.normal_runs());
        self.models.replace(model);
        self.ear = None;
        self.ring = None;
        let model = self.models.of_state(self.engine.facts().tag.as_deref());
        let rules = models::rules(&self.spec, model)?.record();
        self.checkpoint(commit);
        self.engine.watch_drift(normal);
        let input = Input::Model { model: Some(stamp), reason: reason.to_owned(), rules };
        self.apply(self.around.clock.now(), input, commit);
        Ok(())
    }

    /// Tells the engine of anything but a clip.
    pub(super) fn apply(&mut self, at: f64, input: Input, commit: &mut Commit) {
        let taken = at.max(self.engine.facts().time);
        let events = self.engine.apply(taken, &input);
        commit.inputs.push((self.engine.facts().step, taken, input));
        self.announce(events, commit);
    }

    /// Adds events, the sound that belongs to them, and messages about them.
    fn announce(&mut self, mut events: Vec<Event>, commit: &mut Commit) {
        for event in &mut events {
            if event.to == AlarmState::Alarm && event.from != AlarmState::Alarm {
                event.details.sound = self.keep_alarm(commit);
            }
            tracing::info!(machine = event.machine, id = event.id, "{}", event.sentence());
            self.status.last_event = Some(LastEvent {
                id: event.id.clone(),
                time: utc(event.unix_seconds),
                reason: event.reason.clone(),
            });
            if event.is_announced {
                for sink in (self.around.sinks)(event) {
                    commit.messages.push((sink, event.id.clone(), event.news()));
                }
            }
        }
        commit.events.append(&mut events);
    }

    /// Writes the ring: the sound of an alarm and of the time before it.
    fn keep_alarm(&mut self, commit: &mut Commit) -> Option<String> {
        if self.spec.keep == Keep::None {
            return None;
        }
        let rate = self.reading().ok()?.length().sample_rate();
        let (samples, began) = self.ring.as_ref()?.sound();
        let file = self.sound_file(began, "alarm");
        match self.around.data.write(&file, &auscult_report::flac(&samples, rate)) {
            Ok(bytes) => {
                let seconds = samples.len() as f64 / f64::from(rate);
                let (file_name, purpose) = (file.clone(), "alarm");
                commit.sounds.push(SoundRow { file: file_name, time: began, seconds, bytes, purpose });
                if let Some(clip) = commit.clips.last_mut() {
                    clip.sound.get_or_insert_with(|| file.clone());
                }
                Some(file)
            }
            Err(error) => {
                tracing::error!(machine = self.spec.name, %error, "the sound of an alarm cannot be kept");
                None
            }
        }
    }

    fn checkpoint_if_due(&mut self, commit: &mut Commit) {
        if self.engine.facts().time - self.last_checkpoint >= CHECKPOINT_SECONDS {
            self.checkpoint(commit);
        }
    }

    fn checkpoint(&mut self, commit: &mut Commit) {
        let memory = self.engine.memory();
        self.last_checkpoint = memory.time;
        // The first one of a commit: what follows can be replayed from there.
        commit.checkpoint.get_or_insert((self.engine.rules().record(), memory));
    }

    /// Writes a commit together with where the machine stands after it.
    pub(super) fn finish(&mut self, mut commit: Commit) -> Result<()> {
        self.update_status();
        let standing = Standing { memory: self.engine.memory(), status: self.status.clone() };
        commit.standing = Some(standing);
        self.around.writer.write(commit)
    }

    fn update_status(&mut self) {
        let facts = self.engine.facts();
        let model = self.models.of_state(facts.tag.as_deref());
        let status = &mut self.status;
        self.engine.state().name().clone_into(&mut status.state);
        status.since = utc(facts.since);
        status.drift = facts.is_drifting;
        status.acknowledged = self.engine.is_acknowledged();
        status.shelved = self.engine.shelved_until().map(|until| Shelved {
            until: utc(until),
            reason: facts.shelf.clone().unwrap_or_default(),
        });
        status.out_of_service.clone_from(&facts.out_of_service);
        status.model = model.map(OpenModel::status);
        status.learning = self.learner.as_ref().map(|learner| learner.status(&self.spec));
        status.trend = self.trend.iter().copied().collect();
        status.source.kind = self.spec.source.to_string();
    }
}

fn new_status(spec: &MachineSpec) -> MachineStatus {
    MachineStatus {
        name: spec.name.clone(),
        state: AlarmState::NoData.name().to_owned(),
        since: String::new(),
        score: None,
        p_value: None,
        reason: String::new(),
        last_clip: None,
        level_dbfs: None,
        trend: Vec::new(),
        model: None,
        source: SourceStatus {
            kind: spec.source.to_string(),
            alive: matches!(spec.source, SourceSpec::Push),
            problem: None,
        },
        drift: false,
        acknowledged: false,
        shelved: None,
        out_of_service: None,
        learning: None,
        last_event: None,
        clips: 0,
    }
}

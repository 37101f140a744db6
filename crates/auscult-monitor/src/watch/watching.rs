//! Everything that belongs to one machine: its ear, its models, its engine, and what is written of it.

use std::{collections::VecDeque, fmt, path::PathBuf, sync::Arc};

use auscult::{
    ClipRules, ClipSettings, FrontEnds, Machine, Reading, Scorer,
    alarm::AlarmState,
    audio::{ChannelRule, Extent, Location, Source},
    quality::QualityMeter,
    record::TimeOrigin,
};

use super::{
    ear::{Ear, Recorded, Seam, Sound},
    engine::{Engine, EngineMemory},
    event::Event,
    input::Input,
    learner::{Learner, Lesson, SAMPLE_RATE},
    microphone::Microphone,
    models::{self, Models, OpenModel},
    ring::Ring,
    status::{MachineStatus, SourceStatus},
};
use crate::{
    clock::{Clock, JUMP_SECONDS},
    data::DataFolder,
    error::Result,
    history::{Commit, SeenFile, Standing, Writer},
    news::ListeningIn,
    site::{MachineSpec, SourceSpec},
};

/// Names the sinks that want to be told of an event.
pub type WantedBy = Arc<dyn Fn(&Event) -> Vec<String> + Send + Sync>;

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
    pub sinks: WantedBy,
    /// Who listens in.
    pub listening_in: ListeningIn,
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
    pub(super) fn of(&mut self, machine: &Arc<Machine>) -> &mut Scorer<'static> {
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
pub(super) const TREND: usize = 60;

/// One machine being watched.
#[derive(Debug)]
pub struct Watch {
    pub(super) spec: MachineSpec,
    pub(super) id: i64,
    pub(super) around: Surroundings,
    pub(super) models: Models,
    pub(super) learner: Option<Learner>,
    pub(super) engine: Engine,
    pub(super) ear: Option<Ear>,
    pub(super) ring: Option<Ring>,
    pub(super) meter: Option<QualityMeter>,
    pub(super) microphone: Option<Microphone>,
    pub(super) status: MachineStatus,
    pub(super) last_checkpoint: f64,
    pub(super) seam: Option<Seam>,
    /// Channels and sample rate of the last recording.
    pub(super) last_form: Option<(usize, u32)>,
    pub(super) recorded: Recorded,
    pub(super) trend: VecDeque<f64>,
    pub(super) is_operating: Option<String>,
    /// Whether the last recording could not be read, and that was told.
    pub(super) is_unreadable: bool,
}

/// A clip with where it came from.
pub(super) struct Heard<'a> {
    pub(super) samples: &'a [f32],
    pub(super) began: f64,
    pub(super) origin: TimeOrigin,
    pub(super) path: &'a str,
    pub(super) start_seconds: f64,
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
        let learner = if models.is_empty() {
            let rounds = around.writer.call(move |history| history.models(id))?.len();
            Some(Learner::open(&spec, &around.data, rounds + 1))
        } else {
            None
        };
        let (memory, status) = match standing {
            Some(Standing { memory, status }) => (memory, Some(status)),
            None => (EngineMemory::new(now), None),
        };
        let model = models.of_state(memory.tag.as_deref());
        let rules = models::rules(&spec, model)?;
        let (stamp, normal) = (model.map(OpenModel::stamp), model.and_then(OpenModel::normal_runs));
        let is_first = status.is_none();
        let mut status = status.unwrap_or_else(|| new_status(&spec));
        // So that the log of every start says what it is.
        status.rule = None;
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
            microphone: None,
            status,
            last_checkpoint: 0.0,
            seam: None,
            last_form: None,
            recorded: Recorded::default(),
            trend,
            is_operating: None,
            is_unreadable: false,
        };
        let mut commit = Commit::of(id);
        if is_first {
            // A replay needs somewhere to begin.
            watch.checkpoint(&mut commit);
        }
        let behind = watch.engine.facts().time - now;
        if behind > JUMP_SECONDS {
            // Set back while nobody watched; set forward is not told from a pause.
            let at = watch.engine.facts().time;
            watch.apply(at, Input::Clock { seconds: -behind }, &mut commit);
        }
        if watch.engine.facts().model == stamp {
            if !watch.engine.watches_drift() && normal.is_some() {
                // What was remembered of it is of another version of this program.
                watch.engine.watch_drift(normal);
                watch.checkpoint(&mut commit);
            }
            if old_rules.is_some_and(|old| old != rules) {
                watch.checkpoint(&mut commit);
                watch.apply(now, Input::Rules { rules: rules.record() }, &mut commit);
            }
        } else {
            let reason = match (&stamp, watch.models.broken()) {
                (Some(stamp), _) => format!("model version {} judges from now on", stamp.version),
                (None, Some((_, reason))) => reason.clone(),
                (None, None) => "learning: there is no model yet".to_owned(),
            };
            watch.checkpoint(&mut commit);
            watch.engine.watch_drift(normal);
            watch.status.reason.clone_from(&reason);
            let (rules, is_learning) = (rules.record(), watch.learner.is_some());
            let input = Input::Model { model: stamp, reason, rules, is_learning };
            watch.apply(now, input, &mut commit);
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
    pub(super) fn reading(&self) -> Result<Reading> {
        if let Some(model) = self.models.of_state(self.engine.facts().tag.as_deref()) {
            Ok(model.machine.reading().clone())
        } else {
            let clip = ClipSettings { seconds: self.spec.clip_seconds, sample_rate: SAMPLE_RATE };
            let channel = ChannelRule::default();
            Ok(Reading::new(clip, channel, None, ClipRules::field())?)
        }
    }

    /// Sound has arrived.
    ///
    /// # Errors
    ///
    /// If it cannot be resampled, or the history has ended.
    pub fn hear(&mut self, sound: &Sound, scorers: &mut Scorers) -> Result<Option<Lesson>> {
        self.around.listening_in.publish(&self.spec.name, || sound.clone());
        if sound.stands_alone {
            self.ear = None;
        }
        if let Some(seam) = self.ear.as_mut().and_then(|ear| ear.seam(sound)) {
            if let Seam::Rate(before, now) = seam {
                let text = format!("the sample rate changed from {before} to {now} Hz");
                self.source_changed(true, &text)?;
            }
            // A clip is of one piece, unless only its times were corrected.
            if !matches!(seam, Seam::Clocks(_)) {
                self.ear = None;
            }
            self.seam = Some(seam);
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
            let heard = Heard { samples, began: *began, origin, path, start_seconds: 0.0 };
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
        let reading = self.reading()?;
        let clip_rate = reading.length().sample_rate();
        match reading.clips(&source.location) {
            Ok(clips) => {
                let channels = clips.channels();
                for clip in clips {
                    match clip {
                        // What is left of a recording that breaks off is not what its machine sounds like; the error follows.
                        Ok(clip) if clip.extent == Extent::CutByDamage => {}
                        Ok(clip) => {
                            self.note_form(
                                channels,
                                clip.recording.sample_rate,
                                &path,
                                &mut commit,
                            );
                            self.around.listening_in.publish(&self.spec.name, || Sound {
                                samples: clip.samples.clone(),
                                sample_rate: clip_rate,
                                arrived: now,
                                stands_alone: true,
                            });
                            let heard = Heard {
                                samples: &clip.samples,
                                began: began + clip.start_seconds,
                                origin,
                                path: &path,
                                start_seconds: clip.start_seconds,
                            };
                            self.take(&heard, scorers, &mut commit)?;
                        }
                        Err(error) => {
                            self.take_unreadable(&path, began, origin, &error, &mut commit);
                        }
                    }
                }
            }
            Err(error) => self.take_unreadable(&path, began, origin, &error, &mut commit),
        }
        self.finish(commit)?;
        self.lesson_if_ready()
    }

    /// Channels and rates of recordings do not change in silence.
    fn note_form(&mut self, channels: usize, rate: u32, path: &str, commit: &mut Commit) {
        let form = (channels, rate);
        let Some(before) = self.last_form.replace(form).filter(|before| *before != form) else {
            return;
        };
        let name = |(channels, rate): (usize, u32)| {
            format!("{} of {rate} Hz", auscult::plural(channels, "channel"))
        };
        let text = format!("recordings have {} now, and had {}: {path}", name(form), name(before));
        let now = self.around.clock.now();
        self.apply(now, Input::Source { is_alive: true, text }, commit);
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
        rule: None,
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

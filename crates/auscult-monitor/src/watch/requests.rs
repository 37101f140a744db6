//! What people decide about a machine's memory: waiting clips, versions, a new baseline.

use auscult::{Forget, Learn, Machine, Sources};
use serde::{Deserialize, Serialize};

use super::{
    input::{Command, Input},
    learner::{Learner, Lesson},
    models::{self, OpenModel},
    rule::Ruled,
    watching::Watch,
};
use crate::{
    clock::{day, utc},
    error::{Error, Result},
    history::{Commit, ModelRow, NewModel, WaitingClip},
};

/// A decision about a machine's memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "request")]
pub enum Request {
    /// A new visit begins, or watching does.
    Learn {
        /// Make the model of what there is.
        now: bool,
    },
    /// Somebody says what a clip really was.
    Feedback {
        /// The clip.
        step: u64,
        /// `normal`, `fault`, `not-running` or `sensor-fault`.
        verdict: String,
        /// In their words.
        note: String,
        /// Who.
        who: String,
    },
    /// Waiting clips are normal; all of them without steps.
    Accept {
        /// The clips.
        steps: Vec<u64>,
        /// Only say what would change.
        preview: bool,
        /// Who.
        who: String,
    },
    /// Waiting clips are not normal.
    Reject {
        /// The clips.
        steps: Vec<u64>,
        /// Who.
        who: String,
    },
    /// References of these visits are not normal after all.
    Forget {
        /// The visits.
        visits: Vec<String>,
        /// Only say what would change.
        preview: bool,
        /// Who.
        who: String,
    },
    /// The machine was repaired: learn it anew; what was learnt before is kept.
    Baseline {
        /// Who.
        who: String,
    },
    /// Nobody is told about the machine for a while, by the monitor's clock.
    Shelve {
        /// For how long.
        seconds: f64,
        /// Why.
        reason: String,
        /// Who.
        who: String,
    },
    /// Sound of a span of time is deleted.
    DeleteSound {
        /// From this time on, in seconds since 1970 ...
        from: f64,
        /// ... to this one.
        to: f64,
        /// Who.
        who: String,
    },
    /// An earlier version judges again; the one before without a number.
    Rollback {
        /// Which one.
        version: Option<i64>,
        /// Who.
        who: String,
    },
}

/// What a decision changes, or would.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Change {
    /// In a sentence.
    pub text: String,
    /// Whether it was done.
    pub done: bool,
    /// The threshold before.
    pub threshold_before: Option<f64>,
    /// The threshold after.
    pub threshold_after: Option<f64>,
    /// References before.
    pub references_before: usize,
    /// References after.
    pub references_after: usize,
}

impl Watch {
    /// Carries out a decision. What takes long is given back to be done elsewhere.
    ///
    /// # Errors
    ///
    /// If it makes no sense now.
    pub fn decide(&mut self, request: Request) -> Result<(Change, Option<Lesson>)> {
        let done = Change::done;
        match request {
            Request::Learn { now } => self.learn_on(now),
            Request::Feedback { step, verdict, note, who } => {
                Ok((done(self.feedback(step, &verdict, &note, &who)?), None))
            }
            Request::Accept { steps, preview, who } => {
                Ok((self.accept(&steps, preview, &who)?, None))
            }
            Request::Reject { steps, who } => {
                let clips = self.waiting(&steps)?;
                self.end_waiting(&clips, "rejected", &who)?;
                let count = auscult::plural(clips.len(), "clip");
                Ok((done(format!("{count} will not join the memory")), None))
            }
            Request::Forget { visits, preview, who } => {
                Ok((self.forget(visits, preview, &who)?, None))
            }
            Request::Baseline { who } => Ok((done(self.baseline(&who)?), None)),
            Request::Shelve { seconds, reason, who } => {
                let until = self.around.clock.now() + seconds;
                Ok((done(self.obey(Command::Shelve { until, reason, who })?), None))
            }
            Request::DeleteSound { from, to, .. } if from >= to => Err(Error::Refused(format!(
                "sound is deleted from a time to a later one, and {} is not before {}",
                utc(from),
                utc(to)
            ))),
            Request::DeleteSound { from, to, who } => {
                let (id, data, now) = (self.id, self.around.data.clone(), self.around.clock.now());
                let deleted = self.around.writer.call(move |history| {
                    history.delete_sound_of(&data, id, (from, to), &who, now)
                })?;
                Ok((done(format!("deleted {}", auscult::plural(deleted, "sound file"))), None))
            }
            Request::Rollback { version, who } => Ok((self.roll_back(version, &who)?, None)),
        }
    }

    fn learn_on(&mut self, now: bool) -> Result<(Change, Option<Lesson>)> {
        let name = self.spec.name.clone();
        let Some(learner) = &mut self.learner else {
            return Err(Error::Refused(format!(
                "{name} has a model already; after a repair, begin anew with `auscult watch baseline {name}`"
            )));
        };
        if now {
            let lesson = learner.lesson(&self.spec, &self.around.data)?;
            self.finish(Commit::of(self.id))?;
            return Ok((Change::done(format!("making the model of {name}")), Some(lesson)));
        }
        learner.begin_visit();
        Ok((Change::done(format!("the next clip of {name} begins a new visit")), None))
    }

    fn feedback(&mut self, step: u64, verdict: &str, note: &str, who: &str) -> Result<String> {
        const VERDICTS: [&str; 4] = ["normal", "fault", "not-running", "sensor-fault"];
        if !VERDICTS.contains(&verdict) {
            let allowed = VERDICTS.join(", ");
            return Err(Error::Refused(format!("{verdict:?} is not one of {allowed}")));
        }
        let id = self.id;
        let clip = self.around.writer.call(move |history| history.clip(id, step))?;
        let name = &self.spec.name;
        let clip = clip
            .ok_or_else(|| Error::Refused(format!("{name} has no clip {step} in its history")))?;
        let sound = match (&clip.sound, verdict) {
            (Some(sound), _) => sound.clone(),
            (None, "normal") => {
                return Err(Error::Refused(format!(
                    "the sound of clip {step} was not kept, so {name} cannot learn from it; keep = \"all\" keeps every \
                     clip, \"alarms\" those around alarms"
                )));
            }
            (None, _) => String::new(),
        };
        let said =
            self.around.writer.call(move |h| h.feedback(Some(id), Some((step, step)), 64))?;
        // Who says the same again without a note does not take the first one back.
        let earlier = said.iter().map(|said| said.note.as_str()).find(|note| !note.is_empty());
        let shown = if note.is_empty() { earlier.unwrap_or_default() } else { note };
        let colon = if shown.is_empty() { "" } else { ": " };
        let reason = format!("normal, says {who}{colon}{shown}");
        let waiting = WaitingClip { step, time: clip.time, sound, reason };
        let (verdict_text, note, who) = (verdict.to_owned(), note.to_owned(), who.to_owned());
        let now = self.around.clock.now();
        self.around.writer.call(move |history| {
            history.add_feedback(id, &waiting, &verdict_text, &note, &who, now)
        })?;
        Ok(match verdict {
            "normal" => format!("clip {step} of {name} waits to be accepted"),
            _ => format!("clip {step} of {name} is noted as {verdict}"),
        })
    }

    fn waiting(&self, steps: &[u64]) -> Result<Vec<WaitingClip>> {
        let id = self.id;
        let mut clips = self.around.writer.call(move |history| history.waiting_clips(id))?;
        let name = &self.spec.name;
        if let Some(step) = steps.iter().find(|step| clips.iter().all(|clip| clip.step != **step)) {
            return Err(Error::Refused(format!("clip {step} of {name} is not waiting")));
        }
        if !steps.is_empty() {
            clips.retain(|clip| steps.contains(&clip.step));
        }
        if clips.is_empty() {
            return Err(Error::Refused(format!("no clip of {name} is waiting")));
        }
        Ok(clips)
    }

    fn end_waiting(&self, clips: &[WaitingClip], decision: &'static str, who: &str) -> Result<()> {
        let steps: Vec<u64> = clips.iter().map(|clip| clip.step).collect();
        let (id, who, now) = (self.id, who.to_owned(), self.around.clock.now());
        self.around.writer.call(move |history| history.decide(id, &steps, decision, &who, now))
    }

    fn current(&self) -> Result<OpenModel> {
        let model = self.models.of_state(self.engine.facts().tag.as_deref());
        model.cloned().ok_or_else(|| {
            Error::Refused(format!("{} is still being learnt and has no model", self.spec.name))
        })
    }

    fn accept(&mut self, steps: &[u64], preview: bool, who: &str) -> Result<Change> {
        let clips = self.waiting(steps)?;
        let old = self.current()?;
        let mut sources: Option<Sources> = None;
        for clip in &clips {
            let one = Sources::of([self.around.data.file(&clip.sound)])?;
            let one = one.of_visit(format!("accepted-{}", day(clip.time)));
            sources = Some(match sources {
                Some(all) => all.and(one),
                None => one,
            });
        }
        let Some(sources) = sources else { return Err(Error::Stopping) };
        let learn = Learn { front_ends: self.around.front_ends.clone(), ..Learn::default() };
        let grown = old.machine.add(sources, &learn)?;
        let grown = self.with_rule(grown, &old.row)?;
        let count = auscult::plural(clips.len(), "clip");
        let note = format!("{count} accepted by {who}");
        let state = old.row.operating_state.clone();
        let change = self.exchange(Some(&old), (grown, state), "accepted", &note, preview)?;
        if !preview {
            self.end_waiting(&clips, "accepted", who)?;
        }
        Ok(change)
    }

    fn forget(&mut self, visits: Vec<String>, preview: bool, who: &str) -> Result<Change> {
        let old = self.current()?;
        let note = format!("without {}, says {who}", visits.join(", "));
        let smaller = old.machine.forget(&Forget { visits, ..Forget::default() })?;
        let smaller = self.with_rule(smaller, &old.row)?;
        let state = old.row.operating_state.clone();
        self.exchange(Some(&old), (smaller, state), "forgotten", &note, preview)
    }

    /// A changed model with the alarm rule that its visits carry now.
    fn with_rule(&self, machine: Machine, before: &ModelRow) -> Result<Ruled> {
        Ruled::plan(machine, before.planned.as_ref(), &self.spec, &self.around.front_ends)
    }

    /// Puts a changed model in the place of the old one, or says what that would change.
    fn exchange(
        &mut self,
        old: Option<&OpenModel>,
        (new, operating_state): (Ruled, Option<String>),
        origin: &'static str,
        note: &str,
        preview: bool,
    ) -> Result<Change> {
        let mut change = Change::between(old.map(|old| &*old.machine), &new.machine, note);
        if preview {
            return Ok(change);
        }
        let mut row = NewModel::of(&new.machine, String::new(), origin, note.to_owned());
        row.operating_state = operating_state;
        let (data, writer) = (&self.around.data, &self.around.writer);
        let now = self.around.clock.now();
        let model = models::adopt(new, row, &self.spec, self.id, data, writer, now)?;
        let mut commit = Commit::of(self.id);
        self.take_model(model, &change.text, &mut commit)?;
        self.finish(commit)?;
        change.done = true;
        Ok(change)
    }

    fn baseline(&mut self, who: &str) -> Result<String> {
        let name = self.spec.name.clone();
        if self.spec.model.is_some() {
            return Err(Error::Refused(format!(
                "the configuration names a model for {name}; take `model` out of it first, and then say this again"
            )));
        }
        if self.learner.is_some() {
            return Err(Error::Refused(format!("{name} is being learnt already")));
        }
        let (id, now) = (self.id, self.around.clock.now());
        let rounds = self.around.writer.call(move |history| {
            history.end_model(id, now)?;
            Ok(history.models(id)?.len())
        })?;
        self.models.clear();
        self.learner = Some(Learner::open(&self.spec, &self.around.data, rounds + 1));
        let rules = self.engine.rules().record();
        self.engine.watch_drift(None);
        let reason = format!("learning anew, says {who}; the old model is kept");
        let mut commit = Commit::of(self.id);
        self.status.reason.clone_from(&reason);
        let input = Input::Model { model: None, reason: reason.clone(), rules, is_learning: true };
        self.apply(now, input, &mut commit);
        self.finish(commit)?;
        Ok(reason)
    }

    fn roll_back(&mut self, version: Option<i64>, who: &str) -> Result<Change> {
        let id = self.id;
        let versions = self.around.writer.call(move |history| history.models(id))?;
        let name = &self.spec.name;
        let current = self.models.of_state(self.engine.facts().tag.as_deref()).cloned();
        let current_version = current.as_ref().map(|model| model.row.version);
        let current_version = current_version.or(self.models.broken().map(|(version, _)| *version));
        let wanted = |row: &&ModelRow| match version {
            Some(version) => row.version == version,
            None => current_version.is_none_or(|current| row.version < current),
        };
        let row = versions.iter().rev().find(wanted).ok_or_else(|| {
            let known: Vec<String> = versions.iter().map(|row| row.version.to_string()).collect();
            Error::Refused(match version {
                Some(version) => {
                    format!("{name} has no version {version}; it has {}", known.join(", "))
                }
                None => format!("{name} has no version before this one"),
            })
        })?;
        let path = self.around.data.file(&row.file);
        let front_ends = &self.around.front_ends;
        let machine = models::open_file(&path, &self.spec, front_ends)?;
        let planned = row.planned.clone();
        let (ruled, _) = Ruled::keep_or_plan(machine, planned, &self.spec, front_ends)?;
        let note =
            format!("back to version {} of {}, says {who}", row.version, utc(row.valid_from));
        let state = row.operating_state.clone();
        self.learner = None;
        self.exchange(current.as_ref(), (ruled, state), "rollback", &note, false)
    }
}

impl Change {
    fn done(text: String) -> Self {
        Self {
            text,
            done: true,
            threshold_before: None,
            threshold_after: None,
            references_before: 0,
            references_after: 0,
        }
    }

    fn between(old: Option<&Machine>, new: &Machine, note: &str) -> Self {
        let threshold = |machine: &Machine| machine.model().threshold();
        let count = |machine: &Machine| machine.model().references().provenance().len();
        let (before, after) = (old.and_then(threshold), threshold(new));
        let (references_before, references_after) = (old.map_or(0, count), count(new));
        let number = |threshold: Option<f64>| {
            threshold.map_or_else(|| "none".to_owned(), |threshold| format!("{threshold:.4}"))
        };
        let (limit, references) = (number(after), format!("{references_after} references"));
        let text = match old {
            None => format!("{note}: threshold {limit}, {references}"),
            Some(_) => format!(
                "{note}: threshold {limit} instead of {}, {references} instead of {references_before}",
                number(before)
            ),
        };
        Self {
            text,
            done: false,
            threshold_before: before,
            threshold_after: after,
            references_before,
            references_after,
        }
    }
}

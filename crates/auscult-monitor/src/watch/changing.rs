//! Everything but clips that happens to a machine: time, its source, the clock, commands, a model that was made.

use auscult::{FrontEnds, alarm::AlarmState, plural};

use super::{
    event::EventKind,
    input::{Command, Input},
    learner::{Fitted, Lesson},
    models,
    watching::Watch,
};
use crate::{
    clock::utc,
    error::{Error, Result},
    history::{Commit, NewModel},
    site::StartRule,
};

/// Who shelves a machine for longer has forgotten it: a year, in seconds, and a little for the way.
const LONGEST_SHELF: f64 = 366.0 * 86_400.0;

impl Watch {
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
        if let Some(reason) = self.refusal(&command) {
            return Err(Error::Refused(reason));
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
        // Time may have passed as well: the answer is about the command.
        let answer = commit.events.iter().rfind(|event| event.kind == EventKind::Command);
        let text = answer.map(|event| event.reason.clone()).unwrap_or_default();
        self.finish(commit)?;
        Ok(text)
    }

    /// Why a command cannot be carried out, or would change nothing.
    fn refusal(&self, command: &Command) -> Option<String> {
        let (name, facts, state) = (&self.spec.name, self.engine.facts(), self.engine.state());
        let now = self.around.clock.now();
        match command {
            Command::Acknowledge { .. } if state != AlarmState::Alarm => {
                Some(format!("{name} has no alarm to acknowledge: it is {state}"))
            }
            Command::Acknowledge { .. } if self.engine.is_acknowledged() => {
                Some(format!("the alarm of {name} was acknowledged already"))
            }
            Command::Shelve { until, .. } if !(0.5..=LONGEST_SHELF).contains(&(until - now)) => {
                Some(format!(
                    "{name} cannot be shelved until {}: for a second at least, and for a year at most",
                    utc(*until)
                ))
            }
            Command::Unshelve { .. } if self.engine.shelved_until().is_none() => {
                Some(format!("{name} is not shelved"))
            }
            Command::OutOfService { .. } => facts
                .out_of_service
                .as_ref()
                .map(|reason| format!("{name} is out of service already: {reason}")),
            Command::InService { .. } if facts.out_of_service.is_none() => {
                Some(format!("{name} is in service"))
            }
            Command::AcceptDrift { .. } if !facts.is_drifting => {
                Some(format!("the sound of {name} has not drifted: there is nothing to accept"))
            }
            Command::Tag { state } if !self.knows_state(state) => {
                let states = self.spec.states.keys().map(|state| format!(", {state:?}"));
                Some(format!(
                    "{state:?} is not a state of {name}, which knows \"on\", \"off\"{}",
                    states.collect::<String>()
                ))
            }
            _ => None,
        }
    }

    fn knows_state(&self, state: &str) -> bool {
        ["on", "off"].contains(&state) || self.spec.states.contains_key(state)
    }

    /// Begins watching if enough was learnt and nobody has to say so.
    pub(super) fn lesson_if_ready(&mut self) -> Result<Option<Lesson>> {
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
        let Fitted { ruled, odd } = match fitted {
            Ok(fitted) => fitted,
            Err(error) => {
                let reason = match &error {
                    Error::NotPromised { reason, .. } => reason.clone(),
                    error => error.to_string(),
                };
                tracing::warn!(machine = self.spec.name, %reason, "still learning");
                learner.failed(reason);
                return self.finish(Commit::of(self.id));
            }
        };
        let mut new = NewModel::of(&ruled.machine, String::new(), "learned", String::new());
        let (visits, clips) = (plural(new.visits, "visit"), plural(new.references, "clip"));
        let note = format!("learnt from {visits} and {clips}");
        if new.threshold.is_none() {
            // A model that can never decide would end the learning for good.
            let reason = format!("a model {note} cannot decide yet; more clips are collected");
            tracing::warn!(machine = self.spec.name, %reason, "still learning");
            learner.failed(reason);
            return self.finish(Commit::of(self.id));
        }
        new.note.clone_from(&note);
        let (data, writer) = (&self.around.data, &self.around.writer);
        let model = models::adopt(ruled, new, &self.spec, self.id, data, writer, now)?;
        self.learner = None;
        let mut commit = Commit::of(self.id);
        for file in odd {
            // By its name: when the clip began, and its step.
            let name = file.rsplit('/').next().and_then(|name| name.strip_suffix(".flac"));
            let (began, step) = name.and_then(|name| name.split_once('-')).unwrap_or_default();
            let began = began.parse::<f64>().unwrap_or(0.0) / 1_000.0;
            let step = step.parse().unwrap_or(0);
            let reason = "unlike all other clips it was learnt with".to_owned();
            commit.waiting.push((step, began, file, reason));
        }
        let text = format!("watching from now on: {note}");
        self.take_model(model, &text, &mut commit)?;
        self.finish(commit)
    }
}

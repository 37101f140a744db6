//! What is written of a machine: events with their sound and messages, checkpoints, where it stands.

use auscult::alarm::AlarmState;

use super::{
    event::Event,
    input::Input,
    models::{self, OpenModel},
    status::{LastEvent, Shelved},
    watching::Watch,
};
use crate::{
    clock::utc,
    error::Result,
    history::{Commit, SoundRow, Standing},
    site::Keep,
};

/// A checkpoint this often, in seconds.
const CHECKPOINT_SECONDS: f64 = 86_400.0;

impl Watch {
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
        reason.clone_into(&mut self.status.reason);
        let (model, reason) = (Some(stamp), reason.to_owned());
        let input = Input::Model { model, reason, rules, is_learning: false };
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
    pub(super) fn announce(&mut self, mut events: Vec<Event>, commit: &mut Commit) {
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
                commit.sounds.push(SoundRow {
                    file: file_name,
                    time: began,
                    seconds,
                    bytes,
                    purpose,
                });
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

    pub(super) fn checkpoint_if_due(&mut self, commit: &mut Commit) {
        if self.engine.facts().time - self.last_checkpoint >= CHECKPOINT_SECONDS {
            self.checkpoint(commit);
        }
    }

    pub(super) fn checkpoint(&mut self, commit: &mut Commit) {
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

    /// Recordings that are no longer in their folder need not be remembered.
    ///
    /// # Errors
    ///
    /// If the history has ended.
    pub fn forget_recordings(&self, paths: Vec<String>) -> Result<()> {
        self.around.writer.write(Commit { gone: paths, ..Commit::of(self.id) })
    }

    /// Waits until everything so far is on disk; not for a disk that takes nothing, which may be hours.
    ///
    /// # Errors
    ///
    /// If the monitor is stopping.
    pub fn settle(&self) -> Result<()> {
        if self.around.writer.is_stuck() { Ok(()) } else { self.around.writer.call(|_| Ok(())) }
    }

    /// Does something once everything so far is on disk, without waiting for it.
    ///
    /// # Errors
    ///
    /// If the monitor is stopping.
    pub fn once_written(&self, act: impl FnOnce() + Send + 'static) -> Result<()> {
        self.around.writer.once_written(act)
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
        let rule = model.map(|model| model.rule(&self.spec));
        if let Some(rule) = rule.as_ref().filter(|rule| status.rule.as_ref() != Some(rule)) {
            let machine = &status.name;
            if rule.missing.is_some() {
                tracing::warn!(machine, "an alarm is {}", rule.text);
            } else {
                tracing::info!(machine, "an alarm is {}", rule.text);
            }
        }
        status.rule = rule;
        status.learning = self.learner.as_ref().map(|learner| learner.status(&self.spec));
        status.trend = self.trend.iter().copied().collect();
        status.source.kind = self.spec.source.to_string();
    }
}

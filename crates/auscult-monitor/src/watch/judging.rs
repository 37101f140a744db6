//! One clip: measured, judged, kept where that is wanted, and told to the engine.

use auscult::{
    ClipCondition, ClipLength, ClipRecord,
    alarm::{AlarmState, Observation},
    quality::QualityMeter,
    record::TimeOrigin,
};

use super::{
    ear::Seam,
    health::{self, SensorFault},
    input::{ClipInput, Input},
    microphone::Microphone,
    models::OpenModel,
    ring::Ring,
    watching::{Heard, Scorers, TREND, Watch},
};
use crate::{
    clock::{day, utc},
    error::Result,
    history::{ClipRow, Commit, SoundRow},
    site::Keep,
};

impl Watch {
    /// A recording, or the rest of one, that cannot be read: that is told, and never scored as sound.
    pub(super) fn take_unreadable(
        &mut self,
        path: &str,
        began: f64,
        origin: TimeOrigin,
        error: &auscult::audio::Error,
        commit: &mut Commit,
    ) {
        tracing::warn!(machine = self.spec.name, path, %error, "a recording cannot be read");
        // The first of several in a row is an event; each is in the log and among the clips.
        if !std::mem::replace(&mut self.is_unreadable, true) {
            let text = format!("a recording cannot be read: {error}");
            let now = self.around.clock.now();
            self.apply(now, Input::Source { is_alive: true, text }, commit);
        }
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
    pub(super) fn take(
        &mut self,
        heard: &Heard<'_>,
        scorers: &mut Scorers,
        commit: &mut Commit,
    ) -> Result<()> {
        self.is_unreadable = false;
        let tag = self.engine.facts().tag.clone();
        let model = self.models.of_state(tag.as_deref()).cloned();
        let mut record = match &model {
            Some(model) => scorers.of(&model.machine).score(heard.samples)?,
            None => self.measure(heard.samples)?,
        };
        heard.path.clone_into(&mut record.path);
        record.start_seconds = heard.start_seconds;
        let level = record.quality.map(|quality| quality.level_dbfs);
        let gate = self.spec.running.as_ref().and_then(|running| running.above_dbfs);
        let is_off = tag.as_deref() == Some("off");
        let below = gate.filter(|gate| level.is_some_and(|level| level < *gate));
        let fault = if is_off {
            None
        } else {
            let moved = model.as_ref().filter(|_| below.is_none());
            let moved = moved.and_then(|model| self.hear_microphone(model, &record));
            health::judge(&record).or(moved)
        };
        let observation = if is_off {
            "not running, says the plant".clone_into(&mut record.reason);
            Some(Observation::NotRunning)
        } else if let Some(fault) = fault {
            record.reason = fault.to_string();
            Some(Observation::SensorFault)
        } else if let (Some(gate), Some(level)) = (below, level) {
            record.reason =
                format!("not running: {level:.0} dBFS, and it runs above {gate:.0} dBFS");
            Some(Observation::NotRunning)
        } else if let Some((_, reason)) = self.models.broken().filter(|_| model.is_none()) {
            record.reason.clone_from(reason);
            None
        } else if model.is_none() {
            Some(Observation::Learning)
        } else {
            // What is too short or could not be scored says nothing of the machine.
            let scored = record.scored.as_ref();
            scored.map(|scored| Observation::of(record.condition, Some(scored.verdict)))
        };
        if matches!(heard.origin, TimeOrigin::Manifest | TimeOrigin::FileName) {
            self.seam = self.recorded.overlap(heard.path, heard.began, record.seconds);
        }
        let mut sound = None;
        if self.learner.is_some() {
            self.learn(heard, &mut record, observation, commit)?;
        } else if self.spec.keep == Keep::All && observation != Some(Observation::NotRunning) {
            sound = Some(self.keep_clip(heard, commit)?);
        }
        let rate = self.reading()?.length().sample_rate();
        let ring_seconds = self.spec.ring_seconds + self.spec.clip_seconds;
        let ring = self.ring.get_or_insert_with(|| Ring::new(ring_seconds, rate));
        ring.push(heard.samples, heard.began);
        self.engine_row(&record, heard, observation, sound, commit);
        self.seam = None;
        Ok(())
    }

    /// What the last clips together say about the microphone.
    fn hear_microphone(&mut self, model: &OpenModel, record: &ClipRecord) -> Option<SensorFault> {
        let version = model.row.id;
        let known = self.microphone.take().filter(|it| it.is_of(version));
        let microphone = known.unwrap_or_else(|| Microphone::new(version, &model.machine));
        self.microphone.insert(microphone).hear(record, &model.machine)
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
        observation: Option<Observation>,
        commit: &mut Commit,
    ) -> Result<()> {
        let Some(learner) = &mut self.learner else { return Ok(()) };
        // What happens to a machine that is out of service is nothing to learn from.
        let is_in_service = self.engine.facts().out_of_service.is_none();
        let is_usable = record.condition.is_usable() && is_in_service;
        if observation != Some(Observation::Learning) || !is_usable {
            learner.rejected += 1;
            return Ok(());
        }
        let (data, step) = (&self.around.data, self.engine.facts().step + 1);
        let written = learner.add(&self.spec, data, heard.samples, heard.began, step)?;
        let status = learner.status(&self.spec);
        record.reason = status.text;
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

    pub(super) fn sound_file(&self, began: f64, what: &str) -> String {
        let (name, day) = (&self.spec.name, day(began));
        // With the step: recordings may bear the same time.
        let step = self.engine.facts().step;
        format!("sound/{name}/{day}/{:.0}-{step}-{what}.flac", 1_000.0 * began)
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
        remarks.extend(self.seam.as_ref().and_then(Seam::remark));
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
        // An alarm that stands is not explained by a clip that was normal again.
        let stands = matches!(self.engine.state(), AlarmState::Alarm | AlarmState::Alert);
        if !stands || record.is_anomalous() || status.reason.is_empty() {
            status.reason.clone_from(&record.reason);
        }
        status.last_clip = Some(utc(heard.began));
        status.level_dbfs = record.quality.map(|quality| quality.level_dbfs);
        // The score of a machine that stands still says nothing.
        let is_judged = matches!(observation, Some(Observation::Normal | Observation::Anomalous));
        if let Some(score) = record.score().filter(|_| is_judged) {
            (status.score, status.p_value) = (Some(score), record.p_value());
            if self.trend.len() == TREND {
                self.trend.pop_front();
            }
            self.trend.push_back(score);
        }
        self.announce(events, commit);
    }
}

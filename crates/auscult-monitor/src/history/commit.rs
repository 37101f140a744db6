//! One transaction: what a clip, a command or a moment of time changes, whole or not at all.

use auscult::alarm::Observation;
use rusqlite::{Connection, params};

use crate::{
    error::Result,
    watch::{Band, EngineMemory, Event, Input, MachineStatus, RulesRecord},
};

/// What belongs together in one transaction of one machine.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// The machine's number.
    pub machine: i64,
    /// Clips that were judged.
    pub clips: Vec<ClipRow>,
    /// Everything else the engine heard: step, time, input.
    pub inputs: Vec<(u64, f64, Input)>,
    /// What became of it.
    pub events: Vec<Event>,
    /// Messages about it: sink and event.
    pub messages: Vec<(String, String, &'static str)>,
    /// A recording that is done with.
    pub seen: Option<SeenFile>,
    /// Recordings that are no longer in their folder, relative to it.
    pub gone: Vec<String>,
    /// Sound that was written to disk.
    pub sounds: Vec<SoundRow>,
    /// Clips that ask a person: step, time, sound, reason.
    pub waiting: Vec<(u64, f64, String, String)>,
    /// A memory that replays may begin with: the rules then, and what the engine remembered before the first of these
    /// steps.
    pub checkpoint: Option<(RulesRecord, EngineMemory)>,
    /// Where the machine stands after it.
    pub standing: Option<Standing>,
}

/// Where a machine stands.
#[derive(Debug, Clone)]
pub struct Standing {
    /// What its engine remembers.
    pub memory: EngineMemory,
    /// What people are shown.
    pub status: MachineStatus,
}

/// One clip, as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipRow {
    /// Counts everything that happened to the machine.
    pub step: u64,
    /// The engine's time when it was taken in.
    pub taken: f64,
    /// What it amounts to; `None` if it says nothing.
    pub observation: Option<Observation>,
    /// When its sound began.
    pub time: f64,
    /// Who says so.
    pub time_origin: String,
    /// The file or stream.
    pub path: String,
    /// Where in it the clip starts.
    pub start_seconds: f64,
    /// Its length.
    pub seconds: f64,
    /// How far it is from normal.
    pub score: Option<f64>,
    /// Share of normal clips that score at least as high.
    pub p_value: Option<f64>,
    /// The score on a scale from 0 to 1.
    pub calibrated: Option<f64>,
    /// The verdict, or why there is none.
    pub verdict: String,
    /// Why.
    pub reason: String,
    /// What can be heard.
    pub heard: Option<String>,
    /// The band that differs most.
    pub differs_most: Option<String>,
    /// Whether the false-alarm rate is promised.
    pub promised: bool,
    /// On which condition.
    pub promised_if: Option<String>,
    /// The state after it.
    pub alarm: String,
    /// The domain whose threshold it was judged by.
    pub domain: Option<String>,
    /// How loud it is.
    pub level_dbfs: Option<f64>,
    /// Words about the recording.
    pub remarks: Vec<String>,
    /// A reference with the same sound.
    pub copy_of: Option<String>,
    /// Why it could not be scored.
    pub error: Option<String>,
    /// The model that judged it, by its number.
    pub model: Option<i64>,
    /// Where its spectrum differs most.
    pub bands: Vec<Band>,
    /// The closest normal clip.
    pub nearest: Option<String>,
    /// Its sound, if it was kept.
    pub sound: Option<String>,
}

/// A recording of a watched folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFile {
    /// Relative to the folder.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: i64,
}

/// Sound on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct SoundRow {
    /// Relative to the data folder.
    pub file: String,
    /// When it began.
    pub time: f64,
    /// Its length.
    pub seconds: f64,
    /// Its size.
    pub bytes: u64,
    /// `learning`, `alarm` or `all`.
    pub purpose: &'static str,
}

impl Commit {
    /// Of a machine, with nothing in it.
    pub fn of(machine: i64) -> Self {
        Self { machine, ..Self::default() }
    }

    /// Whether it must survive a power cut at once: events and what people did; a score may be measured again.
    pub fn is_precious(&self) -> bool {
        !(self.events.is_empty() && self.inputs.is_empty() && self.messages.is_empty())
    }

    pub(super) fn write(&self, connection: &Connection, now: f64) -> Result<()> {
        for clip in &self.clips {
            self.write_clip(connection, clip)?;
        }
        for (step, taken, input) in &self.inputs {
            let insert = "INSERT INTO inputs (machine, step, taken, body) VALUES (?1, ?2, ?3, ?4)";
            let body = serde_json::to_string(input)?;
            connection.prepare_cached(insert)?.execute(params![
                self.machine,
                *step as i64,
                taken,
                body
            ])?;
        }
        for event in &self.events {
            self.write_event(connection, event)?;
        }
        for (sink, event, news) in &self.messages {
            let insert = "INSERT INTO outbox (sink, machine, event, news, created, next_try) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5)";
            connection.prepare_cached(insert)?.execute(params![
                sink,
                self.machine,
                event,
                news,
                now
            ])?;
        }
        if let Some(SeenFile { path, size, modified }) = &self.seen {
            let insert = "INSERT OR REPLACE INTO seen (machine, path, size, modified, time) \
                 VALUES (?1, ?2, ?3, ?4, ?5)";
            connection.prepare_cached(insert)?.execute(params![
                self.machine,
                path,
                *size as i64,
                modified,
                now
            ])?;
        }
        for path in &self.gone {
            let delete = "DELETE FROM seen WHERE machine = ?1 AND path = ?2";
            connection.prepare_cached(delete)?.execute(params![self.machine, path])?;
        }
        for sound in &self.sounds {
            let insert = "INSERT OR REPLACE INTO sounds (file, machine, time, seconds, bytes, purpose) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            connection.prepare_cached(insert)?.execute(params![
                sound.file,
                self.machine,
                sound.time,
                sound.seconds,
                sound.bytes as i64,
                sound.purpose
            ])?;
        }
        for (step, time, sound, reason) in &self.waiting {
            let insert = "INSERT OR IGNORE INTO waiting (machine, step, time, sound, reason) \
                 VALUES (?1, ?2, ?3, ?4, ?5)";
            let values = params![self.machine, *step as i64, time, sound, reason];
            connection.prepare_cached(insert)?.execute(values)?;
        }
        if let Some((rules, memory)) = &self.checkpoint {
            let insert = "INSERT OR REPLACE INTO checkpoints (machine, step, taken, rules, memory) \
                 VALUES (?1, ?2, ?3, ?4, ?5)";
            let (rules, text) = (serde_json::to_string(rules)?, serde_json::to_string(memory)?);
            let values = params![self.machine, memory.step as i64, memory.time, rules, text];
            connection.prepare_cached(insert)?.execute(values)?;
        }
        if let Some(Standing { memory, status }) = &self.standing {
            let insert = "INSERT OR REPLACE INTO standing (machine, taken, memory, status) \
                 VALUES (?1, ?2, ?3, ?4)";
            connection.prepare_cached(insert)?.execute(params![
                self.machine,
                memory.time,
                serde_json::to_string(memory)?,
                serde_json::to_string(status)?
            ])?;
        }
        Ok(())
    }

    fn write_clip(&self, connection: &Connection, clip: &ClipRow) -> Result<()> {
        let insert = "INSERT INTO clips (machine, step, taken, observation, time, time_origin, path, start_seconds, \
             seconds, score, p_value, calibrated, verdict, reason, heard, differs_most, promised, promised_if, alarm, \
             domain, level_dbfs, remarks, copy_of, error, model, bands, nearest, sound) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, \
             ?22, ?23, ?24, ?25, ?26, ?27, ?28)";
        let bands = (!clip.bands.is_empty()).then(|| serde_json::to_string(&clip.bands));
        connection.prepare_cached(insert)?.execute(params![
            self.machine,
            clip.step as i64,
            clip.taken,
            clip.observation.map_or("none", Observation::name),
            clip.time,
            clip.time_origin,
            clip.path,
            clip.start_seconds,
            clip.seconds,
            clip.score,
            clip.p_value,
            clip.calibrated,
            clip.verdict,
            clip.reason,
            clip.heard,
            clip.differs_most,
            clip.promised,
            clip.promised_if,
            clip.alarm,
            clip.domain,
            clip.level_dbfs,
            clip.remarks.join(","),
            clip.copy_of,
            clip.error,
            clip.model,
            bands.transpose()?,
            clip.nearest,
            clip.sound,
        ])?;
        Ok(())
    }

    fn write_event(&self, connection: &Connection, event: &Event) -> Result<()> {
        let insert = "INSERT INTO events (id, machine, step, time, kind, from_state, to_state, reason, is_announced, \
             body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let kind = serde_json::to_value(event.kind)?;
        connection.prepare_cached(insert)?.execute(params![
            event.id,
            self.machine,
            event.details.step as i64,
            event.unix_seconds,
            kind.as_str(),
            event.from.name(),
            event.to.name(),
            event.reason,
            event.is_announced,
            serde_json::to_string(event)?
        ])?;
        Ok(())
    }
}

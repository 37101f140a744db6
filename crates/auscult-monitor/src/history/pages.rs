//! What pages and programs look at, a bounded part at a time.

use rusqlite::{OptionalExtension, params};

use super::{ClipRow, History, SoundRow, StoredClip, read};
use crate::{error::Result, watch::Event};

/// A part of a machine's clips, the newest first.
#[derive(Debug, Clone, Default)]
pub struct ClipPage {
    /// The machine.
    pub machine: i64,
    /// From this time on ...
    pub from: Option<f64>,
    /// ... to before this one.
    pub to: Option<f64>,
    /// With this verdict only.
    pub verdict: Option<String>,
    /// Only steps before this one.
    pub before: Option<u64>,
    /// At most this many.
    pub limit: usize,
}

/// A part of the events, the newest first.
#[derive(Debug, Clone, Default)]
pub struct EventPage {
    /// Of this machine; of all without it.
    pub machine: Option<i64>,
    /// Of this kind only.
    pub kind: Option<String>,
    /// From this time on ...
    pub from: Option<f64>,
    /// ... to before this one.
    pub to: Option<f64>,
    /// Only those written before the event of this number.
    pub before: Option<i64>,
    /// At most this many.
    pub limit: usize,
}

/// What somebody said about a clip.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Feedback {
    /// The machine.
    pub machine: String,
    /// The clip.
    pub step: u64,
    /// When it was said.
    pub time: f64,
    /// Who said it.
    pub who: String,
    /// `normal`, `fault`, `not-running` or `sensor-fault`.
    pub verdict: String,
    /// In their words.
    pub note: String,
}

/// A sink with what waits for it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SinkState {
    /// The sink.
    pub name: String,
    /// Messages that wait.
    pub waiting: i64,
    /// Why the last one that failed did.
    pub last_problem: Option<String>,
}

/// The longest sound on disk: a ring and a clip.
const LONGEST_SOUND: f64 = 1_300.0;

/// Times are compared with this much play: a hundredth of a second.
const PLAY: f64 = 0.01;

impl History {
    /// A part of a machine's clips, the newest first, each with whether its sound is on disk.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn clip_page(&self, page: &ClipPage) -> Result<Vec<(StoredClip, bool)>> {
        let select = format!(
            "SELECT {}, machines.name, models.hash, EXISTS (SELECT 1 FROM sounds WHERE sounds.machine = clips.machine \
                 AND sounds.time > clips.time - {LONGEST_SOUND} AND sounds.time <= clips.time + {PLAY} \
                 AND sounds.time + sounds.seconds >= clips.time + clips.seconds - {PLAY}) \
             FROM clips JOIN machines ON machines.id = clips.machine LEFT JOIN models ON models.id = clips.model \
             WHERE clips.machine = ?1 AND (?2 IS NULL OR clips.time >= ?2) AND (?3 IS NULL OR clips.time < ?3) \
             AND (?4 IS NULL OR verdict = ?4) AND (?5 IS NULL OR clips.step < ?5) \
             ORDER BY clips.step DESC LIMIT ?6",
            read::CLIP
        );
        let mut statement = self.connection.prepare_cached(&select)?;
        let values = params![
            page.machine,
            page.from,
            page.to,
            page.verdict,
            page.before.map(|step| step as i64),
            page.limit as i64
        ];
        let rows = statement.query_map(values, |row| {
            let clip = StoredClip {
                row: read::read_clip(row)?,
                machine: row.get(27)?,
                model_hash: row.get(28)?,
            };
            Ok((clip, row.get(29)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The clips of a machine around one of its steps, the oldest first.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn clips_around(
        &self,
        machine: i64,
        step: u64,
        most: usize,
    ) -> Result<Vec<(StoredClip, bool)>> {
        let after = "SELECT step FROM clips WHERE machine = ?1 AND step > ?2 ORDER BY step LIMIT 1 OFFSET ?3";
        let last =
            self.connection.query_row(after, params![machine, step as i64, most as i64], |row| {
                row.get::<_, i64>(0)
            });
        let before = last.optional()?.map(|last| last as u64);
        let page = ClipPage { machine, before, limit: 2 * most + 1, ..ClipPage::default() };
        let mut clips = self.clip_page(&page)?;
        clips.reverse();
        Ok(clips)
    }

    /// The sound on disk that holds a clip, if there is one.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn sound_of(&self, machine: i64, clip: &ClipRow) -> Result<Option<SoundRow>> {
        let select = "SELECT file, time, seconds, bytes, purpose FROM sounds WHERE machine = ?1 AND time > ?2 - ?4 \
             AND time <= ?2 + ?5 AND time + seconds >= ?2 + ?3 - ?5 ORDER BY seconds LIMIT 1";
        let values = params![machine, clip.time, clip.seconds, LONGEST_SOUND, PLAY];
        let row = self.connection.query_row(select, values, |row| {
            let purpose: String = row.get(4)?;
            Ok(SoundRow {
                file: row.get(0)?,
                time: row.get(1)?,
                seconds: row.get(2)?,
                bytes: row.get::<_, i64>(3)? as u64,
                purpose: match purpose.as_str() {
                    "learning" => "learning",
                    "alarm" => "alarm",
                    _ => "all",
                },
            })
        });
        Ok(row.optional()?)
    }

    /// A part of the events, the newest first, each with its number in the order they were written.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn event_page(&self, page: &EventPage) -> Result<Vec<(i64, Event)>> {
        let select = "SELECT rowid, body FROM events WHERE (?1 IS NULL OR machine = ?1) AND (?2 IS NULL OR kind = ?2) \
             AND (?3 IS NULL OR time >= ?3) AND (?4 IS NULL OR time < ?4) AND (?5 IS NULL OR rowid < ?5) \
             ORDER BY rowid DESC LIMIT ?6";
        let values =
            params![page.machine, page.kind, page.from, page.to, page.before, page.limit as i64];
        self.numbered_events(select, values)
    }

    /// The events that were written after one of them, in that order; `None` if it is not known.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn events_after(&self, id: &str, most: usize) -> Result<Option<Vec<(i64, Event)>>> {
        let select = "SELECT rowid FROM events WHERE id = ?1";
        let number = self.connection.query_row(select, [id], |row| row.get::<_, i64>(0));
        let Some(number) = number.optional()? else { return Ok(None) };
        let select = "SELECT rowid, body FROM events WHERE rowid > ?1 ORDER BY rowid LIMIT ?2";
        self.numbered_events(select, params![number, most as i64]).map(Some)
    }

    fn numbered_events(
        &self,
        select: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<(i64, Event)>> {
        let mut statement = self.connection.prepare_cached(select)?;
        let rows = statement
            .query_map(values, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        rows.map(|row| {
            let (number, body) = row?;
            Ok((number, serde_json::from_str(&body)?))
        })
        .collect()
    }

    /// What people said about clips, the newest first.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn feedback(
        &self,
        machine: Option<i64>,
        steps: Option<(u64, u64)>,
        most: usize,
    ) -> Result<Vec<Feedback>> {
        let select = "SELECT machines.name, step, time, who, verdict, note FROM feedback \
             JOIN machines ON machines.id = machine WHERE (?1 IS NULL OR machine = ?1) \
             AND (?2 IS NULL OR step BETWEEN ?2 AND ?3) ORDER BY feedback.id DESC LIMIT ?4";
        let mut statement = self.connection.prepare_cached(select)?;
        let (first, last) = (steps.map(|it| it.0 as i64), steps.map(|it| it.1 as i64));
        let rows = statement.query_map(params![machine, first, last, most as i64], |row| {
            Ok(Feedback {
                machine: row.get(0)?,
                step: row.get::<_, i64>(1)? as u64,
                time: row.get(2)?,
                who: row.get(3)?,
                verdict: row.get(4)?,
                note: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Every sink that ever had a message, with what waits for it.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn sinks(&self) -> Result<Vec<SinkState>> {
        let select = "SELECT sink, sum(outcome IS NULL), (SELECT problem FROM outbox AS last WHERE last.sink = outbox.sink \
             AND problem IS NOT NULL ORDER BY id DESC LIMIT 1) FROM outbox GROUP BY sink ORDER BY sink";
        let mut statement = self.connection.prepare_cached(select)?;
        let rows = statement.query_map([], |row| {
            Ok(SinkState { name: row.get(0)?, waiting: row.get(1)?, last_problem: row.get(2)? })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// How many clips a query has.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn count_clips(&self, query: &super::ClipQuery) -> Result<u64> {
        let select = "SELECT count(*) FROM clips WHERE (?1 IS NULL OR machine = ?1) AND (?2 IS NULL OR time >= ?2) \
             AND (?3 IS NULL OR time < ?3)";
        let values = params![query.machine, query.from, query.to];
        let count: i64 = self.connection.query_row(select, values, |row| row.get(0))?;
        Ok(count as u64)
    }
}

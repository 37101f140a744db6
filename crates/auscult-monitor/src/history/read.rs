//! What pages, programs and replays read.

use auscult::alarm::Observation;
use rusqlite::{OptionalExtension, Row, params};

use super::{ClipRow, History, SeenFile, Standing};
use crate::{
    error::Result,
    watch::{EngineMemory, Event, Input, MachineStatus, RulesRecord},
};

/// A clip with its machine.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredClip {
    /// The machine's name.
    pub machine: String,
    /// The fingerprint of the model that judged it.
    pub model_hash: Option<String>,
    /// The clip.
    pub row: ClipRow,
}

/// Which clips.
#[derive(Debug, Clone, Default)]
pub struct ClipQuery {
    /// Of this machine; of all without it.
    pub machine: Option<i64>,
    /// From this time on ...
    pub from: Option<f64>,
    /// ... to before this one.
    pub to: Option<f64>,
}

/// Which events.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Of this machine; of all without it.
    pub machine: Option<i64>,
    /// From this time on ...
    pub from: Option<f64>,
    /// ... to before this one.
    pub to: Option<f64>,
}

/// Something that was deleted.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Deletion {
    /// When.
    pub time: f64,
    /// `clips` or `sound`.
    pub what: String,
    /// How many.
    pub count: i64,
    /// Their size, where it is known.
    pub bytes: i64,
    /// Why.
    pub reason: String,
}

/// The scores of a span of time.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct TrendPoint {
    /// Where the span starts.
    pub start: f64,
    /// Clips in it.
    pub clips: i64,
    /// Those with a score.
    pub scored: i64,
    /// Those that were anomalous.
    pub anomalous: i64,
    /// The lowest score.
    pub lowest: Option<f64>,
    /// Their mean.
    pub mean: Option<f64>,
    /// The highest.
    pub highest: Option<f64>,
}

pub(super) const CLIP: &str = "clips.step, taken, observation, time, time_origin, path, start_seconds, seconds, score, p_value, \
     calibrated, verdict, reason, heard, differs_most, promised, promised_if, alarm, domain, level_dbfs, remarks, \
     copy_of, error, model, bands, nearest, sound";

pub(super) fn read_clip(row: &Row<'_>) -> rusqlite::Result<ClipRow> {
    let observation: String = row.get(2)?;
    let remarks: String = row.get(20)?;
    let bands: Option<String> = row.get(24)?;
    Ok(ClipRow {
        step: row.get::<_, i64>(0)? as u64,
        taken: row.get(1)?,
        // "none", and any word that is not known, is a clip that says nothing.
        observation: observation.parse::<Observation>().ok(),
        time: row.get(3)?,
        time_origin: row.get(4)?,
        path: row.get(5)?,
        start_seconds: row.get(6)?,
        seconds: row.get(7)?,
        score: row.get(8)?,
        p_value: row.get(9)?,
        calibrated: row.get(10)?,
        verdict: row.get(11)?,
        reason: row.get(12)?,
        heard: row.get(13)?,
        differs_most: row.get(14)?,
        promised: row.get(15)?,
        promised_if: row.get(16)?,
        alarm: row.get(17)?,
        domain: row.get(18)?,
        level_dbfs: row.get(19)?,
        remarks: remarks.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect(),
        copy_of: row.get(21)?,
        error: row.get(22)?,
        model: row.get(23)?,
        bands: bands.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        nearest: row.get(25)?,
        sound: row.get(26)?,
    })
}

impl History {
    /// The names and numbers of all machines, by name.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn machines(&self) -> Result<Vec<(i64, String)>> {
        let mut statement =
            self.connection.prepare("SELECT id, name FROM machines ORDER BY name")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Where a machine stood when it was last heard.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn standing(&self, machine: i64) -> Result<Option<Standing>> {
        let select = "SELECT memory, status FROM standing WHERE machine = ?1";
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let Some((memory, status)) =
            self.connection.query_row(select, [machine], read).optional()?
        else {
            return Ok(None);
        };
        let (memory, status) = (serde_json::from_str(&memory)?, serde_json::from_str(&status)?);
        Ok(Some(Standing { memory, status }))
    }

    /// Where every machine that is watched stands, by name.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn statuses(&self) -> Result<Vec<MachineStatus>> {
        let select = "SELECT status FROM standing JOIN machines ON machines.id = machine \
             WHERE status ->> 'watched' IS NULL ORDER BY name";
        let mut statement = self.connection.prepare_cached(select)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        rows.map(|row| Ok(serde_json::from_str(&row?)?)).collect()
    }

    /// The names of machines that were watched once; their history stays.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn no_longer_watched(&self) -> Result<Vec<String>> {
        let select = "SELECT name FROM standing JOIN machines ON machines.id = machine \
             WHERE status ->> 'watched' IS NOT NULL ORDER BY name";
        let mut statement = self.connection.prepare(select)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Marks all machines but these as no longer watched, until they are heard again.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn watch_only(&mut self, names: &[String]) -> Result<()> {
        let update = "UPDATE standing SET status = json_set(status, '$.watched', json('false')) WHERE machine NOT IN \
             (SELECT id FROM machines WHERE name IN (SELECT value FROM json_each(?1)))";
        self.connection.execute(update, [serde_json::to_string(names)?])?;
        Ok(())
    }

    /// Gives every clip to `each`, in the order they were taken in.
    ///
    /// # Errors
    ///
    /// If the history cannot be read, or `each` fails.
    pub fn clips(
        &self,
        query: &ClipQuery,
        each: &mut dyn FnMut(StoredClip) -> Result<()>,
    ) -> Result<()> {
        let select = format!(
            "SELECT {CLIP}, machines.name, models.hash FROM clips JOIN machines ON machines.id = clips.machine \
             LEFT JOIN models ON models.id = clips.model \
             WHERE (?1 IS NULL OR clips.machine = ?1) AND (?2 IS NULL OR time >= ?2) AND (?3 IS NULL OR time < ?3) \
             ORDER BY clips.machine, clips.step"
        );
        let mut statement = self.connection.prepare_cached(&select)?;
        let mut rows = statement.query(params![query.machine, query.from, query.to])?;
        while let Some(row) = rows.next()? {
            each(StoredClip {
                row: read_clip(row)?,
                machine: row.get(27)?,
                model_hash: row.get(28)?,
            })?;
        }
        Ok(())
    }

    /// One clip of a machine.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn clip(&self, machine: i64, step: u64) -> Result<Option<ClipRow>> {
        let select = format!("SELECT {CLIP} FROM clips WHERE machine = ?1 AND step = ?2");
        let row = self.connection.query_row(&select, params![machine, step as i64], read_clip);
        Ok(row.optional()?)
    }

    /// Events in the order they happened, whatever the clock said.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn events(&self, query: &EventQuery) -> Result<Vec<Event>> {
        let select = "SELECT body FROM events WHERE (?1 IS NULL OR machine = ?1) AND (?2 IS NULL OR time >= ?2) \
             AND (?3 IS NULL OR time < ?3) ORDER BY rowid";
        let mut statement = self.connection.prepare_cached(select)?;
        let values = params![query.machine, query.from, query.to];
        let rows = statement.query_map(values, |row| row.get::<_, String>(0))?;
        rows.map(|row| Ok(serde_json::from_str(&row?)?)).collect()
    }

    /// One event.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn event(&self, id: &str) -> Result<Option<Event>> {
        let select = "SELECT body FROM events WHERE id = ?1";
        let row = self.connection.query_row(select, [id], |row| row.get::<_, String>(0));
        Ok(row.optional()?.map(|body| serde_json::from_str(&body)).transpose()?)
    }

    /// Scores over time, in spans of `width` seconds (a multiple of 60, or any width for times that are not thinned
    /// out yet). A span that is wider than asked for, because only that is left, stands at its start. The scores of a machine that
    /// stood still, or of a microphone at fault, say nothing and are not among them.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn trend(&self, machine: i64, from: f64, to: f64, width: i64) -> Result<Vec<TrendPoint>> {
        let select = "SELECT cast(at / ?4 AS INTEGER) * ?4 AS span, sum(clips), sum(scored), sum(anomalous), \
             min(lowest), sum(total), max(highest) FROM ( \
                 SELECT at, 1 AS clips, score IS NOT NULL AS scored, is_anomalous AS anomalous, \
                     score AS lowest, score AS total, score AS highest FROM ( \
                     SELECT time AS at, iif(observation IN ('normal', 'anomalous'), score, NULL) AS score, \
                         observation IN ('normal', 'anomalous') AND verdict = 'anomalous' AS is_anomalous \
                     FROM clips WHERE machine = ?1 AND is_thinned = 0 AND time >= ?2 AND time < ?3) \
                 UNION ALL SELECT start, clips, scored, anomalous, lowest, total, highest \
                 FROM thin WHERE machine = ?1 AND start >= ?2 - width + 1 AND start < ?3 \
             ) GROUP BY span ORDER BY span";
        let mut statement = self.connection.prepare_cached(select)?;
        let rows = statement.query_map(params![machine, from, to, width.max(1)], |row| {
            let (scored, total): (i64, Option<f64>) = (row.get(2)?, row.get(5)?);
            Ok(TrendPoint {
                start: row.get(0)?,
                clips: row.get(1)?,
                scored,
                anomalous: row.get(3)?,
                lowest: row.get(4)?,
                mean: total.map(|total| total / scored.max(1) as f64),
                highest: row.get(6)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Recordings of a watched folder that are done with, and when that was.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn seen(&self, machine: i64) -> Result<Vec<(SeenFile, f64)>> {
        let select = "SELECT path, size, modified, time FROM seen WHERE machine = ?1";
        let mut statement = self.connection.prepare(select)?;
        let rows = statement.query_map([machine], |row| {
            let size: i64 = row.get(1)?;
            let seen = SeenFile { path: row.get(0)?, size: size as u64, modified: row.get(2)? };
            Ok((seen, row.get(3)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Where a replay can begin: the rules then and what the engine remembered, the earliest first.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn checkpoints(&self, machine: i64) -> Result<Vec<(RulesRecord, EngineMemory)>> {
        let select = "SELECT rules, memory FROM checkpoints WHERE machine = ?1 ORDER BY step";
        let mut statement = self.connection.prepare(select)?;
        let rows = statement
            .query_map([machine], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        rows.map(|row| {
            let (rules, memory) = row?;
            Ok((serde_json::from_str(&rules)?, serde_json::from_str(&memory)?))
        })
        .collect()
    }

    /// The rules that were in force last.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn last_rules(&self, machine: i64) -> Result<Option<RulesRecord>> {
        let changed = "SELECT body FROM inputs WHERE machine = ?1 AND body LIKE '%\"rules\"%' ORDER BY step DESC LIMIT 1";
        let body = self.connection.query_row(changed, [machine], |row| row.get::<_, String>(0));
        if let Some(body) = body.optional()?
            && let Input::Rules { rules } | Input::Model { rules, .. } =
                serde_json::from_str(&body)?
        {
            return Ok(Some(rules));
        }
        Ok(self.checkpoints(machine)?.pop().map(|(rules, _)| rules))
    }

    /// When the newest clip of a machine was recorded; `None` without clips.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn newest_clip(&self, machine: i64) -> Result<Option<f64>> {
        let newest = "SELECT MAX(time) FROM clips WHERE machine = ?1";
        Ok(self.connection.query_row(newest, [machine], |row| row.get(0))?)
    }

    /// Everything but clips that an engine heard after a step.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn inputs_after(&self, machine: i64, step: u64) -> Result<Vec<(u64, f64, Input)>> {
        let select =
            "SELECT step, taken, body FROM inputs WHERE machine = ?1 AND step > ?2 ORDER BY step";
        let mut statement = self.connection.prepare(select)?;
        let rows = statement.query_map(params![machine, step as i64], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?, row.get::<_, String>(2)?))
        })?;
        rows.map(|row| {
            let (step, taken, body) = row?;
            Ok((step as u64, taken, serde_json::from_str(&body)?))
        })
        .collect()
    }

    /// Everything that was deleted and said so, the newest first.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn deletions(&self, most: usize) -> Result<Vec<Deletion>> {
        let select =
            "SELECT time, what, count, bytes, reason FROM deletions ORDER BY id DESC LIMIT ?1";
        let mut statement = self.connection.prepare(select)?;
        let rows = statement.query_map([most as i64], |row| {
            Ok(Deletion {
                time: row.get(0)?,
                what: row.get(1)?,
                count: row.get(2)?,
                bytes: row.get(3)?,
                reason: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

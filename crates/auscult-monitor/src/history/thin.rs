//! Old scores thin out: clips become minutes, minutes hours, hours days. What is deleted is written down.

use rusqlite::{Transaction, params};

use super::History;
use crate::{error::Result, site::HistoryFile};

/// What a round of thinning did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Thinned {
    /// Clips that became part of a minute.
    pub clips: usize,
    /// Minutes and hours that became part of something longer.
    pub spans: usize,
}

const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// Rows of one transaction: the writer must not be held up.
const AT_ONCE: i64 = 5_000;

impl History {
    /// Thins out what is older than the settings say; call it again while it did something.
    ///
    /// Clips that an event or a person's words rest on stay, and so does the time since the last checkpoint.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn thin(&mut self, settings: &HistoryFile, now: f64) -> Result<Thinned> {
        let transaction = self.connection.transaction()?;
        let edge = |age: f64, width: i64| ((now - age) / width as f64).floor() as i64 * width;
        let clips = thin_clips(&transaction, edge(settings.clips.0, MINUTE) as f64, now)?;
        let minutes = thin_spans(&transaction, MINUTE, HOUR, edge(settings.minutes.0, HOUR))?;
        let hours = thin_spans(&transaction, HOUR, DAY, edge(settings.hours.0, DAY))?;
        if clips > 0 {
            // Steps that are gone cannot be replayed: neither can what came before them.
            let delete = "DELETE FROM checkpoints WHERE taken < ?1 AND step < (SELECT max(step) FROM checkpoints AS \
                 later WHERE later.machine = checkpoints.machine AND later.taken <= ?1)";
            transaction.execute(delete, [edge(settings.clips.0, MINUTE) as f64])?;
        }
        let sent = "DELETE FROM outbox WHERE outcome IS NOT NULL AND ended < ?1";
        transaction.execute(sent, [now - settings.minutes.0])?;
        transaction.commit()?;
        Ok(Thinned { clips, spans: minutes + hours })
    }

    /// Gives room on disk back after thinning, a little at a time.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn give_back_room(&mut self) -> Result<()> {
        self.connection
            .execute_batch("PRAGMA incremental_vacuum(2000); PRAGMA wal_checkpoint(TRUNCATE);")?;
        Ok(())
    }
}

fn thin_clips(transaction: &Transaction<'_>, before: f64, now: f64) -> Result<usize> {
    transaction.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS old (id INTEGER PRIMARY KEY); DELETE FROM old;",
    )?;
    let select = "INSERT INTO old SELECT id FROM clips WHERE is_thinned = 0 AND taken < ?1 ORDER BY taken LIMIT ?2";
    if transaction.execute(select, params![before, AT_ONCE])? == 0 {
        return Ok(0);
    }
    let gather = "INSERT INTO thin (machine, width, start, clips, scored, anomalous, lowest, total, highest) \
         SELECT machine, 60, start, count(*), count(score), sum(is_anomalous), min(score), sum(score), max(score) FROM ( \
             SELECT machine, cast(time / 60 AS INTEGER) * 60 AS start, \
                 iif(observation IN ('normal', 'anomalous'), score, NULL) AS score, \
                 observation IN ('normal', 'anomalous') AND verdict = 'anomalous' AS is_anomalous \
             FROM clips WHERE id IN old) WHERE true GROUP BY machine, start \
         ON CONFLICT (machine, width, start) DO UPDATE SET clips = clips + excluded.clips, \
         scored = scored + excluded.scored, anomalous = anomalous + excluded.anomalous, \
         lowest = coalesce(min(lowest, excluded.lowest), lowest, excluded.lowest), \
         total = coalesce(total + excluded.total, total, excluded.total), \
         highest = coalesce(max(highest, excluded.highest), highest, excluded.highest)";
    transaction.execute(gather, [])?;
    let keep = "UPDATE clips SET is_thinned = 1 WHERE id IN old AND (sound IS NOT NULL OR EXISTS \
         (SELECT 1 FROM events, json_each(events.body, '$.clips') AS named WHERE events.machine = clips.machine \
         AND named.value = clips.step) OR EXISTS (SELECT 1 FROM feedback WHERE feedback.machine = clips.machine \
         AND feedback.step = clips.step) OR EXISTS (SELECT 1 FROM waiting WHERE waiting.machine = clips.machine \
         AND waiting.step = clips.step AND decision IS NULL))";
    transaction.execute(keep, [])?;
    let delete = "DELETE FROM clips WHERE id IN old AND is_thinned = 0";
    let deleted = transaction.execute(delete, [])?;
    let record = "INSERT INTO deletions (time, what, count, bytes, reason) \
         VALUES (?1, 'clips', ?2, 0, 'older than the history keeps single clips; their minutes stay')";
    transaction.execute(record, params![now, deleted as i64])?;
    let old: i64 = transaction.query_row("SELECT count(*) FROM old", [], |row| row.get(0))?;
    Ok(old as usize)
}

fn thin_spans(transaction: &Transaction<'_>, from: i64, to: i64, before: i64) -> Result<usize> {
    let gather = "INSERT INTO thin (machine, width, start, clips, scored, anomalous, lowest, total, highest) \
         SELECT machine, ?2, start / ?2 * ?2 AS wide, sum(clips), sum(scored), sum(anomalous), min(lowest), sum(total), \
         max(highest) FROM thin WHERE width = ?1 AND start < ?3 GROUP BY machine, wide \
         ON CONFLICT (machine, width, start) DO UPDATE SET clips = clips + excluded.clips, \
         scored = scored + excluded.scored, anomalous = anomalous + excluded.anomalous, \
         lowest = coalesce(min(lowest, excluded.lowest), lowest, excluded.lowest), \
         total = coalesce(total + excluded.total, total, excluded.total), \
         highest = coalesce(max(highest, excluded.highest), highest, excluded.highest)";
    transaction.execute(gather, params![from, to, before])?;
    let delete = "DELETE FROM thin WHERE width = ?1 AND start < ?2";
    Ok(transaction.execute(delete, params![from, before])?)
}

//! What people said: feedback, and clips that wait for a decision.

use rusqlite::params;

use super::History;
use crate::error::Result;

/// A clip that asks a person whether it is normal.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WaitingClip {
    /// Its step in the machine's history.
    pub step: u64,
    /// When its sound began.
    pub time: f64,
    /// Its sound, relative to the data folder.
    pub sound: String,
    /// Why it waits.
    pub reason: String,
}

impl History {
    /// The clips of a machine that wait, the oldest first.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn waiting_clips(&self, machine: i64) -> Result<Vec<WaitingClip>> {
        let select = "SELECT step, time, sound, reason FROM waiting WHERE machine = ?1 AND decision IS NULL ORDER BY id";
        let mut statement = self.connection.prepare_cached(select)?;
        let rows = statement.query_map([machine], |row| {
            Ok(WaitingClip {
                step: row.get::<_, i64>(0)? as u64,
                time: row.get(1)?,
                sound: row.get(2)?,
                reason: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Somebody has decided about waiting clips.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn decide(
        &mut self,
        machine: i64,
        steps: &[u64],
        decision: &str,
        who: &str,
        now: f64,
    ) -> Result<()> {
        let transaction = self.connection.transaction()?;
        for step in steps {
            let update = "UPDATE waiting SET decision = ?3, decided = ?4, who = ?5 WHERE machine = ?1 AND step = ?2";
            transaction.execute(update, params![machine, *step as i64, decision, now, who])?;
        }
        Ok(transaction.commit()?)
    }

    /// Keeps what somebody said about a clip; `waits` is its sound if it now asks to join the memory.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn add_feedback(
        &mut self,
        machine: i64,
        clip: &WaitingClip,
        verdict: &str,
        note: &str,
        who: &str,
        now: f64,
    ) -> Result<()> {
        let transaction = self.connection.transaction()?;
        let insert = "INSERT INTO feedback (machine, step, time, who, verdict, note) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        transaction.execute(insert, params![machine, clip.step as i64, now, who, verdict, note])?;
        if verdict == "normal" {
            let insert = "INSERT INTO waiting (machine, step, time, sound, reason) VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (machine, step) DO UPDATE SET decision = NULL, decided = NULL, reason = excluded.reason";
            let values = params![machine, clip.step as i64, clip.time, clip.sound, clip.reason];
            transaction.execute(insert, values)?;
        }
        Ok(transaction.commit()?)
    }
}

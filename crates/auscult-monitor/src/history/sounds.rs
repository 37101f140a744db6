//! Sound on disk: kept within its budget, deleted oldest first, and every deletion written down.

use rusqlite::params;

use super::History;
use crate::{data::DataFolder, error::Result};

impl History {
    /// Room that sound takes.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn sound_bytes(&self) -> Result<u64> {
        let select = "SELECT coalesce(sum(bytes), 0) FROM sounds";
        let bytes: i64 = self.connection.query_row(select, [], |row| row.get(0))?;
        Ok(bytes as u64)
    }

    /// Deletes the oldest sound beyond the budget: plain clips first, then what was learnt from, then alarms. What
    /// waits for a person stays.
    ///
    /// # Errors
    ///
    /// If the history cannot be written, or a file cannot be deleted.
    pub fn sweep_sounds(&mut self, data: &DataFolder, budget: u64, now: f64) -> Result<usize> {
        let mut excess = self.sound_bytes()?.saturating_sub(budget) as i64;
        if excess <= 0 {
            return Ok(0);
        }
        let select = "SELECT file, bytes FROM sounds WHERE NOT EXISTS \
             (SELECT 1 FROM waiting WHERE waiting.sound = sounds.file AND decision IS NULL) \
             ORDER BY CASE purpose WHEN 'all' THEN 0 WHEN 'learning' THEN 1 ELSE 2 END, time";
        let mut doomed: Vec<(String, i64)> = Vec::new();
        {
            let mut statement = self.connection.prepare(select)?;
            let mut rows = statement.query([])?;
            while let (true, Some(row)) = (excess > 0, rows.next()?) {
                let (file, bytes): (String, i64) = (row.get(0)?, row.get(1)?);
                excess -= bytes;
                doomed.push((file, bytes));
            }
        }
        self.delete_sounds(data, &doomed, "the budget of sound was used up", None, now)
    }

    /// Deletes all sound of a machine in a span of time, because somebody said so.
    ///
    /// # Errors
    ///
    /// If the history cannot be written, or a file cannot be deleted.
    pub fn delete_sound_of(
        &mut self,
        data: &DataFolder,
        machine: i64,
        (from, to): (f64, f64),
        who: &str,
        now: f64,
    ) -> Result<usize> {
        let select = "SELECT file, bytes FROM sounds WHERE machine = ?1 AND time < ?3 AND time + seconds > ?2";
        let doomed: Vec<(String, i64)> = {
            let mut statement = self.connection.prepare(select)?;
            let rows = statement
                .query_map(params![machine, from, to], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>()?
        };
        let reason = format!("deleted by {who}");
        self.delete_sounds(data, &doomed, &reason, Some(machine), now)
    }

    fn delete_sounds(
        &mut self,
        data: &DataFolder,
        doomed: &[(String, i64)],
        reason: &str,
        machine: Option<i64>,
        now: f64,
    ) -> Result<usize> {
        if doomed.is_empty() {
            return Ok(0);
        }
        let transaction = self.connection.transaction()?;
        let mut bytes = 0;
        for (file, size) in doomed {
            // The file first: a row without a file is found again, a file without a row never.
            data.delete(file)?;
            transaction.execute("DELETE FROM sounds WHERE file = ?1", [file])?;
            transaction.execute("UPDATE clips SET sound = NULL WHERE sound = ?1", [file])?;
            bytes += size;
        }
        let insert = "INSERT INTO deletions (time, machine, what, count, bytes, reason) VALUES (?1, ?2, 'sound', ?3, ?4, ?5)";
        transaction.execute(insert, params![now, machine, doomed.len() as i64, bytes, reason])?;
        transaction.commit()?;
        Ok(doomed.len())
    }
}

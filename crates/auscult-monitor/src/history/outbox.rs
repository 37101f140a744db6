//! Messages that wait to be sent; they survive everything the monitor survives.

use rusqlite::{OptionalExtension, params};

use super::History;
use crate::{error::Result, watch::Event};

/// A message that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// Its place in the order.
    pub id: i64,
    /// The machine's number.
    pub machine: i64,
    /// What it is about.
    pub event: Event,
    /// The word the sink chose it by.
    pub news: String,
    /// How often it was tried.
    pub tries: u32,
    /// When to try next.
    pub next_try: f64,
}

/// How a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken.
    Sent,
    /// Another one was sent a moment ago.
    Suppressed,
    /// The receiver says it will never take it.
    GivenUp,
    /// There were too many waiting.
    Dropped,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Suppressed => "suppressed",
            Self::GivenUp => "given-up",
            Self::Dropped => "dropped",
        }
    }
}

impl History {
    /// The oldest message of a sink that has not ended.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn next_message(&self, sink: &str) -> Result<Option<Waiting>> {
        let select = "SELECT outbox.id, outbox.machine, events.body, news, tries, next_try FROM outbox \
             JOIN events ON events.id = outbox.event WHERE sink = ?1 AND outcome IS NULL ORDER BY outbox.id LIMIT 1";
        let row = self.connection.query_row(select, [sink], |row| {
            let fields: (i64, i64, String, String, u32, f64) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
            Ok(fields)
        });
        let Some((id, machine, body, news, tries, next_try)) = row.optional()? else {
            return Ok(None);
        };
        let event = serde_json::from_str(&body)?;
        Ok(Some(Waiting { id, machine, event, news, tries, next_try }))
    }

    /// When a message about a machine was last sent, and what it was.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn last_sent(&self, sink: &str, machine: i64) -> Result<Option<(f64, String)>> {
        let select = "SELECT ended, news FROM outbox WHERE sink = ?1 AND machine = ?2 AND outcome = 'sent' \
             ORDER BY id DESC LIMIT 1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.connection.query_row(select, params![sink, machine], read).optional()?)
    }

    /// A message has ended.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn end_message(
        &mut self,
        id: i64,
        outcome: Outcome,
        problem: Option<&str>,
        now: f64,
    ) -> Result<()> {
        let update = "UPDATE outbox SET outcome = ?2, ended = ?3, problem = ?4, tries = tries + 1 WHERE id = ?1";
        self.connection.execute(update, params![id, outcome.name(), now, problem])?;
        Ok(())
    }

    /// A message could not be sent and is tried again.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn delay_message(&mut self, id: i64, next_try: f64, problem: &str) -> Result<()> {
        let update =
            "UPDATE outbox SET tries = tries + 1, next_try = ?2, problem = ?3 WHERE id = ?1";
        self.connection.execute(update, params![id, next_try, problem])?;
        Ok(())
    }

    /// Drops the oldest waiting messages of a sink beyond this many; says how many.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn drop_messages(&mut self, sink: &str, most: usize, now: f64) -> Result<usize> {
        let update = "UPDATE outbox SET outcome = 'dropped', ended = ?3 WHERE outcome IS NULL AND sink = ?1 AND id IN \
             (SELECT id FROM outbox WHERE sink = ?1 AND outcome IS NULL ORDER BY id DESC LIMIT -1 OFFSET ?2)";
        Ok(self.connection.execute(update, params![sink, most as i64, now])?)
    }

    /// How many messages wait, a sink each.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn waiting_messages(&self) -> Result<Vec<(String, i64)>> {
        let select =
            "SELECT sink, count(*) FROM outbox WHERE outcome IS NULL GROUP BY sink ORDER BY sink";
        let mut statement = self.connection.prepare_cached(select)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

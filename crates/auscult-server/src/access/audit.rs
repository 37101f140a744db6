//! The record of every change: who, when, from where, what.

use rusqlite::params;

use super::store::{AccessError, Store, now};

/// A line of the record.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// Counts from 1.
    pub id: i64,
    /// When, in seconds since 1970.
    pub time: f64,
    /// Who.
    pub who: String,
    /// From which address.
    pub address: String,
    /// Method and path.
    pub action: String,
    /// The body, without secrets.
    pub detail: String,
    /// The status of the answer.
    pub status: u16,
}

/// A line to be written.
#[derive(Debug, Clone)]
pub struct NewAudit {
    /// Who.
    pub who: String,
    /// From which address.
    pub address: String,
    /// Method and path.
    pub action: String,
    /// The body, without secrets.
    pub detail: String,
    /// The status of the answer.
    pub status: u16,
}

/// Lines that are kept.
const MOST: i64 = 200_000;

impl Store {
    /// Writes a line; the oldest go when there are very many.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    pub fn add_audit(&self, entry: &NewAudit) -> Result<(), AccessError> {
        self.write(|connection| {
            let insert = "INSERT INTO audit (time, who, address, action, detail, status) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            connection.execute(
                insert,
                params![
                    now(),
                    entry.who,
                    entry.address,
                    entry.action,
                    entry.detail,
                    entry.status
                ],
            )?;
            let last = connection.last_insert_rowid();
            connection.execute("DELETE FROM audit WHERE id <= ?1", [last - MOST])?;
            Ok(())
        })
    }

    /// The newest lines before one of them.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn audit(&self, before: Option<i64>, most: usize) -> Result<Vec<AuditEntry>, AccessError> {
        self.read(|connection| {
            let select = "SELECT id, time, who, address, action, detail, status FROM audit \
                 WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2";
            let mut statement = connection.prepare_cached(select)?;
            let rows = statement.query_map(params![before, most as i64], |row| {
                Ok(AuditEntry {
                    id: row.get(0)?,
                    time: row.get(1)?,
                    who: row.get(2)?,
                    address: row.get(3)?,
                    action: row.get(4)?,
                    detail: row.get(5)?,
                    status: row.get(6)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

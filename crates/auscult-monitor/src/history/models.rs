//! Model versions: which one judged when, and how to go back.

use auscult::Machine;
use rusqlite::{OptionalExtension, Row, params};

use super::History;
use crate::error::Result;

/// One version of a machine's model.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ModelRow {
    /// Its number in the history.
    #[serde(skip)]
    pub id: i64,
    /// Counts from 1 for each machine.
    pub version: i64,
    /// The operating state it is for; `None` for all.
    pub operating_state: Option<String>,
    /// Relative to the data folder.
    pub file: String,
    /// The fingerprint of the file it came from.
    pub hash: String,
    /// `configured`, `learned`, `accepted`, `forgotten` or `rollback`.
    pub origin: String,
    /// Why it was made.
    pub note: String,
    /// Scores above it are anomalous.
    pub threshold: Option<f64>,
    /// How many references it has.
    pub references: i64,
    /// From how many visits.
    pub visits: i64,
    /// It judged from here ...
    pub valid_from: f64,
    /// ... to here, or still does.
    pub valid_to: Option<f64>,
}

/// A version to be added.
#[derive(Debug, Clone)]
pub struct NewModel {
    /// The operating state it is for.
    pub operating_state: Option<String>,
    /// Relative to the data folder.
    pub file: String,
    /// The fingerprint of the file it came from.
    pub hash: String,
    /// Where it comes from.
    pub origin: &'static str,
    /// Why.
    pub note: String,
    /// Scores above it are anomalous.
    pub threshold: Option<f64>,
    /// How many references it has.
    pub references: usize,
    /// From how many visits.
    pub visits: usize,
}

impl NewModel {
    /// What is known of a machine.
    pub fn of(machine: &Machine, file: String, origin: &'static str, note: String) -> Self {
        let provenance = machine.model().references().provenance();
        let visits: std::collections::BTreeSet<&str> =
            provenance.iter().filter_map(|from| from.visit.as_deref()).collect();
        Self {
            operating_state: None,
            file,
            hash: machine.hash().to_string(),
            origin,
            note,
            threshold: machine.model().threshold(),
            references: provenance.len(),
            visits: visits.len(),
        }
    }
}

const COLUMNS: &str = "id, version, operating_state, file, hash, origin, note, threshold, reference_count, visits, \
     valid_from, valid_to";

fn read(row: &Row<'_>) -> rusqlite::Result<ModelRow> {
    Ok(ModelRow {
        id: row.get(0)?,
        version: row.get(1)?,
        operating_state: row.get(2)?,
        file: row.get(3)?,
        hash: row.get(4)?,
        origin: row.get(5)?,
        note: row.get(6)?,
        threshold: row.get(7)?,
        references: row.get(8)?,
        visits: row.get(9)?,
        valid_from: row.get(10)?,
        valid_to: row.get(11)?,
    })
}

impl History {
    /// Every version of a machine, the oldest first.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn models(&self, machine: i64) -> Result<Vec<ModelRow>> {
        let select = format!("SELECT {COLUMNS} FROM models WHERE machine = ?1 ORDER BY version");
        let mut statement = self.connection.prepare(&select)?;
        Ok(statement.query_map([machine], read)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The version that judges now.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn current_model(&self, machine: i64, state: Option<&str>) -> Result<Option<ModelRow>> {
        let select = format!(
            "SELECT {COLUMNS} FROM models WHERE machine = ?1 AND operating_state IS ?2 AND valid_to IS NULL \
             ORDER BY version DESC LIMIT 1"
        );
        Ok(self.connection.query_row(&select, params![machine, state], read).optional()?)
    }

    /// Adds a version that judges from now on; the one before ends.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn add_model(&mut self, machine: i64, model: &NewModel, now: f64) -> Result<ModelRow> {
        let transaction = self.connection.transaction()?;
        let end = "UPDATE models SET valid_to = ?3 \
             WHERE machine = ?1 AND operating_state IS ?2 AND valid_to IS NULL";
        transaction.execute(end, params![machine, model.operating_state, now])?;
        let insert = "INSERT INTO models (machine, version, operating_state, file, hash, origin, note, threshold, \
             reference_count, visits, valid_from) VALUES (?1, (SELECT 1 + coalesce(max(version), 0) FROM models \
             WHERE machine = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        transaction.execute(
            insert,
            params![
                machine,
                model.operating_state,
                model.file,
                model.hash,
                model.origin,
                model.note,
                model.threshold,
                model.references as i64,
                model.visits as i64,
                now
            ],
        )?;
        let id = transaction.last_insert_rowid();
        let select = format!("SELECT {COLUMNS} FROM models WHERE id = ?1");
        let row = transaction.query_row(&select, [id], read)?;
        transaction.commit()?;
        Ok(row)
    }

    /// The model that judges ends, and nothing follows it: the machine is learnt again.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn end_model(&mut self, machine: i64, now: f64) -> Result<()> {
        let end = "UPDATE models SET valid_to = ?2 WHERE machine = ?1 AND valid_to IS NULL";
        self.connection.execute(end, params![machine, now])?;
        Ok(())
    }
}

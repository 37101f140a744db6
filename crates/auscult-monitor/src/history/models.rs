//! Model versions: which one judged when, and how to go back.

use auscult::Machine;
use rusqlite::{Row, params};

use super::History;
use crate::{error::Result, watch::RulePlan};

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
    /// `configured`, `learned`, `accepted`, `forgotten`, `rollback` or `planned`.
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
    /// How its alarm rule was planned; `None` if it is the model's own, or the configuration's.
    pub planned: Option<RulePlan>,
}

impl ModelRow {
    /// The fingerprint of the model that it was made of: an alarm rule changes a model's own.
    pub fn came_from(&self) -> &str {
        self.planned.as_ref().map_or(&self.hash, |plan| &plan.of)
    }
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
    /// How its alarm rule was planned.
    pub planned: Option<RulePlan>,
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
            planned: None,
        }
    }
}

const COLUMNS: &str = "id, version, operating_state, file, hash, origin, note, threshold, reference_count, visits, \
     valid_from, valid_to";

/// The schema that says how rules were planned.
const WITH_PLANS: i64 = 2;

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
        // What another version of this program planned and this one does not understand is planned anew.
        planned: row
            .get::<_, Option<String>>(12)?
            .and_then(|text| serde_json::from_str(&text).ok()),
    })
}

impl History {
    /// What is read of a model; an older history that nobody writes does not know how rules were planned.
    fn columns(&self) -> String {
        let planned = if self.schema < WITH_PLANS { "NULL AS planned" } else { "planned" };
        format!("{COLUMNS}, {planned}")
    }

    /// Every version of a machine, the oldest first.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn models(&self, machine: i64) -> Result<Vec<ModelRow>> {
        let columns = self.columns();
        let select = format!("SELECT {columns} FROM models WHERE machine = ?1 ORDER BY version");
        let mut statement = self.connection.prepare(&select)?;
        Ok(statement.query_map([machine], read)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Adds a version that judges from now on; the one before ends.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn add_model(&mut self, machine: i64, model: &NewModel, now: f64) -> Result<ModelRow> {
        let planned = model.planned.as_ref().map(serde_json::to_string).transpose()?;
        let select = format!("SELECT {} FROM models WHERE id = ?1", self.columns());
        let transaction = self.connection.transaction()?;
        let end = "UPDATE models SET valid_to = ?3 \
             WHERE machine = ?1 AND operating_state IS ?2 AND valid_to IS NULL";
        transaction.execute(end, params![machine, model.operating_state, now])?;
        let insert = "INSERT INTO models (machine, version, operating_state, file, hash, origin, note, threshold, \
             reference_count, visits, valid_from, planned) VALUES (?1, (SELECT 1 + coalesce(max(version), 0) FROM models \
             WHERE machine = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
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
                now,
                planned
            ],
        )?;
        let id = transaction.last_insert_rowid();
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

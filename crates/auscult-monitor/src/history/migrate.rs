//! Every version ever written stays readable: older files are brought up to date, newer ones are refused.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{Error, Result};

/// The version of the schema that this program writes.
pub const SCHEMA_VERSION: i64 = STEPS.len() as i64;

/// What makes version n + 1 out of version n; none of them ever changes.
const STEPS: &[&str] = &[include_str!("schema.sql"), include_str!("schema_2.sql")];

/// Marks the file as ours: "ausc".
const APPLICATION: i64 = 0x6175_7363;

pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    let version = check(connection, path)?;
    if version == SCHEMA_VERSION {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    for step in &STEPS[version as usize..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(transaction.commit()?)
}

/// The version of a file, 0 for an empty one.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<i64> {
    let read = |name: &str| -> rusqlite::Result<i64> {
        connection.pragma_query_value(None, name, |row| row.get(0))
    };
    let failed = |error: rusqlite::Error| Error::of_history(path, &error);
    let version = read("user_version").map_err(failed)?;
    let application = read("application_id").map_err(failed)?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    if application != APPLICATION && (version != 0 || tables != 0) {
        return Err(Error::NotAHistory { path: path.to_owned() });
    }
    if version > SCHEMA_VERSION {
        let (found, known) = (version, SCHEMA_VERSION);
        return Err(Error::NewerHistory { path: path.to_owned(), found, known });
    }
    Ok(version.max(0))
}

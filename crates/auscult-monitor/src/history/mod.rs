//! 6. The history: everything that happened, in one SQLite file that users may open.
//!
//! One connection writes; a clip, its events, its messages and what the engine remembers are one transaction, so that
//! after a crash either all of them are there or none.

mod commit;
mod migrate;
mod models;
mod outbox;
mod pages;
mod read;
mod sounds;
mod thin;
mod waiting;
mod writer;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};

pub use self::{
    commit::{ClipRow, Commit, SeenFile, SoundRow, Standing},
    migrate::SCHEMA_VERSION,
    models::{ModelRow, NewModel},
    outbox::{Outcome, Waiting as WaitingMessage},
    pages::{ClipPage, EventPage, Feedback, SinkState},
    read::{ClipQuery, Deletion, EventQuery, StoredClip, TrendPoint},
    thin::Thinned,
    waiting::WaitingClip,
    writer::{Job, Work, Writer, Written},
};
use crate::error::{Error, Result};

/// The database within a data folder.
pub const FILE: &str = "history.db";

/// An open history.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
    /// The schema of the file: one that is only read may be older.
    schema: i64,
}

impl History {
    /// Opens the history of a data folder to write it, and makes it if it is not there.
    ///
    /// # Errors
    ///
    /// If the file is not a history of a known version, or the disk refuses.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let connection =
            Connection::open(&path).map_err(|error| Error::of_history(&path, &error))?;
        let mut history = Self { connection, path, schema: SCHEMA_VERSION };
        match history.prepare() {
            Err(Error::Sqlite(error))
                if matches!(
                    error.sqlite_error_code(),
                    Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
                ) =>
            {
                Err(Error::of_history(&history.path, &error))
            }
            Err(error) => Err(error),
            Ok(()) => Ok(history),
        }
    }

    /// Opens the history of a data folder to read it, also while a monitor writes.
    ///
    /// # Errors
    ///
    /// [`Error::NoHistory`] if there is none, and as [`History::open`].
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Err(Error::NoHistory { folder: folder.to_owned() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(&path, flags);
        let connection = opened.map_err(|error| Error::of_history(&path, &error))?;
        connection.busy_timeout(BUSY)?;
        let schema = migrate::check(&connection, &path)?;
        Ok(Self { connection, path, schema })
    }

    fn prepare(&mut self) -> Result<()> {
        let connection = &mut self.connection;
        connection.busy_timeout(BUSY)?;
        // Only before the first table is made: rows that are thinned out give their room back.
        connection.pragma_update(None, "auto_vacuum", "incremental")?;
        // Readers never wait for the writer, nor it for them.
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // The log is cut back to this size after a checkpoint, so that one busy hour does not keep the disk.
        connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
        connection.set_prepared_statement_cache_capacity(64);
        migrate::migrate(connection, &self.path)
    }

    /// Brings everything into the one file, for whoever copies it after the end. Those who still read keep the rest
    /// in the log, where it is as safe.
    pub(crate) fn fold_log(&self) {
        let _ = self.connection.busy_timeout(std::time::Duration::from_millis(500));
        let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);");
    }

    /// Writes one commit, whole or not at all; a running monitor has a [`Writer`] for it.
    ///
    /// # Errors
    ///
    /// If the history cannot be written, or refuses it.
    pub fn write(&mut self, commit: &Commit, now: f64) -> Result<()> {
        let transaction = self.connection.transaction()?;
        commit.write(&transaction, now)?;
        Ok(transaction.commit()?)
    }

    /// The number of a machine, which is made if the name is new.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub fn machine(&mut self, name: &str, now: f64) -> Result<i64> {
        let insert =
            "INSERT INTO machines (name, added) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
        self.connection.execute(insert, params![name, now])?;
        self.machine_id(name)?.ok_or_else(|| Error::UnknownMachine { name: name.to_owned() })
    }

    /// The number of a machine that is known.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn machine_id(&self, name: &str) -> Result<Option<i64>> {
        let select = "SELECT id FROM machines WHERE name = ?1";
        Ok(self.connection.query_row(select, [name], |row| row.get(0)).optional()?)
    }

    /// Copies the whole history while it is being written.
    ///
    /// # Errors
    ///
    /// If the target is there already, or cannot be written.
    pub fn back_up(&self, target: &Path) -> Result<()> {
        if target.exists() {
            return Err(Error::TargetExists { path: target.to_owned() });
        }
        // In one step: readers of a log never see half a transaction, and a monitor waits for nobody.
        self.connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
        Ok(())
    }

    /// Whether the file is sound, by SQLite's own check.
    ///
    /// # Errors
    ///
    /// With what is broken.
    pub fn check(&self) -> Result<()> {
        let found: String =
            self.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        if found == "ok" { Ok(()) } else { Err(Error::Damaged { path: self.path.clone(), found }) }
    }

    /// Room that the file takes, with its log.
    pub fn bytes(&self) -> u64 {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |facts| facts.len());
        let log = self.path.with_extension("db-wal");
        size(&self.path) + size(&log)
    }
}

const BUSY: std::time::Duration = std::time::Duration::from_secs(10);

//! What can go wrong.

use std::path::{Path, PathBuf};

use crate::site::SiteProblems;

/// Why the monitor, or something it was told to do, cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration cannot be used.
    #[error(transparent)]
    Site(#[from] SiteProblems),
    /// The library says no.
    #[error(transparent)]
    Library(#[from] auscult::Error),
    /// A sound cannot be read.
    #[error(transparent)]
    Audio(#[from] auscult::audio::Error),
    /// A file cannot be written.
    #[error(transparent)]
    Files(#[from] auscult::files::Error),
    /// A setting is out of range.
    #[error(transparent)]
    Core(#[from] auscult::core::Error),
    /// A model of the configuration cannot be used.
    #[error("the model {path} of {machine}: {source}")]
    Model {
        /// The machine.
        machine: String,
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<auscult::Error>,
    },
    /// The alarm budget of a machine cannot be kept with its model.
    #[error("the model {path} of {machine}: {reason}")]
    Promise {
        /// The machine.
        machine: String,
        /// The file.
        path: PathBuf,
        /// Why, and what could be promised.
        reason: String,
    },
    /// The alarm budget that the configuration names cannot be kept.
    #[error("{reason}; {instead}")]
    NotPromised {
        /// Why.
        reason: String,
        /// What could be promised.
        instead: String,
    },
    /// The disk or the network refuses.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// Why.
        source: std::io::Error,
    },
    /// SQLite refuses.
    #[error("the history: {}", describe(.0))]
    Sqlite(rusqlite::Error),
    /// A row of the history cannot be read.
    #[error("the history holds something unreadable: {0}")]
    Json(#[from] serde_json::Error),
    /// The file is not a history.
    #[error("{path} is a database, but not a history of this program; choose another data folder")]
    NotAHistory {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a database, or a broken one.
    #[error("{path} cannot be opened as a history: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A newer program wrote it.
    #[error(
        "{path} is a history of version {found}, newer than {known}, which this program knows; use the newer program"
    )]
    NewerHistory {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest one known.
        known: i64,
    },
    /// The file is damaged.
    #[error("{path} is damaged: {found}; restore a backup")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// By SQLite's own check.
        found: String,
    },
    /// There is no history.
    #[error(
        "there is no history in {folder}; a monitor writes one when it runs with this data folder"
    )]
    NoHistory {
        /// The data folder.
        folder: PathBuf,
    },
    /// Another monitor has the data folder.
    #[error("another monitor uses {folder}; stop it, or choose another data folder")]
    InUse {
        /// The data folder.
        folder: PathBuf,
    },
    /// No monitor listens for commands.
    #[error("no monitor runs with the data folder {folder}; start one with `auscult watch`")]
    NotRunning {
        /// The data folder.
        folder: PathBuf,
    },
    /// The monitor refused a command.
    #[error("{0}")]
    Refused(String),
    /// The name is not known.
    #[error("there is no machine {name:?} here")]
    UnknownMachine {
        /// The name.
        name: String,
    },
    /// A file would be overwritten.
    #[error("{path} is there already; choose another name")]
    TargetExists {
        /// The file.
        path: PathBuf,
    },
    /// The monitor is stopping.
    #[error("the monitor is stopping")]
    Stopping,
}

// By hand: SQLite's errors say the same again as their own cause.
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// What SQLite says, and what to do about a damaged file.
fn describe(error: &rusqlite::Error) -> String {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => format!(
            "{error}; stop the monitor, move history.db, history.db-wal and history.db-shm away, and copy a backup to history.db \
             (auscult watch backup makes one); without one a new history begins"
        ),
        _ => error.to_string(),
    }
}

/// What this crate's functions give.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn of_history(path: &Path, error: &rusqlite::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), reason: describe(error) }
    }

    /// With its line in a configuration, if it is about a model that is named there.
    #[must_use]
    pub fn in_file(self, file: Option<&Path>) -> Self {
        file.and_then(|file| SiteProblems::of_model(file, &self)).map_or(self, Self::Site)
    }

    /// What failed, for `map_err`.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    /// Whether the disk is full or gone for a while: worth another try.
    pub fn may_pass(&self) -> bool {
        use rusqlite::ErrorCode;
        match self {
            Self::Sqlite(rusqlite::Error::SqliteFailure(error, _)) => matches!(
                error.code,
                ErrorCode::DiskFull
                    | ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::CannotOpen
                    | ErrorCode::ReadOnly
            ),
            Self::Io { .. } => true,
            _ => false,
        }
    }
}

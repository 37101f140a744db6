//! The crate's error type.

use std::{io, path::PathBuf};

/// The result of any fallible operation in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation in this crate failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A table does not have the form it should have.
    #[error("{}, line {line}: {reason}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// A setting has a value outside its range.
    #[error("{setting} must be {allowed}, got {got}")]
    Setting {
        /// The setting, as users know it.
        setting: &'static str,
        /// The values that are allowed.
        allowed: String,
        /// The rejected value.
        got: String,
    },
    /// A data set is not what it should be.
    #[error("{kind}: {reason}")]
    Dataset {
        /// Which data set.
        kind: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A protocol is not what it should be.
    #[error("{}: {reason}", path.display())]
    Protocol {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A run was stopped before it was finished.
    #[error("{} is not a finished run: it has no results.json yet; continue it", path.display())]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// A folder is not that of a run.
    #[error("{} is not a run: {reason}", path.display())]
    Run {
        /// The folder.
        path: PathBuf,
        /// What is missing or cannot be read.
        reason: String,
    },
    /// A file of a data set is not what was expected.
    #[error("cannot fetch {url}: {reason}")]
    Download {
        /// The address.
        url: String,
        /// What went wrong, and what to do.
        reason: String,
    },
    /// A network could not be trained.
    #[error("{reason}")]
    Training {
        /// What went wrong.
        reason: String,
    },
    /// The library refused.
    #[error(transparent)]
    Library(#[from] auscult::Error),
    /// Something could not be fetched.
    #[error(transparent)]
    Fetch(#[from] auscult::fetch::Error),
    /// Scores cannot be judged.
    #[error(transparent)]
    Metrics(#[from] auscult::metrics::Error),
    /// Sound or a list of recordings cannot be read.
    #[error(transparent)]
    Audio(auscult_audio::Error),
    /// The core refused.
    #[error(transparent)]
    Core(#[from] auscult_core::Error),
}

/// A row of a manifest is a line of a table.
impl From<auscult_audio::Error> for Error {
    fn from(error: auscult_audio::Error) -> Self {
        match error {
            auscult_audio::Error::ManifestRow { manifest, line, reason } => {
                Self::Table { path: manifest.into(), line, reason }
            }
            other => Self::Audio(other),
        }
    }
}

impl Error {
    pub(crate) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source }
    }
}

//! The crate's error type.

use std::path::PathBuf;

/// The result of any fallible operation in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an archive could not be worked on. What is wrong with a single clip is an error in its row instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused: a model, a setting, a file.
    #[error(transparent)]
    Library(#[from] auscult::Error),
    /// Rows of the manifest cannot be used.
    #[error("{}: {count} of its rows cannot be used, so no work was begun: {}", path.display(), first.join("; "))]
    BadRows {
        /// The manifest.
        path: PathBuf,
        /// How many.
        count: u64,
        /// What is wrong with the first of them.
        first: Vec<String>,
    },
    /// A clip is listed twice.
    #[error("{}:{line}: the same clip as in line {first}; each clip counts once, remove one of them", path.display())]
    Duplicate {
        /// The manifest.
        path: PathBuf,
        /// The later line.
        line: u64,
        /// The earlier line.
        first: u64,
    },
    /// The manifest lists nothing.
    #[error("{}: lists no clips; add a row for each clip or recording", path.display())]
    NoClips {
        /// The manifest.
        path: PathBuf,
    },
    /// The manifest changed while it was worked on.
    #[error("{}: changed while it was read; start again when nobody writes to it", path.display())]
    Changed {
        /// The manifest.
        path: PathBuf,
    },
    /// Results of something else are where results shall go.
    #[error("{}: {what}", path.display())]
    OtherResults {
        /// The shard.
        path: PathBuf,
        /// What is different about it.
        what: String,
    },
    /// A number is out of range.
    #[error("{what} must be {allowed}, got {value}")]
    OutOfRange {
        /// What it is.
        what: &'static str,
        /// The value.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A folder of models has none.
    #[error("{}: no models in this folder; it needs a file NAME.auscult for each machine", folder.display())]
    NoModels {
        /// The folder.
        folder: PathBuf,
    },
    /// There are models of several machines, and the manifest does not say which machine is meant.
    #[error("{}: has no column machine, and there are models of several machines; add it", path.display())]
    NoMachines {
        /// The manifest.
        path: PathBuf,
    },
    /// A table could not be made or read.
    #[error("{}: {reason}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file or folder could not be read or made.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The caller stopped the work; shards that are written stay.
    #[error("stopped; what is written stays, and the next run goes on from there")]
    Cancelled,
}

impl From<auscult::audio::Error> for Error {
    fn from(error: auscult::audio::Error) -> Self {
        Self::Library(error.into())
    }
}

impl From<auscult::files::Error> for Error {
    fn from(error: auscult::files::Error) -> Self {
        Self::Library(error.into())
    }
}

//! The crate's error type.

use std::{io, path::PathBuf};

/// The result of any fallible operation in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a model could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file could not be written; what was there before is untouched.
    #[error("cannot write {path}: {source}; nothing was changed")]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another program is changing the model.
    #[error("{path} is being changed by another program; try again when it is done")]
    Locked {
        /// Which file.
        path: PathBuf,
    },
    /// The file is not an undamaged model.
    #[error("{path}: {source}")]
    Model {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: auscult_core::Error,
    },
    /// Nothing can be written there.
    #[error("cannot write {}: {reason}", path.display())]
    Target {
        /// The file to be written.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// Something else is there that must not be lost.
    #[error("{} exists and is {found}; give another file, or remove it first", path.display())]
    Occupied {
        /// The file to be written.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
}

//! The crate's error type.

use std::io;
use std::path::PathBuf;

/// The result of any fallible operation with recipes and trees.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a recipe was refused or a tree could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that stands for nothing.
    #[error("unknown {what} {got:?}; use one of {allowed}")]
    UnknownName {
        /// What was to be named: a machine, a fault, a domain or a layout.
        what: &'static str,
        /// The name given.
        got: String,
        /// The names there are.
        allowed: String,
    },
    /// A number outside its range.
    #[error("{what} must be in {allowed}, got {got}")]
    OutOfRange {
        /// The setting.
        what: &'static str,
        /// Its value.
        got: f64,
        /// The range, in words.
        allowed: &'static str,
    },
    /// A fault that this machine does not have.
    #[error("a {machine} has no fault {got}; use one of {allowed}")]
    FaultOfMachine {
        /// The machine.
        machine: &'static str,
        /// The fault or faults asked for.
        got: String,
        /// The faults this machine can have.
        allowed: String,
    },
    /// A tree without machines, or with the same machine twice.
    #[error("a tree needs each machine once and at least one, got {got:?}")]
    Machines {
        /// The machines given.
        got: Vec<&'static str>,
    },
    /// The folder for a tree already holds something.
    #[error("{} is not empty; choose another folder or empty this one", folder.display())]
    FolderNotEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// A file or folder could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Refuses a number that is not finite or not within the range.
pub(crate) fn check_range(
    what: &'static str,
    got: f64,
    inside: bool,
    allowed: &'static str,
) -> Result<()> {
    if got.is_finite() && inside { Ok(()) } else { Err(Error::OutOfRange { what, got, allowed }) }
}

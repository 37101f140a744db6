//! Why scores cannot be judged.

use std::{io, path::PathBuf};

/// The result of any fallible operation on scores.
pub type Result<T> = std::result::Result<T, Error>;

/// Why scores cannot be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A score is NaN or infinite.
    #[error("the score of {clip} is {score}; scores must be finite numbers: look at what made it")]
    ScoreNotFinite {
        /// Which clip.
        clip: String,
        /// The rejected score.
        score: f64,
    },
    /// A table could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
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
    /// The number of bootstrap samples is out of range.
    #[error("bootstrap samples must be 100 to 1000000, got {got}")]
    Samples {
        /// The rejected number.
        got: usize,
    },
}

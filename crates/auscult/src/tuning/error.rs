//! The crate's error type.

/// The result of any fallible operation in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation in this crate failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Too few clips to leave some out and still have a memory.
    #[error(
        "choosing settings needs at least {needed} normal clips, got {got}; record more, or use \
         the defaults"
    )]
    TooFewClips {
        /// How many there must be.
        needed: usize,
        /// How many there are.
        got: usize,
    },
    /// The features are not those of the candidate's front end or of this study.
    #[error("the features are of {got}, the candidate needs {needed}")]
    OtherFeatures {
        /// The front end the candidate has.
        needed: String,
        /// What the features came from.
        got: String,
    },
    /// An ensemble cannot be tuned.
    #[error(
        "{name} is several front ends, and their members have bands of their own; tune them one by one"
    )]
    Several {
        /// What it is.
        name: String,
    },
    /// A front end is tried in any case.
    #[error("{name} is tried in any case; only encoders, such as ced, are named")]
    TriedAnyway {
        /// Which one.
        name: String,
    },
    /// An encoder is named twice.
    #[error("{name} is named twice; once is enough")]
    NamedTwice {
        /// Which one.
        name: String,
    },
    /// A file holds something other than the results of a search.
    #[error("{} does not hold results of tuning ({reason}); remove it, or choose another file", path.display())]
    ForeignState {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A settings or state file that cannot be understood.
    #[error("{reason}")]
    Unreadable {
        /// What is wrong.
        reason: String,
    },
    /// Whatever the front end or the detector cannot do.
    #[error(transparent)]
    Core(#[from] auscult_core::Error),
}

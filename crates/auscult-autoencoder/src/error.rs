//! Why something could not be trained.

/// The result of any fallible operation in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation in this crate failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is out of range.
    #[error("{setting} must be {allowed}, got {got}")]
    Setting {
        /// Which one.
        setting: &'static str,
        /// What it may be.
        allowed: String,
        /// What it was.
        got: String,
    },
    /// The errors of a domain do not vary in every direction.
    #[error(
        "the errors of {clips} clips of domain {domain:?} have no inverse covariance; give more \
         clips of it, or use the score mse"
    )]
    Covariance {
        /// The domain.
        domain: String,
        /// How many clips it has.
        clips: usize,
    },
    /// The loss is not a number any more.
    #[error(
        "training went astray at step {step}: the loss is not finite; use a learning rate below \
         {learning_rate}"
    )]
    Diverged {
        /// The step or epoch.
        step: usize,
        /// The rate.
        learning_rate: f64,
    },
    /// The caller stopped it.
    #[error("stopped before training was done")]
    Stopped,
    /// The core refused.
    #[error(transparent)]
    Core(#[from] auscult_core::Error),
}

impl Error {
    #[expect(clippy::needless_pass_by_value, reason = "numbers and names are handed over")]
    pub(crate) fn setting(
        setting: &'static str,
        allowed: impl Into<String>,
        got: impl ToString,
    ) -> Self {
        Self::Setting { setting, allowed: allowed.into(), got: got.to_string() }
    }
}

//! Why something could not be trained.

use std::path::PathBuf;

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
    /// The loss is no number any more.
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
    /// Whoever watches asked to stop.
    #[error("stopped before training was done")]
    Stopped,
    /// The labels cannot be learnt.
    #[error("{reason}; {advice}")]
    Labels {
        /// What is wrong with them.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// A training clip could not be read.
    #[error("clip {clip}: {reason}")]
    Clip {
        /// Which one.
        clip: String,
        /// What went wrong.
        reason: String,
    },
    /// Clips cannot be trained on.
    #[error(
        "{} of {of} clips cannot be trained on (record them again, or take them out): {}",
        problems.len(),
        listed(problems)
    )]
    Clips {
        /// Their names, each with what is wrong.
        problems: Vec<(String, String)>,
        /// Clips there are.
        of: usize,
    },
    /// A file of a run could not be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// A checkpoint does not belong to this run.
    #[error("{} does not fit: {reason}; {advice}", path.display())]
    Foreign {
        /// The checkpoint.
        path: PathBuf,
        /// What differs.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// What should compute is not there.
    #[error("{reason}; {advice}")]
    NoDevice {
        /// Why not.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// The tensor library could not give its numbers back.
    #[error("the device failed: {reason}")]
    Device {
        /// What it said.
        reason: String,
    },
    /// The core refused.
    #[error(transparent)]
    Core(#[from] auscult_core::Error),
    /// The encoder could not be used.
    #[error(transparent)]
    Encoder(#[from] auscult_encoders::Error),
}

/// Problems that are listed one by one.
const MOST_LISTED: usize = 10;

fn listed(problems: &[(String, String)]) -> String {
    let shown = problems.iter().take(MOST_LISTED);
    let mut words: Vec<String> = shown.map(|(clip, reason)| format!("{clip}: {reason}")).collect();
    if problems.len() > MOST_LISTED {
        words.push(format!("and {} more", problems.len() - MOST_LISTED));
    }
    words.join("; ")
}

impl Error {
    #[expect(clippy::needless_pass_by_value, reason = "numbers and words are handed over")]
    pub(crate) fn setting(
        setting: &'static str,
        allowed: impl Into<String>,
        got: impl ToString,
    ) -> Self {
        Self::Setting { setting, allowed: allowed.into(), got: got.to_string() }
    }
}

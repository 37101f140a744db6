//! Why something could not be trained.

use std::path::PathBuf;

use auscult_core::plural;

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
    /// A class has too few clips.
    #[error(
        "class {class:?} has {}, at least {least} are needed{}; leave such classes out, or allow fewer clips",
        plural(*clips, "clip"),
        others_of(*others, *classes)
    )]
    SmallClass {
        /// The first such class.
        class: String,
        /// Its clips.
        clips: usize,
        /// Clips a class must have.
        least: usize,
        /// Other classes with too few.
        others: usize,
        /// Classes there are.
        classes: usize,
    },
    /// This program was built without the feature for GPUs.
    #[error(
        "this program was built without the feature for GPUs; train on the CPU, or build it with the feature"
    )]
    NoGpuFeature,
    /// This machine has no GPU that can be used.
    #[error(
        "{reason}; install the driver for Vulkan, Metal or DirectX 12 of your card, or train on the CPU"
    )]
    NoDevice {
        /// What is missing.
        reason: String,
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

fn others_of(others: usize, classes: usize) -> String {
    match others {
        0 => String::new(),
        others => format!(", and {others} other of {classes} classes have too few"),
    }
}

/// Problems that are listed one by one.
const MOST_LISTED: usize = 10;

fn listed(problems: &[(String, String)]) -> String {
    let shown = problems.iter().take(MOST_LISTED);
    let mut lines: Vec<String> = shown.map(|(clip, reason)| format!("{clip}: {reason}")).collect();
    if problems.len() > MOST_LISTED {
        lines.push(format!("and {} more", problems.len() - MOST_LISTED));
    }
    lines.join("; ")
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

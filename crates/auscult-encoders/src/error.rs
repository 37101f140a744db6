//! Why an encoder could not be used.

use std::path::{Path, PathBuf};

/// The result of any fallible operation in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation in this crate failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened.
    #[error("cannot read {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file could not be written.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// The bytes are not a checkpoint this crate reads.
    #[error(
        "not a checkpoint: {reason}; PyTorch zip files (torch.save since 1.6) and safetensors are read"
    )]
    Format {
        /// What shows it.
        reason: String,
    },
    /// The file is where a training run stands, not the encoder that came of it.
    #[error(
        "this is where a training run stands, not an encoder; use encoder.safetensors in the same folder"
    )]
    RunCheckpoint,
    /// The file has another length than its table of tensors says.
    #[error(
        "{}: it has {found} bytes, its table of tensors says {expected}; fetch the file again",
        if found < expected { "truncated" } else { "damaged" }
    )]
    Length {
        /// Bytes there are.
        found: u64,
        /// Bytes there must be, as far as the table could be read.
        expected: u64,
    },
    /// The checkpoint is not of an encoder this crate knows.
    #[error(
        "not a checkpoint of a known encoder: {reason}; BEATs, EAT and CED are known by their tensors"
    )]
    Foreign {
        /// What was found.
        reason: String,
    },
    /// A tensor is missing.
    #[error("tensor {tensor} is missing, expected shape {expected:?}; fetch the checkpoint again")]
    Missing {
        /// Its name.
        tensor: String,
        /// The shape it must have.
        expected: Vec<usize>,
    },
    /// A tensor has another shape.
    #[error(
        "tensor {tensor} has shape {found:?}, expected {expected:?}; the checkpoint does not fit its configuration"
    )]
    Shape {
        /// Its name.
        tensor: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape it must have.
        expected: Vec<usize>,
    },
    /// A tensor is stored in a way that is not read.
    #[error("tensor {tensor} is stored as {found}; f32, f16 and bf16 are read")]
    Storage {
        /// Its name.
        tensor: String,
        /// How it is stored.
        found: String,
    },
    /// A weight is NaN or infinite.
    #[error("tensor {tensor} has {value} at {index}; the checkpoint is damaged, fetch it again")]
    NotFinite {
        /// Its name.
        tensor: String,
        /// The flat index.
        index: usize,
        /// The value found.
        value: f32,
    },
    /// A setting of the encoder is out of range.
    #[error("{setting} must be {allowed}, got {got}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// What is allowed.
        allowed: String,
        /// The rejected value.
        got: String,
    },
    /// The weights on this machine are not those a model was made with.
    #[error(
        "the model was made with {wanted}, the weights here are {given}; give the ones it was made with"
    )]
    OtherWeights {
        /// Name and fingerprint the model holds.
        wanted: String,
        /// Name and fingerprint of the weights.
        given: String,
    },
    /// The file named by the user holds another kind of encoder.
    #[error(
        "{} holds {given}, not {wanted}; give a file of {wanted}, or use the front end of that file",
        path.display()
    )]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// The requested encoder.
        wanted: String,
        /// What the file holds.
        given: String,
    },
    /// The weights of an encoder are not on this machine.
    #[error("the weights of {name} are not on this machine; fetch them, or give a file with them")]
    NoWeights {
        /// The encoder's name.
        name: String,
    },
    /// What is wrong with a file the library looked into.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Box<Error>,
    },
    /// Reading the clip or its features failed.
    #[error(transparent)]
    Core(#[from] auscult_core::Error),
}

impl Error {
    pub(crate) fn setting(
        setting: &'static str,
        allowed: impl Into<String>,
        got: impl std::fmt::Display,
    ) -> Self {
        Self::Setting { setting, allowed: allowed.into(), got: got.to_string() }
    }

    /// This error with the file it is about, unless it names it already.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        match self {
            named @ (Self::Open { .. } | Self::InFile { .. }) => named,
            source => Self::InFile { path: path.to_owned(), source: Box::new(source) },
        }
    }

    pub(crate) fn format(reason: impl Into<String>) -> Self {
        Self::Format { reason: reason.into() }
    }
}

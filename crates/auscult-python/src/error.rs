//! Errors of the library as exceptions of the package, with the same texts. The classes are in `auscult.errors`.

use auscult::{Error as LibraryError, audio, core, encoders, files, metrics};
use auscult_archive::Error as ArchiveError;
use auscult_eval::Error as EvaluationError;
use pyo3::{prelude::*, types::PyType};

/// Turns results of the library into those of Python.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception that says the same as the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Raise> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, error.class(), &error.to_string()))
    }
}

/// The exception of a class of `auscult.errors`.
pub(crate) fn exception(py: Python<'_>, class: &str, text: &str) -> PyErr {
    let class = || -> PyResult<PyErr> {
        let class = py.import("auscult.errors")?.getattr(class)?;
        Ok(PyErr::from_type(class.cast_into::<PyType>()?, text.to_owned()))
    };
    class().unwrap_or_else(|error| error)
}

/// An exception about what the caller gave.
pub(crate) fn input_error(py: Python<'_>, text: impl AsRef<str>) -> PyErr {
    exception(py, "InputError", text.as_ref())
}

/// An error with a class of `auscult.errors`.
pub(crate) trait Raise: std::fmt::Display {
    /// The name of the class.
    fn class(&self) -> &'static str;
}

impl Raise for core::Error {
    fn class(&self) -> &'static str {
        match self {
            Self::ForeignModel { .. } | Self::DamagedModel { .. } | Self::ModelVersion { .. } => {
                "ModelError"
            }
            Self::FrontEnd { .. } => "FrontEndError",
            _ => "InputError",
        }
    }
}

impl Raise for audio::Error {
    fn class(&self) -> &'static str {
        match self {
            Self::NotFound { .. } | Self::NoMatch { .. } => "SoundNotFoundError",
            Self::Setting { .. } | Self::SampleRate { .. } | Self::BadPattern { .. } => {
                "InputError"
            }
            Self::Clip(error) => error.class(),
            _ => "SoundError",
        }
    }
}

impl Raise for files::Error {
    fn class(&self) -> &'static str {
        match self {
            Self::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                "ModelNotFoundError"
            }
            Self::Write { .. } | Self::Target { .. } | Self::Occupied { .. } => "TargetError",
            _ => "ModelError",
        }
    }
}

impl Raise for encoders::Error {
    fn class(&self) -> &'static str {
        match self {
            Self::Setting { .. } => "InputError",
            Self::Core(error) => error.class(),
            _ => "FrontEndError",
        }
    }
}

impl Raise for LibraryError {
    fn class(&self) -> &'static str {
        match self {
            Self::Core(error) => error.class(),
            Self::Audio(error) => error.class(),
            Self::Files(error) => error.class(),
            Self::Encoder(error) => error.class(),
            Self::FunctionNeeded { .. } => "FrontEndError",
            Self::Unread(_) => "SoundError",
            Self::NoSources { problems } => match problems.as_slice() {
                [only] => only.class(),
                _ => "SoundError",
            },
            Self::LabelFolders { .. } => "LabelFoldersError",
            Self::NothingToLearn { .. } | Self::AllForTesting | Self::NoneNormal => {
                "NothingToLearnError"
            }
            Self::BudgetNotKept(_) => "BudgetError",
            Self::Unusable(_) => "UnusableClipError",
            Self::Cancelled => "StoppedError",
            Self::Autoencoder(_) | Self::Tuning(_) | Self::Threads { .. } => "AuscultError",
            _ => "InputError",
        }
    }
}

impl Raise for metrics::Error {
    fn class(&self) -> &'static str {
        "InputError"
    }
}

impl Raise for ArchiveError {
    fn class(&self) -> &'static str {
        match self {
            Self::Library(error) => error.class(),
            Self::OtherResults { .. } | Self::Table { .. } | Self::Io { .. } => "TargetError",
            Self::NoModels { .. } => "ModelNotFoundError",
            Self::Cancelled => "StoppedError",
            _ => "InputError",
        }
    }
}

impl Raise for EvaluationError {
    fn class(&self) -> &'static str {
        match self {
            Self::Library(error) => error.class(),
            Self::Core(error) => error.class(),
            Self::Audio(error) => error.class(),
            Self::Metrics(error) => error.class(),
            Self::Setting { .. } => "InputError",
            Self::Write { .. } => "TargetError",
            _ => "EvaluationError",
        }
    }
}

/// Names that cannot be parsed come as texts.
impl Raise for String {
    fn class(&self) -> &'static str {
        "InputError"
    }
}

impl Raise for serde_json::Error {
    fn class(&self) -> &'static str {
        "InputError"
    }
}

/// Values that the package wrote as JSON. Nobody who is told what is wrong with them wrote a line or a column.
pub(crate) fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, CallError> {
    serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        CallError::Value(text.strip_suffix(&place).unwrap_or(&text).to_owned())
    })
}

/// Why a call failed: the library refused, or a value is none it could be asked about.
#[derive(Debug)]
pub(crate) enum CallError {
    Library(LibraryError),
    Value(String),
}

impl<E: Into<LibraryError>> From<E> for CallError {
    fn from(error: E) -> Self {
        Self::Library(error.into())
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Library(error) => error.fmt(formatter),
            Self::Value(text) => formatter.write_str(text),
        }
    }
}

impl Raise for CallError {
    fn class(&self) -> &'static str {
        match self {
            Self::Library(error) => error.class(),
            Self::Value(_) => "InputError",
        }
    }
}

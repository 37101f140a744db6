//! The crate's error type.

/// The result of any fallible operation in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation in this crate failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting has a value outside its range.
    #[error("{setting} must be {allowed}, got {got}")]
    Setting {
        /// The setting, as users know it.
        setting: &'static str,
        /// The values that are allowed.
        allowed: String,
        /// The rejected value.
        got: String,
    },
    /// A name is not one of the known ones.
    #[error("unknown {what} {got:?}; known: {known}")]
    UnknownName {
        /// What the name stands for.
        what: &'static str,
        /// The rejected name.
        got: String,
        /// The known names, comma separated.
        known: String,
    },
    /// Options of the detector contradict each other.
    #[error(transparent)]
    Options(#[from] crate::beam::OptionConflict),
    /// The band window has no positions.
    #[error("band width must be in 1..={axis_len}, got 0")]
    BandWidth {
        /// The length of the feature axis.
        axis_len: usize,
    },
    /// The band stride is zero.
    #[error("band stride must be at least 1, got 0")]
    BandStride,
    /// A vector does not have the length of the feature axis.
    #[error("{what} has {got} values, the feature axis has {expected}")]
    VectorLength {
        /// Which vector.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length of the axis.
        expected: usize,
    },
    /// The clip vectors lack a view the detector needs.
    #[error(
        "the detector compares {needed} view(s), the front end gave {got}; AdaBEAM needs a front end with frames (LPC and modulation have one view: use beam)"
    )]
    Views {
        /// How many views the detector was set up with.
        needed: usize,
        /// How many there are.
        got: usize,
    },
    /// A feature value is NaN or infinite.
    #[error(
        "feature {position} of {what} is {value}; features must be finite: check the sound for NaN samples"
    )]
    NotFinite {
        /// Which vector.
        what: String,
        /// Where on the axis.
        position: usize,
        /// The value found.
        value: f32,
    },
    /// The extractor of a front end gave no frame for a clip.
    #[error("the front end gave no frame for the clip; it must give at least 1")]
    NoFrames,
    /// There is nothing to compare with.
    #[error(
        "no references: a memory needs at least 1 normal clip, and 2 before it can be calibrated"
    )]
    NoReferences,
    /// The caller described another number of references than it gave.
    #[error("{what}: expected one per reference ({expected}), got {got}")]
    ReferenceCount {
        /// What was counted.
        what: &'static str,
        /// How many references there are.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// A domain-wise method met a domain without references.
    #[error("domain-wise scoring needs references of both domains; {domain:?} has none")]
    EmptyDomain {
        /// The domain without references.
        domain: String,
    },
    /// The bytes are not a model file of ours.
    #[error("not an auscult model: {reason}")]
    ForeignModel {
        /// How that was recognised.
        reason: String,
    },
    /// The bytes are a model file that was changed.
    #[error("damaged auscult model: {reason}; restore it from a copy or fit it again")]
    DamagedModel {
        /// What is wrong.
        reason: String,
    },
    /// The model file was written by a newer version.
    #[error(
        "model file version {found} is newer than this program reads (up to {supported}); update auscult"
    )]
    ModelVersion {
        /// The version in the file.
        found: u32,
        /// The newest version known here.
        supported: u32,
    },
    /// A front end from outside this crate could not do its work.
    #[error("{reason}")]
    FrontEnd {
        /// Its message.
        reason: String,
    },
    /// Vectors of one front end, or the front end itself, where those of another are compared.
    #[error(
        "front end {got} does not match the references, which are of {expected}; use the front end they were made with"
    )]
    OtherFrontEnd {
        /// The front end of the references, with its settings where the name is not enough.
        expected: String,
        /// The front end given, likewise.
        got: String,
    },
}

impl Error {
    /// A [`Error::Setting`] from anything that can be shown.
    pub(crate) fn setting(
        setting: &'static str,
        allowed: impl Into<String>,
        got: impl std::fmt::Display,
    ) -> Self {
        Self::Setting { setting, allowed: allowed.into(), got: got.to_string() }
    }
}

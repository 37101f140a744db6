//! Models as bytes. Files, and how to write them safely, are the caller's business.
//!
//! Every version ever written stays readable; the oldest that can hold the model is written.

mod v1;

use crate::{Model, ModelSettings, Result, ScoreOf};

/// The newest version of the model file.
pub const VERSION: u32 = v1::VERSION;

impl ModelSettings {
    /// Whether only version 3 can hold the model.
    fn has_values(&self) -> bool {
        !self.weights.is_empty() || self.detector.score_of != ScoreOf::default()
    }
}

impl Model {
    /// The version of the file this model is written as: the oldest that can hold it.
    pub fn file_version(&self) -> u32 {
        match self.settings() {
            settings if settings.has_values() => VERSION,
            settings if settings.storage.is_default() => 1,
            _ => 2,
        }
    }

    /// The model as bytes: the same model gives the same bytes.
    ///
    /// # Errors
    ///
    /// [`crate::Error::DamagedModel`] if the model holds what the format cannot.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        v1::write(self)
    }

    /// Reads a model back.
    ///
    /// # Errors
    ///
    /// [`crate::Error::ForeignModel`] if the bytes never were a model,
    /// [`crate::Error::DamagedModel`] if any of them changed since,
    /// [`crate::Error::ModelVersion`] if a newer program wrote them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        v1::read(bytes)
    }
}

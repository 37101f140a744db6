//! Models as bytes. Files, and how to write them safely, are the caller's business.
//!
//! Every version ever written stays readable; the oldest that can hold the model is written. From
//! the model to its bytes: `Content` is what a header says, `v1`, `v4`, `v5` and `v6` write it as JSON in
//! the structs of `wire`, `tensors` has the numbers, `container` holds both and their checksum.
//!
//! A new version is a new module beside `v6` and its lines in this file.

mod container;
mod tensors;
mod v1;
mod v4;
mod v5;
mod v6;
mod wire;

use crate::{Basis, Calibration, Error, Model, ModelSettings, Provenance, Result, ScoreOf, View};

/// The newest version of the model file.
pub const VERSION: u32 = 6;

/// What a header says, whatever its version.
struct Content {
    settings: ModelSettings,
    axis_len: usize,
    /// The views the references have; the detector may use fewer.
    views: Vec<View>,
    calibration_basis: Basis,
    /// The domain of each calibration score; empty if none is known.
    calibration_domains: Vec<Option<String>>,
    references: Vec<Provenance>,
}

impl Content {
    fn of(model: &Model) -> Self {
        let references = model.references();
        Self {
            settings: model.settings().clone(),
            axis_len: references.axis_len(),
            views: references.views().to_vec(),
            calibration_basis: model.calibration().basis(),
            calibration_domains: known_domains(model.calibration()),
            references: references.provenance().to_vec(),
        }
    }
}

/// The domains of calibration clips, nothing if no clip has one.
fn known_domains(calibration: &Calibration) -> Vec<Option<String>> {
    if calibration.domain_names().is_empty() {
        return Vec::new();
    }
    calibration.clips().iter().map(|clip| clip.domain.clone()).collect()
}

impl Model {
    /// The version of the file this model is written as: the oldest that can hold it.
    pub fn file_version(&self) -> u32 {
        let settings = self.settings();
        if self.references().provenance().iter().any(|from| from.recording.is_some()) {
            6
        } else if settings.detector.has_own_ways() {
            5
        } else if settings.alarm.is_some() || settings.detector.ensemble.is_some() {
            4
        } else if !settings.weights.is_empty() || settings.detector.score_of != ScoreOf::default() {
            3
        } else if !settings.storage.is_default() {
            2
        } else {
            1
        }
    }

    /// The model as bytes: the same model gives the same bytes.
    ///
    /// # Errors
    ///
    /// [`Error::DamagedModel`] if the model holds what the format cannot.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (version, content) = (self.file_version(), Content::of(self));
        let header = match version {
            ..=3 => v1::header(content),
            4 => v4::header(content),
            5 => v5::header(content),
            _ => v6::header(content),
        };
        container::write(version, header?, &tensors::of_model(self))
    }

    /// Reads a model back.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignModel`] if the bytes never were a model, [`Error::DamagedModel`] if any of
    /// them changed since, [`Error::ModelVersion`] if a newer program wrote them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read(bytes, VERSION)
    }
}

/// Reads a model of a version up to `supported`.
fn read(bytes: &[u8], supported: u32) -> Result<Model> {
    let (version, header, container) = container::open(bytes, supported)?;
    let content = match version {
        ..=3 => v1::content(&header),
        4 => v4::content(&header),
        5 => v5::content(&header),
        _ => v6::content(&header),
    };
    tensors::model(content?, &container)
}

fn damaged(reason: impl Into<String>) -> Error {
    Error::DamagedModel { reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use auscult_testing::golden;

    use super::*;
    use crate::alarm::AlarmSettings;

    fn with_alarm() -> Vec<u8> {
        let path = golden::testdata().join("models/v1.auscult");
        let model = Model::from_bytes(&std::fs::read(path).unwrap()).unwrap();
        model.with_alarm(Some(AlarmSettings::default())).unwrap().to_bytes().unwrap()
    }

    #[test]
    fn an_older_program_calls_a_newer_file_newer() {
        let error = read(&with_alarm(), 3).unwrap_err();
        assert_eq!(error, Error::ModelVersion { found: 4, supported: 3 });
        let bytes = std::fs::read(golden::testdata().join("models/v6.auscult")).unwrap();
        let error = read(&bytes, 5).unwrap_err();
        assert_eq!(error, Error::ModelVersion { found: 6, supported: 5 });
    }

    #[test]
    fn a_changed_version_is_noticed() {
        let bytes = with_alarm();
        let version = br#"{\"version\":4"#;
        let place = bytes.windows(version.len()).position(|window| window == version);
        let digit = place.unwrap() + version.len() - 1;
        for (changed, expected) in [
            (b'1', damaged("the checksum does not match its contents")),
            (b'3', damaged("the checksum does not match its contents")),
            (b'5', damaged("the checksum does not match its contents")),
            (b'6', damaged("the checksum does not match its contents")),
            (b'7', Error::ModelVersion { found: 7, supported: VERSION }),
        ] {
            let mut tampered = bytes.clone();
            tampered[digit] = changed;
            assert_eq!(Model::from_bytes(&tampered).unwrap_err(), expected);
        }
    }
}

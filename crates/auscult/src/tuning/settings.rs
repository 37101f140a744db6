//! 6. The choice, as a settings file holds it.

use std::sync::Arc;

use auscult_core::{
    BeamSettings, ClipLength, ClipSettings, FrontEnd, FrontEndIdentity, features::FrontEnds,
};
use serde::{Deserialize, Deserializer, Serialize};

use crate::tuning::{Candidate, Error, Result};

/// Settings of a detector, for `auscult fit --settings`.
///
/// # Examples
///
/// ```
/// use auscult_core::features::FrontEnds;
/// use auscult::tuning::TunedSettings;
///
/// let text = r#"{"clip": {}, "colour": "red"}"#;
/// let error = TunedSettings::from_json(text, &FrontEnds::built_in()).unwrap_err();
/// assert!(error.to_string().contains("sample_rate"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunedSettings {
    /// Length and rate of clips.
    pub clip: ClipSettings,
    /// Which channel is taken.
    pub channel: String,
    /// How sound becomes vectors.
    #[serde(deserialize_with = "strict_identity")]
    pub front_end: FrontEndIdentity,
    /// How vectors are compared.
    pub detector: BeamSettings,
}

impl TunedSettings {
    /// The settings of a candidate for clips read in this way.
    pub fn new(candidate: &Candidate, clip: ClipSettings, channel: impl Into<String>) -> Self {
        Self {
            clip,
            channel: channel.into(),
            front_end: candidate.front_end.clone(),
            detector: candidate.detector.clone(),
        }
    }

    /// Reads a settings file without looking at its values.
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] with the name of a key that is missing or unknown.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| Error::Unreadable { reason: error.to_string() })
    }

    /// Reads and checks a settings file; `front_ends` are those of the program.
    ///
    /// # Errors
    ///
    /// Those of [`TunedSettings::parse`], and whatever value is out of range.
    pub fn from_json(text: &str, front_ends: &FrontEnds) -> Result<Self> {
        let settings = Self::parse(text)?;
        let front_end = settings.front_end(front_ends, settings.clip.check()?)?;
        settings.detector.clone().check(front_end.axis().len())?;
        Ok(settings)
    }

    /// The settings as JSON for people, ending with a new line.
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] if a setting is not a number.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .map_err(|error| Error::Unreadable { reason: error.to_string() })
    }

    /// Plans the front end.
    ///
    /// # Errors
    ///
    /// If none of `front_ends` is it, or it has unknown settings.
    pub fn front_end(
        &self,
        front_ends: &FrontEnds,
        length: ClipLength,
    ) -> Result<Arc<dyn FrontEnd>> {
        front_ends.build(&self.front_end, length).map_err(|error| match error {
            // No model is damaged here.
            auscult_core::Error::DamagedModel { reason } => Error::Unreadable { reason },
            other => other.into(),
        })
    }
}

/// A [`FrontEndIdentity`] without unknown keys.
fn strict_identity<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<FrontEndIdentity, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        name: String,
        settings: serde_json::Value,
    }
    let Strict { name, settings } = Strict::deserialize(deserializer)?;
    Ok(FrontEndIdentity { name, settings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::grid;

    fn settings() -> TunedSettings {
        let clip = ClipSettings::default();
        let candidates = grid(clip.check().unwrap(), &[]).unwrap();
        TunedSettings::new(&candidates[2], clip, "mean")
    }

    #[test]
    fn settings_come_back_as_they_were_written() {
        let text = settings().to_json().unwrap();
        assert_eq!(TunedSettings::from_json(&text, &FrontEnds::built_in()).unwrap(), settings());
    }

    #[test]
    fn unknown_keys_are_refused_by_name_at_every_depth() {
        let text = settings().to_json().unwrap();
        for place in
            ["\"channel\"", "\"sample_rate\"", "\"name\"", "\"coefficients\"", "\"metric\""]
        {
            let broken = text.replacen(place, &format!("\"colour\": 1, {place}"), 1);
            let error = TunedSettings::from_json(&broken, &FrontEnds::built_in());
            let error = error.unwrap_err().to_string();
            assert!(error.contains("colour"), "{place}: {error}");
        }
    }
}

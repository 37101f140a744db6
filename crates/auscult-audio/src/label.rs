//! What a recording is known to be.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a recording is known to be.
///
/// # Examples
///
/// ```
/// use auscult_audio::Label;
///
/// assert_eq!("NG".parse::<Label>()?, Label::Anomaly);
/// assert_eq!("0".parse::<Label>()?.name(), "normal");
/// assert!("maybe".parse::<Label>().is_err());
/// # Ok::<(), auscult_audio::UnknownLabel>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Nothing is wrong: `normal`, `ok`, `good`, `healthy`, `false` or 0.
    Normal,
    /// Something is: `anomaly`, `anomalous`, `abnormal`, `fault`, `faulty`, `ng`, `true` or 1.
    Anomaly,
}

/// A label that stands for neither normal nor anomalous.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the label {0:?} is not known; label it normal or anomaly")]
pub struct UnknownLabel(
    /// The label as written.
    pub String,
);

impl Label {
    /// `normal` or `anomaly`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Anomaly => "anomaly",
        }
    }
}

impl FromStr for Label {
    type Err = UnknownLabel;

    fn from_str(text: &str) -> std::result::Result<Self, UnknownLabel> {
        match text.trim().to_ascii_lowercase().as_str() {
            "normal" | "ok" | "good" | "healthy" | "false" | "0" | "0.0" => Ok(Self::Normal),
            "anomaly" | "anomalous" | "abnormal" | "fault" | "faulty" | "ng" | "true" | "1"
            | "1.0" => Ok(Self::Anomaly),
            _ => Err(UnknownLabel(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_whatever_their_case_and_read_back_their_names() {
        for text in ["normal", "OK", " Good ", "healthy", "False", "0", "0.0"] {
            assert_eq!(text.parse(), Ok(Label::Normal), "{text}");
        }
        for text in
            ["anomaly", "Anomalous", "abnormal", "fault", "FAULTY", "ng", "true", "1", "1.0"]
        {
            assert_eq!(text.parse(), Ok(Label::Anomaly), "{text}");
        }
        for label in [Label::Normal, Label::Anomaly] {
            assert_eq!(label.name().parse(), Ok(label));
        }
    }

    #[test]
    fn other_labels_are_refused_by_name() {
        for text in ["", "2", "normally", "unknown"] {
            assert_eq!(text.parse::<Label>(), Err(UnknownLabel(text.to_owned())));
        }
    }
}

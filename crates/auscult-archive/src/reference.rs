//! 1. Where a clip is, and what it is called.

use auscult::{
    audio::{ChannelRule, Part, manifest::Row},
    record::RECORD_SCHEMA,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A clip that is somewhere: a part of a recording, or all of it.
///
/// # Examples
///
/// ```
/// use auscult_archive::ClipReference;
///
/// let clip: ClipReference = serde_json::from_str(
///     r#"{"uri": "pump/2024-05-03.flac", "start_seconds": 120.0, "seconds": 10.0}"#,
/// )?;
/// assert_eq!(clip.part().map(|part| part.start.as_secs()), Some(120));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipReference {
    /// A path, relative to the manifest, or an address (`https://`, `http://`, `s3://`).
    pub uri: String,
    /// Where the clip starts; without it, at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_seconds: Option<f64>,
    /// How long it is; without it, to the end. What is longer than a clip of the model is cut into clips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The machine, where there are models of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The domain whose threshold judges it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

impl ClipReference {
    /// What a row of a manifest says.
    pub(crate) fn of_row(row: Row) -> Self {
        Self {
            uri: row.written_path,
            start_seconds: row.start_seconds,
            seconds: row.seconds,
            machine: row.machine,
            domain: row.domain,
        }
    }

    /// The part of the recording that is meant; `None` for all of it, and for times that are not times.
    pub fn part(&self) -> Option<Part> {
        let duration = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
        match (self.start_seconds, self.seconds) {
            (None, None) => None,
            (start, length) => Some(Part {
                start: duration(start.unwrap_or(0.0))?,
                length: match length {
                    Some(length) => Some(duration(length)?),
                    None => None,
                },
            }),
        }
    }

    /// Identifies it in results: a fingerprint of recording, start and length.
    pub fn id(&self) -> String {
        clip_id(&self.uri, self.start_seconds, self.seconds)
    }

    /// Whether two references mean the same sound, judged by the same model.
    pub(crate) fn key(&self) -> u64 {
        let [first, second, ..] = [&self.machine, &self.domain].map(|text| text.as_deref());
        let key = format!("{}\n{first:?}\n{second:?}", self.id());
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&blake3::hash(key.as_bytes()).as_bytes()[..8]);
        u64::from_le_bytes(bytes)
    }
}

/// Identifies a clip by its recording, its start and its length, to the microsecond.
pub fn clip_id(uri: &str, start_seconds: Option<f64>, seconds: Option<f64>) -> String {
    let text = |seconds: Option<f64>| seconds.map_or_else(String::new, |it| format!("{it:.6}"));
    let key = format!("{uri}\n{}\n{}", text(start_seconds), text(seconds));
    hash_of(key.as_bytes())
}

/// How clips are read; with the model it decides every row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// Which channel is taken; that of the model if not given.
    pub channel: Option<ChannelRule>,
    /// Time from one clip's start to the next, where a reference is longer than a clip; the clip length if not given.
    pub hop_seconds: Option<f64>,
}

impl Settings {
    /// Identifies these settings and the form of the rows.
    pub fn hash(&self) -> String {
        let channel = self.channel.map(|channel| channel.to_string());
        let form = serde_json::json!({
            "record_schema": RECORD_SCHEMA,
            "channel": channel,
            "hop_seconds": self.hop_seconds,
        });
        hash_of(form.to_string().as_bytes())
    }
}

/// A fingerprint as the hashes of models are.
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    auscult::files::fingerprint(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip(uri: &str, start: Option<f64>, seconds: Option<f64>) -> ClipReference {
        ClipReference { uri: uri.to_owned(), start_seconds: start, seconds, ..Default::default() }
    }

    #[test]
    fn what_differs_has_another_id() {
        let all = [
            clip("a.wav", None, None),
            clip("a.wav", Some(0.0), None),
            clip("a.wav", None, Some(10.0)),
            clip("a.wav", Some(10.0), None),
            clip("b.wav", None, None),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(all.iter().skip(index + 1).all(|other| other.id() != one.id()));
            assert_eq!(one.clone().id(), one.id());
        }
        let of_machine = ClipReference { machine: Some("fan".to_owned()), ..all[0].clone() };
        assert_eq!(of_machine.id(), all[0].id());
        assert_ne!(of_machine.key(), all[0].key());
    }

    #[test]
    fn settings_that_read_otherwise_have_another_hash() {
        let usual = Settings::default();
        let hop = Settings { hop_seconds: Some(5.0), ..usual.clone() };
        let channel = Settings { channel: "1".parse().ok(), ..usual.clone() };
        assert!(channel.channel.is_some());
        assert_ne!(usual.hash(), hop.hash());
        assert_ne!(usual.hash(), channel.hash());
    }

    #[test]
    fn times_that_are_not_times_give_no_part() {
        assert_eq!(clip("a", Some(-1.0), None).part(), None);
        assert_eq!(clip("a", Some(f64::NAN), None).part(), None);
        assert_eq!(clip("a", None, Some(1e300)).part(), None);
    }
}

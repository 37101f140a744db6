//! 6a. A row of the result.

use auscult::ClipRecord;

use crate::{
    columns::{Table, Values},
    reference::{ClipReference, clip_id},
};

/// What is known of a clip; the names are those of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchiveRow {
    /// A fingerprint of recording, start and length.
    pub clip_id: String,
    /// The recording, as the manifest names it.
    pub uri: String,
    /// Where in it the clip starts.
    pub start_seconds: f64,
    /// How long its sound is; `None` if it could not be read.
    pub seconds: Option<f64>,
    /// How far it is from normal; `None` if it was not scored.
    pub score: Option<f64>,
    /// Share of normal clips that score at least as high.
    pub p_value: Option<f64>,
    /// The verdict, or why there is none.
    pub verdict: String,
    /// The band that differs most from normal.
    pub differs_most: Option<String>,
    /// Why it could not be read or scored.
    pub error: Option<String>,
    /// Identifies the model that judged it; `None` if there was none.
    pub model_hash: Option<String>,
    /// Identifies how it was read.
    pub settings_hash: String,
}

impl ArchiveRow {
    pub(crate) fn of_record(record: &ClipRecord, settings_hash: &str) -> Self {
        let (start, seconds) = (record.start_seconds, record.seconds);
        Self {
            clip_id: clip_id(&record.path, Some(start), Some(seconds)),
            uri: record.path.clone(),
            start_seconds: start,
            seconds: Some(seconds),
            score: record.score(),
            p_value: record.p_value(),
            verdict: record.verdict().name().to_owned(),
            differs_most: record.differs_most.clone(),
            error: record.error.clone(),
            model_hash: Some(record.model_hash.to_string()),
            settings_hash: settings_hash.to_owned(),
        }
    }

    /// A clip that could not be read.
    pub(crate) fn of_error(
        clip: &ClipReference,
        error: String,
        model_hash: Option<&str>,
        settings_hash: &str,
    ) -> Self {
        Self {
            clip_id: clip.id(),
            uri: clip.uri.clone(),
            start_seconds: clip.start_seconds.unwrap_or(0.0),
            seconds: None,
            score: None,
            p_value: None,
            verdict: NOT_READ.to_owned(),
            differs_most: None,
            error: Some(error),
            model_hash: model_hash.map(str::to_owned),
            settings_hash: settings_hash.to_owned(),
        }
    }
}

/// The verdict on a clip that could not be read.
const NOT_READ: &str = "not-scored";

/// Rows as columns, in the order of their fields.
pub fn table(rows: &[ArchiveRow]) -> Table {
    let text = |value: fn(&ArchiveRow) -> Option<&str>| {
        Values::Text(rows.iter().map(|row| value(row).map(str::to_owned)).collect())
    };
    let numbers =
        |value: fn(&ArchiveRow) -> Option<f64>| Values::Numbers(rows.iter().map(value).collect());
    let columns = [
        ("clip_id", text(|row| Some(&row.clip_id))),
        ("uri", text(|row| Some(&row.uri))),
        ("start_seconds", numbers(|row| Some(row.start_seconds))),
        ("seconds", numbers(|row| row.seconds)),
        ("score", numbers(|row| row.score)),
        ("p_value", numbers(|row| row.p_value)),
        ("verdict", text(|row| Some(&row.verdict))),
        ("differs_most", text(|row| row.differs_most.as_deref())),
        ("error", text(|row| row.error.as_deref())),
        ("model_hash", text(|row| row.model_hash.as_deref())),
        ("settings_hash", text(|row| Some(&row.settings_hash))),
    ];
    let columns = columns.into_iter().map(|(name, values)| (name.to_owned(), values));
    Table { columns: columns.collect(), ..Table::default() }
}

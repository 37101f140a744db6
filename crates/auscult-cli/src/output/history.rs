//! The clips of a history, for data tools.

use std::path::Path;

use auscult::record::RECORD_SCHEMA;
use auscult_monitor::{
    clock::utc,
    history::{ClipQuery, History, StoredClip},
};

use super::{Format, Record, RecordWriter, run::clip_columns};

/// Writes clips to `output`, or to standard output; Parquet names its own file.
pub(crate) fn write_clips(
    history: &History,
    query: &ClipQuery,
    format: &Format,
    output: Option<&Path>,
    clean: &dyn Fn(&mut String),
) -> anyhow::Result<()> {
    let mut columns = vec!["machine".to_owned()];
    columns.extend(clip_columns());
    columns.extend(["level_dbfs", "remarks"].map(str::to_owned));
    let row = if matches!(format, Format::Json | Format::JsonLines) { object } else { row };
    let mut writer = RecordWriter::new(format, columns, output)?;
    let mut failed = None;
    history.clips(query, &mut |mut clip| {
        let StoredClip { row: texts, .. } = &mut clip;
        let others =
            [&mut texts.heard, &mut texts.differs_most, &mut texts.copy_of, &mut texts.error];
        others.into_iter().flatten().chain([&mut texts.path]).for_each(clean);
        if failed.is_none() {
            failed = writer.write(row(&clip)).err();
        }
        Ok(())
    })?;
    match failed {
        Some(error) => Err(error),
        None => writer
            .finish_with(|clips| serde_json::json!({ "schema": RECORD_SCHEMA, "clips": clips })),
    }
}

/// A clip for JSON: the fields of its record that the history keeps, with the types they have there.
fn object(StoredClip { machine, model_hash, row }: &StoredClip) -> Record {
    Record::default()
        .text("machine", machine)
        .text("path", &row.path)
        .number("start_seconds", row.start_seconds)
        .number("seconds", row.seconds)
        .text("time", utc(row.time))
        .text("time_origin", &row.time_origin)
        .number("score", row.score)
        .number("p_value", row.p_value)
        .number("calibrated", row.calibrated)
        .text("verdict", &row.verdict)
        .text("reason", &row.reason)
        .json("heard", row.heard.clone())
        .json("differs_most", row.differs_most.clone())
        .json("promised", row.promised)
        .json("promised_if", row.promised_if.clone())
        .text("alarm", &row.alarm)
        .json("domain", row.domain.clone())
        .number("level_dbfs", row.level_dbfs)
        .json("remarks", row.remarks.clone())
        .json("copy_of", row.copy_of.clone())
        .json("error", row.error.clone())
        .text("model_hash", model_hash.clone().unwrap_or_default())
}

/// A row of CSV and Parquet: text and numbers only.
fn row(StoredClip { machine, model_hash, row }: &StoredClip) -> Record {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Record::default()
        .text("machine", machine)
        .text("path", &row.path)
        .number("start_seconds", row.start_seconds)
        .number("score", row.score)
        .number("p_value", row.p_value)
        .number("calibrated", row.calibrated)
        .text("verdict", &row.verdict)
        .number("seconds", row.seconds)
        .text("time", utc(row.time))
        .text("time_origin", &row.time_origin)
        .text("domain", text(&row.domain))
        .text("promised", row.promised.to_string())
        .text("alarm", &row.alarm)
        .text("copy_of", text(&row.copy_of))
        .text("differs_most", text(&row.differs_most))
        .text("reason", &row.reason)
        .text("error", text(&row.error))
        .text("model_hash", text(model_hash))
        .text("heard", text(&row.heard))
        .number("level_dbfs", row.level_dbfs)
        .text("remarks", row.remarks.join(", "))
}

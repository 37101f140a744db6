//! The clips of a history, for data tools.

use anyhow::Context as _;
use auscult_monitor::{
    clock::utc,
    data::DataFolder,
    history::{ClipQuery, History, StoredClip},
};

use super::looking::machine_of;
use crate::{
    Outcome,
    args::ExportArguments,
    output::{Record, RecordWriter, clip_columns},
};

pub(super) fn export(data: &DataFolder, arguments: &ExportArguments) -> anyhow::Result<Outcome> {
    let history = History::read(data.root())?;
    let machine =
        arguments.machine.as_deref().map(|name| machine_of(&history, name)).transpose()?;
    let format = arguments
        .format
        .format()?
        .context("name a form: --parquet FILE, --csv, --jsonl or --json")?;
    let mut columns = vec!["machine".to_owned()];
    columns.extend(clip_columns());
    columns.extend(["level_dbfs", "remarks"].map(str::to_owned));
    let mut writer = RecordWriter::new(&format, columns, arguments.format.output.as_deref())?;
    let mut failed = None;
    let query = ClipQuery { machine, ..ClipQuery::default() };
    history.clips(&query, &mut |clip| {
        if failed.is_none() {
            failed = writer.write(row(&clip)).err();
        }
        Ok(())
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    writer.finish()?;
    Ok(Outcome::Done)
}

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

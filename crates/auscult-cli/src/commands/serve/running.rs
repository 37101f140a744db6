//! Running the service.

use std::{path::Path, sync::Arc};

use auscult_monitor::{data::DataFolder, history::History, sources::Plant};
use auscult_server::{ExportFormat, Exporter, LogRing, Serve};

use crate::{
    Outcome,
    args::ServeArguments,
    context::Context,
    options::{Watched, start_log},
    output::{Cells, Format, write_clips},
};

pub(super) fn serve(
    arguments: &ServeArguments,
    data: DataFolder,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let typed = &arguments.watched;
    // A plant that was begun goes on where it stood.
    let began = if typed.demo { last_time(&data)? } else { None };
    let began = began.unwrap_or(Plant::BEGIN);
    let Watched { site, settings, watching } = Watched::new(typed, data, began, "serve", context)?;
    let logs = LogRing::default();
    start_log(typed.log_json, Some(logs.clone()));
    let printer = context.printer.clone();
    auscult_server::serve(Serve {
        site,
        monitor: settings,
        watching,
        listen: arguments.listen,
        logs,
        exporter: Some(exporter()),
        is_demo: typed.demo,
        // Nobody may be left to read it.
        ready: Box::new(move |url| drop(printer.line(format!("open {url}")))),
    })?;
    Ok(Outcome::Done)
}

/// When the plant was last heard; `None` if it never was.
fn last_time(data: &DataFolder) -> anyhow::Result<Option<f64>> {
    if !data.file(auscult_monitor::history::FILE).exists() {
        return Ok(None);
    }
    let history = History::read(data.root())?;
    let mut times = Vec::new();
    for (id, _) in history.machines()? {
        times.extend(history.standing(id)?.map(|standing| standing.memory.time));
    }
    Ok(times.into_iter().reduce(f64::max))
}

/// Clips are written as `auscult watch export --parquet` or `--csv-safe` writes them.
fn exporter() -> Exporter {
    Arc::new(|history, query, form, path: &Path, clean| {
        let (format, output) = match form {
            ExportFormat::Csv => (Format::Csv(Cells::ForSpreadsheets), Some(path)),
            ExportFormat::Parquet => (Format::Parquet(path.to_owned()), None),
        };
        write_clips(history, query, &format, output, clean).map_err(|error| format!("{error:#}"))
    })
}

//! Running the service.

use std::{path::Path, sync::Arc, time::Duration};

use auscult_monitor::{
    clock::Clock,
    data::DataFolder,
    history::{ClipQuery, History},
    run::Settings,
    running::Watching,
    site::Site,
    sources::{Plant, plant_site},
};
use auscult_server::{ExportFormat, Exporter, LogRing, Serve};
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::{
    Outcome,
    args::ServeArguments,
    context::Context,
    output::{Format, write_clips},
};

pub(super) fn serve(
    arguments: &ServeArguments,
    data: DataFolder,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let (site, path, clock) = match (&arguments.site, arguments.demo) {
        (Some(path), _) => (Site::read(path)?, Some(path.clone()), Clock::system()),
        (None, true) => {
            // A plant that was begun goes on where it stood.
            let began = last_time(&data)?.unwrap_or(Plant::BEGIN);
            (plant_site(), None, Clock::fast(began, Plant::SPEED))
        }
        (None, false) => anyhow::bail!(
            "what shall be watched? name a configuration (auscult watch --init site.toml writes one), or try auscult \
             serve --demo"
        ),
    };
    let logs = LogRing::default();
    start_log(arguments.log_json, &logs);
    let printer = context.printer.clone();
    auscult_server::serve(Serve {
        site,
        monitor: Settings { data, clock, jobs: None, front_ends: context.front_ends.clone() },
        watching: Watching {
            path,
            most: arguments.most.map(|most| Duration::from_secs_f64(most.0)),
            cancel: context.cancel.clone(),
        },
        listen: arguments.listen,
        logs,
        exporter: Some(exporter()),
        is_demo: arguments.demo,
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

/// Clips are written as `auscult watch export` writes them.
fn exporter() -> Exporter {
    Arc::new(|history: &History, query: &ClipQuery, form: ExportFormat, path: &Path| {
        let (format, output) = match form {
            ExportFormat::Csv => (Format::Csv, Some(path)),
            ExportFormat::Parquet => (Format::Parquet(path.to_owned()), None),
        };
        write_clips(history, query, &format, output).map_err(|error| format!("{error:#}"))
    })
}

/// Everything goes to standard error, and the last lines to the page on the system.
fn start_log(json: bool, logs: &LogRing) {
    let log = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false);
    let log = if json { log.json().boxed() } else { log.compact().boxed() };
    let level = tracing_subscriber::filter::LevelFilter::INFO;
    // A second log would be the first one's own.
    let _ = tracing_subscriber::registry().with(log).with(logs.clone()).with(level).try_init();
}

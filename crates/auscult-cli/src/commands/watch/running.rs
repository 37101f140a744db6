//! Running a monitor, and what comes before that.

use std::{io::Write as _, path::Path, time::Duration};

use anyhow::Context as _;
use auscult_monitor::{
    clock::Clock,
    data::DataFolder,
    run::{Settings, check_models},
    running::{Watching, watch as run_monitor},
    site::{Site, TEMPLATE},
    sources::{Plant, plant_site},
};

use crate::{Outcome, args::WatchArguments, context::Context, printer::count};

pub(super) fn init(path: &Path, context: &Context) -> anyhow::Result<Outcome> {
    let file = std::fs::File::options().write(true).create_new(true).open(path);
    let mut file =
        file.with_context(|| format!("cannot write {}: it must be a new file", path.display()))?;
    file.write_all(TEMPLATE.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    let path = path.display();
    context.printer.line(format!(
        "wrote {path}; name your machines in it, then check it: auscult watch --check {path}"
    ))?;
    Ok(Outcome::Done)
}

pub(super) fn check(path: &Path, context: &Context) -> anyhow::Result<Outcome> {
    let site = Site::read(path)?;
    check_models(&site, &context.front_ends)?;
    for machine in &site.machines {
        let model = match &machine.model {
            Some(model) => format!("judged by {}", model.display()),
            None => format!(
                "learnt from {} and {} with the preset {}",
                count(machine.learn.visits, "visit"),
                count(machine.learn.clips, "clip"),
                machine.preset
            ),
        };
        context.printer.line(format!("{}: {}, {model}", machine.name, machine.source))?;
    }
    let machines = count(site.machines.len(), "machine");
    context.printer.line(format!("{}: {machines}, nothing wrong", path.display()))?;
    Ok(Outcome::Done)
}

pub(super) fn watch(
    arguments: &WatchArguments,
    data: DataFolder,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let (site, path, clock) = match (&arguments.site, arguments.demo) {
        (Some(path), _) => (Site::read(path)?, Some(path.clone()), Clock::system()),
        (None, true) => (plant_site(), None, Clock::fast(Plant::BEGIN, Plant::SPEED)),
        (None, false) => anyhow::bail!(
            "what shall be watched? name a configuration (auscult watch --init site.toml writes one), or try auscult \
             watch --demo"
        ),
    };
    if arguments.demo && data.file("history.db").exists() {
        anyhow::bail!(
            "{} has a history already, and a demonstration begins on its own first day; name an empty folder with --data",
            data.root().display()
        );
    }
    if arguments.demo && arguments.data.is_none() {
        let folder = data.root().display();
        context.printer.note(format!(
            "everything is kept in {folder}; look at it with auscult watch status --data {folder}"
        ));
    }
    start_log(arguments.log_json);
    let settings = Settings { data, clock, jobs: None, front_ends: context.front_ends.clone() };
    let watching = Watching {
        path,
        most: arguments.most.map(|most| Duration::from_secs_f64(most.0)),
        cancel: context.cancel.clone(),
    };
    run_monitor(site, settings, watching)?;
    Ok(Outcome::Done)
}

/// Everything the monitor says goes to standard error, with times and the names of machines.
fn start_log(json: bool) {
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing_subscriber::filter::LevelFilter::INFO)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false);
    // A second log would be the first one's own.
    let _ = if json { log.json().try_init() } else { log.compact().try_init() };
}

//! Reading the history, whether a monitor runs or not.

use std::{fmt::Write as _, io::IsTerminal, path::Path, time::Duration};

use anyhow::Context as _;
use auscult_monitor::{
    data::DataFolder,
    history::{EventQuery, History},
};

use crate::{
    Outcome,
    args::EventArguments,
    context::Context,
    tables::watch::{event_table, model_table, status_table, waiting_table},
};

pub(super) fn status(
    data: &DataFolder,
    json: bool,
    once: bool,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let history = History::read(data.root())?;
    if json {
        let running = data.is_in_use();
        let document = serde_json::json!({
            "running": running,
            "machines": history.statuses()?,
            "no_longer_watched": history.no_longer_watched()?,
        });
        context.printer.line(serde_json::to_string_pretty(&document)?)?;
        return Ok(Outcome::Done);
    }
    let is_terminal = std::io::stdout().is_terminal();
    loop {
        let mut table = status_table(&history.statuses()?);
        let gone = history.no_longer_watched()?;
        if !gone.is_empty() {
            let _ =
                writeln!(table, "no longer watched, their history is kept: {}", gone.join(", "));
        }
        if !data.is_in_use() {
            table.push_str("no monitor is running: this is how it was left (auscult watch SITE.toml goes on)\n");
        }
        if !is_terminal {
            context.printer.text(&table)?;
            return Ok(Outcome::Done);
        }
        if once {
            context.printer.screen(&table, false)?;
            return Ok(Outcome::Done);
        }
        context.printer.screen(&format!("{table}\nCtrl-C ends\n"), true)?;
        for _ in 0..10 {
            if context.cancel.is_cancelled() {
                return Ok(Outcome::Done);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

pub(super) fn events(
    data: &DataFolder,
    arguments: &EventArguments,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let history = History::read(data.root())?;
    let machine =
        arguments.machine.as_deref().map(|name| machine_of(&history, name)).transpose()?;
    let events = history.events(&EventQuery { machine, ..EventQuery::default() })?;
    if arguments.jsonl {
        for event in &events {
            context.printer.line(event.to_json())?;
        }
    } else {
        context.printer.text(&event_table(&events))?;
    }
    Ok(Outcome::Done)
}

pub(super) fn machine_of(history: &History, name: &str) -> anyhow::Result<i64> {
    history.machine_id(name)?.with_context(|| {
        let known: Vec<String> =
            history.machines().unwrap_or_default().into_iter().map(|(_, name)| name).collect();
        format!("there is no machine {name:?} in the history; it has {}", known.join(", "))
    })
}

pub(super) fn back_up(
    data: &DataFolder,
    target: &Path,
    context: &Context,
) -> anyhow::Result<Outcome> {
    History::read(data.root())?.back_up(target)?;
    context.printer.line(format!("wrote {}", target.display()))?;
    Ok(Outcome::Done)
}

pub(super) fn models(
    data: &DataFolder,
    machine: &str,
    json: bool,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let history = History::read(data.root())?;
    let models = history.models(machine_of(&history, machine)?)?;
    let text =
        if json { serde_json::to_string_pretty(&models)? + "\n" } else { model_table(&models) };
    context.printer.text(&text)?;
    Ok(Outcome::Done)
}

pub(super) fn waiting(
    data: &DataFolder,
    machine: &str,
    json: bool,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let history = History::read(data.root())?;
    let clips = history.waiting_clips(machine_of(&history, machine)?)?;
    let text =
        if json { serde_json::to_string_pretty(&clips)? + "\n" } else { waiting_table(&clips) };
    context.printer.text(&text)?;
    Ok(Outcome::Done)
}

//! Reading the history, whether a monitor runs or not.

use std::{io::IsTerminal, path::Path, time::Duration};

use anyhow::Context as _;
use auscult_monitor::{
    clock::utc,
    data::DataFolder,
    history::{ClipQuery, EventQuery, History, StoredClip},
    replay::replay as play,
};

use crate::{
    Outcome,
    args::{EventArguments, ExportArguments},
    context::Context,
    output::{Record, RecordWriter, clip_columns},
    printer::count,
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
        let document = serde_json::json!({ "machines": history.statuses()? });
        context.printer.line(serde_json::to_string_pretty(&document)?)?;
        return Ok(Outcome::Done);
    }
    let is_live = std::io::stdout().is_terminal() && !once;
    loop {
        let table = status_table(&history.statuses()?);
        if !is_live {
            context.printer.text(&table)?;
            return Ok(Outcome::Done);
        }
        // From the first line of the terminal, with nothing left of what was there.
        context.printer.text(&format!("\u{1b}[H\u{1b}[2J{table}\nCtrl-C ends\n"))?;
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

fn machine_of(history: &History, name: &str) -> anyhow::Result<i64> {
    history.machine_id(name)?.with_context(|| {
        let known: Vec<String> =
            history.machines().unwrap_or_default().into_iter().map(|(_, name)| name).collect();
        format!("there is no machine {name:?} in the history; it has {}", known.join(", "))
    })
}

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

pub(super) fn replay(
    data: &DataFolder,
    machines: &[String],
    context: &Context,
) -> anyhow::Result<Outcome> {
    let history = History::read(data.root())?;
    let all = history.machines()?.into_iter().map(|(_, name)| name);
    let machines: Vec<String> = if machines.is_empty() { all.collect() } else { machines.to_vec() };
    let mut outcome = Outcome::Done;
    for name in machines {
        machine_of(&history, &name)?;
        let Some(played) = play(data, &history, &name)? else {
            context.printer.problem(format!("{name}: nothing in the history can be replayed"));
            outcome = Outcome::Incomplete;
            continue;
        };
        let (inputs, events) = (count(played.inputs, "input"), count(played.events.len(), "event"));
        match played.difference {
            None => context
                .printer
                .line(format!("{name}: {inputs}, {events}, the same as in the history"))?,
            Some((old, new)) => {
                outcome = Outcome::Incomplete;
                let text = |event: Option<auscult_monitor::watch::Event>| {
                    event.map_or_else(
                        || "nothing".to_owned(),
                        |event| format!("{} {}", event.id, event.sentence()),
                    )
                };
                context.printer.problem(format!(
                    "{name}: {inputs}, {events}; the history has {}, the replay {}",
                    text(old),
                    text(new)
                ));
            }
        }
    }
    Ok(outcome)
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

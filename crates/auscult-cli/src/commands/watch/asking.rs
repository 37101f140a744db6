//! Asking a running monitor to do something.

use anyhow::Context as _;
use auscult_monitor::{
    control::{Answer, Ask},
    data::DataFolder,
    watch::{Command, Request},
};

use crate::{Outcome, args::WatchCommand, context::Context};

pub(super) fn ask(
    data: &DataFolder,
    command: &WatchCommand,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let ask = meaning(command, &who())?;
    match call(data, &ask)? {
        Answer::Change(change) if !change.done => {
            context.printer.line(change.text)?;
            context.printer.line("nothing was changed; with --yes it is")?;
        }
        Answer::Change(change) => context.printer.line(change.text)?,
        Answer::Done { text } => context.printer.line(text)?,
        Answer::Refused { reason } => anyhow::bail!(reason),
    }
    Ok(Outcome::Done)
}

#[cfg(unix)]
fn call(data: &DataFolder, ask: &Ask) -> anyhow::Result<Answer> {
    Ok(auscult_monitor::control::call(data, ask)?)
}

#[cfg(not(unix))]
fn call(_: &DataFolder, _: &Ask) -> anyhow::Result<Answer> {
    anyhow::bail!(
        "commands for a running monitor need a Unix socket, which this system does not have"
    )
}

/// Who does it, as the history keeps it.
fn who() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("USERNAME"));
    name.unwrap_or_else(|_| "somebody".to_owned())
}

fn meaning(command: &WatchCommand, who: &str) -> anyhow::Result<Ask> {
    let who = || who.to_owned();
    let (machine, body) = match command {
        WatchCommand::Reload => return Ok(Ask::Reload),
        WatchCommand::Stop => return Ok(Ask::Stop),
        WatchCommand::Learn { machine, now } => (machine, Ok(Request::Learn { now: *now })),
        WatchCommand::Accept(it) => {
            let (steps, preview) = (it.clips.clone(), !it.yes);
            (&it.machine, Ok(Request::Accept { steps, preview, who: who() }))
        }
        WatchCommand::Reject(it) => {
            (&it.machine, Ok(Request::Reject { steps: it.clips.clone(), who: who() }))
        }
        WatchCommand::Forget { machine, visits, yes } => {
            let (visits, preview) = (visits.clone(), !yes);
            (machine, Ok(Request::Forget { visits, preview, who: who() }))
        }
        WatchCommand::Baseline { machine } => (machine, Ok(Request::Baseline { who: who() })),
        WatchCommand::Rollback { machine, to } => {
            (machine, Ok(Request::Rollback { version: *to, who: who() }))
        }
        WatchCommand::Feedback { machine, clip, verdict, note } => {
            let (step, verdict, note) = (*clip, verdict.clone(), note.clone());
            (machine, Ok(Request::Feedback { step, verdict, note, who: who() }))
        }
        WatchCommand::DeleteSound { machine, from, to } => {
            let time = |text: &str| {
                auscult_monitor::clock::parse_utc(text)
                    .with_context(|| format!("{text:?} is not a time such as 2026-06-01T09:00:00Z"))
            };
            let (from, to) = (time(from)?, time(to)?);
            (machine, Ok(Request::DeleteSound { from, to, who: who() }))
        }
        WatchCommand::Acknowledge { machine } => {
            (machine, Err(Command::Acknowledge { who: who() }))
        }
        WatchCommand::Shelve { machine, time, reason } => {
            let (seconds, reason) = (time.0, reason.clone());
            (machine, Ok(Request::Shelve { seconds, reason, who: who() }))
        }
        WatchCommand::Unshelve { machine } => (machine, Err(Command::Unshelve { who: who() })),
        WatchCommand::OutOfService { machine, reason } => {
            (machine, Err(Command::OutOfService { reason: reason.clone(), who: who() }))
        }
        WatchCommand::InService { machine } => (machine, Err(Command::InService { who: who() })),
        WatchCommand::AcceptDrift { machine } => {
            (machine, Err(Command::AcceptDrift { who: who() }))
        }
        other => anyhow::bail!("{other:?} is not for a running monitor"),
    };
    let machine = machine.clone();
    Ok(match body {
        Ok(body) => Ask::Request { machine, body },
        Err(body) => Ask::Command { machine, body },
    })
}

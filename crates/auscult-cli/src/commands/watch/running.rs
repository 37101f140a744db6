//! Running a monitor, and what comes before that.

use std::{io::Write as _, path::Path};

use anyhow::Context as _;
use auscult_monitor::{
    data::DataFolder,
    run::check_models,
    running::watch as run_monitor,
    site::{MachineSpec, Site, SourceSpec, TEMPLATE},
    sources::Plant,
    watch::USUAL_BUDGET,
};

use crate::{
    Outcome,
    args::WatchArguments,
    context::Context,
    options::{Watched, start_log},
    printer::count,
};

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
    let rules = check_models(&site, &context.front_ends);
    let rules = rules.map_err(|error| error.in_file(Some(path)))?;
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
        let mut known = rules.iter().filter(|(name, _)| *name == machine.name).peekable();
        if known.peek().is_none() {
            context.printer.line(format!("  an alarm will be {}", rule_to_come(machine)))?;
        }
        for (_, rule) in known {
            context.printer.line(format!("  an alarm is {}", rule.text))?;
        }
    }
    note_machines_without_source(&site, context);
    let machines = count(site.machines.len(), "machine");
    context.printer.line(format!("{}: {machines}, nothing wrong", path.display()))?;
    Ok(Outcome::Done)
}

/// What raises the alarms of a machine that is still to be learnt.
fn rule_to_come(machine: &MachineSpec) -> String {
    match (&machine.alarm, machine.budget) {
        (Some(alarm), _) => {
            format!("{} of {} clips, as the configuration says", alarm.raise, alarm.window)
        }
        (None, Some(budget)) => {
            format!("planned for at most {budget}; it is learnt until that can be promised")
        }
        (None, None) => {
            format!("planned for {USUAL_BUDGET}, and promised if the visits carry it by then")
        }
    }
}

/// Nothing is ever heard of such a machine here; the service takes pushed sound.
fn note_machines_without_source(site: &Site, context: &Context) {
    for machine in site.machines.iter().filter(|machine| machine.source == SourceSpec::Push) {
        context.printer.note(format!(
            "{} has no source: name one (folder, tcp, ...), or run auscult serve, which takes pushed sound",
            machine.name
        ));
    }
}

pub(super) fn watch(
    arguments: &WatchArguments,
    data: DataFolder,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let typed = &arguments.watched;
    if typed.demo && data.file("history.db").exists() {
        anyhow::bail!(
            "{} has a history already, and a demonstration begins on its own first day; name an empty folder with --data",
            data.root().display()
        );
    }
    if typed.demo && typed.data.is_none() {
        let folder = data.root().display();
        context.printer.note(format!(
            "everything is kept in {folder}; look at it with auscult watch status --data {folder}"
        ));
    }
    let Watched { site, settings, watching } =
        Watched::new(typed, data, Plant::BEGIN, "watch", context)?;
    note_machines_without_source(&site, context);
    start_log(typed.log_json, None);
    run_monitor(site, settings, watching)?;
    Ok(Outcome::Done)
}

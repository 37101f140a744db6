//! `auscult fit`: normal recordings in, a model file out.

use std::io::IsTerminal;

use auscult::{Error, LabelFolders, Learn, Machine, Sources};

use crate::{
    Outcome,
    args::FitArguments,
    context::Context,
    options::learning,
    tables::{
        budget,
        learned::{LearnedTable, few_neighbours},
        promise,
    },
};

pub(crate) fn run(arguments: &FitArguments, context: &Context) -> anyhow::Result<Outcome> {
    let learn = learning::learn(arguments, &context.keeping(&arguments.keeping)?)?;
    auscult::files::check_model_target(&arguments.output)?;
    let machine = learn_machine(arguments, &learn, context)?;
    machine.save(&arguments.output)?;
    print(&machine, arguments, context)?;
    let is_complete = machine.learned().failures() == 0;
    Ok(if is_complete { Outcome::Done } else { Outcome::Incomplete })
}

/// Learns, and asks once if folder names look like labels.
fn learn_machine(
    arguments: &FitArguments,
    learn: &Learn,
    context: &Context,
) -> anyhow::Result<Machine> {
    let sources = || learning::sources(&arguments.input, &arguments.visits);
    let learned = |sources: Sources, label_folders: LabelFolders| {
        let learn = Learn { label_folders, ..learn.clone() };
        Machine::learn(sources, &learn).map_err(anyhow::Error::from)
    };
    let output = arguments.output.display();
    let first = sources()?;
    let label_folders = learning::label_folders(&arguments.visits, &first, context);
    learned(first, label_folders)
        .or_else(|error| match error.downcast_ref::<Error>() {
            Some(Error::LabelFolders { folders }) if std::io::stdin().is_terminal() => {
                let label_folders = ask(folders, context)?;
                learned(sources()?, label_folders)
            }
            _ => Err(error),
        })
        .map_err(|error| match error.downcast_ref::<Error>() {
            Some(Error::Cancelled) => {
                anyhow::anyhow!("stopped: no model was written, {output} was not changed")
            }
            Some(Error::BudgetNotKept(plan)) => {
                // A table that cannot be printed changes nothing about the error.
                let _ = context.printer.text(&budget::describe(plan));
                error.context("no model was written")
            }
            _ => error,
        })
}

/// Whether folders with these names are labels.
fn ask(folders: &[String], context: &Context) -> anyhow::Result<LabelFolders> {
    context.printer.text(&format!(
        "The folders {} look like labels. Learn only the normal ones? [y/n] ",
        folders.join(", ")
    ))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(LabelFolders::Use),
        "n" | "no" => Ok(LabelFolders::Ignore),
        other => anyhow::bail!("neither yes nor no: {other:?}; nothing was learnt"),
    }
}

fn print(machine: &Machine, arguments: &FitArguments, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let table = LearnedTable::new(machine, &arguments.output, &context.front_ends);
    if arguments.json {
        printer.line(serde_json::to_string_pretty(&table)?)?;
    } else {
        printer.text(&table.to_string())?;
    }
    let model = machine.model();
    promise::warn(model, printer);
    promise::warn_about_domains(model, printer);
    if let Some(note) = few_neighbours(model) {
        printer.note(note);
    }
    if let Some(doubt) = &machine.learned().doubt {
        printer.note(format!("{doubt} (--epochs)"));
    }
    Ok(())
}

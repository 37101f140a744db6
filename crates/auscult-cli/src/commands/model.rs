//! `auscult model`: changes and checks that need no recordings but the new ones.

use std::path::Path;

use anyhow::Context as _;
use auscult::{Error, Forget, Machine, Model, ScoreOf, files::ModelLock};

use crate::{
    Outcome,
    args::{InputArguments, ModelCommand, VisitArguments},
    context::Context,
    options::learning,
    printer::count,
    tables::promise,
};

pub(crate) fn run(command: &ModelCommand, context: &Context) -> anyhow::Result<Outcome> {
    match command {
        ModelCommand::Add { model, input, visits } => add(model, input, visits, context),
        ModelCommand::Forget { model, visit, source, index } => {
            anyhow::ensure!(
                !(visit.is_empty() && source.is_empty() && index.is_empty()),
                "say what to forget: --visit, --source or --index (see auscult inspect --references)"
            );
            let (visits, sources, indices) = (visit.clone(), source.clone(), index.clone());
            let forget = Forget { visits, sources, indices };
            change(model, context, |model| forget.apply(model))
        }
        ModelCommand::Verify { model } => verify(model, context),
        ModelCommand::Coreset { model, max_references } => {
            anyhow::ensure!(*max_references > 0, "--max-references must be at least 1, got 0");
            change(model, context, |model| Ok(model.with_coreset(*max_references)?))
        }
    }
}

fn add(
    path: &Path,
    input: &InputArguments,
    visits: &VisitArguments,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let lock = ModelLock::acquire(path)?;
    let machine = Machine::from_model(lock.load()?, &context.front_ends)?;
    let sources = learning::sources(input, visits)?;
    let learn = learning::learn_more(input, visits, &sources, context);
    let name = path.display();
    let grown = machine.add(sources, &learn).map_err(|error| match error {
        Error::Cancelled => anyhow::anyhow!("stopped: {name} was not changed"),
        error => error.into(),
    })?;
    let learned = grown.learned();
    // A coreset may keep its size when it takes in new clips.
    if learned.quality.is_none() {
        let copies = count(learned.copies(), "clip");
        context.printer.line(format!("{name}: unchanged, it has all {copies} already"))?;
    } else {
        lock.save(grown.model())?;
        print_change(machine.model(), grown.model(), path, context)?;
    }
    let is_complete = grown.learned().failures() == 0;
    Ok(if is_complete { Outcome::Done } else { Outcome::Incomplete })
}

/// Changes a model in place.
fn change(
    path: &Path,
    context: &Context,
    make: impl FnOnce(&Model) -> auscult::Result<Model>,
) -> anyhow::Result<Outcome> {
    let lock = ModelLock::acquire(path)?;
    let before = lock.load()?;
    let after = make(&before)?;
    lock.save(&after)?;
    print_change(&before, &after, path, context)?;
    Ok(Outcome::Done)
}

fn print_change(
    before: &Model,
    after: &Model,
    path: &Path,
    context: &Context,
) -> anyhow::Result<()> {
    let printer = &context.printer;
    let threshold = |model: &Model| {
        model.threshold().map_or_else(|| "none".to_owned(), |threshold| format!("{threshold:.4}"))
    };
    printer.line(format!(
        "{}: {}, were {}; threshold {}, was {}",
        path.display(),
        count(after.references().len(), "reference"),
        before.references().len(),
        threshold(after),
        threshold(before),
    ))?;
    let settings = after.settings();
    if settings.detector.score_of == ScoreOf::Value {
        printer.note(
            "the network was not trained again, only the calibration changed; fit again for a network of these \
             recordings",
        );
    }
    promise::warn(after, printer);
    promise::warn_about_domains(after, printer);
    if settings.alarm.is_some() {
        printer.note(
            "the alarm rule was kept; check it with auscult calibrate --at-most, because the memory has changed",
        );
    }
    Ok(())
}

fn verify(path: &Path, context: &Context) -> anyhow::Result<Outcome> {
    let model = auscult::files::load(path)?;
    model.verify().with_context(|| path.display().to_string())?;
    context.printer.line(format!(
        "{} is whole: the checksum is right, and local scales and left-out scores of its {} follow from them",
        path.display(),
        count(model.references().len(), "reference")
    ))?;
    Ok(Outcome::Done)
}

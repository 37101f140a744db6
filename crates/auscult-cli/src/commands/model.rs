//! `auscult model`: changes and checks that need no recordings but the new ones.

use std::path::Path;

use anyhow::Context;
use auscult_core::{Model, ScoreOf};

use super::{gathering::gather, scoring::reading_for, summary::warn_about_calibration};
use crate::{
    Outcome,
    args::{InputArguments, ModelCommand, VisitArguments},
    files,
    printer::{Printer, count},
    reading,
};

const UNCHANGED: &str = "nothing was changed; auscult inspect --references lists what there is";

pub(crate) fn run(command: &ModelCommand, printer: &Printer) -> anyhow::Result<Outcome> {
    match command {
        ModelCommand::Add { model, input, visits } => add(model, input, visits, printer),
        ModelCommand::Forget { model, visit, source, index } => {
            forget(model, visit, source, index, printer)
        }
        ModelCommand::Verify { model } => verify(model, printer),
        ModelCommand::Coreset { model, max_references } => {
            anyhow::ensure!(*max_references > 0, "--max-references must be at least 1, got 0");
            change(model, printer, |model| Ok(model.with_coreset(*max_references)?))
        }
    }
}

fn add(
    path: &Path,
    input: &InputArguments,
    visits: &VisitArguments,
    printer: &Printer,
) -> anyhow::Result<Outcome> {
    let (lock, model) = files::load_locked(path)?;
    let reading = reading_for(&model, &model.settings().channel, input)?;
    let (sources, problems) = reading::expand_normal(
        &input.paths,
        visits.visit.as_deref(),
        visits.domain.as_deref(),
        printer,
    )?;
    let gathered = gather(sources, &reading, Some(model.references()), printer)?;
    anyhow::ensure!(gathered.read_all, "stopped: {} is as it was", path.display());
    if gathered.references.is_empty() {
        let copies = count(gathered.counts.copies, "clip");
        printer.line(format!("{}: unchanged, it has all {copies} already", path.display()))?;
    } else {
        let grown = model.with_added(&gathered.references)?;
        lock.save(&grown)?;
        tell(&model, &grown, path, printer)?;
    }
    let complete = problems == 0 && gathered.counts.skipped == 0;
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
}

/// A rule chosen for another memory may keep another budget.
fn tell_about_rule(model: &Model, printer: &Printer) {
    if model.settings().alarm.is_some() {
        printer.note(
            "the alarm rule stays as it was chosen; check it with auscult calibrate --at-most",
        );
    }
}

fn forget(
    path: &Path,
    visits: &[String],
    sources: &[String],
    indices: &[usize],
    printer: &Printer,
) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        !(visits.is_empty() && sources.is_empty() && indices.is_empty()),
        "say what to forget: --visit, --source or --index (see auscult inspect --references)"
    );
    change(path, printer, |model| {
        let provenance = model.references().provenance();
        for visit in visits {
            let known = provenance.iter().any(|from| from.visit.as_ref() == Some(visit));
            anyhow::ensure!(known, "no reference belongs to visit {visit:?}; {UNCHANGED}");
        }
        for source in sources {
            let known = provenance.iter().any(|from| &from.source == source);
            anyhow::ensure!(known, "no reference comes from {source:?}; {UNCHANGED}");
        }
        for &index in indices {
            let count = provenance.len();
            anyhow::ensure!(index < count, "index must be below {count}, got {index}; {UNCHANGED}");
        }
        let kept: Vec<usize> = (0..provenance.len())
            .filter(|index| {
                let from = &provenance[*index];
                !indices.contains(index)
                    && !sources.contains(&from.source)
                    && !from.visit.as_ref().is_some_and(|visit| visits.contains(visit))
            })
            .collect();
        anyhow::ensure!(
            !kept.is_empty(),
            "nothing would be left; delete {} instead",
            path.display()
        );
        Ok(model.with_only(&kept)?)
    })
}

/// Changes a model in place.
fn change(
    path: &Path,
    printer: &Printer,
    make: impl FnOnce(&Model) -> anyhow::Result<Model>,
) -> anyhow::Result<Outcome> {
    let (lock, before) = files::load_locked(path)?;
    let after = make(&before)?;
    lock.save(&after)?;
    tell(&before, &after, path, printer)?;
    Ok(Outcome::Done)
}

fn tell(before: &Model, after: &Model, path: &Path, printer: &Printer) -> anyhow::Result<()> {
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
    if after.settings().detector.score_of == ScoreOf::Value {
        printer.note(
            "the network is as it was and has learnt and forgotten nothing, only calibration follows; fit again \
             for a network of these recordings",
        );
    }
    warn_about_calibration(after, printer);
    tell_about_rule(after, printer);
    Ok(())
}

fn verify(path: &Path, printer: &Printer) -> anyhow::Result<Outcome> {
    let model = files::load(path)?;
    model.verify().with_context(|| path.display().to_string())?;
    printer.line(format!(
        "{} is whole: the checksum is right, and local scales and left-out scores of its {} follow from them",
        path.display(),
        count(model.references().len(), "reference")
    ))?;
    Ok(Outcome::Done)
}

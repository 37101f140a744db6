//! `auscult model`: changes and checks that need no recordings but the new ones.

use std::path::Path;

use auscult_core::Model;
use auscult_store::ModelLock;

use super::{fit, scoring::reading_for};
use crate::{
    Outcome,
    args::{InputArguments, ModelCommand, VisitArguments},
    printer::Printer,
    reading,
};

pub(crate) fn run(command: &ModelCommand, printer: &Printer) -> anyhow::Result<Outcome> {
    match command {
        ModelCommand::Add { model, input, visits } => add(model, input, visits, printer),
        ModelCommand::Forget { model, visit, source, index } => {
            forget(model, visit, source, index, printer)
        }
        ModelCommand::Verify { model } => verify(model, printer),
        ModelCommand::Coreset { model, max_references } => {
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
    let lock = ModelLock::acquire(path)?;
    let model = lock.load()?;
    let reading = reading_for(&model, &model.settings().channel, input)?;
    let (sources, found_all) = reading::expand(
        &input.paths,
        visits.visit.as_deref(),
        visits.domain.as_deref(),
        printer,
    )?;
    let gathered = fit::gather(sources, &reading, Some(model.references()), printer)?;
    anyhow::ensure!(gathered.read_all, "stopped: {} is as it was", path.display());
    if !gathered.references.is_empty() {
        let grown = model.with_added(&gathered.references)?;
        tell(&model, &grown, path, printer)?;
        lock.save(&grown)?;
    }
    let complete = found_all && gathered.counts.skipped == 0;
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
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
            anyhow::ensure!(known, "no reference belongs to visit {visit:?}; nothing was changed");
        }
        for source in sources {
            let known = provenance.iter().any(|from| &from.source == source);
            anyhow::ensure!(known, "no reference comes from {source:?}; nothing was changed");
        }
        for &index in indices {
            let count = provenance.len();
            anyhow::ensure!(index < count, "index must be below {count}, got {index}; nothing was changed");
        }
        let kept: Vec<usize> = (0..provenance.len())
            .filter(|index| {
                let from = &provenance[*index];
                !indices.contains(index)
                    && !sources.contains(&from.source)
                    && !from.visit.as_ref().is_some_and(|visit| visits.contains(visit))
            })
            .collect();
        anyhow::ensure!(!kept.is_empty(), "nothing would be left; delete {} instead", path.display());
        Ok(model.with_only(&kept)?)
    })
}

/// Changes a model in place.
fn change(
    path: &Path,
    printer: &Printer,
    make: impl FnOnce(&Model) -> anyhow::Result<Model>,
) -> anyhow::Result<Outcome> {
    let lock = ModelLock::acquire(path)?;
    let before = lock.load()?;
    let after = make(&before)?;
    tell(&before, &after, path, printer)?;
    lock.save(&after)?;
    Ok(Outcome::Done)
}

fn tell(before: &Model, after: &Model, path: &Path, printer: &Printer) -> anyhow::Result<()> {
    let threshold = |model: &Model| {
        model.threshold().map_or_else(|| "none".to_owned(), |threshold| format!("{threshold:.4}"))
    };
    printer.line(format!(
        "{}: {} references, were {}; threshold {}, was {}",
        path.display(),
        after.references().len(),
        before.references().len(),
        threshold(after),
        threshold(before),
    ))?;
    fit::warn_about_calibration(after, printer);
    Ok(())
}

fn verify(path: &Path, printer: &Printer) -> anyhow::Result<Outcome> {
    let model = auscult_store::load(path)?;
    model.verify()?;
    printer.line(format!(
        "{} is whole: checksum right, {} references, local scales and left-out scores recomputed and the same",
        path.display(),
        model.references().len()
    ))?;
    Ok(Outcome::Done)
}

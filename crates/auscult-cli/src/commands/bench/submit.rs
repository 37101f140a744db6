//! `auscult bench submit`: a run's scores as the official evaluators take them.

use std::collections::BTreeSet;

use auscult_eval::{
    problems::{FileProblem, grouped},
    run::{Threshold, read_sections, write_submission},
};

use super::opening;
use crate::{
    Outcome,
    args::{SubmitArguments, ThresholdName},
    context::Context,
    printer::count,
    tables::submission,
};

pub(super) fn run(arguments: &SubmitArguments, context: &Context) -> anyhow::Result<Outcome> {
    let sections = read_sections(&arguments.run)?;
    let all = sections.iter().flat_map(|section| &section.systems);
    let names: BTreeSet<&str> =
        all.filter(|found| found.problem.is_none()).map(|found| &*found.system).collect();
    anyhow::ensure!(
        !names.is_empty(),
        "{} has no scores to submit: no system could run; its results.md says why",
        arguments.run.display()
    );
    let system = match (&arguments.system, names.len()) {
        (Some(name), _) => name.as_str(),
        (None, 1) => names.first().copied().unwrap_or_default(),
        (None, _) => anyhow::bail!(
            "the run has several systems; name one with --system: {}",
            opening::quoted(&names)
        ),
    };
    let (threshold, other) = match arguments.threshold {
        ThresholdName::Gamma => (Threshold::Gamma, "quantile"),
        ThresholdName::Quantile => (Threshold::Quantile, "gamma"),
    };
    let written = write_submission(&sections, system, threshold, &arguments.out)?;
    context.printer.line(format!(
        "{} in {}",
        count(written.files.len(), "file"),
        arguments.out.display()
    ))?;
    context.printer.text(&submission::describe(&written))?;
    if let Some(warning) = submission::warning(&written, other) {
        context.printer.note(warning);
    }
    let unusable: Vec<FileProblem> =
        sections.iter().flat_map(|section| &section.problems).cloned().collect();
    for line in grouped(&unusable) {
        context.printer.problem(format!("{line}; a test clip without a score is in no file"));
    }
    Ok(if unusable.is_empty() { Outcome::Done } else { Outcome::Incomplete })
}

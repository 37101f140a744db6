//! `auscult data`: what lies on the disk, and what can be fetched.

use std::{collections::BTreeSet, path::PathBuf};

use auscult_eval::datasets::{
    CheckReport, Dataset, DatasetKind, DownloadSettings, Truth, download, plan,
};

use crate::{
    Outcome,
    args::{DataCheckArguments, DataCommand, DownloadArguments},
    context::Context,
    fetching::FetchBar,
    tables::dataset,
};

pub(crate) fn run(command: &DataCommand, context: &Context) -> anyhow::Result<Outcome> {
    match command {
        DataCommand::Check(arguments) => check(arguments, context),
        DataCommand::Download(arguments) => fetch(arguments, context),
    }
}

fn check(arguments: &DataCheckArguments, context: &Context) -> anyhow::Result<Outcome> {
    let found = found(arguments, context)?;
    let mut reports = Vec::new();
    for (kind, roots) in &found {
        reports.push(report(*kind, roots, arguments, context)?);
    }
    if arguments.json {
        // One data set is an object, several are a list.
        let text = match reports.as_slice() {
            [report] => serde_json::to_string_pretty(report)?,
            several => serde_json::to_string_pretty(several)?,
        };
        context.printer.line(text)?;
    } else {
        for (at, report) in reports.iter().enumerate() {
            context.printer.text(&format!(
                "{}{}",
                if at == 0 { "" } else { "\n" },
                dataset::describe(report)
            ))?;
            for remark in report.remarks.iter().chain(&report.subset()) {
                context.printer.note(remark);
            }
        }
    }
    let intact = reports.iter().all(|report| report.intact);
    Ok(if intact { Outcome::Done } else { Outcome::Incomplete })
}

/// The data sets to look at, and where: what was asked for, those that have folders of their names,
/// or the one that names of files tell.
fn found(
    arguments: &DataCheckArguments,
    context: &Context,
) -> anyhow::Result<Vec<(DatasetKind, Vec<PathBuf>)>> {
    let roots = &arguments.roots;
    if let Some(kind) = arguments.dataset {
        return Ok(vec![(kind, roots.clone())]);
    }
    let named: BTreeSet<DatasetKind> =
        roots.iter().flat_map(|root| DatasetKind::named_in(root)).collect();
    if named.is_empty() {
        return Ok(vec![(DatasetKind::guess(roots)?, roots.clone())]);
    }
    let within = |kind: DatasetKind| -> Vec<PathBuf> {
        roots.iter().filter_map(|root| kind.locate(root, false)).collect()
    };
    let has_none = |root: &&PathBuf| !named.iter().any(|kind| kind.locate(root, false).is_some());
    for root in roots.iter().filter(has_none) {
        context.printer.note(format!(
            "{} has no folder of a data set's name and is not looked into; check it alone, or say --dataset",
            root.display()
        ));
    }
    Ok(named.iter().map(|&kind| (kind, within(kind))).collect())
}

fn report(
    kind: DatasetKind,
    roots: &[PathBuf],
    arguments: &DataCheckArguments,
    context: &Context,
) -> anyhow::Result<CheckReport> {
    let truth = Truth::open_for(kind, &arguments.truth)?;
    if truth.is_none() && !arguments.truth.is_empty() {
        context.printer.note(format!("{kind}: the ground truth given is of another year"));
    }
    Ok(CheckReport::of(&Dataset::open(kind, roots, truth.as_ref())?))
}

fn fetch(arguments: &DownloadArguments, context: &Context) -> anyhow::Result<Outcome> {
    let plan = plan(arguments.dataset, &arguments.split, &arguments.machine)?;
    let mut settings = DownloadSettings::from_zenodo(arguments.output.clone());
    settings.encryption = arguments.trust.encryption();
    settings.takes_unverified = arguments.trust.unverified;
    if let Some(address) = &arguments.from {
        address.trim_end_matches('/').clone_into(&mut settings.base_url);
    }
    for file in &plan.files {
        if arguments.dry_run {
            let DownloadSettings { base_url, .. } = &settings;
            context
                .printer
                .line(format!("{base_url}/records/{}/files/{}", file.record, file.name))?;
            continue;
        }
        let mut bar = FetchBar::new(&file.name, context);
        let path = download(file, &settings, &mut |done, size| bar.update(done, size))?;
        drop(bar);
        context.printer.line(path.display())?;
    }
    Ok(Outcome::Done)
}

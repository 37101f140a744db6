//! `auscult data`: what lies on the disk, and what can be fetched.

use std::{collections::BTreeSet, fmt::Write, path::PathBuf};

use auscult_eval::{
    datasets::{
        CheckReport, Dataset, DatasetKind, DownloadSettings, GroupCounts, Truth, download, plan,
    },
    problems::grouped,
};

use crate::{
    Outcome,
    args::{DataCheckArguments, DataCommand, DownloadArguments},
    fetching::FetchBar,
    printer::{Printer, count},
    table::{Align, Table},
};

pub(crate) fn run(command: &DataCommand, printer: &Printer) -> anyhow::Result<Outcome> {
    match command {
        DataCommand::Check(arguments) => check(arguments, printer),
        DataCommand::Download(arguments) => fetch(arguments, printer),
    }
}

fn check(arguments: &DataCheckArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let found = found(arguments, printer)?;
    let mut reports = Vec::new();
    for (kind, roots) in &found {
        reports.push(report(*kind, roots, arguments, printer)?);
    }
    if arguments.json {
        // One data set is an object, several are a list.
        let text = match reports.as_slice() {
            [report] => serde_json::to_string_pretty(report)?,
            several => serde_json::to_string_pretty(several)?,
        };
        printer.line(text)?;
    } else {
        for (at, report) in reports.iter().enumerate() {
            printer.text(&format!("{}{}", if at == 0 { "" } else { "\n" }, words(report)))?;
            for remark in &report.remarks {
                printer.note(remark);
            }
        }
    }
    let complete = reports.iter().all(|report| report.complete);
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
}

/// The data sets to look at, and where: what was asked for, those that have folders of their names,
/// or the one that names of files tell.
fn found(
    arguments: &DataCheckArguments,
    printer: &Printer,
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
        printer.note(format!(
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
    printer: &Printer,
) -> anyhow::Result<CheckReport> {
    let truth = Truth::open_for(kind, &arguments.truth)?;
    if truth.is_none() && !arguments.truth.is_empty() {
        printer.note(format!("{kind}: the ground truth given is of another year"));
    }
    Ok(CheckReport::of(&Dataset::open(kind, roots, truth.as_ref())?))
}

fn words(report: &CheckReport) -> String {
    let mut table = Table::new(&[
        ("set", Align::Left),
        ("machine", Align::Left),
        ("section", Align::Left),
        ("train source", Align::Right),
        ("target", Align::Right),
        ("test source normal", Align::Right),
        ("anomalous", Align::Right),
        ("target normal", Align::Right),
        ("anomalous", Align::Right),
        ("no label", Align::Right),
        ("classes", Align::Right),
        ("", Align::Left),
    ]);
    for found in &report.sections {
        let GroupCounts {
            set,
            machine,
            section,
            train_source,
            train_target,
            test,
            unlabelled,
            classes,
            ..
        } = found;
        let remark = if found.problems.is_empty() { found.agreement() } else { "see below" };
        let [a, b, c, d] = test.map(|count| count.to_string());
        table.row([
            set.clone(),
            machine.clone(),
            section.clone(),
            train_source.to_string(),
            train_target.to_string(),
            a,
            b,
            c,
            d,
            unlabelled.to_string(),
            classes.to_string(),
            remark.to_owned(),
        ]);
    }
    let mut text = format!("{}: {}\n\n", report.dataset, count(report.sections.len(), "section"));
    text += &table.render();
    text += "\n";
    for found in &report.sections {
        for problem in &found.problems {
            let _ = writeln!(text, "{}: {problem}", found.name());
        }
    }
    for problem in grouped(&report.unusable) {
        let _ = writeln!(text, "{problem}");
    }
    for (set, machines) in &report.missing {
        if !machines.is_empty() {
            let _ = writeln!(text, "not here ({set}): {}", machines.join(", "));
        }
    }
    let _ = writeln!(text, "{}", classes(report));
    let _ = writeln!(text, "fingerprint of names and labels: {}", report.fingerprint);
    text
}

fn classes(report: &CheckReport) -> String {
    let CheckReport { classes, classes_by_section, known_classes, classes_as_known, .. } = report;
    let known = match (known_classes, classes_as_known) {
        (None, _) => "no count is known".to_owned(),
        (Some(known), None) => format!("the whole data set has {known}"),
        (Some(_), Some(true)) => "as known".to_owned(),
        (Some(known), Some(false)) => format!("known are {known}: names or attributes differ"),
    };
    format!(
        "classes of training clips: {classes_by_section} by machine and section, {classes} with attributes ({known})"
    )
}

fn fetch(arguments: &DownloadArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let plan = plan(arguments.dataset, &arguments.split, &arguments.machine)?;
    let mut settings = DownloadSettings::from_zenodo(arguments.output.clone());
    if let Some(address) = &arguments.from {
        address.trim_end_matches('/').clone_into(&mut settings.base_url);
    }
    for file in &plan.files {
        if arguments.dry_run {
            let DownloadSettings { base_url, .. } = &settings;
            printer.line(format!("{base_url}/records/{}/files/{}", file.record, file.name))?;
            continue;
        }
        let mut bar = FetchBar::new(&file.name, printer);
        let path = download(file, &settings, &mut |done, size| bar.hear(done, size))?;
        drop(bar);
        printer.line(path.display())?;
    }
    Ok(Outcome::Done)
}

//! `auscult data`: what lies on the disk, and what can be fetched.

use std::fmt::Write;

use auscult_eval::datasets::{
    CheckReport, Dataset, DatasetKind, DownloadSettings, GroupCounts, Truth, download, plan,
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
    let kind = match arguments.dataset {
        Some(kind) => kind,
        None => DatasetKind::guess(&arguments.roots)?,
    };
    let truth = Truth::open_for(kind, &arguments.truth)?;
    if truth.is_none() && !arguments.truth.is_empty() {
        printer.note(format!("{kind}: the ground truth given is of another year"));
    }
    let dataset = Dataset::open(kind, &arguments.roots, truth.as_ref())?;
    let report = CheckReport::of(&dataset);
    if arguments.json {
        printer.line(serde_json::to_string_pretty(&report)?)?;
    } else {
        printer.text(&words(&report))?;
        for remark in &report.remarks {
            printer.note(remark);
        }
    }
    Ok(if report.complete { Outcome::Done } else { Outcome::Incomplete })
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
        let remark = match (found.problems.is_empty(), found.known) {
            (false, _) => "see below".to_owned(),
            (true, Some(_)) => "as known".to_owned(),
            (true, None) => "no known counts".to_owned(),
        };
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
            remark,
        ]);
    }
    let mut text = format!("{}: {}\n\n", report.dataset, count(report.sections.len(), "section"));
    text += &table.render();
    text += "\n";
    for found in &report.sections {
        for problem in &found.problems {
            let name = format!("{} {}", found.machine, found.section);
            let _ = writeln!(text, "{}: {problem}", name.trim());
        }
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

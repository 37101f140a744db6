//! `auscult report`: one page that explains a machine, from a model and recordings.

use std::path::Path;

use auscult::{ClipRecord, RunSummary};
use auscult_report::Report;

use crate::{
    Outcome,
    args::ReportArguments,
    context::Context,
    options::listening::{Scoring, print_rest},
    printer::count,
    tables::promise,
};

pub(crate) fn run(arguments: &ReportArguments, context: &Context) -> anyhow::Result<Outcome> {
    let printer = &context.printer;
    let json_file = arguments.json.as_deref().filter(|path| *path != Path::new("-"));
    check(arguments, json_file)?;
    let scoring = Scoring::open(&arguments.scoring, context)?.explained(true);
    let mut listening = scoring.start(context)?;
    let mut records: Vec<ClipRecord> = Vec::new();
    for clip in listening.by_ref() {
        match clip {
            Ok(record) => records.push(record),
            Err(error) => printer.problem(&error),
        }
    }
    let summary = listening.summary();
    print_rest(&summary, context);
    anyhow::ensure!(!records.is_empty(), "nothing was scored, so no report was written");
    let stem = arguments.scoring.model.file_stem().unwrap_or_default().to_string_lossy();
    let title = arguments.title.as_deref().unwrap_or(&stem);
    let report =
        Report::of_places(title, &scoring.machine, &records, &|path| scoring.location(path))
            .with_notes(notes(&scoring, &summary));
    let anomalous = records.iter().filter(|record| record.is_anomalous()).count();
    let counts = format!("{}, {anomalous} anomalous", count(records.len(), "clip"));
    if let Some(path) = &arguments.output {
        auscult::files::write_atomically(path, report.render().as_bytes())?;
        printer.note(format!("{}: {counts}", path.display()));
    }
    match (&arguments.json, json_file) {
        (_, Some(path)) => {
            auscult::files::write_atomically(path, report.to_json()?.as_bytes())?;
            printer.note(format!("{}: {counts}", path.display()));
        }
        (Some(_), None) => printer.line(report.to_json()?)?,
        (None, None) => {}
    }
    promise::warn_about_run(&scoring.machine, &summary, printer);
    Ok(if summary.is_complete { Outcome::Done } else { Outcome::Incomplete })
}

/// Refuses files that cannot be written or must not be lost.
fn check(arguments: &ReportArguments, json_file: Option<&Path>) -> anyhow::Result<()> {
    for path in arguments.output.as_deref().into_iter().chain(json_file) {
        auscult::files::check_target(path)?;
        auscult::check_result_target(path, arguments.scoring.inputs())?;
    }
    let is_same = |json: &Path| arguments.output.as_deref() == Some(json);
    anyhow::ensure!(
        !json_file.is_some_and(is_same),
        "--output and --json name the same file; give two"
    );
    Ok(())
}

/// Unread recordings beyond these are only counted.
const MOST_UNREAD: usize = 20;

/// What the page must not keep to itself: alarms, and what is not on it.
fn notes(scoring: &Scoring, summary: &RunSummary) -> Vec<String> {
    let alarms = promise::alarm_line(&scoring.machine, summary, scoring.has_other_rate);
    let mut notes = promise::changed_lines(summary);
    notes.extend(alarms);
    if summary.is_cancelled {
        notes.push("stopped before everything was read: some recordings are missing".to_owned());
    }
    let unread = summary.unread.iter().take(MOST_UNREAD);
    notes.extend(unread.map(|problem| format!("not read, or not to its end: {problem}")));
    if summary.unread.len() > MOST_UNREAD {
        notes.push(format!("not read: {} more files", summary.unread.len() - MOST_UNREAD));
    }
    notes
}

//! `auscult report`: one page that explains a machine, or several, from models and recordings.

use std::{
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use auscult::{ClipRecord, RunSummary};
use auscult_report::{Machines, Report};

use crate::{
    Outcome,
    args::{ReportArguments, ScoringArguments},
    context::Context,
    options::listening::{Scoring, print_rest},
    printer::count,
    tables::promise,
};

pub(crate) fn run(arguments: &ReportArguments, context: &Context) -> anyhow::Result<Outcome> {
    let json_file = arguments.json.as_deref().filter(|path| *path != Path::new("-"));
    let machines = arguments.machines();
    check(arguments, &machines, json_file)?;
    let runs: Vec<Run> =
        machines.iter().map(|machine| Run::new(machine, context)).collect::<anyhow::Result<_>>()?;
    let titles: Vec<String> = machines.iter().map(ScoringArguments::machine_name).collect();
    let written = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64();
    let page = if let ([run], None) = (&runs[..], arguments.first_of_several()) {
        let title = arguments.title.as_deref().unwrap_or(&titles[0]);
        let report = run.report(title, written);
        Page { html: report.render(), json: report.to_json()? }
    } else {
        let reports =
            runs.iter().zip(&titles).map(|(run, title)| run.report(title, written)).collect();
        let machines = Machines::new(arguments.title.as_deref().unwrap_or("Machines"), reports);
        Page { html: machines.render(), json: machines.to_json()? }
    };
    page.write(arguments, json_file, &counts(&runs), context)?;
    for (run, title) in runs.iter().zip(&titles) {
        let name = if runs.len() > 1 { format!("{title}: ") } else { String::new() };
        for line in promise::run_lines(&run.scoring.machine, &run.summary) {
            context.printer.note(format!("{name}{line}"));
        }
    }
    let is_complete = runs.iter().all(|run| run.summary.is_complete);
    Ok(if is_complete { Outcome::Done } else { Outcome::Incomplete })
}

/// What was heard of one machine.
struct Run {
    scoring: Scoring,
    records: Vec<ClipRecord>,
    summary: RunSummary,
}

impl Run {
    fn new(arguments: &ScoringArguments, context: &Context) -> anyhow::Result<Self> {
        let scoring = Scoring::open(arguments, context)?.explained(true);
        let mut listening = scoring.start(context)?;
        let mut records: Vec<ClipRecord> = Vec::new();
        for clip in listening.by_ref() {
            match clip {
                Ok(record) => records.push(record),
                Err(error) => context.printer.problem(&error),
            }
        }
        let summary = listening.summary();
        drop(listening);
        print_rest(&summary, context);
        let model = arguments.model.display();
        let has_records = !records.is_empty();
        anyhow::ensure!(has_records, "nothing was scored for {model}, so no report was written");
        Ok(Self { scoring, records, summary })
    }

    fn report<'a>(&'a self, title: &'a str, written: f64) -> Report<'a> {
        let Self { scoring, records, summary } = self;
        let place = |path: &str| scoring.location(path);
        Report::of_run(title, &scoring.machine, records, &scoring.listen, &place)
            .with_changed(summary.changed.clone())
            .with_notes(notes(scoring, summary))
            .written_at(written)
    }
}

/// A page in both its forms.
struct Page {
    html: String,
    json: String,
}

impl Page {
    fn write(
        &self,
        arguments: &ReportArguments,
        json_file: Option<&Path>,
        counts: &str,
        context: &Context,
    ) -> anyhow::Result<()> {
        let files = [(arguments.output.as_deref(), &self.html), (json_file, &self.json)];
        for (path, text) in files.into_iter().filter_map(|(path, text)| Some((path?, text))) {
            auscult::files::write_atomically(path, text.as_bytes())?;
            context.printer.note(format!("{}: {counts}", path.display()));
        }
        if arguments.json.is_some() && json_file.is_none() {
            context.printer.line(&self.json)?;
        }
        Ok(())
    }
}

fn counts(runs: &[Run]) -> String {
    let records = || runs.iter().flat_map(|run| &run.records);
    let anomalous = records().filter(|record| record.is_anomalous()).count();
    let machines =
        if runs.len() > 1 { format!("{} machines, ", runs.len()) } else { String::new() };
    format!("{machines}{}, {anomalous} anomalous", count(records().count(), "clip"))
}

/// Refuses files that cannot be written or must not be lost.
fn check(
    arguments: &ReportArguments,
    machines: &[ScoringArguments],
    json_file: Option<&Path>,
) -> anyhow::Result<()> {
    for path in arguments.output.as_deref().into_iter().chain(json_file) {
        auscult::files::check_target(path)?;
        auscult::check_result_target(path, machines.iter().flat_map(ScoringArguments::inputs))?;
    }
    let is_same = json_file.is_some() && arguments.output.as_deref() == json_file;
    anyhow::ensure!(!is_same, "--output and --json name the same file; give two");
    Ok(())
}

/// Unread recordings beyond these are only counted.
const MOST_UNREAD: usize = 20;

/// What the page must not keep to itself: alarms, and what is not on it.
fn notes(scoring: &Scoring, summary: &RunSummary) -> Vec<String> {
    let alarms = promise::alarm_line(&scoring.machine, summary, scoring.has_other_rate);
    let stopped = "stopped before everything was read: some recordings are missing".to_owned();
    let mut notes: Vec<String> =
        alarms.into_iter().chain(summary.is_cancelled.then_some(stopped)).collect();
    let unread = summary.unread.iter().take(MOST_UNREAD);
    notes.extend(unread.map(|problem| format!("not read, or not to its end: {problem}")));
    if summary.unread.len() > MOST_UNREAD {
        notes.push(format!("not read: {} more files", summary.unread.len() - MOST_UNREAD));
    }
    notes
}

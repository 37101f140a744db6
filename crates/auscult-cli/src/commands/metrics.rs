//! `auscult metrics`: scores with their truth in, figures out.

use auscult_eval::metrics::{IntervalSettings, MetricsReport, ReportSettings, read_scores};

use crate::{Outcome, args::MetricsArguments, context::Context, tables::figures};

pub(crate) fn run(arguments: &MetricsArguments, context: &Context) -> anyhow::Result<Outcome> {
    let printer = &context.printer;
    anyhow::ensure!(
        arguments.threshold.is_none_or(f64::is_finite),
        "--threshold must be a finite number"
    );
    let clips = read_scores(&arguments.scores)?;
    let intervals = IntervalSettings { samples: arguments.samples, seed: arguments.seed };
    let settings = ReportSettings { intervals, threshold: arguments.threshold };
    let report = MetricsReport::new(&clips, settings)?;
    if arguments.json {
        printer.line(serde_json::to_string_pretty(&report)?)?;
    } else {
        printer.text(&figures::describe(&report))?;
    }
    for remark in &report.remarks {
        printer.note(remark);
    }
    let is_judged = report.sections.iter().all(|section| section.figures.auc.is_some());
    let is_whole = report.pooled.auc.is_some() && is_judged;
    Ok(if is_whole { Outcome::Done } else { Outcome::Incomplete })
}

//! `auscult score`: recordings in, a score and a verdict for each clip out.

use anyhow::Context as _;
use auscult::Error;

use crate::{
    Outcome,
    args::ScoreArguments,
    context::Context,
    options::listening::{Scoring, print_rest},
    output::{Format, RunWriter},
    tables::{promise, scores::ScoreTable},
};

pub(crate) fn run(arguments: &ScoreArguments, context: &Context) -> anyhow::Result<Outcome> {
    let format = arguments.format.format()?;
    check(arguments, format.as_ref())?;
    let scoring = Scoring::open(&arguments.scoring, context)?.explained(arguments.explain);
    let machine = &scoring.machine;
    let output = arguments.format.output.as_deref();
    let start = |format: &Format| RunWriter::new(format, machine, &arguments.columns, output);
    let not_written = || match output {
        Some(path) => format!("cannot write {}", path.display()),
        None => "cannot write the results".to_owned(),
    };
    // Old results stay until there are new ones.
    let mut writer: Option<RunWriter> = None;
    let mut table = ScoreTable::new();
    let mut anomalous = 0;
    let mut listening = scoring.start(context)?;
    for clip in listening.by_ref() {
        let record = match clip {
            Ok(record) => record,
            Err(error) => {
                context.printer.problem(&error);
                continue;
            }
        };
        anomalous += usize::from(record.is_anomalous());
        let Some(format) = &format else {
            table.add(&record, arguments.explain);
            continue;
        };
        let writer = match &mut writer {
            Some(writer) => writer,
            none => none.insert(start(format)?),
        };
        context.printer.beside_bar(|| writer.write(record)).with_context(not_written)?;
    }
    let summary = listening.summary();
    print_rest(&summary, context);
    if let Some(format) = &format {
        let is_file = output.is_some() || matches!(format, Format::Parquet(_));
        let writer = match writer {
            None if is_file => anyhow::bail!("nothing was scored, so no results were written"),
            None => start(format)?,
            Some(writer) => writer,
        };
        writer.finish(&summary).with_context(not_written)?;
        promise::warn_about_run(machine, &summary, &context.printer);
    } else {
        let lines = promise::closing_lines(machine, &summary, scoring.has_other_rate);
        context.printer.text(&table.render(&lines))?;
    }
    Ok(match summary.is_complete {
        false => Outcome::Incomplete,
        true if arguments.fail_on_anomaly && (anomalous > 0 || summary.changed.is_some()) => {
            Outcome::Anomalous
        }
        true => Outcome::Done,
    })
}

/// Refuses forms that have no place for what was asked, and files that must not be lost.
fn check(arguments: &ScoreArguments, format: Option<&Format>) -> anyhow::Result<()> {
    anyhow::ensure!(
        !arguments.explain || !matches!(format, Some(Format::Csv(_) | Format::Parquet(_))),
        "--explain goes with the table, --json or --jsonl; CSV and Parquet have no place for sentences"
    );
    anyhow::ensure!(
        !arguments.columns.quality || format.is_some(),
        "--quality adds columns to --csv and --parquet (JSON always has them); name one of them"
    );
    if let Some(output) = &arguments.format.output {
        // Devices and pipes are fine: these results are written as they come.
        auscult::check_result_target(output, arguments.scoring.inputs())?;
    }
    if let Some(Format::Parquet(path)) = format {
        auscult::files::check_target(path).map_err(Error::from)?;
        auscult::check_result_target(path, arguments.scoring.inputs())?;
    }
    Ok(())
}

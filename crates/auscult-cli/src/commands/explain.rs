//! `auscult explain`: what differs, in sentences.

use crate::{
    Outcome,
    args::{ColumnArguments, ExplainArguments},
    context::Context,
    options::listening::{Scoring, print_rest},
    output::{Format, RunWriter},
    tables::{promise, scores::explained},
};

pub(crate) fn run(arguments: &ExplainArguments, context: &Context) -> anyhow::Result<Outcome> {
    let printer = &context.printer;
    let scoring = Scoring::open(&arguments.scoring, context)?.explained(true);
    let columns = ColumnArguments::default();
    let mut writer = arguments
        .json
        .then(|| RunWriter::new(&Format::Json, &scoring.machine, &columns, None))
        .transpose()?;
    let mut listening = scoring.start(context)?;
    for clip in listening.by_ref() {
        match (clip, &mut writer) {
            (Err(error), _) => printer.problem(&error),
            (Ok(record), Some(writer)) => writer.write(record)?,
            (Ok(record), None) => {
                if let Some(text) = explained(&record) {
                    printer.line(text)?;
                }
            }
        }
    }
    let summary = listening.summary();
    print_rest(&summary, context);
    if let Some(writer) = writer {
        writer.finish(&summary)?;
    }
    promise::warn_about_run(&scoring.machine, &summary, printer);
    Ok(if summary.is_complete { Outcome::Done } else { Outcome::Incomplete })
}

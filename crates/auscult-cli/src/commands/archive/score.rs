//! `auscult archive score`: a manifest in, a Parquet file a shard out.

use auscult_archive::ScoreArchive;

use super::Archive;
use crate::{Outcome, args::ArchiveScoreArguments, context::Context, tables};

pub(super) fn run(arguments: &ArchiveScoreArguments, context: &Context) -> anyhow::Result<Outcome> {
    let archive = Archive::open(&arguments.archive, context)?;
    let (control, out) = (context.control(), arguments.out.as_path());
    let scorer = archive.scorer(&control);
    let run = ScoreArchive { scorer, out, replace: arguments.replace };
    let summary = run.run(&archive.plan)?;
    if arguments.json {
        context.printer.line(serde_json::to_string_pretty(&summary)?)?;
    } else {
        context.printer.text(&tables::archive::summary(&summary, out))?;
    }
    Ok(if summary.errors == 0 { Outcome::Done } else { Outcome::Incomplete })
}

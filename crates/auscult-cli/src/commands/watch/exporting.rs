//! The clips of a history, for data tools.

use anyhow::Context as _;
use auscult_monitor::{
    data::DataFolder,
    history::{ClipQuery, History},
};

use super::looking::machine_of;
use crate::{
    Outcome,
    args::ExportArguments,
    output::{Format, write_clips},
};

pub(super) fn export(data: &DataFolder, arguments: &ExportArguments) -> anyhow::Result<Outcome> {
    let history = History::read(data.root())?;
    let machine =
        arguments.machine.as_deref().map(|name| machine_of(&history, name)).transpose()?;
    let format = arguments
        .format
        .format()?
        .context("name a form: --parquet FILE, --csv, --jsonl or --json")?;
    let target = match &format {
        Format::Parquet(path) => Some(path),
        _ => arguments.format.output.as_ref(),
    };
    target.map_or(Ok(()), |target| auscult::files::check_target(target))?;
    let query = ClipQuery { machine, ..ClipQuery::default() };
    write_clips(&history, &query, &format, arguments.format.output.as_deref(), &|_| {})?;
    Ok(Outcome::Done)
}

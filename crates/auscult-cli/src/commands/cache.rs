//! `auscult cache`: what is kept of clips that were computed before.

use anyhow::Context as _;
use auscult::VectorCache;
use serde_json::json;

use crate::{
    Outcome,
    args::{CacheArguments, CacheCommand},
    context::Context,
    tables::cache,
};

pub(crate) fn run(command: &CacheCommand, context: &Context) -> anyhow::Result<Outcome> {
    let (arguments, is_cleared) = match command {
        CacheCommand::Show(arguments) => (arguments, false),
        CacheCommand::Clear(arguments) => (arguments, true),
    };
    let kept = open(arguments)?;
    let found = if is_cleared { kept.clear() } else { kept.facts() };
    let facts = found.with_context(|| kept.folder().display().to_string())?;
    let printer = &context.printer;
    match (arguments.json, is_cleared) {
        (true, true) => printer.line(json!({ "cleared": facts }).to_string())?,
        (true, false) => printer.line(serde_json::to_string_pretty(&facts)?)?,
        (false, true) => printer.text(&cache::cleared(&facts))?,
        (false, false) => printer.text(&cache::describe(&facts))?,
    }
    Ok(Outcome::Done)
}

fn open(arguments: &CacheArguments) -> anyhow::Result<VectorCache> {
    match &arguments.cache {
        Some(folder) => {
            anyhow::ensure!(folder.is_dir(), "{}: not a folder", folder.display());
            Ok(VectorCache::new(folder))
        }
        None => VectorCache::of_user().context(
            "there is no folder for a cache: neither AUSCULT_CACHE nor HOME is set; name one with --cache FOLDER",
        ),
    }
}

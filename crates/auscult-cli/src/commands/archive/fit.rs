//! `auscult archive fit`: a model for each machine of a manifest.

use auscult::Learn;
use auscult_archive::FitArchive;
use serde_json::json;

use super::jobs;
use crate::{Outcome, args::ArchiveFitArguments, context::Context, tables::archive};

pub(super) fn run(arguments: &ArchiveFitArguments, context: &Context) -> anyhow::Result<Outcome> {
    let learn = Learn {
        preset: arguments.preset.unwrap_or_default(),
        front_ends: context.front_ends.clone(),
        ..Learn::default()
    };
    let fitted = FitArchive {
        manifest: &arguments.manifest,
        out: &arguments.out,
        replace: arguments.replace,
        learn: &learn,
        jobs: jobs(),
        control: &context.control(),
    };
    let machines = fitted.run()?;
    if arguments.json {
        let preset = learn.preset.to_string();
        let facts = json!({ "preset": preset, "machines": machines });
        context.printer.line(serde_json::to_string_pretty(&facts)?)?;
    } else {
        context.printer.text(&archive::fitted(&machines, &arguments.out))?;
    }
    let is_complete = machines.iter().all(|machine| machine.error.is_none());
    Ok(if is_complete { Outcome::Done } else { Outcome::Incomplete })
}

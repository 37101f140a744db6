//! What the subcommands share: opening data, the cache, progress.

use std::path::PathBuf;

use crate::{args::DataArguments, context::Context};
use auscult_eval::{
    datasets::{Dataset, DatasetKind, Truth},
    run::RunProgress,
};

/// Opens a data set and keeps what was asked for; says what was odd.
pub(super) fn open(
    kind: DatasetKind,
    roots: &[PathBuf],
    arguments: &DataArguments,
    sets: &[String],
    context: &Context,
) -> anyhow::Result<Dataset> {
    let truth = Truth::open_for(kind, &arguments.truth)?;
    if truth.is_none() && !arguments.truth.is_empty() {
        context.printer.note(format!("{kind}: the ground truth given is of another year"));
    }
    let mut dataset = Dataset::open(kind, roots, truth.as_ref())?;
    let sets = if arguments.split.is_empty() { sets } else { &arguments.split };
    dataset.keep(&arguments.machine, sets)?;
    for remark in dataset.remarks() {
        context.printer.note(remark);
    }
    Ok(dataset)
}

/// What has nothing to be judged with.
pub(super) fn untested(dataset: &Dataset) -> Option<String> {
    let names = dataset.untested();
    (!names.is_empty()).then(|| {
        let (kind, names) = (dataset.kind, names.join(", "));
        format!("{kind}: no test clips, and so no figures: {names}; auscult data check says what is there")
    })
}

/// Where vectors are kept; `None` if nowhere.
pub(super) fn cache(arguments: &DataArguments) -> Option<PathBuf> {
    if arguments.no_cache {
        return None;
    }
    arguments.cache.clone().or_else(|| auscult::files::cache_folder("features"))
}

/// Names in quotes: those of systems may have commas in them.
pub(super) fn quoted<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> String {
    names.into_iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// A bar a section, and a stop on Ctrl-C.
pub(super) struct Bars<'a>(pub(super) &'a Context);

impl RunProgress for Bars<'_> {
    fn section(&self, name: &str, clips: usize) {
        self.0.printer.start_bar(clips, "clips", name);
    }

    fn clip(&self) {
        self.0.printer.advance_bar();
    }

    fn is_stopped(&self) -> bool {
        self.0.cancel.is_cancelled()
    }
}

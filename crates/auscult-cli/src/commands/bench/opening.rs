//! What the subcommands share: opening data, the cache, progress.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use auscult_eval::{
    datasets::{Dataset, DatasetKind, Truth},
    run::RunProgress,
};
use indicatif::ProgressBar;

use crate::{args::DataArguments, interrupt, printer::Printer, progress};

/// Opens a data set and keeps what was asked for; says what was odd.
pub(super) fn open(
    kind: DatasetKind,
    roots: &[PathBuf],
    arguments: &DataArguments,
    sets: &[String],
    printer: &Printer,
) -> anyhow::Result<Dataset> {
    let truth = Truth::open_for(kind, &arguments.truth)?;
    if truth.is_none() && !arguments.truth.is_empty() {
        printer.note(format!("{kind}: the ground truth given is of another year"));
    }
    let mut dataset = Dataset::open(kind, roots, truth.as_ref())?;
    let sets = if arguments.split.is_empty() { sets } else { &arguments.split };
    dataset.keep(&arguments.machine, sets)?;
    for remark in dataset.remarks() {
        printer.note(remark);
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
    arguments.cache.clone().or_else(|| auscult_files::cache_folder("features"))
}

/// Names in quotes: those of systems may have commas in them.
pub(super) fn quoted<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> String {
    names.into_iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// A bar a section.
#[derive(Default)]
pub(super) struct Bars(Mutex<Option<ProgressBar>>);

impl Bars {
    pub(super) fn finish(&self) {
        if let Some(bar) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

impl RunProgress for Bars {
    fn section(&self, name: &str, clips: usize) {
        self.finish();
        let bar = progress::named_bar(clips, "clips", name);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar);
    }

    fn clip(&self) {
        if let Some(bar) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.inc(1);
        }
    }

    fn is_stopped(&self) -> bool {
        interrupt::is_asked()
    }
}

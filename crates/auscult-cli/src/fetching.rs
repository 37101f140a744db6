//! How a fetch goes, for people: a bar, and from where it goes on.

use std::ops::ControlFlow;

use indicatif::ProgressBar;

use crate::{interrupt, printer::Printer, progress};

/// Hears how many bytes of a file are there.
pub(crate) struct FetchBar<'a> {
    name: &'a str,
    printer: &'a Printer,
    bar: Option<ProgressBar>,
}

const MEGABYTE: u64 = 1_000_000;

impl<'a> FetchBar<'a> {
    pub(crate) fn new(name: &'a str, printer: &'a Printer) -> Self {
        Self { name, printer, bar: None }
    }

    /// Shows it, and says whether to go on.
    pub(crate) fn hear(&mut self, done: u64, size: u64) -> ControlFlow<()> {
        if self.bar.is_none() && done > 0 && done != size {
            let megabytes = done as f64 / MEGABYTE as f64;
            self.printer.note(format!("{}: going on after {megabytes:.1} MB", self.name));
        }
        let bar = self.bar.get_or_insert_with(|| {
            progress::named_bar((size / MEGABYTE) as usize, "MB", self.name)
        });
        bar.set_position(done / MEGABYTE);
        if interrupt::is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for FetchBar<'_> {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

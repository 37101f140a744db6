//! How a fetch goes, for people: a bar, and from where it goes on.

use std::ops::ControlFlow;

use crate::context::Context;

/// Shows how many bytes of a file are there.
pub(crate) struct FetchBar<'a> {
    name: &'a str,
    context: &'a Context,
    is_started: bool,
}

const MEGABYTE: u64 = 1_000_000;

impl<'a> FetchBar<'a> {
    pub(crate) fn new(name: &'a str, context: &'a Context) -> Self {
        Self { name, context, is_started: false }
    }

    /// Shows it, and says whether to go on.
    pub(crate) fn update(&mut self, done: u64, size: u64) -> ControlFlow<()> {
        let printer = &self.context.printer;
        if !std::mem::replace(&mut self.is_started, true) {
            if done > 0 && done != size {
                let megabytes = done as f64 / MEGABYTE as f64;
                printer.note(format!("{}: continuing after {megabytes:.1} MB", self.name));
            }
            printer.start_bar((size / MEGABYTE) as usize, "MB", self.name);
        }
        printer.move_bar((done / MEGABYTE) as usize, String::new());
        self.context.control().flow()
    }
}

impl Drop for FetchBar<'_> {
    fn drop(&mut self) {
        self.context.printer.end_bar();
    }
}

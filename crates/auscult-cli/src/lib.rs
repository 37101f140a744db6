//! auscult: tells how far a machine sounds from its healthy self, where in frequency, and whether
//! it matters.
//!
//! This is the program as a function, so that whoever brings it along (the Python package does) brings its code and
//! weights once.

mod advice;
mod args;
mod commands;
mod context;
mod fetching;
mod options;
mod output;
mod patience;
mod printer;
mod tables;
#[cfg(feature = "training")]
mod training;
mod version;

use std::ffi::OsString;

use clap::Parser;

use crate::{args::Arguments, printer::Printer};

/// How a command ended, when it did not fail outright.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Everything was done.
    Done,
    /// Everything was done, and something is anomalous.
    Anomalous,
    /// Some inputs could not be used; the others were.
    Incomplete,
}

/// Runs the program with these arguments, the first of which is its own name, and returns its exit code.
///
/// Watches for Ctrl-C and sets the number of threads of the whole process, so it is called once.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let typed: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, everything else is a complaint.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            return match error.print() {
                Err(failed) if failed.kind() != std::io::ErrorKind::BrokenPipe => 2,
                _ => code,
            };
        }
    };
    let waits_for_code = arguments.command.waits_for_code();
    match commands::run(arguments, &typed) {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Anomalous) => 1,
        Ok(Outcome::Incomplete) => 2,
        // Whoever read our output has seen enough; whoever waits for the exit code has not.
        Err(error) if is_broken_pipe(&error) && !waits_for_code => 0,
        Err(error) => {
            for line in advice::lines(&error) {
                Printer::default().error(line);
            }
            2
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind)
    };
    let csv = |cause: &(dyn std::error::Error + 'static)| match cause
        .downcast_ref::<csv::Error>()?
        .kind()
    {
        csv::ErrorKind::Io(error) => Some(error.kind()),
        _ => None,
    };
    error
        .chain()
        .any(|cause| io(cause).or_else(|| csv(cause)) == Some(std::io::ErrorKind::BrokenPipe))
}

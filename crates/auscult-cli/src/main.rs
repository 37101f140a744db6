//! auscult: tells how far a machine sounds from its healthy self, where in frequency, and whether
//! it matters.

mod advice;
mod args;
mod commands;
mod context;
mod fetching;
mod options;
mod output;
mod printer;
mod tables;
mod version;

use std::process::ExitCode;

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

fn main() -> ExitCode {
    match commands::run(Arguments::parse()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Anomalous) => ExitCode::from(1),
        Ok(Outcome::Incomplete) => ExitCode::from(2),
        // Whoever read our output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            Printer::default().error(advice::describe(&error));
            ExitCode::from(2)
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

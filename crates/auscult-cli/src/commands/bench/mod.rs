//! `auscult bench`: data sets in, figures, tables and files out.

mod compare;
mod eval;
mod opening;
mod run;
mod submit;

use crate::{Outcome, args::BenchCommand, printer::Printer};

pub(crate) fn run(command: &BenchCommand, printer: &Printer) -> anyhow::Result<Outcome> {
    match command {
        BenchCommand::Eval(arguments) => eval::run(arguments, printer),
        BenchCommand::Run(arguments) => run::run(arguments, printer),
        BenchCommand::Compare(arguments) => compare::run(arguments, printer),
        BenchCommand::Submit(arguments) => submit::run(arguments, printer),
    }
}

//! `auscult bench`: data sets in, figures, tables and files out.

mod compare;
mod cost;
mod eval;
mod fine_tuned;
mod list;
mod opening;
mod run;
mod submit;

use crate::{Outcome, args::BenchCommand, context::Context};

pub(crate) fn run(command: &BenchCommand, context: &Context) -> anyhow::Result<Outcome> {
    match command {
        BenchCommand::Eval(arguments) => eval::run(arguments, context),
        BenchCommand::List(arguments) => list::run(arguments, &context.of_table()),
        BenchCommand::Cost(arguments) => cost::run(arguments, &context.of_table()),
        BenchCommand::Run(arguments) => run::run(arguments, context),
        BenchCommand::Compare(arguments) => compare::run(arguments, context),
        BenchCommand::Submit(arguments) => submit::run(arguments, context),
    }
}

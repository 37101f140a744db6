//! One file a subcommand; each reads like the data flow. No command uses another.

#[cfg(feature = "parquet")]
mod archive;
mod bench;
mod cache;
mod calibrate;
mod data;
mod demo;
mod encoder;
mod explain;
mod features;
mod fit;
mod inspect;
mod metrics;
mod model;
mod report;
mod score;
mod serve;
mod synth;
mod train;
mod tune;
mod watch;

use std::ffi::OsString;

use clap::CommandFactory;

use crate::{
    Outcome,
    args::{Arguments, Command},
    context::Context,
};

pub(crate) fn run(arguments: Arguments, typed: &[OsString]) -> anyhow::Result<Outcome> {
    let context = &Context::new(&arguments, typed)?;
    match arguments.command {
        Command::Demo(arguments) => demo::run(&arguments, context),
        Command::Fit(arguments) => fit::run(&arguments, context),
        Command::Serve(arguments) => serve::run(&arguments, context),
        Command::Watch(arguments) => watch::run(&arguments, context),
        Command::Tune(arguments) => tune::run(&arguments, context),
        Command::Score(arguments) => score::run(&arguments, context),
        Command::Report(arguments) => report::run(&arguments, context),
        Command::Explain(arguments) => explain::run(&arguments, context),
        #[cfg(feature = "parquet")]
        Command::Archive(command) => archive::run(&command, context),
        Command::Calibrate(arguments) => calibrate::run(&arguments, context),
        Command::Inspect(arguments) => inspect::run(&arguments, context),
        Command::Model(command) => model::run(&command, context),
        Command::Features(arguments) => features::run(&arguments, context),
        Command::Bench(command) => bench::run(&command, context),
        Command::Train(arguments) => train::run(&arguments, context),
        Command::Data(command) => data::run(&command, context),
        Command::Metrics(arguments) => metrics::run(&arguments, context),
        Command::Encoder(command) => encoder::run(&command, context),
        Command::Cache(command) => cache::run(&command, context),
        Command::Synth(arguments) => synth::run(&arguments, context),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "auscult", &mut script);
            context.printer.text(&String::from_utf8_lossy(&script))?;
            Ok(Outcome::Done)
        }
        Command::Man { folder } => {
            std::fs::create_dir_all(&folder)?;
            clap_mangen::generate_to(Arguments::command(), folder)?;
            Ok(Outcome::Done)
        }
    }
}

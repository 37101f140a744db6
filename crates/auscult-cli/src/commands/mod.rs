//! One file a subcommand; each reads like the data flow.

mod autoencoder;
mod bench;
mod budget;
mod calibrate;
mod data;
mod demo;
mod encoder;
mod explain;
mod features;
mod fit;
mod gathering;
mod inspect;
mod metrics;
mod model;
mod normal_clips;
mod report;
mod score;
mod scoring;
mod settings;
mod summary;
mod synth;
mod train;
mod tune;
mod unused;

use anyhow::Context;
use clap::CommandFactory;

use crate::{
    Outcome,
    args::{Arguments, Command},
    front_ends, interrupt,
    printer::Printer,
};

pub(crate) fn run(arguments: Arguments, printer: &Printer) -> anyhow::Result<Outcome> {
    if let Some(jobs) = arguments.jobs {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs));
        threads.build_global().with_context(|| format!("cannot start {jobs} threads"))?;
    }
    if let Some(file) = arguments.encoder_file {
        front_ends::use_encoder_file(file);
    }
    interrupt::watch()?;
    match arguments.command {
        Command::Demo(arguments) => demo::run(&arguments, printer),
        Command::Fit(arguments) => fit::run(&arguments, printer),
        Command::Tune(arguments) => tune::run(&arguments, printer),
        Command::Score(arguments) => score::run(&arguments, printer),
        Command::Report(arguments) => report::run(&arguments, printer),
        Command::Explain(arguments) => explain::run(&arguments, printer),
        Command::Calibrate(arguments) => calibrate::run(&arguments, printer),
        Command::Inspect(arguments) => inspect::run(&arguments, printer),
        Command::Model(command) => model::run(&command, printer),
        Command::Features(arguments) => features::run(&arguments, printer),
        Command::Bench(command) => bench::run(&command, printer),
        Command::Train(arguments) => train::run(&arguments, printer),
        Command::Data(command) => data::run(&command, printer),
        Command::Metrics(arguments) => metrics::run(&arguments, printer),
        Command::Encoder(command) => encoder::run(&command, printer),
        Command::Synth(arguments) => synth::run(&arguments, printer),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "auscult", &mut script);
            printer.text(&String::from_utf8_lossy(&script))?;
            Ok(Outcome::Done)
        }
    }
}

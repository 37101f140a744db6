//! `auscult report`.

use std::path::{Path, PathBuf};

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, builder::ArgPredicate, value_parser,
};

use super::ScoringArguments;

#[derive(Debug, Args)]
#[command(mut_arg("model", unless_machines), mut_arg("paths", |paths| unless_machines(paths)))]
#[command(after_help = "\
The page answers in its first screen: is the machine well, since when, what differs, how sure is
that, and what to do. It needs no network, prints well, and has the sound of at most six kinds of
anomalies in it, each beside its closest normal clip if that is still where it was.

Examples:
  auscult report pump.auscult today/ -o today.html
  auscult report pump.auscult today/ -o today.html --title \"Pump 3, hall 2\"
  auscult report pump.auscult today/ --json today.json          the same facts for a program
  auscult report --machine pump.auscult pump/ --machine fan.auscult fan/ -o hall.html   the worst first")]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    pub(crate) scoring: ScoringArguments,

    #[command(flatten)]
    machines: MachinesArguments,

    /// The page to write; replaced only when the new one is complete.
    #[arg(short, long, value_name = "FILE", required_unless_present = "json", help_heading = None)]
    pub(crate) output: Option<PathBuf>,

    /// Write the facts as JSON to this file, or to standard output with -.
    #[arg(long, value_name = "FILE", help_heading = None)]
    pub(crate) json: Option<PathBuf>,

    /// The machine, as people call it; the name of the model file if not given. Of several machines,
    /// what the page is called.
    #[arg(long, help_heading = None)]
    pub(crate) title: Option<String>,
}

/// With `--machine`, models and recordings are given there, and these are not looked at.
fn unless_machines(arg: Arg) -> Arg {
    arg.required(false).required_unless_present(MACHINE).conflicts_with(MACHINE).default_value_if(
        MACHINE,
        ArgPredicate::IsPresent,
        "-",
    )
}

impl ReportArguments {
    /// What to score for each machine.
    pub(crate) fn machines(&self) -> Vec<ScoringArguments> {
        if self.machines.0.is_empty() {
            return vec![self.scoring.clone()];
        }
        let machine = |values: &Vec<PathBuf>| {
            let mut scoring = self.scoring.clone();
            if let Some((model, paths)) = values.split_first() {
                (scoring.model, scoring.input.paths) = (model.clone(), paths.to_vec());
            }
            scoring
        };
        self.machines.0.iter().map(machine).collect()
    }

    /// The first of the machines of a page that has a list of them.
    pub(crate) fn first_of_several(&self) -> Option<&Path> {
        self.machines.0.first()?.first().map(PathBuf::as_path)
    }
}

/// Several machines: the values of each `--machine`, a model and its recordings.
#[derive(Debug, Clone, Default)]
struct MachinesArguments(Vec<Vec<PathBuf>>);

const MACHINE: &str = "machine";

impl Args for MachinesArguments {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new(MACHINE)
                .long(MACHINE)
                .value_names(["MODEL", "PATH"])
                .num_args(2..)
                .value_parser(value_parser!(PathBuf))
                .action(ArgAction::Append)
                .help("One of several machines on the page: its model, then its recordings; may be given many times")
                .help_heading(None),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MachinesArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let machines = matches.get_occurrences::<PathBuf>(MACHINE).into_iter().flatten();
        Ok(Self(machines.map(|values| values.cloned().collect()).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

//! `auscult watch`.

use std::path::PathBuf;

use auscult_monitor::site::Seconds;
use clap::{Args, Subcommand};

use super::WatchedArguments;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  auscult watch --demo                        a synthetic plant: every state within two minutes
  auscult watch --init site.toml              write a commented configuration
  auscult watch --check site.toml             say what is wrong with it
  auscult watch site.toml                     watch until stopped
  auscult watch status                        where every machine stands
  auscult watch events --jsonl                everything that happened
  auscult watch acknowledge pump-7            the alarm has been seen
  auscult watch shelve pump-7 --for 4h --reason \"new seals\"")]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    pub(crate) watched: WatchedArguments,

    /// Write a commented configuration to this file, and end.
    #[arg(long, value_name = "SITE.toml", conflicts_with_all = ["site", "check", "demo"])]
    pub(crate) init: Option<PathBuf>,

    /// Check a configuration and its models, and end.
    #[arg(long, value_name = "SITE.toml", conflicts_with_all = ["site", "demo"])]
    pub(crate) check: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Option<WatchCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WatchCommand {
    /// Show where every machine stands; on a terminal it is shown again every second.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Show it once, also on a terminal.
        #[arg(long)]
        once: bool,
    },
    /// Show what happened.
    Events(EventArguments),
    /// Write the clips of the history for data tools.
    Export(ExportArguments),
    /// Play the history again and compare the events.
    Replay {
        /// The machines; all of them if none is named.
        machines: Vec<String>,
    },
    /// Write one page on the last week of a machine, or of all of them.
    Report(WeekArguments),
    /// Copy the history to a file, also while a monitor writes it.
    Backup {
        /// The new file.
        target: PathBuf,
    },
    /// Show the versions of a machine's model.
    Models {
        /// The machine.
        machine: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show the clips that wait for a decision.
    Waiting {
        /// The machine.
        machine: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Begin a new visit of a machine that is being learnt, or begin watching it.
    Learn {
        /// The machine.
        machine: String,
        /// Make the model of what there is, and watch from then on.
        #[arg(long)]
        now: bool,
    },
    /// Let waiting clips join the memory; says what that changes, and does it with --yes.
    Accept(DecideArguments),
    /// Keep waiting clips out of the memory.
    Reject(DecideArguments),
    /// Take visits out of the memory; says what that changes, and does it with --yes.
    Forget {
        /// The machine.
        machine: String,
        /// The visits.
        #[arg(long = "visit", required = true, value_name = "VISIT")]
        visits: Vec<String>,
        /// Do it.
        #[arg(long)]
        yes: bool,
    },
    /// Learn a machine anew, after a repair; the old model is kept.
    Baseline {
        /// The machine.
        machine: String,
    },
    /// Judge by an earlier version again.
    Rollback {
        /// The machine.
        machine: String,
        /// Which version; the one before if not given.
        #[arg(long, value_name = "N")]
        to: Option<i64>,
    },
    /// Say that an alarm has been seen.
    Acknowledge {
        /// The machine.
        machine: String,
    },
    /// Tell nobody about a machine for a while.
    Shelve {
        /// The machine.
        machine: String,
        /// For how long: 30m, 4h, 2d.
        #[arg(long = "for", value_name = "TIME")]
        time: Seconds,
        /// Why.
        #[arg(long)]
        reason: String,
    },
    /// Tell about a machine again.
    Unshelve {
        /// The machine.
        machine: String,
    },
    /// Do not judge a machine until it is back.
    OutOfService {
        /// The machine.
        machine: String,
        /// Why.
        #[arg(long)]
        reason: String,
    },
    /// Judge a machine again.
    InService {
        /// The machine.
        machine: String,
    },
    /// Say that the normal has moved and that this is fine.
    AcceptDrift {
        /// The machine.
        machine: String,
    },
    /// Say what a clip really was.
    Feedback {
        /// The machine.
        machine: String,
        /// The clip, by the number that events name.
        clip: u64,
        /// normal, fault, not-running or sensor-fault.
        verdict: String,
        /// In your words.
        #[arg(long, default_value = "")]
        note: String,
    },
    /// Delete the sound of a machine in a span of time.
    DeleteSound {
        /// The machine.
        machine: String,
        /// From this time on, such as 2026-06-01T09:00:00Z ...
        #[arg(long)]
        from: String,
        /// ... to this one.
        #[arg(long)]
        to: String,
    },
    /// Read the configuration again.
    Reload,
    /// Stop the monitor.
    Stop,
}

#[derive(Debug, Args)]
pub(crate) struct EventArguments {
    /// Only those of this machine.
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,

    /// Print JSON lines, one event a line.
    #[arg(long)]
    pub(crate) jsonl: bool,
}

#[derive(Debug, Args)]
#[command(mut_arg("json", |json| json.help("Print one JSON object with the clips")))]
pub(crate) struct ExportArguments {
    /// Only those of this machine.
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,

    #[command(flatten)]
    pub(crate) format: super::FormatArguments,
}

#[derive(Debug, Args)]
pub(crate) struct WeekArguments {
    /// The machine; all of them on one page, the worst first, if none is named.
    pub(crate) machine: Option<String>,

    /// The last seven days, which is also what is taken without this and --days.
    #[arg(long, conflicts_with = "days")]
    pub(crate) week: bool,

    /// How many days.
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub(crate) days: u32,

    /// The page; week.html, or MACHINE-week.html, if not given.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DecideArguments {
    /// The machine.
    pub(crate) machine: String,

    /// The clips, by their numbers; all that wait if none is named.
    pub(crate) clips: Vec<u64>,

    /// Do it.
    #[arg(long)]
    pub(crate) yes: bool,
}

//! What `auscult watch` and `auscult serve` have in common.

use std::path::PathBuf;

use auscult_monitor::site::Seconds;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct WatchedArguments {
    /// The configuration.
    #[arg(value_name = "SITE.toml")]
    pub(crate) site: Option<PathBuf>,

    /// Watch a synthetic plant of six machines, a day in eight seconds.
    #[arg(long, conflicts_with = "site")]
    pub(crate) demo: bool,

    /// End by itself after this long: 120s, 10m.
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) most: Option<Seconds>,

    /// Where history, models, sound, users and tokens are kept; if not given, the platform's state
    /// folder, or with --demo a new folder of its own.
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data: Option<PathBuf>,

    /// Print the log as JSON lines.
    #[arg(long)]
    pub(crate) log_json: bool,
}

//! What is watched: the site of a configuration, or the synthetic plant.

use std::time::Duration;

use auscult_monitor::{
    clock::Clock,
    data::DataFolder,
    run::Settings,
    running::Watching,
    site::Site,
    sources::{Plant, plant_site},
};
use auscult_server::LogRing;
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::{args::WatchedArguments, context::Context};

/// A site, and how it is watched.
pub(crate) struct Watched {
    pub(crate) site: Site,
    pub(crate) settings: Settings,
    pub(crate) watching: Watching,
}

impl Watched {
    /// What was typed after `command`; the time of a synthetic plant starts at `began`.
    pub(crate) fn new(
        arguments: &WatchedArguments,
        data: DataFolder,
        began: f64,
        command: &str,
        context: &Context,
    ) -> anyhow::Result<Self> {
        let (site, clock) = match (&arguments.site, arguments.demo) {
            (Some(path), _) => (Site::read(path)?, Clock::system()),
            (None, true) => (plant_site(), Clock::fast(began, Plant::SPEED)),
            (None, false) => anyhow::bail!(
                "what shall be watched? name a configuration (auscult watch --init site.toml writes one), or try \
                 auscult {command} --demo"
            ),
        };
        let watching = Watching {
            path: arguments.site.clone(),
            most: arguments.most.map(|most| Duration::from_secs_f64(most.0)),
            cancel: context.cancel.clone(),
        };
        let front_ends = context.front_ends.clone();
        Ok(Self { site, settings: Settings { data, clock, jobs: None, front_ends }, watching })
    }
}

/// Sends everything that is logged to standard error, with times and the names of machines, and to `ring` if there is one.
pub(crate) fn start_log(json: bool, ring: Option<LogRing>) {
    let log = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false);
    let log = if json { log.json().boxed() } else { log.compact().boxed() };
    let level = tracing_subscriber::filter::LevelFilter::INFO;
    // A second log would be the first one's own.
    let _ = tracing_subscriber::registry().with(log).with(ring).with(level).try_init();
}

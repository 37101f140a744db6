//! A monitor from its configuration to its end: reloading, commands, the clock, systemd.

use std::{path::PathBuf, time::Duration};

use auscult::Cancel;
use tokio::sync::oneshot;

use crate::{
    clock::ClockWatch,
    control::{Answer, Ask},
    error::{Error, Result},
    run::{Monitor, Settings},
    site::Site,
};

/// How a monitor is run from a configuration file.
#[derive(Debug, Clone)]
pub struct Watching {
    /// Where the configuration is, to be read again when it changes; `None` for one that is in memory.
    pub path: Option<PathBuf>,
    /// How long to run; until it is stopped if not given.
    pub most: Option<Duration>,
    /// Asks it to stop.
    pub cancel: Cancel,
}

/// How often the configuration file is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How often old things are thinned out, by the monitor's clock.
const TIDY_SECONDS: f64 = 600.0;

/// Runs a monitor until it is stopped: the entry of `auscult watch`.
///
/// # Errors
///
/// Those of [`Monitor::start`], and if there is no runtime to be had.
pub fn watch(site: Site, settings: Settings, watching: Watching) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(Error::io("cannot start the runtime"))?;
    let ended = runtime.block_on(run(site, settings, watching));
    // A thread that reads standard input cannot be waited for.
    runtime.shutdown_timeout(Duration::from_millis(200));
    ended
}

async fn run(site: Site, settings: Settings, watching: Watching) -> Result<()> {
    let clock = settings.clock.clone();
    let mut monitor = Box::pin(Monitor::start(site, settings)).await?;
    let mut file = ConfigFile::of(watching.path.clone());
    let (asks, mut asked) = tokio::sync::mpsc::channel::<(Ask, oneshot::Sender<Answer>)>(64);
    #[cfg(unix)]
    let socket = crate::control::serve(&monitor.data().socket(), handler(asks.clone()))?;
    #[cfg(not(unix))]
    drop(asks);
    ready();
    tracing::info!(machines = monitor.site().machines.len(), "watching");
    let mut clock_watch = ClockWatch::new(clock.clone());
    let mut hang_up = HangUp::new();
    let began = std::time::Instant::now();
    let mut tidied = clock.now();
    let mut ticks = tokio::time::interval(clock.real(1.0).clamp(Duration::from_millis(50), LOOK));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            Some((ask, reply)) = asked.recv() => {
                let answer = match ask {
                    Ask::Stop => {
                        watching.cancel.cancel();
                        Answer::Done { text: "stopping".to_owned() }
                    }
                    Ask::Reload => match file.reload(&mut monitor).await {
                        Ok(text) => Answer::Done { text },
                        Err(error) => Answer::Refused { reason: error.to_string() },
                    },
                    ask => monitor.ask(ask).await,
                };
                let _ = reply.send(answer);
                continue;
            }
            () = hang_up.wait() => {
                file.reload_and_tell(&mut monitor).await;
                continue;
            }
        }
        if watching.cancel.is_cancelled()
            || watching.most.is_some_and(|most| began.elapsed() >= most)
        {
            break;
        }
        alive();
        if file.has_changed() {
            file.reload_and_tell(&mut monitor).await;
        }
        monitor.tick(clock_watch.jump()).await;
        if (clock.now() - tidied).abs() >= TIDY_SECONDS {
            tidied = clock.now();
            if let Err(error) = monitor.tidy().await {
                tracing::error!(%error, "old things cannot be thinned out");
            }
        }
    }
    tracing::info!("stopping");
    stopping();
    #[cfg(unix)]
    {
        socket.abort();
        let _ = std::fs::remove_file(monitor.data().socket());
    }
    monitor.stop().await;
    Ok(())
}

#[cfg(unix)]
fn handler(
    asks: tokio::sync::mpsc::Sender<(Ask, oneshot::Sender<Answer>)>,
) -> crate::control::Handler {
    std::sync::Arc::new(move |ask| {
        let asks = asks.clone();
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let stopping = || Answer::Refused { reason: Error::Stopping.to_string() };
            if asks.send((ask, reply)).await.is_err() {
                return stopping();
            }
            answer.await.unwrap_or_else(|_| stopping())
        })
    })
}

/// The configuration file, to be read again when it changes.
struct ConfigFile {
    path: Option<PathBuf>,
    seen: Option<(std::time::SystemTime, u64)>,
}

impl ConfigFile {
    fn of(path: Option<PathBuf>) -> Self {
        let mut file = Self { path, seen: None };
        file.seen = file.facts();
        file
    }

    fn facts(&self) -> Option<(std::time::SystemTime, u64)> {
        let facts = std::fs::metadata(self.path.as_ref()?).ok()?;
        Some((facts.modified().ok()?, facts.len()))
    }

    fn has_changed(&mut self) -> bool {
        // A file that is gone for a moment is being written.
        let now = self.facts();
        now.is_some() && now != self.seen
    }

    async fn reload(&mut self, monitor: &mut Monitor) -> Result<String> {
        self.seen = self.facts();
        let Some(path) = &self.path else {
            return Err(Error::Refused("there is no configuration file to read".to_owned()));
        };
        let site = Site::read(path)?;
        if site == *monitor.site() {
            return Ok("nothing has changed".to_owned());
        }
        monitor.apply(site).await?;
        Ok(format!("watching {}", auscult::plural(monitor.site().machines.len(), "machine")))
    }

    async fn reload_and_tell(&mut self, monitor: &mut Monitor) {
        match self.reload(monitor).await {
            Ok(text) => tracing::info!("the configuration was read again: {text}"),
            Err(error) => {
                tracing::error!(%error, "the new configuration cannot be used; the old one goes on");
            }
        }
    }
}

/// Waits for the signal that asks for the configuration to be read again.
struct HangUp {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl HangUp {
    fn new() -> Self {
        Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    async fn wait(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal {
            signal.recv().await;
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// Tells systemd, where it started us.
fn ready() {
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
}

fn alive() {
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Watchdog]);
}

fn stopping() {
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
}

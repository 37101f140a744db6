//! A monitor from its configuration to its end: reloading, commands, the clock, systemd.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use auscult::{Cancel, plural};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};

use crate::{
    clock::ClockWatch,
    control::{Answer, Ask},
    directory::Directory,
    error::{Error, Result},
    news::{ListeningIn, NewsDesk},
    run::{Monitor, Settings},
    site::{Added, MachineSpec, Site},
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

/// A way to a running monitor for those who run beside it in the same process; clones lead to the same one.
#[derive(Debug, Clone)]
pub struct Handle {
    asks: Asks,
    directory: Directory,
    site: watch::Receiver<Arc<Site>>,
    news: NewsDesk,
    listening_in: ListeningIn,
    settings: Settings,
}

type Asks = mpsc::Sender<(Ask, oneshot::Sender<Answer>)>;

impl Handle {
    /// Asks the monitor, as whoever comes through its socket does.
    pub async fn ask(&self, ask: Ask) -> Answer {
        ask_through(&self.asks, ask).await
    }

    /// The way of pushed sound.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The configuration that is running.
    pub fn site(&self) -> Arc<Site> {
        Arc::clone(&self.site.borrow())
    }

    /// Who tells what just happened.
    pub fn news(&self) -> &NewsDesk {
        &self.news
    }

    /// Who lets others listen in.
    pub fn listening_in(&self) -> &ListeningIn {
        &self.listening_in
    }

    /// How the monitor is run: its data folder, its clock, its front ends.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

async fn ask_through(asks: &Asks, ask: Ask) -> Answer {
    let (reply, answer) = oneshot::channel();
    let stopping = || Answer::Refused { reason: Error::Stopping.to_string() };
    if asks.send((ask, reply)).await.is_err() {
        return stopping();
    }
    answer.await.unwrap_or_else(|_| stopping())
}

/// Runs a monitor until it is stopped: the entry of `auscult watch`.
///
/// # Errors
///
/// Those of [`Monitor::start`], and if there is no runtime to be had.
pub fn watch(site: Site, settings: Settings, watching: Watching) -> Result<()> {
    block_on(async {
        let (_, running) = begin(site, settings, watching).await?;
        running.await.map_err(|_| Error::Stopping)?
    })
}

/// Runs a future in a runtime for a monitor and whatever is beside it.
///
/// # Errors
///
/// Those of the future, and if there is no runtime to be had.
pub fn block_on<T, E: From<Error>>(future: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(Error::io("cannot start the runtime"))?;
    let ended = runtime.block_on(future);
    // A thread that reads standard input cannot be waited for.
    runtime.shutdown_timeout(Duration::from_millis(200));
    ended
}

/// Starts a monitor with what was added to its data folder, and keeps it running until it is stopped.
///
/// # Errors
///
/// Those of [`Monitor::start`], and if what was added cannot be used.
pub async fn begin(
    site: Site,
    settings: Settings,
    watching: Watching,
) -> Result<(Handle, JoinHandle<Result<()>>)> {
    let file = ConfigFile::of(&watching, site.clone(), settings.data.root());
    let site = file.add(site)?;
    let started = Box::pin(Monitor::start(site, settings.clone())).await;
    let monitor = started.map_err(|error| error.in_file(watching.path.as_deref()))?;
    let (asks, asked) = mpsc::channel(64);
    let (publish, site) = watch::channel(Arc::new(monitor.site().clone()));
    let handle = Handle {
        asks,
        directory: monitor.directory().clone(),
        site,
        news: monitor.news().clone(),
        listening_in: monitor.listening_in().clone(),
        settings,
    };
    let run = Running { monitor, file, watching, publish, asks: handle.asks.clone() };
    Ok((handle, tokio::spawn(Box::pin(run.run(asked)))))
}

/// A monitor and what keeps it running.
struct Running {
    monitor: Monitor,
    file: ConfigFile,
    watching: Watching,
    publish: watch::Sender<Arc<Site>>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "only the socket asks, and there is none"))]
    asks: Asks,
}

impl Running {
    async fn run(
        mut self,
        mut asked: mpsc::Receiver<(Ask, oneshot::Sender<Answer>)>,
    ) -> Result<()> {
        let clock = self.monitor.clock().clone();
        #[cfg(unix)]
        let socket =
            crate::control::serve(&self.monitor.data().socket(), handler(self.asks.clone()))?;
        ready();
        tracing::info!(machines = self.monitor.site().machines.len(), "watching");
        let mut clock_watch = ClockWatch::new(clock.clone());
        let mut hang_up = HangUp::new();
        let began = std::time::Instant::now();
        let (mut tidied, mut tidying) = (clock.now(), tokio::spawn(async {}));
        let mut ticks =
            tokio::time::interval(clock.real(1.0).clamp(Duration::from_millis(50), LOOK));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                Some((ask, reply)) = asked.recv() => {
                    self.answer(ask, reply).await;
                    continue;
                }
                () = hang_up.wait() => {
                    self.reload_and_log().await;
                    continue;
                }
            }
            if self.watching.cancel.is_cancelled()
                || self.watching.most.is_some_and(|most| began.elapsed() >= most)
            {
                break;
            }
            if self.file.has_changed() {
                self.reload_and_log().await;
            }
            if self.monitor.tick(clock_watch.jump()).await {
                alive();
            }
            if (clock.now() - tidied).abs() >= TIDY_SECONDS && tidying.is_finished() {
                tidied = clock.now();
                // Beside everything else: a disk that is full makes it wait.
                let tidy = self.monitor.tidy();
                tidying = tokio::spawn(async {
                    if let Err(error) = tidy.await
                        && !matches!(error, Error::Stopping)
                    {
                        tracing::error!(%error, "old things cannot be thinned out");
                    }
                });
            }
        }
        tracing::info!("stopping");
        stopping();
        #[cfg(unix)]
        {
            socket.abort();
            let _ = std::fs::remove_file(self.monitor.data().socket());
        }
        self.monitor.stop().await;
        Ok(())
    }

    async fn answer(&mut self, ask: Ask, reply: oneshot::Sender<Answer>) {
        let answer = match ask {
            Ask::Stop => {
                self.watching.cancel.cancel();
                Answer::Done { text: "stopping".to_owned() }
            }
            Ask::Reload => match self.reload().await {
                Ok(text) => Answer::Done { text },
                Err(error) => Answer::Refused { reason: error.to_string() },
            },
            ask => {
                // A model may take minutes to be made; nobody else waits for that.
                let directory = self.monitor.directory().clone();
                tokio::spawn(async move {
                    let answer = directory.ask(ask).await;
                    let refused = |error: Error| Answer::Refused { reason: error.to_string() };
                    // Whoever asked may be gone.
                    let _ = reply.send(answer.unwrap_or_else(refused));
                });
                return;
            }
        };
        let _ = reply.send(answer);
    }

    async fn reload(&mut self) -> Result<String> {
        let site = self.file.read()?;
        if site == *self.monitor.site() && !self.monitor.has_other_models() {
            return Ok("nothing has changed".to_owned());
        }
        let mut lines = vec![format!("watching {}", plural(site.machines.len(), "machine"))];
        lines.extend(left_without_model(self.monitor.site(), &site));
        let applied = self.monitor.apply(site).await;
        applied.map_err(|error| error.in_file(self.watching.path.as_deref()))?;
        let _ = self.publish.send(Arc::new(self.monitor.site().clone()));
        Ok(lines.join("; "))
    }

    async fn reload_and_log(&mut self) {
        match self.reload().await {
            Ok(text) => tracing::info!("the configuration was read again: {text}"),
            Err(error) => {
                tracing::error!(%error, "the new configuration cannot be used; the old one goes on");
            }
        }
    }
}

/// What becomes of machines whose model was taken out of the configuration.
fn left_without_model(before: &Site, after: &Site) -> Vec<String> {
    let had_model = |name: &str| before.machine(name).is_some_and(|it| it.model.is_some());
    let left = after.machines.iter().filter(|it| it.model.is_none() && had_model(&it.name));
    left.map(|MachineSpec { name, .. }| {
        format!(
            "the configuration names no model of {name} any more: the last one goes on judging, and auscult watch baseline \
             {name} learns it anew"
        )
    })
    .collect()
}

#[cfg(unix)]
fn handler(asks: Asks) -> crate::control::Handler {
    Arc::new(move |ask| {
        let asks = asks.clone();
        Box::pin(async move { ask_through(&asks, ask).await })
    })
}

/// The configuration, to be read again when its file changes.
struct ConfigFile {
    path: Option<PathBuf>,
    /// What was given, for configurations without a file.
    given: Site,
    /// Where more machines may be.
    folder: PathBuf,
    seen: Option<(std::time::SystemTime, u64)>,
}

impl ConfigFile {
    fn of(watching: &Watching, given: Site, folder: &Path) -> Self {
        let (path, folder) = (watching.path.clone(), folder.to_owned());
        let mut file = Self { path, given, folder, seen: None };
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

    fn read(&mut self) -> Result<Site> {
        self.seen = self.facts();
        let site = match &self.path {
            Some(path) => Site::read(path)?,
            None => self.given.clone(),
        };
        self.add(site)
    }

    fn add(&self, site: Site) -> Result<Site> {
        Ok(site.with_added(&Added::read(&self.folder)?, &self.folder)?)
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

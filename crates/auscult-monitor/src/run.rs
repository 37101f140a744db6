//! The monitor as a whole: sources, judges, history and sinks, started, reloaded and stopped together.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, RwLock},
    thread::JoinHandle,
    time::{Duration, SystemTime},
};

use auscult::FrontEnds;
use tokio::sync::oneshot;

use crate::{
    clock::Clock,
    control::{Answer, Ask},
    data::{DataFolder, DataLock},
    directory::{Directory, Place},
    error::{Error, Result},
    history::{Commit, History, Writer},
    news::{ListeningIn, NewsDesk},
    sinks::{self, Bell, Choice, Post, Turns},
    site::{MachineSpec, Site, SourceSpec},
    sources::{self, Folders, Tap},
    watch::{Event, Models, RuleStatus, Sound, Surroundings, Watch},
    worker::{Work, Worker},
};

/// How a monitor is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where everything is kept.
    pub data: DataFolder,
    /// The clock.
    pub clock: Clock,
    /// Threads that judge; as many as there are cores if not given.
    pub jobs: Option<usize>,
    /// Where front ends come from.
    pub front_ends: FrontEnds,
}

/// A monitor that is running.
pub struct Monitor {
    site: Site,
    settings: Settings,
    around: Surroundings,
    choices: Arc<RwLock<Vec<Choice>>>,
    post: Post,
    workers: Vec<Worker>,
    machines: Directory,
    news: NewsDesk,
    sources: BTreeMap<SourceSpec, sources::Running>,
    folders: Folders,
    model_files: ModelFiles,
    sinks: Vec<sinks::Running>,
    #[cfg(feature = "mqtt")]
    mqtt: Arc<Mutex<Option<sinks::Mqtt>>>,
    #[cfg(feature = "mqtt")]
    orders: tokio::sync::mpsc::UnboundedSender<Ask>,
    history: Option<JoinHandle<()>>,
    _lock: DataLock,
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Monitor").field("site", &self.site.name).finish_non_exhaustive()
    }
}

impl Monitor {
    /// Starts everything; must be called within a runtime.
    ///
    /// # Errors
    ///
    /// If the data folder is in use, the history or a model cannot be opened, or a sink cannot be made.
    pub async fn start(site: Site, settings: Settings) -> Result<Self> {
        let lock = settings.data.lock()?;
        let history = History::open(settings.data.root())?;
        let bell = Bell::default();
        let news = NewsDesk::default();
        #[cfg(feature = "mqtt")]
        let mqtt: Arc<Mutex<Option<sinks::Mqtt>>> = Arc::default();
        let written = {
            let (bell, news) = (bell.clone(), news.clone());
            #[cfg(feature = "mqtt")]
            let mqtt = Arc::clone(&mqtt);
            Box::new(move |commit: &Commit| {
                if !commit.messages.is_empty() {
                    bell.ring();
                }
                news.publish(commit);
                #[cfg(feature = "mqtt")]
                if let Some(standing) = &commit.standing
                    && let Some(mqtt) = &*mqtt.lock().unwrap_or_else(PoisonError::into_inner)
                {
                    mqtt.publish(&standing.status);
                }
            })
        };
        let clock = settings.clock.clone();
        let (writer, thread) = Writer::start(history, clock.clone(), written)?;
        let choices = Arc::new(RwLock::new(sinks::choices(&site)));
        let wanted = {
            let choices = Arc::clone(&choices);
            move |event: &Event| {
                sinks::wanted_by(&choices.read().unwrap_or_else(PoisonError::into_inner), event)
            }
        };
        let around = Surroundings {
            clock: clock.clone(),
            data: settings.data.clone(),
            writer: writer.clone(),
            front_ends: settings.front_ends.clone(),
            sinks: Arc::new(wanted),
            listening_in: ListeningIn::default(),
        };
        let post = Post {
            clock,
            data: settings.data.clone(),
            writer,
            public_url: site.public_url.clone(),
            site: site.name.clone(),
            bell,
            turns: Turns::default(),
        };
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let workers: Result<Vec<Worker>> =
            (0..settings.jobs.unwrap_or(cores).max(1)).map(Worker::start).collect();
        let machines = Directory::default();
        #[cfg(feature = "mqtt")]
        let orders = {
            let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
            tokio::spawn(take_orders(receiver, machines.clone()));
            sender
        };
        let data_root = settings.data.root().to_owned();
        let mut monitor = Self {
            site: Site { machines: Vec::new(), ..site.clone() },
            settings,
            around,
            choices,
            post,
            workers: workers?,
            machines,
            news,
            sources: BTreeMap::new(),
            folders: Folders::start(data_root)?,
            model_files: ModelFiles::new(),
            sinks: Vec::new(),
            #[cfg(feature = "mqtt")]
            mqtt,
            #[cfg(feature = "mqtt")]
            orders,
            history: Some(thread),
            _lock: lock,
        };
        monitor.start_sinks(&site)?;
        if let Err(error) = monitor.apply(site).await {
            Box::pin(monitor.stop()).await;
            return Err(error);
        }
        Ok(monitor)
    }

    /// The configuration that is running.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.settings.clock
    }

    /// The data folder.
    pub fn data(&self) -> &DataFolder {
        &self.settings.data
    }

    /// Changes to another configuration; what stays the same is not touched. If it cannot be run, the old one goes on.
    ///
    /// # Errors
    ///
    /// If a model cannot be opened or a sink cannot be made.
    pub async fn apply(&mut self, site: Site) -> Result<()> {
        let files = model_files(&site);
        let before = self.model_files.clone();
        let is_same_file = |path: &PathBuf| files.get(path) == before.get(path);
        // Everything that can fail comes first.
        let mut opened: Vec<(MachineSpec, Option<Watch>)> = Vec::new();
        for spec in &site.machines {
            let place = self.machines.find(&spec.name);
            let is_running = place.as_ref().is_some_and(|place| place.spec == *spec)
                && spec.models().all(is_same_file);
            if let (false, Some(place)) = (is_running, place) {
                self.check_models(spec, place.id).await?;
                self.remove(&place).await;
            }
            let watch = if is_running {
                None
            } else {
                let (spec, around) = (spec.clone(), self.around.clone());
                let opened = tokio::task::spawn_blocking(move || Watch::open(spec, around));
                Some(opened.await.map_err(|_| Error::Stopping)??)
            };
            opened.push((spec.clone(), watch));
        }
        let is_other = site.webhooks != self.site.webhooks
            || site.emails != self.site.emails
            || site.mqtt != self.site.mqtt
            || !names(&site).eq(names(&self.site))
            || site.public_url != self.site.public_url;
        if is_other && !self.site.machines.is_empty() {
            self.start_sinks(&site)?;
        }
        let wanted: BTreeSet<&str> = site.machines.iter().map(|it| it.name.as_str()).collect();
        let mut gone = self.machines.places();
        gone.retain(|place| !wanted.contains(place.spec.name.as_str()));
        for place in gone {
            self.remove(&place).await;
            self.machines.remove(&place.spec.name);
        }
        for (spec, watch) in opened {
            let Some(watch) = watch else { continue };
            let id = watch.id();
            let worker = self.least_busy();
            let Some(sender) = self.workers.get(worker).map(|worker| worker.sender.clone()) else {
                return Err(Error::Stopping);
            };
            self.send(worker, Work::Add(Box::new(watch))).await;
            self.machines.insert(Place { id, worker, sender, spec });
        }
        *self.choices.write().unwrap_or_else(PoisonError::into_inner) = sinks::choices(&site);
        let (writer, watched) = (self.around.writer.clone(), names(&site).map(str::to_owned));
        let watched: Vec<String> = watched.collect();
        let mark = move || writer.call(move |history| history.watch_only(&watched));
        tokio::task::spawn_blocking(mark).await.map_err(|_| Error::Stopping)??;
        (self.site, self.model_files) = (site, files);
        self.start_sources().await
    }

    /// Whether another file stands in the place of a model of the configuration that is running.
    pub fn has_other_models(&self) -> bool {
        model_files(&self.site) != self.model_files
    }

    /// Opens everything that would judge a machine, so that one that is judged now is not lost.
    async fn check_models(&self, spec: &MachineSpec, id: i64) -> Result<()> {
        let (spec, around) = (spec.clone(), self.around.clone());
        let check =
            move || Models::check(&spec, id, &around.data, &around.writer, &around.front_ends);
        tokio::task::spawn_blocking(check).await.map_err(|_| Error::Stopping)?
    }

    fn start_sinks(&mut self, site: &Site) -> Result<()> {
        self.post.public_url.clone_from(&site.public_url);
        self.post.site.clone_from(&site.name);
        let started = sinks::start(site, &self.post)?;
        self.sinks = started;
        #[cfg(feature = "mqtt")]
        {
            let mqtt = match &site.mqtt {
                Some(file) => {
                    Some(sinks::Mqtt::start(file, site, &self.post, self.orders.clone())?)
                }
                None => None,
            };
            *self.mqtt.lock().unwrap_or_else(PoisonError::into_inner) = mqtt;
        }
        Ok(())
    }

    fn least_busy(&self) -> usize {
        let places = self.machines.places();
        let count = |worker: usize| places.iter().filter(|it| it.worker == worker).count();
        (0..self.workers.len()).min_by_key(|&worker| count(worker)).unwrap_or(0)
    }

    async fn send(&self, worker: usize, work: Work) {
        if let Some(worker) = self.workers.get(worker) {
            // If it has ended, so has everything.
            let _ = worker.sender.send(work).await;
        }
    }

    async fn remove(&mut self, place: &Place) {
        // Its source first: what is on its way is still judged.
        if let Some(running) = self.sources.remove(&place.spec.source)
            && let sources::Running::Folder(path) = &running
        {
            self.folders.remove(path);
        }
        let (done, wait) = oneshot::channel();
        self.send(place.worker, Work::Remove(place.id, done)).await;
        let _ = wait.await;
    }

    /// Starts every source that is not running, with all machines that listen to it.
    async fn start_sources(&mut self) -> Result<()> {
        let mut wanted: BTreeMap<SourceSpec, Vec<Place>> = BTreeMap::new();
        for place in self.machines.places() {
            wanted.entry(place.spec.source.clone()).or_default().push(place);
        }
        for (spec, places) in wanted {
            if self.sources.contains_key(&spec) {
                continue;
            }
            let mut taps = Vec::new();
            for place in places {
                let (id, writer) = (place.id, self.around.writer.clone());
                let seen = match spec {
                    SourceSpec::Folder { .. } => {
                        let seen = move || writer.call(move |history| history.seen(id));
                        tokio::task::spawn_blocking(seen).await.map_err(|_| Error::Stopping)??
                    }
                    _ => Vec::new(),
                };
                let (machine, channel) = (place.id, place.spec.channel);
                taps.push(Tap { machine, channel, sender: place.sender, seen });
            }
            let running = sources::start(&spec, taps, &self.settings.clock, &self.folders);
            self.sources.insert(spec, running);
        }
        Ok(())
    }

    /// Sound of a machine whose sound is pushed; see [`Directory::push`].
    ///
    /// # Errors
    ///
    /// Those of [`Directory::push`].
    pub async fn push(&self, machine: &str, sound: Sound) -> Result<()> {
        self.machines.push(machine, sound).await
    }

    /// Carries out what somebody asks.
    pub async fn ask(&self, ask: Ask) -> Answer {
        let answer = self.machines.ask(ask).await;
        answer.unwrap_or_else(|error| Answer::Refused { reason: error.to_string() })
    }

    /// The way to the machines, which others may use while the monitor runs.
    pub fn directory(&self) -> &Directory {
        &self.machines
    }

    /// Who tells what just happened.
    pub fn news(&self) -> &NewsDesk {
        &self.news
    }

    /// Who lets others listen in.
    pub fn listening_in(&self) -> &ListeningIn {
        &self.around.listening_in
    }

    /// Time passes: call it about once a second. Says whether all is well: every thread that judges takes work, or would if the
    /// disk took what they have.
    pub async fn tick(&self, jump: Option<f64>) -> bool {
        let patience = tokio::time::Instant::now() + PATIENCE / 2;
        let mut is_taken = true;
        for (number, worker) in self.workers.iter().enumerate() {
            if let Some(seconds) = jump {
                self.send(number, Work::Clock(seconds)).await;
            }
            let sent = tokio::time::timeout_at(patience, worker.sender.send(Work::Tick)).await;
            is_taken &= matches!(sent, Ok(Ok(())));
        }
        is_taken || self.around.writer.is_stuck()
    }

    /// Thins out old scores and sound, and keeps both within their budgets.
    ///
    /// # Errors
    ///
    /// If the history has ended.
    pub fn tidy(&self) -> impl Future<Output = Result<()>> + Send + use<> {
        let (writer, data) = (self.around.writer.clone(), self.settings.data.clone());
        let (mut settings, clock) = (self.site.history, self.settings.clock.clone());
        let work = move || -> Result<()> {
            loop {
                let (now, keep) = (clock.now(), settings);
                let thinned = writer.call(move |history| history.thin(&keep, now))?;
                let bytes = writer.call(|history| Ok(history.bytes()))?;
                if thinned == crate::history::Thinned::default() {
                    // Still too large: single clips have to go earlier.
                    if bytes <= settings.budget.0 || settings.clips.0 < 3_600.0 {
                        break;
                    }
                    settings.clips.0 *= 0.8;
                }
                writer.call(History::give_back_room)?;
            }
            let (now, budget) = (clock.now(), settings.sound.0);
            let deleted = writer.call(move |history| history.sweep_sounds(&data, budget, now))?;
            if deleted > 0 {
                tracing::info!(deleted, "sound was deleted: its budget was used up");
            }
            Ok(())
        };
        async { tokio::task::spawn_blocking(work).await.map_err(|_| Error::Stopping)? }
    }

    /// Stops everything; what has arrived is judged and written, unless the disk takes nothing.
    pub async fn stop(mut self) {
        self.workers.iter().for_each(Worker::leave_recordings);
        self.sources.clear();
        let workers = std::mem::take(&mut self.workers);
        let end = end(workers, self.around.writer.clone(), self.history.take());
        let mut end = Box::pin(end);
        while tokio::time::timeout(PATIENCE, &mut end).await.is_err() {
            if self.around.writer.is_stuck() {
                tracing::error!(
                    "the history cannot be written: what it has not taken is lost, but for recordings, which stay in their folders \
                     for the next start"
                );
                break;
            }
        }
        self.sinks.clear();
        #[cfg(feature = "mqtt")]
        {
            let mqtt = self.mqtt.lock().unwrap_or_else(PoisonError::into_inner).take();
            let _ = tokio::task::spawn_blocking(move || drop(mqtt)).await;
        }
    }
}

/// How long threads that judge may take to take work, before somebody looks why.
const PATIENCE: Duration = Duration::from_secs(2);

/// Lets threads finish what is waiting, and then the history.
async fn end(workers: Vec<Worker>, writer: Writer, history: Option<JoinHandle<()>>) {
    for worker in &workers {
        // If it has ended, that is what was wanted.
        let _ = worker.sender.send(Work::Stop).await;
    }
    let join = move || {
        workers.into_iter().for_each(Worker::join);
        writer.stop();
        if history.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the history's thread has failed");
        }
    };
    // Nothing is left to be told if this fails.
    let _ = tokio::task::spawn_blocking(join).await;
}

/// Carries out what is asked through the broker, in its order; nobody is answered there.
#[cfg(feature = "mqtt")]
async fn take_orders(mut orders: tokio::sync::mpsc::UnboundedReceiver<Ask>, machines: Directory) {
    while let Some(ask) = orders.recv().await {
        if let Err(error) = machines.ask(ask).await {
            tracing::warn!(%error, "a message from the broker was refused");
        }
    }
}

fn names(site: &Site) -> impl Iterator<Item = &str> {
    site.machines.iter().map(|machine| machine.name.as_str())
}

/// When the models of a configuration were written, and their size.
type ModelFiles = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

fn model_files(site: &Site) -> ModelFiles {
    let facts = |path: &PathBuf| {
        let facts = std::fs::metadata(path).ok()?;
        Some((facts.modified().ok()?, facts.len()))
    };
    let paths = site.machines.iter().flat_map(MachineSpec::models);
    paths.map(|path| (path.clone(), facts(path))).collect()
}

/// Opens every model that a configuration names, as a monitor would, and says what raises alarms: a machine's name and its rule,
/// for each model.
///
/// # Errors
///
/// The first one that cannot be used, and why: another front end, a budget that its visits cannot carry.
pub fn check_models(site: &Site, front_ends: &FrontEnds) -> Result<Vec<(String, RuleStatus)>> {
    let mut rules = Vec::new();
    for machine in &site.machines {
        for path in machine.models() {
            let rule = crate::watch::check_file(path, machine, front_ends)?;
            rules.push((machine.name.clone(), rule));
        }
    }
    Ok(rules)
}

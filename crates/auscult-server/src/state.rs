//! What all handlers share.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use auscult::Machine;
use auscult_monitor::{
    control::{Answer, Ask},
    history::{ClipQuery, History, ModelRow},
    running::Handle,
    site::MachineSpec,
    watch::Change,
};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, watch};

use crate::{
    access::{AccessError, Principal, Store},
    days::Days,
    error::{Problem, Result},
    hub::Hub,
    limits::{Rates, Throttle},
    list::ListCache,
    logs::LogRing,
    policy::Policy,
    readers::Readers,
    scrub::{Scrubber, Scrubbing},
    upload::Rooms,
};

/// The form that clips are exported in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// Writes clips of a history to a new file, for data tools; the program has one. What it is given last takes folders of
/// this computer out of texts.
pub type Exporter = Arc<
    dyn Fn(&History, &ClipQuery, ExportFormat, &Path, &dyn Fn(&mut String)) -> Result<(), String>
        + Send
        + Sync,
>;

/// What a service is made of.
#[derive(Clone)]
pub struct Settings {
    /// The monitor beside it.
    pub monitor: Handle,
    /// Users, tokens and sessions.
    pub store: Store,
    /// Who may reach it.
    pub policy: Policy,
    /// Its log.
    pub logs: LogRing,
    /// How clips are exported.
    pub exporter: Option<Exporter>,
    /// Whether the plant is the synthetic one.
    pub is_demo: bool,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Settings").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// What all handlers share; clones are the same.
#[derive(Debug, Clone)]
pub struct App(Arc<Shared>);

#[derive(Debug)]
pub struct Shared {
    pub(crate) settings: Settings,
    pub(crate) readers: Readers,
    pub(crate) hub: Hub,
    pub(crate) days: Days,
    pub(crate) list: ListCache,
    pub(crate) rates: Rates,
    pub(crate) throttle: Throttle,
    /// Passwords that are being checked: each takes memory and time.
    pub(crate) checking: Semaphore,
    /// Sound that is being scored or decoded: each takes a core.
    pub(crate) working: Arc<Semaphore>,
    /// Bodies that are being received: they take room on the disk.
    pub(crate) uploads: Rooms,
    streams: Arc<Semaphore>,
    /// Users, tokens or sessions have changed here: whoever looks on is asked again whether they may.
    people: watch::Sender<()>,
    models: Mutex<Vec<(String, Arc<Machine>)>>,
    scrubbing: Arc<Scrubbing>,
    /// Pieces of one machine are taken one after the other.
    pub(crate) pushing: Vec<Arc<Mutex<()>>>,
    /// Changing what was added is one thing at a time.
    pub(crate) adding: Mutex<()>,
    pub(crate) began: Instant,
}

/// Models that stay open for scoring and explaining.
const MOST_MODELS: usize = 8;

impl App {
    /// Begins to serve; must be called within a runtime.
    pub fn new(settings: Settings) -> Self {
        let monitor = &settings.monitor;
        let scrubbing = Arc::<Scrubbing>::default();
        let server = monitor.site().server.clone();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let readers = Readers::new(monitor.settings().data.clone());
        let hub = Hub::start(monitor.clone(), Arc::clone(&scrubbing));
        Self(Arc::new(Shared {
            days: Days::start(monitor.clone(), readers.clone(), hub.sender()),
            readers,
            hub,
            list: ListCache::default(),
            rates: Rates::new(server.requests_per_second),
            throttle: Throttle::default(),
            checking: Semaphore::new(2),
            working: Arc::new(Semaphore::new(cores.max(2))),
            uploads: Rooms::new(server.body.0),
            streams: Arc::new(Semaphore::new(server.streams)),
            people: watch::Sender::new(()),
            models: Mutex::default(),
            scrubbing,
            pushing: (0..64).map(|_| Arc::default()).collect(),
            adding: Mutex::new(()),
            began: Instant::now(),
            settings,
        }))
    }

    pub(crate) fn monitor(&self) -> &Handle {
        &self.0.settings.monitor
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.settings.store
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.0.settings.policy
    }

    /// Takes paths of this computer out of texts.
    pub(crate) fn scrubber(&self) -> Arc<Scrubber> {
        self.scrubbing.of(self.monitor().settings().data.root(), &self.monitor().site())
    }

    /// The time of the plant, which in a demonstration is not the computer's.
    pub(crate) fn now(&self) -> f64 {
        self.monitor().settings().clock.now()
    }

    /// A machine that is watched.
    pub(crate) fn machine(&self, name: &str) -> Result<MachineSpec> {
        self.monitor().site().machine(name).cloned().ok_or_else(|| Problem::no_machine(name))
    }

    /// A machine that is watched, and what the history says of it.
    pub(crate) async fn read_machine<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&History, i64) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let spec = self.machine(name)?;
        self.readers
            .read(move |history| {
                let id = history.machine_id(&spec.name)?;
                work(history, id.ok_or_else(|| Problem::no_machine(&spec.name))?)
            })
            .await
    }

    /// Does something with users, tokens or sessions that may wait for the disk.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, AccessError> + Send + 'static,
    ) -> Result<T> {
        let store = self.store().clone();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        let done = done.map_err(|error| Problem::internal("users cannot be read", &error))?;
        done.map_err(Problem::from)
    }

    /// The same, for what may end sessions; open streams notice it at once.
    pub(crate) async fn change_people<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, AccessError> + Send + 'static,
    ) -> Result<T> {
        let done = self.with_store(work).await;
        self.people.send_replace(());
        done
    }

    /// Tells when users, tokens or sessions have changed here.
    pub(crate) fn people(&self) -> watch::Receiver<()> {
        self.people.subscribe()
    }

    /// Asks the monitor; what it refuses is a conflict.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Answer> {
        if let Ask::Command { machine, .. } | Ask::Request { machine, .. } = &ask {
            self.machine(machine)?;
        }
        let answer = self.monitor().ask(ask).await;
        // Whoever asked looks next, and sees what they did.
        self.list.forget();
        match answer {
            Answer::Refused { reason }
                if reason == auscult_monitor::Error::Stopping.to_string() =>
            {
                Err(auscult_monitor::Error::Stopping.into())
            }
            Answer::Refused { reason } => Err(Problem::conflict(reason)),
            answer => Ok(answer),
        }
    }

    /// The same, for what changes a memory.
    pub(crate) async fn ask_for_change(&self, ask: Ask) -> Result<Change> {
        match self.ask(ask).await? {
            Answer::Change(change) => Ok(change),
            _ => Err(Problem::internal("the monitor gave another answer", &"not a change")),
        }
    }

    /// The model that judges a machine, opened.
    pub(crate) async fn model_of(&self, name: &str) -> Result<Option<(Arc<Machine>, ModelRow)>> {
        let row = self
            .read_machine(name, |history, id| {
                let models = history.models(id)?;
                Ok(models.into_iter().rev().find(|model| model.valid_to.is_none()))
            })
            .await?;
        match row {
            Some(row) => Ok(Some((self.open_model(&row).await?, row))),
            None => Ok(None),
        }
    }

    /// A model of the history, opened; the last few stay open.
    pub(crate) async fn open_model(&self, row: &ModelRow) -> Result<Arc<Machine>> {
        let mut models = self.models.lock().await;
        let key = format!("{} {}", row.file, row.hash);
        if let Some(place) = models.iter().position(|(known, _)| *known == key) {
            let entry = models.remove(place);
            let machine = Arc::clone(&entry.1);
            models.push(entry);
            return Ok(machine);
        }
        let settings = self.monitor().settings();
        let (path, front_ends) = (settings.data.file(&row.file), settings.front_ends.clone());
        let opened = tokio::task::spawn_blocking(move || Machine::open_with(path, &front_ends));
        let failed = |error: &dyn std::fmt::Display| {
            Problem::internal("the model of this machine cannot be opened", error)
        };
        let machine = opened.await.map_err(|error| failed(&error))?;
        let machine = Arc::new(machine.map_err(|error| failed(&error))?);
        if models.len() == MOST_MODELS {
            models.remove(0);
        }
        models.push((key, Arc::clone(&machine)));
        Ok(machine)
    }

    /// Whether somebody with an open stream may go on: sessions end, tokens are revoked.
    pub(crate) fn still_may_look(&self, principal: &Principal) -> bool {
        self.store().is_still_known(principal).unwrap_or(false)
    }

    /// A place among the open streams.
    pub(crate) fn stream_permit(&self) -> Result<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().map_err(|_| {
            Problem::too_many("too many streams are open; close one, or raise server.streams", 10)
        })
    }

    /// Does work that takes a core, a few at a time.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = Arc::clone(&self.working).acquire_owned();
        let permit = tokio::time::timeout(Duration::from_secs(20), permit).await;
        let Ok(Ok(permit)) = permit else {
            return Err(Problem::unavailable("too much sound is being worked on; try again later"));
        };
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.map_err(|error| Problem::internal("the work has failed", &error))?
    }
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        match &error {
            AccessError::Taken { .. } | AccessError::LastAdministrator(_) => {
                Self::conflict(error.to_string())
            }
            AccessError::Unknown { .. } => Self::not_found(error.to_string()),
            AccessError::Name(_) | AccessError::Reserved(_) => {
                Self::invalid("name", error.to_string())
            }
            AccessError::PasswordLength => Self::invalid("password", error.to_string()),
            AccessError::NoScopes => Self::invalid("scopes", error.to_string()),
            _ => Self::internal("users and tokens cannot be read or written", &error),
        }
    }
}

//! What just happened, for whoever looks on: commits that are on disk, and sound as it arrives.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use tokio::sync::broadcast;

use crate::{
    history::Commit,
    watch::{Event, MachineStatus, Sound},
};

/// Something that is on disk.
#[derive(Debug, Clone)]
pub enum News {
    /// An event.
    Event(Arc<Event>),
    /// Where a machine stands.
    Status(Arc<MachineStatus>),
}

/// Publishes to everybody who looks on; clones have the same subscribers. Nobody who is slow holds it up.
#[derive(Debug, Clone)]
pub struct NewsDesk {
    sender: broadcast::Sender<News>,
    commits: Arc<AtomicU64>,
}

/// News that may wait for somebody slow before they miss some.
const MOST_WAITING: usize = 4_096;

impl Default for NewsDesk {
    fn default() -> Self {
        Self { sender: broadcast::channel(MOST_WAITING).0, commits: Arc::default() }
    }
}

impl NewsDesk {
    /// Everything from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<News> {
        self.sender.subscribe()
    }

    /// How many commits there have been: what was read of the history is still true if this is the same.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    pub(crate) fn publish(&self, commit: &Commit) {
        self.commits.fetch_add(1, Ordering::AcqRel);
        if self.sender.receiver_count() == 0 {
            return;
        }
        // Nobody may be left to hear it.
        for event in &commit.events {
            let _ = self.sender.send(News::Event(Arc::new(event.clone())));
        }
        if let Some(standing) = &commit.standing {
            let _ = self.sender.send(News::Status(Arc::new(standing.status.clone())));
        }
    }
}

/// Sound as it arrives, for whoever listens in; clones share their listeners.
#[derive(Debug, Clone, Default)]
pub struct ListeningIn {
    listeners: Arc<AtomicUsize>,
    machines: Arc<RwLock<BTreeMap<String, broadcast::Sender<Arc<Sound>>>>>,
}

/// Pieces of sound that may wait for somebody slow before they miss some.
const MOST_PIECES: usize = 64;

/// Somebody who listens in; ends when it is dropped.
#[derive(Debug)]
pub struct Listener {
    receiver: broadcast::Receiver<Arc<Sound>>,
    listeners: Arc<AtomicUsize>,
}

impl ListeningIn {
    /// The sound of a machine from now on.
    pub fn listen(&self, machine: &str) -> Listener {
        let mut machines = self.machines.write().unwrap_or_else(PoisonError::into_inner);
        machines.retain(|_, sender| sender.receiver_count() > 0);
        let sender =
            machines.entry(machine.to_owned()).or_insert_with(|| broadcast::channel(MOST_PIECES).0);
        self.listeners.fetch_add(1, Ordering::AcqRel);
        Listener { receiver: sender.subscribe(), listeners: Arc::clone(&self.listeners) }
    }

    pub(crate) fn publish(&self, machine: &str, sound: impl FnOnce() -> Sound) {
        // Nearly always nobody listens, and then a clip costs nothing.
        if self.listeners.load(Ordering::Acquire) == 0 {
            return;
        }
        let machines = self.machines.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = machines.get(machine).filter(|it| it.receiver_count() > 0) {
            let _ = sender.send(Arc::new(sound()));
        }
    }
}

impl Listener {
    /// The next piece; `None` if no more will come. What was missed is skipped.
    pub async fn next(&mut self) -> Option<Arc<Sound>> {
        loop {
            match self.receiver.recv().await {
                Ok(sound) => return Some(sound),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.listeners.fetch_sub(1, Ordering::AcqRel);
    }
}

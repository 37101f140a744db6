//! Who judges which machine: the way of commands and of pushed sound to the thread that owns a machine.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use tokio::sync::oneshot;

use crate::{
    control::{Answer, Ask},
    error::{Error, Result},
    site::{MachineSpec, SourceSpec},
    watch::{Command, Sound},
    worker::{Sender, Work},
};

/// Where a machine is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) id: i64,
    pub(crate) worker: usize,
    pub(crate) sender: Sender,
    pub(crate) spec: MachineSpec,
}

/// The machines that are being watched; clones see the same ones.
#[derive(Debug, Clone, Default)]
pub struct Directory(Arc<RwLock<BTreeMap<String, Place>>>);

impl Directory {
    pub(crate) fn insert(&self, place: Place) {
        let mut places = self.0.write().unwrap_or_else(PoisonError::into_inner);
        places.insert(place.spec.name.clone(), place);
    }

    pub(crate) fn remove(&self, name: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    pub(crate) fn find(&self, name: &str) -> Option<Place> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn places(&self) -> Vec<Place> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn place(&self, machine: &str) -> Result<Place> {
        self.find(machine).ok_or_else(|| Error::UnknownMachine { name: machine.to_owned() })
    }

    /// How much work waits for each thread that judges.
    pub fn waiting(&self) -> Vec<usize> {
        let mut waiting: BTreeMap<usize, usize> = BTreeMap::new();
        for place in self.places() {
            let free = place.sender.capacity();
            waiting.insert(place.worker, place.sender.max_capacity() - free);
        }
        waiting.into_values().collect()
    }

    /// Sound of a machine whose sound is pushed; returns when the clips that it completes are in the history.
    ///
    /// # Errors
    ///
    /// If there is no such machine, its sound comes from somewhere else, or the monitor is stopping.
    pub async fn push(&self, machine: &str, sound: Sound) -> Result<()> {
        let place = self.place(machine)?;
        if place.spec.source != SourceSpec::Push {
            return Err(Error::Refused(format!(
                "the sound of {machine} comes from {}; only a machine without a source is pushed to",
                place.spec.source
            )));
        }
        let (reply, answer) = oneshot::channel();
        send(&place, Work::Pushed(place.id, sound, reply)).await;
        answer.await.map_err(|_| Error::Stopping)?
    }

    /// Carries out what somebody asks of a machine.
    ///
    /// # Errors
    ///
    /// If there is no such machine, it refuses, or the monitor is stopping.
    pub async fn ask(&self, ask: Ask) -> Result<Answer> {
        match ask {
            Ask::Command { machine, body } => {
                self.command(&machine, body).await.map(|text| Answer::Done { text })
            }
            Ask::Request { machine, body } => {
                let place = self.place(&machine)?;
                let (reply, answer) = oneshot::channel();
                send(&place, Work::Request(place.id, body, reply)).await;
                answer.await.map_err(|_| Error::Stopping)?.map(Answer::Change)
            }
            Ask::Reload | Ask::Stop => Err(Error::Stopping),
        }
    }

    async fn command(&self, machine: &str, command: Command) -> Result<String> {
        let place = self.place(machine)?;
        let (reply, answer) = oneshot::channel();
        send(&place, Work::Command(place.id, command, Some(reply))).await;
        answer.await.map_err(|_| Error::Stopping)?
    }
}

async fn send(place: &Place, work: Work) {
    // If nobody takes it, the answer never comes, and that is told.
    let _ = place.sender.send(work).await;
}

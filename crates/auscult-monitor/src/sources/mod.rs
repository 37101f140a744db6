//! 2. Where sound comes from. Every source delivers to the machines that listen to it, a channel each.

mod folder;
mod pcm;
mod plant;
mod stream;

use std::path::PathBuf;

pub use self::{
    folder::{FolderTask, Folders},
    plant::{Plant, plant_site},
};
use crate::{
    clock::Clock,
    history::SeenFile,
    site::SourceSpec,
    watch::Sound,
    worker::{Sender, Work},
};

/// A machine that listens to a source.
#[derive(Debug, Clone)]
pub struct Tap {
    /// Its number.
    pub machine: i64,
    /// Its channel, from 1.
    pub channel: u16,
    /// The thread that judges it.
    pub sender: Sender,
    /// Recordings that are done with, for folders.
    pub seen: Vec<SeenFile>,
}

impl Tap {
    async fn send(&self, work: Work) {
        // If nobody takes it, the monitor is stopping.
        let _ = self.sender.send(work).await;
    }

    async fn source(&self, is_alive: bool, text: &str, is_news: bool) {
        let (machine, text) = (self.machine, text.to_owned());
        self.send(Work::Source { machine, is_alive, text, is_news }).await;
    }

    async fn sound(&self, samples: Vec<f32>, sample_rate: u32, arrived: f64) {
        let sound = Sound { samples, sample_rate, arrived, stands_alone: false };
        self.send(Work::Sound(self.machine, sound)).await;
    }
}

/// A source that is running; it ends when this is dropped.
#[derive(Debug)]
pub enum Running {
    /// A task of its own.
    Task(tokio::task::JoinHandle<()>),
    /// A folder among others.
    Folder(PathBuf),
    /// Nothing runs: sound is pushed.
    Pushed,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Self::Task(task) = self {
            task.abort();
        }
    }
}

/// Starts a source for the machines that listen to it.
pub fn start(spec: &SourceSpec, taps: Vec<Tap>, clock: &Clock, folders: &Folders) -> Running {
    let clock = clock.clone();
    match spec.clone() {
        SourceSpec::Folder { path, poll_milliseconds } => {
            for tap in taps {
                folders.add(FolderTask { path: path.clone(), poll_milliseconds, tap });
            }
            Running::Folder(path)
        }
        SourceSpec::Tcp { address, pcm } => {
            Running::Task(tokio::spawn(stream::tcp(address, pcm, taps, clock)))
        }
        SourceSpec::Stdin { pcm } => Running::Task(tokio::spawn(stream::stdin(pcm, taps, clock))),
        SourceSpec::Plant { index } => Running::Task(tokio::spawn(plant::run(index, taps, clock))),
        SourceSpec::Microphone { .. } | SourceSpec::Rtsp { .. } => {
            let text = format!("{spec}: this program was built without it");
            Running::Task(tokio::spawn(async move {
                for tap in &taps {
                    tap.source(false, &text, true).await;
                }
            }))
        }
        SourceSpec::Push => Running::Pushed,
    }
}

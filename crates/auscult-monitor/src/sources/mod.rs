//! 2. Where sound comes from. Every source delivers to the machines that listen to it, a channel each.

mod folder;
#[cfg(feature = "microphone")]
mod microphone;
mod pcm;
mod plant;
#[cfg(feature = "rtsp")]
mod rtsp;
mod stream;

use std::{path::PathBuf, time::Duration};

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
    /// Recordings that are done with, and when they were last there, for folders.
    pub seen: Vec<(SeenFile, f64)>,
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

/// Without a sample for this long a source is stalled.
const STALLED: Duration = Duration::from_secs(10);

/// Waits between tries to reach a source again, from the first to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Tries that fail: each waits longer than the one before, and only the first is told.
#[derive(Debug)]
struct Backoff {
    wait: Duration,
    is_told: bool,
    #[cfg(any(feature = "microphone", feature = "rtsp"))]
    has_worked: bool,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            wait: FIRST_WAIT,
            is_told: false,
            #[cfg(any(feature = "microphone", feature = "rtsp"))]
            has_worked: false,
        }
    }
}

impl Backoff {
    /// The source is there; whether that is news.
    #[cfg(any(feature = "microphone", feature = "rtsp"))]
    fn succeeded(&mut self) -> bool {
        let is_news = self.has_worked || self.is_told;
        *self = Self { has_worked: true, ..Self::default() };
        is_news
    }

    /// Says why the source is not there, once, and waits.
    async fn report_and_wait(&mut self, taps: &[Tap], reason: &str) {
        if !self.is_told {
            report(taps, false, reason, true).await;
            self.is_told = true;
        }
        tokio::time::sleep(self.wait).await;
        self.wait = (2 * self.wait).min(LONGEST_WAIT);
    }
}

/// Senders that come and go: the first loss is told, and others only after a while, which grows as long as they go on.
#[derive(Debug, Default)]
struct Losses {
    last: Option<Duration>,
    wait: Duration,
}

/// How long losses are not told after one was, from the first to the longest wait.
const FIRST_SILENCE: Duration = Duration::from_secs(60);
const LONGEST_SILENCE: Duration = Duration::from_secs(3_600);

impl Losses {
    /// Whether a loss at this time since the start is told.
    fn is_news(&mut self, now: Duration) -> bool {
        let since = self.last.map(|last| now.saturating_sub(last));
        if since.is_some_and(|since| since < self.wait) {
            return false;
        }
        // A source that has held for longer than was waited for begins anew.
        let holds = since.is_none_or(|since| since >= 2 * self.wait);
        self.wait = if holds { FIRST_SILENCE } else { (2 * self.wait).min(LONGEST_SILENCE) };
        self.last = Some(now);
        true
    }
}

async fn report(taps: &[Tap], is_alive: bool, text: &str, is_news: bool) {
    for tap in taps {
        tap.source(is_alive, text, is_news).await;
    }
}

/// A source has begun with this many channels; machines that want another one are told so.
#[cfg(any(feature = "microphone", feature = "rtsp"))]
async fn begun(taps: &[Tap], channels: usize, text: &str, is_news: bool) {
    for tap in taps {
        if usize::from(tap.channel) <= channels {
            tap.source(true, text, is_news).await;
        } else {
            let text = format!("channel {} is wanted, and there are {channels}", tap.channel);
            tap.source(false, &text, true).await;
        }
    }
}

/// Gives every machine its channel of interleaved samples.
#[cfg(any(feature = "microphone", feature = "rtsp"))]
async fn deliver(taps: &[Tap], interleaved: &[f32], channels: usize, rate: u32, arrived: f64) {
    for tap in taps {
        let first = usize::from(tap.channel) - 1;
        let samples: Vec<f32> =
            interleaved.iter().skip(first).step_by(channels.max(1)).copied().collect();
        if first < channels && !samples.is_empty() {
            tap.sound(samples, rate, arrived).await;
        }
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
        #[cfg(feature = "microphone")]
        SourceSpec::Microphone { device, sample_rate } => {
            Running::Task(tokio::spawn(microphone::microphone(device, sample_rate, taps, clock)))
        }
        #[cfg(feature = "rtsp")]
        SourceSpec::Rtsp { url } => Running::Task(tokio::spawn(rtsp::rtsp(url, taps, clock))),
        SourceSpec::Push => Running::Pushed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_that_comes_and_goes_is_told_ever_more_seldom() {
        let mut losses = Losses::default();
        // A loss a second for three hours.
        let told: Vec<u64> =
            (0..10_800).filter(|&second| losses.is_news(Duration::from_secs(second))).collect();
        assert_eq!(told, [0, 60, 180, 420, 900, 1_860, 3_780, 7_380]);
        assert!(losses.is_news(Duration::from_secs(100_000)), "much later it is news again");
        assert!(losses.is_news(Duration::from_secs(100_060)), "and soon tells the next one");
    }
}

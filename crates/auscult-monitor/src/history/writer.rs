//! The one who writes: a thread that gathers what is waiting into one transaction.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use super::{Commit, History};
use crate::{
    clock::Clock,
    error::{Error, Result},
};

/// Something else to be done with the history.
pub type Work = Box<dyn FnOnce(&mut History) + Send>;

/// What the writer is asked to do.
pub enum Job {
    /// Write this.
    Write(Box<Commit>),
    /// Do this between two transactions.
    Do(Work),
    /// Write what is waiting and end.
    Stop,
}

impl fmt::Debug for Job {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(commit) => formatter.debug_tuple("Write").field(commit).finish(),
            Self::Do(_) => formatter.write_str("Do"),
            Self::Stop => formatter.write_str("Stop"),
        }
    }
}

/// Told of every commit that is on disk.
pub type Written = Box<dyn Fn(&Commit) + Send>;

/// A handle to the thread that writes; clones write to the same one.
#[derive(Debug, Clone)]
pub struct Writer {
    jobs: SyncSender<Job>,
    health: Arc<Health>,
}

/// How the writer fares.
#[derive(Debug, Default)]
struct Health {
    is_stuck: AtomicBool,
    written: AtomicU64,
    refused: AtomicU64,
}

/// Commits that may wait before the one who listens has to.
const MOST_WAITING: usize = 4_096;

/// Commits of one transaction.
const MOST_AT_ONCE: usize = 512;

/// How long to wait before a full disk is tried again.
const AGAIN: Duration = Duration::from_secs(1);

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had.
    pub fn start(
        history: History,
        clock: Clock,
        written: Written,
    ) -> Result<(Self, JoinHandle<()>)> {
        let (jobs, received) = sync_channel(MOST_WAITING);
        let health = Arc::new(Health::default());
        let shared = Arc::clone(&health);
        let run = move || Loop { history, clock, written, health: shared }.run(&received);
        let thread = std::thread::Builder::new()
            .name("history".to_owned())
            .spawn(run)
            .map_err(Error::io("cannot start a thread"))?;
        Ok((Self { jobs, health }, thread))
    }

    /// Writes a commit; waits if the disk is slower than the sound.
    ///
    /// # Errors
    ///
    /// [`Error::Stopping`] if the writer has ended.
    pub fn write(&self, commit: Commit) -> Result<()> {
        self.jobs.send(Job::Write(Box::new(commit))).map_err(|_| Error::Stopping)
    }

    /// Does something with the history between two transactions and waits for what comes of it.
    ///
    /// # Errors
    ///
    /// [`Error::Stopping`] if the writer has ended, and what the work says.
    pub fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut History) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, outcome) = std::sync::mpsc::channel();
        let job = Job::Do(Box::new(move |history| {
            // Nobody waits any more: then nobody needs to know.
            let _ = sender.send(work(history));
        }));
        self.jobs.send(job).map_err(|_| Error::Stopping)?;
        outcome.recv().map_err(|_| Error::Stopping)?
    }

    /// Does something once all commits so far are on disk, without waiting for it.
    ///
    /// # Errors
    ///
    /// [`Error::Stopping`] if the writer has ended.
    pub fn once_written(&self, act: impl FnOnce() + Send + 'static) -> Result<()> {
        self.jobs.send(Job::Do(Box::new(|_| act()))).map_err(|_| Error::Stopping)
    }

    /// Writes what is waiting and ends the thread.
    pub fn stop(&self) {
        // If it has ended already, that is what was wanted.
        let _ = self.jobs.send(Job::Stop);
    }

    /// Whether the disk refuses to take more.
    pub fn is_stuck(&self) -> bool {
        self.health.is_stuck.load(Ordering::Relaxed)
    }

    /// Commits that were written.
    pub fn written(&self) -> u64 {
        self.health.written.load(Ordering::Relaxed)
    }

    /// Commits that the database refused for good.
    pub fn refused(&self) -> u64 {
        self.health.refused.load(Ordering::Relaxed)
    }
}

struct Loop {
    history: History,
    clock: Clock,
    written: Written,
    health: Arc<Health>,
}

impl Loop {
    fn run(mut self, jobs: &Receiver<Job>) {
        self.work(jobs);
        self.history.fold_log();
    }

    fn work(&mut self, jobs: &Receiver<Job>) {
        let mut next = None;
        loop {
            let first = match next.take() {
                Some(job) => job,
                None => match jobs.recv() {
                    Ok(job) => job,
                    Err(_) => return,
                },
            };
            match first {
                Job::Stop => return,
                Job::Do(work) => {
                    // What people say must survive a power cut, as their commands do.
                    if let Err(error) = self.synchronous("full") {
                        tracing::error!(%error, "the history cannot be told to be careful");
                    }
                    work(&mut self.history);
                }
                Job::Write(commit) => {
                    let mut commits = vec![*commit];
                    while commits.len() < MOST_AT_ONCE {
                        match jobs.recv_timeout(Duration::ZERO) {
                            Ok(Job::Write(commit)) => commits.push(*commit),
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                                break;
                            }
                        }
                    }
                    self.write(commits);
                }
            }
        }
    }

    /// Writes commits, whatever it takes: a disk that is full now may have room later.
    fn write(&mut self, commits: Vec<Commit>) {
        loop {
            let Err(error) = self.try_write(&commits) else { break };
            if error.may_pass() {
                if !self.health.is_stuck.swap(true, Ordering::Relaxed) {
                    tracing::error!(%error, "the history cannot be written; waiting, nothing is lost");
                }
                std::thread::sleep(AGAIN);
                continue;
            }
            // One of them cannot be written at all: the others must not suffer for it.
            if commits.len() > 1 {
                for one in commits {
                    self.write(vec![one]);
                }
                return;
            }
            self.health.refused.fetch_add(1, Ordering::Relaxed);
            tracing::error!(%error, "the history refuses a record");
            return;
        }
        if self.health.is_stuck.swap(false, Ordering::Relaxed) {
            tracing::info!("the history can be written again");
        }
        self.health.written.fetch_add(commits.len() as u64, Ordering::Relaxed);
        for commit in &commits {
            (self.written)(commit);
        }
    }

    fn try_write(&mut self, commits: &[Commit]) -> Result<()> {
        let is_precious = commits.iter().any(Commit::is_precious);
        self.synchronous(if is_precious { "full" } else { "normal" })?;
        let now = self.clock.now();
        let transaction = self.history.connection.transaction()?;
        for commit in commits {
            commit.write(&transaction, now)?;
        }
        Ok(transaction.commit()?)
    }

    /// Whether what is committed from now on waits for the disk (`full`) or not (`normal`).
    fn synchronous(&self, how: &str) -> Result<()> {
        Ok(self.history.connection.pragma_update(None, "synchronous", how)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_say_waits_for_the_disk_also_after_scores_that_did_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::open(folder.path()).unwrap();
        let machine = history.machine("pump", 0.0).unwrap();
        let clock = Clock::stopped(0.0);
        let (writer, thread) = Writer::start(history, clock, Box::new(|_| ())).unwrap();
        // Without events and messages: as most clips are.
        writer.write(Commit::of(machine)).unwrap();
        let read = |history: &mut History| {
            let how = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
            Ok(history.connection.query_row("PRAGMA synchronous", [], how)?)
        };
        assert_eq!(writer.call(read).unwrap(), 2, "FULL");
        writer.stop();
        thread.join().unwrap();
    }
}

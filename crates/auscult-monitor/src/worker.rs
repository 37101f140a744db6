//! The threads that judge: each owns its machines, so that nothing is locked and every machine keeps its order.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use tokio::sync::{mpsc, oneshot};

use crate::{
    error::{Error, Result},
    watch::{Change, Command, Fitted, Lesson, Recording, Request, Scorers, Sound, Watch},
};

/// What a thread is given to do.
#[derive(Debug)]
pub enum Work {
    /// Sound of a machine.
    Sound(i64, Sound),
    /// Sound of a machine that somebody has sent, and waits for its clips to be on disk.
    Pushed(i64, Sound, oneshot::Sender<Result<()>>),
    /// A recording of a machine.
    Recording(i64, Recording),
    /// Recordings of a machine that are no longer in their folder.
    Gone(i64, Vec<String>),
    /// The source of a machine was lost or is back.
    Source {
        /// The machine.
        machine: i64,
        /// Whether sound arrives.
        is_alive: bool,
        /// What happened.
        text: String,
        /// Whether people want to know: not at the start.
        is_news: bool,
    },
    /// Somebody says something.
    Command(i64, Command, Option<oneshot::Sender<Result<String>>>),
    /// Somebody decides about a machine's memory.
    Request(i64, Request, oneshot::Sender<Result<Change>>),
    /// A model was made, or could not be.
    Fitted(i64, Box<Result<Fitted>>),
    /// The clock was set.
    Clock(f64),
    /// Time passes.
    Tick,
    /// One more machine.
    Add(Box<Watch>),
    /// One machine less.
    Remove(i64, oneshot::Sender<()>),
    /// Finish what is waiting and end.
    Stop,
}

/// Sends work to the thread that owns a machine.
pub type Sender = mpsc::Sender<Work>;

/// A thread that judges.
#[derive(Debug)]
pub struct Worker {
    /// Takes work.
    pub sender: Sender,
    is_stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// Pieces of work that may wait; then sources have to.
const MOST_WAITING: usize = 256;

impl Worker {
    /// Starts a thread without machines.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had.
    pub fn start(number: usize) -> Result<Self> {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        let is_stopping = Arc::new(AtomicBool::new(false));
        let desk = Desk {
            machines: BTreeMap::new(),
            scorers: Scorers::default(),
            sender: sender.clone(),
            is_stopping: Arc::clone(&is_stopping),
        };
        let thread = std::thread::Builder::new()
            .name(format!("judge-{number}"))
            .spawn(move || desk.run(receiver))
            .map_err(Error::io("cannot start a thread"))?;
        Ok(Self { sender, is_stopping, thread })
    }

    /// From now on recordings stay in their folders, where the next start finds them; sound that has arrived is still judged.
    pub fn leave_recordings(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Waits until it has ended.
    pub fn join(self) {
        if self.thread.join().is_err() {
            tracing::error!("a judging thread has failed");
        }
    }
}

struct Desk {
    machines: BTreeMap<i64, Watch>,
    scorers: Scorers,
    sender: Sender,
    is_stopping: Arc<AtomicBool>,
}

impl Desk {
    fn run(mut self, mut work: mpsc::Receiver<Work>) {
        while let Some(work) = work.blocking_recv() {
            match work {
                Work::Stop => return,
                Work::Recording(..) if self.is_stopping.load(Ordering::Relaxed) => {}
                Work::Add(watch) => drop(self.machines.insert(watch.id(), *watch)),
                Work::Remove(machine, done) => {
                    self.machines.remove(&machine);
                    // Whoever asked may be gone.
                    let _ = done.send(());
                }
                Work::Tick => self.each(Watch::tick),
                Work::Clock(seconds) => self.each(|watch| watch.clock_set(seconds)),
                work => self.one(work),
            }
        }
    }

    fn each(&mut self, mut act: impl FnMut(&mut Watch) -> Result<()>) {
        for watch in self.machines.values_mut() {
            let outcome = act(watch);
            report(watch.name(), outcome);
        }
    }

    /// Work for one machine; machines that were removed meanwhile need none.
    fn one(&mut self, work: Work) {
        let machine = match &work {
            Work::Sound(machine, _)
            | Work::Pushed(machine, ..)
            | Work::Recording(machine, _)
            | Work::Gone(machine, _)
            | Work::Source { machine, .. }
            | Work::Command(machine, ..)
            | Work::Request(machine, ..)
            | Work::Fitted(machine, _) => *machine,
            Work::Clock(_) | Work::Tick | Work::Add(_) | Work::Remove(..) | Work::Stop => return,
        };
        let Some(watch) = self.machines.get_mut(&machine) else { return };
        let lesson = match work {
            Work::Sound(_, sound) => watch.hear(&sound, &mut self.scorers),
            Work::Pushed(_, sound, reply) => match watch.hear(&sound, &mut self.scorers) {
                Ok(lesson) => watch.once_written(move || drop(reply.send(Ok(())))).map(|()| lesson),
                Err(error) => {
                    drop(reply.send(Err(error)));
                    Ok(None)
                }
            },
            Work::Recording(_, recording) => watch.read(&recording, &mut self.scorers),
            Work::Gone(_, paths) => watch.forget_recordings(paths).map(|()| None),
            Work::Source { is_alive, text, is_news, .. } => {
                let outcome = match (is_alive, is_news) {
                    (true, false) => watch.source_began(),
                    (_, true) => watch.source_changed(is_alive, &text),
                    (false, false) => watch.source_waits(&text),
                };
                outcome.map(|()| None)
            }
            Work::Command(_, command, reply) => {
                let outcome = watch.obey(command);
                match reply {
                    // What people did is on disk before they are told. Whoever asked may be gone.
                    Some(reply) => {
                        drop(reply.send(outcome.and_then(|it| watch.settle().map(|()| it))));
                    }
                    None => report(watch.name(), outcome.map(|_| ())),
                }
                Ok(None)
            }
            Work::Request(_, request, reply) => {
                let (change, lesson) = match watch.decide(request) {
                    Ok((change, lesson)) => (watch.settle().map(|()| change), lesson),
                    Err(error) => (Err(error), None),
                };
                let _ = reply.send(change);
                Ok(lesson)
            }
            Work::Fitted(_, fitted) => watch.fitted(*fitted).map(|()| None),
            _ => Ok(None),
        };
        match lesson {
            Ok(None) => {}
            Ok(Some(lesson)) => {
                let front_ends = watch.front_ends().clone();
                learn(machine, lesson, front_ends, &self.sender);
            }
            Err(error) => report(watch.name(), Err(error)),
        }
    }
}

/// Makes a model beside the judging; what comes of it is work for the machine.
fn learn(machine: i64, lesson: Lesson, front_ends: auscult::FrontEnds, sender: &Sender) {
    let run = {
        let sender = sender.clone();
        move || {
            let fitted = lesson.learn(&front_ends);
            // If nobody takes it any more, the monitor is stopping, and the clips are on disk.
            let _ = sender.blocking_send(Work::Fitted(machine, Box::new(fitted)));
        }
    };
    if let Err(error) = std::thread::Builder::new().name("learn".to_owned()).spawn(run) {
        let failed = Err(Error::io("cannot start a thread")(error));
        let _ = sender.try_send(Work::Fitted(machine, Box::new(failed)));
    }
}

fn report(machine: &str, outcome: Result<()>) {
    match outcome {
        Ok(()) | Err(Error::Stopping) => {}
        Err(error) => tracing::error!(machine, %error, "something could not be done"),
    }
}

//! Long work, watched by the thread that asked for it: events go to a Python sink there, and Ctrl-C stops the work.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    time::Duration,
};

use auscult::{Cancel, Control, Event};
use pyo3::prelude::*;

use crate::{
    error::{OrRaise, Raise},
    threads,
};

/// How soon Ctrl-C is noticed.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// What the work tells the thread that watches it.
enum Message {
    Event(&'static str, String, usize),
    Ended,
}

/// Does work on other threads and hands its events to `sink(kind, text, total)`.
///
/// An exception in the sink, or one raised by a signal handler, stops the work; it is raised once the work has ended.
pub(crate) fn watch<T: Send, E: Raise + Send>(
    py: Python<'_>,
    sink: &Bound<'_, PyAny>,
    work: impl FnOnce(&Control) -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = threads::pool(py)?;
    let cancel = Cancel::new();
    let (sender, mut receiver) = mpsc::channel();
    let events = sender.clone();
    let forward = move |event: Event<'_>| {
        // Whoever watched is gone only when the work is over.
        let _ = events.send(message(event));
        ControlFlow::Continue(())
    };
    let control = Control::new(cancel.clone(), Arc::new(forward));
    if rayon::current_thread_index().is_some() {
        // A function of the caller's own asks, on one of the threads: nobody else may be free to do the work.
        let result = py.detach(|| work(&control));
        drop((sender, control));
        for event in receiver {
            if let Message::Event(kind, text, total) = event {
                sink.call1((kind, text, total))?;
            }
        }
        return result.or_raise(py);
    }
    let mut raised: Option<PyErr> = None;
    let result = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _ended = Ended(sender);
            pool.install(|| work(&control))
        });
        loop {
            let told;
            (receiver, told) = py.detach(move || {
                let told = receiver.recv_timeout(BETWEEN_SIGNALS);
                (receiver, told)
            });
            let seen = match told {
                Ok(Message::Event(kind, text, total)) if raised.is_none() => {
                    sink.call1((kind, text, total)).map(|_| ())
                }
                Err(RecvTimeoutError::Timeout) if raised.is_none() => py.check_signals(),
                Ok(Message::Event(..)) | Err(RecvTimeoutError::Timeout) => Ok(()),
                Ok(Message::Ended) | Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(error) = seen {
                cancel.cancel();
                raised = Some(error);
            }
        }
        py.detach(|| worker.join())
    });
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => result.or_raise(py),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}

/// Tells the end of the work, also when it panics.
struct Ended(Sender<Message>);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send(Message::Ended);
    }
}

fn message(event: Event<'_>) -> Message {
    match event {
        Event::Started { what, total, name } => {
            let text = if name.is_empty() { what.to_owned() } else { format!("{what} of {name}") };
            Message::Event("started", text, total)
        }
        Event::Finished => Message::Event("finished", String::new(), 0),
        Event::Problem(text) => Message::Event("problem", text.to_string(), 0),
        Event::Note(text) => Message::Event("note", text.to_string(), 0),
        // Events may be added; all that count something have advanced.
        _ => Message::Event("advanced", String::new(), 0),
    }
}

//! How long work reports what it does, and how it is stopped.

use std::{
    fmt::{self, Display},
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Asks work to stop; clones ask the same work.
///
/// # Examples
///
/// ```
/// let cancel = auscult_core::Cancel::new();
/// let shared = cancel.clone();
/// std::thread::spawn(move || shared.cancel()).join().expect("the thread ends");
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A handle that nobody has used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a stop. Work ends after what it is doing right now and says that it was cancelled.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether a stop was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Something that long work reports while it goes on.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A stage begins: what is counted (`files`, `clips`, `epochs`) and how many there are.
    Started {
        /// The plural noun.
        what: &'static str,
        /// How many there are.
        total: usize,
        /// What the stage is about, such as a section of a data set; often empty.
        name: &'a str,
    },
    /// One more of them is done.
    Advanced,
    /// The stage has ended.
    Finished,
    /// Something could not be used; the rest goes on. Results name it too.
    Problem(&'a (dyn Display + Sync)),
    /// Something worth knowing. Results name it too.
    Note(&'a (dyn Display + Sync)),
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started { what, total, name } => {
                write!(formatter, "Started({total} {what} {name})")
            }
            Self::Advanced => write!(formatter, "Advanced"),
            Self::Finished => write!(formatter, "Finished"),
            Self::Problem(text) => write!(formatter, "Problem({text})"),
            Self::Note(text) => write!(formatter, "Note({text})"),
        }
    }
}

/// Receives events; may be called from several threads, and stops the work with `Break`.
pub trait Events: Send + Sync {
    /// One event.
    fn event(&self, event: Event<'_>) -> ControlFlow<()>;
}

impl<F: Fn(Event<'_>) -> ControlFlow<()> + Send + Sync> Events for F {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        self(event)
    }
}

/// A cancel handle and a sink of events, as work takes them.
///
/// # Examples
///
/// ```
/// use std::{ops::ControlFlow, sync::Arc};
/// use auscult_core::{Cancel, Control, Event};
///
/// // Stops at the first problem.
/// let control = Control::new(Cancel::new(), Arc::new(|event: Event<'_>| match event {
///     Event::Problem(_) => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// }));
/// control.report(Event::Advanced);
/// assert!(!control.is_cancelled());
/// control.report(Event::Problem(&"pump.wav: no such file"));
/// assert!(control.is_cancelled());
/// ```
#[derive(Clone)]
pub struct Control {
    cancel: Cancel,
    events: Arc<dyn Events>,
}

impl Control {
    /// Work that is stopped by `cancel` and reports to `events`.
    pub fn new(cancel: Cancel, events: Arc<dyn Events>) -> Self {
        Self { cancel, events }
    }

    /// Work that is stopped with this, and tells nobody: a part of work that is reported as a whole.
    #[must_use]
    pub fn quiet(&self) -> Self {
        Self { cancel: self.cancel.clone(), ..Self::default() }
    }

    /// Reports an event; a sink that answers `Break` cancels the work for every thread of it.
    pub fn report(&self, event: Event<'_>) {
        if self.events.event(event).is_break() {
            self.cancel.cancel();
        }
    }

    /// Whether the work shall stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// `Break` if the work shall stop, for callbacks of other crates.
    pub fn flow(&self) -> ControlFlow<()> {
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Default for Control {
    /// Never stopped, and nobody is told.
    fn default() -> Self {
        Self::new(Cancel::new(), Arc::new(|_: Event<'_>| ControlFlow::Continue(())))
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

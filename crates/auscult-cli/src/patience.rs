//! Whether the program waits for whoever takes its results: a pipe that nobody reads may hold it for ever.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

/// Writers that have not come back yet.
static WRITING: AtomicUsize = AtomicUsize::new(0);

/// How long results are waited for that nobody takes, once the program was asked to stop.
const PATIENCE: Duration = Duration::from_millis(700);

/// Writes, and is known to be writing meanwhile.
pub(crate) fn writing<T>(write: impl FnOnce() -> T) -> T {
    WRITING.fetch_add(1, Ordering::SeqCst);
    let written = write();
    WRITING.fetch_sub(1, Ordering::SeqCst);
    written
}

/// Whether nothing that is being written gets anywhere.
pub(crate) fn is_stuck() -> bool {
    let pause = PATIENCE / 20;
    (0..20).all(|_| {
        thread::sleep(pause);
        WRITING.load(Ordering::SeqCst) > 0
    })
}

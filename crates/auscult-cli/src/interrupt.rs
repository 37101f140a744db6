//! Ctrl-C: stop cleanly, keep what is finished.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::printer::Printer;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C and termination ask for a clean stop; asking twice stops at once.
pub(crate) fn watch() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if is_asked() {
            stop_at_once();
        }
        // Said first: once the flag is set, the program may end.
        Printer.note("stopping after the clips at hand; Ctrl-C again stops at once");
        ASKED.store(true, Ordering::SeqCst);
    })?;
    Ok(())
}

#[expect(clippy::exit, reason = "asked twice: nothing is left to wait for")]
fn stop_at_once() {
    std::process::exit(130);
}

/// Whether a stop was asked for.
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

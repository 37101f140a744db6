//! What every command is given: who prints, who may stop it, and where front ends come from.

use std::{ffi::OsString, num::NonZeroUsize, sync::Arc};

use anyhow::Context as _;
use auscult::{Cancel, Control, FrontEnds};

use crate::{
    args::{Arguments, KeepingArguments},
    patience,
    printer::Printer,
};

/// The surroundings of a command.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) printer: Printer,
    pub(crate) cancel: Cancel,
    pub(crate) front_ends: FrontEnds,
    /// What was typed, as results name it.
    pub(crate) command: String,
}

impl Context {
    /// Starts the threads, watches for Ctrl-C, and finds the encoders.
    pub(crate) fn new(arguments: &Arguments, typed: &[OsString]) -> anyhow::Result<Self> {
        if let Some(jobs) = arguments.jobs.and_then(|jobs| NonZeroUsize::new(jobs.into())) {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(jobs.get());
            threads.build_global().with_context(|| format!("cannot start {jobs} threads"))?;
        }
        let front_ends = match &arguments.encoder_file {
            Some(file) => FrontEnds::with_encoder_file(file),
            None => FrontEnds::standard(),
        };
        let words = typed.iter().skip(1).map(|word| word.to_string_lossy());
        let command = std::iter::once("auscult".into()).chain(words).collect::<Vec<_>>().join(" ");
        let (printer, cancel) = (Printer::default(), Cancel::new());
        let context = Self { printer, cancel, front_ends, command };
        context.stop_on_signals(arguments.command.rereads_its_configuration())?;
        Ok(context)
    }

    /// From now on Ctrl-C and termination ask for a clean stop; asking twice stops at once. So does a terminal that is
    /// closed, except for what reads its configuration again when it is hung up on.
    #[cfg(unix)]
    fn stop_on_signals(&self, rereads: bool) -> anyhow::Result<()> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let signals: &[i32] = if rereads { &[SIGINT, SIGTERM] } else { &[SIGINT, SIGTERM, SIGHUP] };
        let mut signals = signal_hook::iterator::Signals::new(signals)?;
        let stop = self.stopper();
        let wait = move || signals.forever().for_each(|_| stop());
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
        Ok(())
    }

    #[cfg(not(unix))]
    fn stop_on_signals(&self, _rereads: bool) -> anyhow::Result<()> {
        ctrlc::set_handler(self.stopper())?;
        Ok(())
    }

    fn stopper(&self) -> impl Fn() + Send + 'static {
        let (printer, cancel) = (self.printer.clone(), self.cancel.clone());
        move || {
            if cancel.is_cancelled() {
                stop_at_once(130);
            }
            // Said first: once the work is cancelled, the program may end.
            printer.note("finishing the current clips, then stopping; Ctrl-C again stops at once");
            cancel.cancel();
            // Asked once, it stops soon, whoever does not take its results.
            let stuck = || patience::is_stuck().then(|| stop_at_once(2));
            let _ = std::thread::Builder::new().name("patience".to_owned()).spawn(stuck);
        }
    }

    /// The same for a command that hears clips again and again: their vectors are kept as was asked for.
    pub(crate) fn keeping(&self, keeping: &KeepingArguments) -> anyhow::Result<Self> {
        let front_ends = self.front_ends.clone().with_cache(keeping.cache()?);
        Ok(Self { front_ends, ..self.clone() })
    }

    /// The same for a table with several encoders: `--encoder` has the weights of one, and the others are looked for.
    pub(crate) fn of_table(&self) -> Self {
        Self { front_ends: self.front_ends.clone().beside_others(), ..self.clone() }
    }

    /// Progress to the printer, a stop from Ctrl-C.
    pub(crate) fn control(&self) -> Control {
        Control::new(self.cancel.clone(), Arc::new(self.printer.clone()))
    }
}

#[expect(clippy::exit, reason = "nothing is left to wait for")]
fn stop_at_once(code: i32) {
    std::process::exit(code);
}

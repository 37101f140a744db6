//! The threads that work is done on: of the process that asks, which may be a fork of the one that asked before.

use std::sync::{Arc, Mutex, PoisonError};

use auscult::{FrontEndIdentity, FrontEndSettings};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{exception, input_error};

/// The threads and the process they live in: after a fork the child has none of them.
///
/// Locked only by holders of the interpreter, as a fork is, so no fork finds it locked.
static THREADS: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The threads of this process, started when they are first needed.
pub(crate) fn pool(py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match &*threads {
        Some((owner, pool)) if *owner == process => Ok(Arc::clone(pool)),
        _ => {
            let pool = start(py, 0)?;
            replace(&mut threads, process, &pool);
            Ok(pool)
        }
    }
}

/// Does work without the interpreter, on the threads of this process.
pub(crate) fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool(py)?;
    Ok(py.detach(|| pool.install(work)))
}

/// Does the work of one clip without the interpreter: on this very thread, unless its front end wants several.
pub(crate) fn compute_one<T: Send>(
    py: Python<'_>,
    front_end: &FrontEndIdentity,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if wants_one_thread(front_end) { Ok(py.detach(work)) } else { compute(py, work) }
}

/// As [`compute_one`], with what only one caller may use at a time.
pub(crate) fn compute_alone<S: Send, T: Send>(
    py: Python<'_>,
    front_end: &FrontEndIdentity,
    shared: &Mutex<S>,
    work: impl FnOnce(&mut S) -> T + Send,
) -> PyResult<T> {
    let pool = if wants_one_thread(front_end) { None } else { Some(pool(py)?) };
    Ok(py.detach(|| {
        // Locked before the work is with the threads: one that waits for the others takes up other work meanwhile, and
        // would wait for itself if that asked for the same lock.
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = &mut *shared;
        match pool {
            None => work(shared),
            Some(pool) => pool.install(|| work(shared)),
        }
    }))
}

fn wants_one_thread(front_end: &FrontEndIdentity) -> bool {
    let wants_one =
        |front_end: &FrontEndIdentity| FrontEndSettings::NAMES.contains(&front_end.name.as_str());
    match front_end.members() {
        Some(members) => members.iter().all(wants_one),
        None => wants_one(front_end),
    }
}

/// Zero is as many as the machine has cores, or `RAYON_NUM_THREADS`.
fn start(py: Python<'_>, count: usize) -> PyResult<Arc<ThreadPool>> {
    let named = |index: usize| format!("auscult-{index}");
    let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(named).build();
    let failed = |error| exception(py, "AuscultError", &format!("cannot start threads: {error}"));
    Ok(Arc::new(pool.map_err(failed)?))
}

fn replace(threads: &mut Option<(u32, Arc<ThreadPool>)>, process: u32, pool: &Arc<ThreadPool>) {
    let before = threads.replace((process, Arc::clone(pool)));
    // Threads of another process cannot be told to end.
    if let Some((owner, pool)) = before
        && owner != process
    {
        std::mem::forget(pool);
    }
}

#[pyfunction]
pub(crate) fn set_threads(py: Python<'_>, count: usize) -> PyResult<()> {
    const MOST: usize = 1024;
    if count > MOST {
        let text = format!("threads must be 0 (as many as there are cores) to {MOST}, got {count}");
        return Err(input_error(py, text));
    }
    let pool = start(py, count)?;
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    replace(&mut threads, std::process::id(), &pool);
    Ok(())
}

#[pyfunction]
pub(crate) fn thread_count(py: Python<'_>) -> PyResult<usize> {
    Ok(pool(py)?.current_num_threads())
}

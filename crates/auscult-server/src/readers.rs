//! A few connections that read the history, so that nobody waits for the writer.

use std::sync::{Arc, Mutex, PoisonError};

use auscult_monitor::{data::DataFolder, history::History};
use tokio::sync::Semaphore;

use crate::error::{Problem, Result};

/// Open connections, used again.
#[derive(Debug, Clone)]
pub(crate) struct Readers {
    data: DataFolder,
    idle: Arc<Mutex<Vec<History>>>,
    permits: Arc<Semaphore>,
}

/// Connections at the same time: beyond these a disk is not faster.
const MOST: usize = 4;

impl Readers {
    pub(crate) fn new(data: DataFolder) -> Self {
        Self { data, idle: Arc::default(), permits: Arc::new(Semaphore::new(MOST)) }
    }

    /// Does something with the history, away from the threads that answer.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&History) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| Problem::unavailable("the service is stopping"))?;
        let (idle, data) = (Arc::clone(&self.idle), self.data.clone());
        let done = tokio::task::spawn_blocking(move || {
            // Freed when the work is done, also if whoever asked has gone.
            let _permit = permit;
            let ready = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let history = match ready {
                Some(history) => history,
                None => History::read(data.root())?,
            };
            let outcome = work(&history);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(history);
            outcome
        });
        done.await.map_err(|error| Problem::internal("the history could not be read", &error))?
    }
}

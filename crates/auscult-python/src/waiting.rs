//! Things that are costly to make, lent to one thread at a time.

use std::sync::{Mutex, TryLockError};

/// Things that wait for their next use.
///
/// Nobody ever waits for them: a process may have been forked while a thread it does not have held the lock.
#[derive(Debug)]
pub(crate) struct Waiting<T>(Mutex<Vec<T>>);

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Waiting<T> {
    /// One of them, if there is one and nobody else is looking.
    pub(crate) fn take(&self) -> Option<T> {
        self.look(Vec::pop)?
    }

    /// Keeps a thing for later, unless somebody else is looking.
    pub(crate) fn put(&self, thing: T) {
        self.look(|things| things.push(thing));
    }

    fn look<R>(&self, work: impl FnOnce(&mut Vec<T>) -> R) -> Option<R> {
        match self.0.try_lock() {
            Ok(mut things) => Some(work(&mut things)),
            Err(TryLockError::Poisoned(things)) => Some(work(&mut things.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

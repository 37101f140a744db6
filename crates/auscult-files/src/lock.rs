//! One writer at a time.

use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use auscult_core::Model;

use crate::{Error, Result, load, write};

/// How long whoever replaces a model waits for another program that is changing it.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often it looks again.
const PAUSE: Duration = Duration::from_millis(50);

/// The right to change a model file, held until it is dropped.
///
/// Saving renames a new file over the old one, so the lock is on the file that was there when it
/// was taken; a later writer notices that the file it locked is no longer at the path.
#[derive(Debug)]
pub struct ModelLock {
    path: PathBuf,
    file: File,
}

impl ModelLock {
    /// Locks an existing model file.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if another program holds it, [`Error::Read`] if it cannot be opened.
    pub fn acquire(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let failed = |source| Error::Read { path: path.clone(), source };
        let file = File::open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // Somebody may have saved between opening and locking.
        if !is_at(&file, &path).map_err(failed)? {
            return Err(Error::Locked { path });
        }
        Ok(Self { path, file })
    }

    /// Reads the locked model.
    ///
    /// # Errors
    ///
    /// Those of [`load`].
    pub fn load(&self) -> Result<Model> {
        load(&self.path)
    }

    /// Replaces the locked model and gives the lock back.
    ///
    /// # Errors
    ///
    /// Those of [`save`](crate::save), and [`Error::Locked`] if a program that takes no lock has replaced the model since.
    pub fn save(self, model: &Model) -> Result<()> {
        let is_there = is_at(&self.file, &self.path)
            .map_err(|source| Error::Read { path: self.path.clone(), source })?;
        if !is_there {
            return Err(Error::Locked { path: self.path });
        }
        write(model, &self.path)
    }

    /// Waits until nobody changes what is at `path`; `None` if nothing is there that could be locked.
    pub(crate) fn wait_for(path: &Path) -> Result<Option<Self>> {
        // Opening a pipe would wait for its other end.
        if !path.is_file() {
            return Ok(None);
        }
        let begin = Instant::now();
        loop {
            match Self::acquire(path) {
                Ok(lock) => return Ok(Some(lock)),
                Err(Error::Locked { .. }) if begin.elapsed() < PATIENCE => {
                    std::thread::sleep(PAUSE);
                }
                Err(Error::Read { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (locked, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((locked.dev(), locked.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_can_be_changed_by_one_program_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        std::fs::write(&path, b"not read here").unwrap();
        let lock = ModelLock::acquire(&path).unwrap();
        assert!(matches!(ModelLock::acquire(&path), Err(Error::Locked { .. })));
        drop(lock);
        assert!(ModelLock::acquire(&path).is_ok());
    }

    #[test]
    fn whoever_replaces_a_model_waits_for_whoever_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        assert!(ModelLock::wait_for(&path).unwrap().is_none(), "nothing is there");
        std::fs::write(&path, b"old").unwrap();
        let lock = ModelLock::acquire(&path).unwrap();
        let waiting = std::thread::spawn({
            let path = path.clone();
            move || ModelLock::wait_for(&path).unwrap().map(|_| std::fs::read(&path).unwrap())
        });
        std::thread::sleep(2 * PAUSE);
        assert!(!waiting.is_finished());
        crate::write_atomically(&path, b"changed").unwrap();
        drop(lock);
        assert_eq!(waiting.join().unwrap().unwrap(), b"changed");
    }

    #[cfg(unix)]
    #[test]
    fn a_model_that_was_replaced_in_the_meantime_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        std::fs::write(&path, b"old").unwrap();
        let lock = ModelLock::acquire(&path).unwrap();
        crate::write_atomically(&path, b"new").unwrap();
        assert!(!is_at(&lock.file, &path).unwrap());
    }
}

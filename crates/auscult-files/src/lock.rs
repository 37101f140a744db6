//! One writer at a time.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use auscult_core::Model;

use crate::{Error, Result, load, save};

/// The right to change a model file, held until it is dropped.
///
/// Saving renames a new file over the old one, so the lock is on the file that was there when it
/// was taken; a later writer notices that the file it locked is no longer at the path.
#[derive(Debug)]
pub struct ModelLock {
    path: PathBuf,
    _file: File,
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
        Ok(Self { path, _file: file })
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
    /// Those of [`save`].
    pub fn save(self, model: &Model) -> Result<()> {
        save(model, &self.path)
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (locked, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((locked.dev(), locked.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> std::io::Result<bool> {
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
}

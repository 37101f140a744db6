//! The data folder: where everything is that the monitor keeps.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// A folder with a history, models and sound.
#[derive(Debug, Clone)]
pub struct DataFolder {
    root: PathBuf,
}

/// Holds a data folder: nobody else writes to it meanwhile.
#[derive(Debug)]
pub struct DataLock {
    _file: File,
}

impl DataFolder {
    /// The folder; nothing is made yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The platform's folder for the state of programs.
    pub fn usual() -> Option<Self> {
        auscult::files::state_folder().map(Self::new)
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder and takes it.
    ///
    /// # Errors
    ///
    /// [`Error::InUse`] if another monitor has it, [`Error::Io`] if it cannot be made.
    pub fn lock(&self) -> Result<DataLock> {
        let made = make_private(&self.root);
        made.map_err(Error::io(format!("cannot make the data folder {}", self.root.display())))?;
        let path = self.lock_file();
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(Error::io(format!("cannot open {}", path.display())))?;
        match file.try_lock() {
            Ok(()) => Ok(DataLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse { folder: self.root.clone() }),
            Err(TryLockError::Error(error)) => {
                Err(Error::io(format!("cannot lock {}", path.display()))(error))
            }
        }
    }

    /// Whether a monitor has it now.
    pub fn is_in_use(&self) -> bool {
        // A lock for readers: those who look at the same moment do not take each other for a monitor.
        let file = File::open(self.lock_file());
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// The socket that commands come through.
    pub fn socket(&self) -> PathBuf {
        self.root.join("control.sock")
    }

    /// A file that the history names.
    pub fn file(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Writes a file that the history will name; gives its size.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be written.
    pub fn write(&self, relative: &str, bytes: &[u8]) -> Result<u64> {
        let path = self.file(relative);
        if let Some(folder) = path.parent() {
            let made = fs::create_dir_all(folder);
            made.map_err(Error::io(format!("cannot make {}", folder.display())))?;
        }
        auscult::files::write_atomically(&path, bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Deletes a file that the history named; it may be gone already.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be deleted.
    pub fn delete(&self, relative: &str) -> Result<()> {
        let path = self.file(relative);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(format!("cannot delete {}", path.display()))(error))
            }
            _ => Ok(()),
        }
    }
}

/// Makes a folder that others may not look into: there is sound of people in it. One that is there stays as it is.
///
/// # Errors
///
/// If it cannot be made.
pub fn make_private(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o750);
    builder.create(folder)
}

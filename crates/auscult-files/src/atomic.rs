//! Whole files or none.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tempfile::NamedTempFile;

use crate::{Error, Result};

/// Names of temporary files.
const PREFIX: &str = ".auscult-";
const SUFFIX: &str = ".partial";

/// A writer may be between making its temporary file and locking it for this long.
const YOUNG: Duration = Duration::from_secs(60);

/// Writes `bytes` to `path`: to a temporary file beside it, flushed, then renamed over it.
///
/// # Errors
///
/// [`Error::Write`]; the temporary file is removed and what was at `path` stays.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|source| Error::Write { path: path.to_owned(), source })?;
    file.finish()
}

/// A file that takes the place of what is at its path once all of it is on the disk.
///
/// Dropped before [`AtomicFile::finish`], it leaves everything as it was.
///
/// # Examples
///
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("scores.csv");
/// let mut file = auscult_files::AtomicFile::create(&path)?;
/// writeln!(file, "path,score")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert!(path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    /// As it was named.
    path: PathBuf,
    /// Where it leads: a link stays a link, and the file it leads to is replaced.
    target: PathBuf,
    file: NamedTempFile,
}

impl AtomicFile {
    /// Begins a file; nothing is at `path` yet that was not there before.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] if there is no folder for it, or a folder, device or pipe is at `path`.
    pub fn create(path: &Path) -> Result<Self> {
        let create = || -> io::Result<Self> {
            let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if target.is_dir() {
                return Err(io::Error::from(io::ErrorKind::IsADirectory));
            }
            // A rename over a device or a pipe would put a plain file in its place.
            if target.metadata().is_ok_and(|facts| !facts.is_file()) {
                return Err(io::Error::other("not a plain file"));
            }
            let folder = folder_of(&target);
            sweep(folder);
            let file =
                tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)?;
            // Tells those who sweep that its writer lives; where files cannot be locked nobody sweeps.
            let _ = file.as_file().try_lock();
            Ok(Self { path: path.to_owned(), target, file })
        };
        create().map_err(|source| Error::Write { path: path.to_owned(), source })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    ///
    /// [`Error::Write`]; the temporary file is removed and what was there stays.
    pub fn finish(self) -> Result<()> {
        let Self { path, target, file } = self;
        let finish = || -> io::Result<()> {
            file.as_file().sync_all()?;
            put(file, &target)?;
            sync_folder(folder_of(&target))
        };
        finish().map_err(|source| Error::Write { path, source })
    }

    /// Puts the file in its place without waiting for the disk: after a power cut it may be damaged, never after the
    /// end of a program. For what can be made again and says itself whether it is whole.
    ///
    /// # Errors
    ///
    /// As [`AtomicFile::finish`].
    pub fn finish_unsynced(self) -> Result<()> {
        let Self { path, target, file } = self;
        put(file, &target).map_err(|source| Error::Write { path, source })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

fn put(file: NamedTempFile, target: &Path) -> io::Result<()> {
    keep_permissions(target, file.as_file())?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Removes temporary files whose writers were killed, once for every folder.
fn sweep(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if !SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) && is_abandoned(&entry.path()) {
            // Somebody else may have swept it.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether a temporary file is not being written any more.
fn is_abandoned(path: &Path) -> bool {
    let Ok(facts) = path.symlink_metadata() else { return false };
    let age = facts.modified().and_then(|at| at.elapsed().map_err(io::Error::other));
    facts.is_file()
        && age.is_ok_and(|age| age > YOUNG)
        && File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Temporary files are private; a new model gets what a plainly created file would have, a
/// replaced one keeps what it had.
fn keep_permissions(path: &Path, file: &File) -> io::Result<()> {
    if let Ok(facts) = std::fs::metadata(path) {
        return file.set_permissions(facts.permissions());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}

/// A rename is on the disk only once its folder is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        write_atomically(&path, b"old").unwrap();
        let missing = folder.path().join("missing").join("model");
        assert!(matches!(write_atomically(&missing, b"new"), Err(Error::Write { .. })));
        assert!(matches!(write_atomically(folder.path(), b"new"), Err(Error::Write { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_not_finished_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores");
        write_atomically(&path, b"old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"ne").unwrap();
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_a_killed_writer_left_is_swept_and_what_a_living_one_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let named = |name: &str| folder.path().join(name);
        let names = [".auscult-left.partial", ".auscult-young.partial", ".auscult-alive.partial"];
        let old = std::time::SystemTime::now() - 2 * YOUNG;
        let files = names.map(|name| File::create(named(name)).unwrap());
        for file in [&files[0], &files[2]] {
            file.set_modified(old).unwrap();
        }
        files[2].lock().unwrap();
        std::os::unix::fs::symlink("/dev/null", named(".auscult-link.partial")).unwrap();
        write_atomically(&named("model"), b"new").unwrap();
        assert!(!named(names[0]).exists());
        assert!(named(names[1]).exists() && named(names[2]).exists());
        assert!(named(".auscult-link.partial").is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_replaced_by_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let error = write_atomically(&link, b"new").unwrap_err();
        assert!(error.to_string().contains("not a plain file"), "{error}");
        assert!(link.is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        write_atomically(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
    }
}

//! Whole files or none.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use crate::{Error, Result};

/// Reads a file that must not be larger than `most` bytes.
pub(crate) fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let facts = file.metadata().map_err(failed)?;
    if facts.is_dir() {
        return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells a pipe or a growing file apart from the largest model.
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    let read = facts.len().max(bytes.len() as u64);
    if read > most {
        return Err(Error::TooLarge { path: path.to_owned(), bytes: read, most });
    }
    Ok(bytes)
}

/// Writes `bytes` to `path`: to a temporary file beside it, flushed, then renamed over it.
///
/// # Errors
///
/// [`Error::Write`]; the temporary file is removed and what was at `path` stays.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || -> io::Result<()> {
        // A link stays a link; the file it leads to is replaced.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        // A rename over a device or a pipe would put a plain file in its place.
        if path.metadata().is_ok_and(|facts| !facts.is_file()) {
            return Err(io::Error::other("not a plain file"));
        }
        let mut file =
            tempfile::Builder::new().prefix(".auscult-").suffix(".partial").tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        keep_permissions(path, file.as_file())?;
        file.persist(path).map_err(|error| error.error)?;
        sync_folder(folder)
    };
    write().map_err(|source| Error::Write { path: path.to_owned(), source })
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

    #[test]
    fn files_above_the_limit_are_refused_with_both_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        std::fs::write(&path, [0; 11]).unwrap();
        let error = read_bounded(&path, 10).unwrap_err();
        assert!(
            error.to_string().ends_with("has 11 bytes; model files have at most 10"),
            "{error}"
        );
    }
}

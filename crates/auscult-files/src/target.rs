//! Files that may be written, checked before any work is done for them.

use std::path::Path;

use crate::{Error, Result, load};

/// Refuses a path that no file can be written to.
///
/// # Errors
///
/// [`Error::Target`] if its folder is missing, or a folder, device or pipe is there.
pub fn check_target(path: &Path) -> Result<()> {
    let refuse = |reason: String| Err(Error::Target { path: path.to_owned(), reason });
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return refuse(format!("there is no folder {}; make it first", folder.display()));
    }
    match path.metadata() {
        Ok(found) if found.is_dir() => refuse("it is a folder; name a file in it".to_owned()),
        Ok(found) if !found.is_file() => {
            refuse("it is a device or a pipe; name a plain file".to_owned())
        }
        _ => Ok(()),
    }
}

/// Refuses to write a model over anything that never was one, such as a recording.
///
/// # Errors
///
/// Those of [`check_target`], and [`Error::Occupied`].
pub fn check_model_target(path: &Path) -> Result<()> {
    check_target(path)?;
    let holds_something = path.metadata().is_ok_and(|found| found.len() > 0);
    if holds_something && !is_model(path) {
        return Err(Error::Occupied { path: path.to_owned(), found: "not a model" });
    }
    Ok(())
}

/// Whether the file is a model, or was one before it was damaged.
pub fn is_model(path: &Path) -> bool {
    let is_foreign = |error: &Error| {
        matches!(error, Error::Model { source: auscult_core::Error::ForeignModel { .. }, .. })
    };
    load(path).as_ref().err().is_none_or(|error| !is_foreign(error))
}

//! Model files and other targets, with advice when they cannot be used.

use std::{io::ErrorKind, path::Path};

use auscult_core::Model;
use auscult_files::{Error, ModelLock};

/// Reads a model.
pub(crate) fn load(path: &Path) -> anyhow::Result<Model> {
    auscult_files::load(path).map_err(advise)
}

/// Locks a model for a change and reads it.
pub(crate) fn load_locked(path: &Path) -> anyhow::Result<(ModelLock, Model)> {
    let lock = ModelLock::acquire(path).map_err(advise)?;
    let model = lock.load().map_err(advise)?;
    Ok((lock, model))
}

/// Says what to do about a model that cannot be read.
fn advise(error: Error) -> anyhow::Error {
    const ORDER: &str = "the model comes first, then the recordings";
    match &error {
        Error::Read { path, source } if source.kind() == ErrorKind::NotFound => anyhow::anyhow!(
            "{}: no such model file; check the path, or make a model with auscult fit",
            path.display()
        ),
        Error::Read { path, .. } if path.is_dir() => {
            anyhow::anyhow!("{}: a folder, not a model file; {ORDER}", path.display())
        }
        Error::Model { source: auscult_core::Error::ForeignModel { .. }, .. } => {
            anyhow::anyhow!("{error}; {ORDER}; models are made by auscult fit")
        }
        _ => error.into(),
    }
}

/// Refuses a file that cannot be written, before any work is done for it.
pub(crate) fn check_target(path: &Path) -> anyhow::Result<()> {
    let name = path.display();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        anyhow::bail!(
            "cannot write {name}: there is no folder {}; make it first",
            folder.display()
        );
    }
    match path.metadata() {
        Ok(found) if found.is_dir() => {
            anyhow::bail!("cannot write {name}: it is a folder; name a file in it")
        }
        Ok(found) if !found.is_file() => {
            anyhow::bail!("cannot write {name}: it is a device or a pipe; name a plain file")
        }
        _ => Ok(()),
    }
}

/// Refuses a file that cannot be written, or holds what results are made from.
pub(crate) fn check_result_target(
    path: &Path,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> anyhow::Result<()> {
    check_target(path)?;
    protect(path, inputs)
}

/// Refuses to write results over what they are made from: an input, a recording or a model.
pub(crate) fn protect(
    path: &Path,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> anyhow::Result<()> {
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let is_target = |input: &Path| input.canonicalize().is_ok_and(|input| input == target);
    let name = path.display();
    anyhow::ensure!(
        !inputs.into_iter().any(|input| is_target(input.as_ref())),
        "cannot write {name}: this command reads it; give another file"
    );
    let held = match path.metadata() {
        Ok(found) if !found.is_file() => return Ok(()),
        Ok(_) if auscult_audio::is_sound_file(path) => "a recording",
        Ok(found) if found.len() > 0 && is_model(path) => "a model",
        _ => return Ok(()),
    };
    anyhow::bail!("{name} exists and is {held}; give another file, or remove it first")
}

/// Refuses to write a model over anything that never was one, such as a recording.
pub(crate) fn check_model_target(path: &Path) -> anyhow::Result<()> {
    check_target(path)?;
    let holds_something = path.metadata().is_ok_and(|found| found.len() > 0);
    anyhow::ensure!(
        !holds_something || is_model(path),
        "{} exists and is not a model; give another file after -o, or remove it first",
        path.display()
    );
    Ok(())
}

/// Whether the file is a model, or was one before it was damaged.
fn is_model(path: &Path) -> bool {
    let loaded = auscult_files::load(path);
    let is_foreign = |error: &Error| {
        matches!(error, Error::Model { source: auscult_core::Error::ForeignModel { .. }, .. })
    };
    loaded.as_ref().err().is_none_or(|error| !is_foreign(error))
}

//! Where a run is stored, and whether it may be there.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    time::Duration,
};

use auscult_core::ClipSettings;
use auscult_encoders::Encoder;

use super::Compute;
use crate::{Error, Result};

/// Where a run is stored and when it ends early.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPlace {
    /// The run's folder; a run that was stopped in it goes on.
    pub folder: PathBuf,
    /// Length and rate of clips.
    pub clip: ClipSettings,
    /// Stop after this time, with a checkpoint.
    pub at_most: Option<Duration>,
    /// Where the arithmetic is done.
    pub compute: Compute,
}

const LOCK: &str = "run.lock";

/// Frames of a patch.
pub(super) const PATCH_SIDE: usize = 16;

/// No encoder takes longer clips.
const LONGEST_SECONDS: f64 = 30.0;

/// CED has positions for ten seconds only; inference cuts longer clips, training does not.
pub(super) fn check_length(encoder: &Encoder, clip: ClipSettings) -> Result<()> {
    // Frames come every 10 ms.
    let positions = encoder.most_columns().map(|most| (most * PATCH_SIDE) as f64 / 100.0);
    let most = positions.unwrap_or(f64::INFINITY).min(LONGEST_SECONDS);
    if !(1.0..=most).contains(&clip.seconds) {
        let allowed = format!("1 to {most} seconds for {}", encoder.name());
        return Err(Error::setting("clip length", allowed, clip.seconds));
    }
    encoder.buffers(clip.check()?)?;
    Ok(())
}

/// The right to work in a folder; the system gives it back however the process ends.
pub(super) fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let options = File::options().create(true).append(true).open(&path);
    let file = options.map_err(file_error(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => Err(file_error(&path)(error)),
        Err(TryLockError::WouldBlock) => {
            let reason =
                "another training is at work in this folder; wait for it, or give another folder";
            Err(Error::File { path: folder.to_owned(), reason: reason.to_owned() })
        }
    }
}

pub(super) fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |error| Error::File { path, reason: error.to_string() }
}

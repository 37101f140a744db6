//! Files that are not what their names promise, found by their first bytes.

use std::io::Cursor;

use auscult_audio::check_header;
use rayon::prelude::*;

use super::{Archives, ClipFile, DatasetClip};
use crate::problems::FileProblem;

/// The header of a WAV file is nearly always shorter than this.
const START_BYTES: u64 = 4096;

/// Clips whose file is not there, is empty, has no header that makes sense, or ends before the sound
/// its header promises. The sound itself is not read.
pub(super) fn unusable(clips: &[DatasetClip]) -> Vec<FileProblem> {
    let archives = Archives::default();
    let problem = |clip: &DatasetClip| {
        let reason = check(&clip.file, &archives).err()?;
        Some(FileProblem::new(clip.file.label(), &reason))
    };
    clips.par_iter().filter_map(problem).collect()
}

fn check(file: &ClipFile, archives: &Archives) -> Result<(), String> {
    let label = file.label();
    let (start, len) = file.start(START_BYTES, archives).map_err(|error| error.to_string())?;
    let is_whole = start.len() as u64 == len;
    match check_header(&label, Cursor::new(start), len) {
        Ok(()) => Ok(()),
        Err(error) if is_whole => Err(error.to_string()),
        // The header may be longer than what was looked at: pictures, cue points.
        Err(_) => {
            let bytes = file.bytes(archives).map_err(|error| error.to_string())?;
            check_header(&label, Cursor::new(bytes), len).map_err(|error| error.to_string())
        }
    }
}

//! What a user should know about the inputs, though nothing went wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::extensions::has_unsupported_extension;
use crate::manifest::Manifest;
use crate::recorded::parse_time;

/// What a user should know about the inputs, though nothing went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A folder has sound in a format that is not read.
    Unsupported {
        /// The folder as the user knows it.
        folder: String,
        /// The extension of the files, in lower case.
        extension: String,
        /// How many files have it.
        files: usize,
        /// One of them.
        example: PathBuf,
    },
    /// A manifest has times that cannot be read.
    UnreadableTimes {
        /// The manifest as the user knows it.
        manifest: String,
        /// How many rows have such a time.
        rows: usize,
        /// The line of the first one, counted from 1.
        line: u64,
        /// Its time as written.
        time: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { folder, extension, files, example } => {
                let (noun, them) = if *files == 1 { ("file", "it") } else { ("files", "them") };
                let (verb, example) = (if *files == 1 { "is" } else { "are" }, example.display());
                write!(
                    formatter,
                    "{files} .{extension} {noun} in {folder} {verb} not read, such as {example}: this format \
                     is not supported; convert {them} to WAV or FLAC"
                )
            }
            Self::UnreadableTimes { manifest, rows, line, time } => {
                write!(
                    formatter,
                    "{manifest}:{line}: the time {time:?} is ignored: it is not a date and time as in RFC 3339, \
                     such as 2024-05-03T14:22:10Z"
                )?;
                match rows.saturating_sub(1) {
                    0 => Ok(()),
                    more => write!(formatter, "; so are those of {more} more rows"),
                }
            }
        }
    }
}

/// Notes on the `files` of a folder that are sound and not read, one for each extension.
pub(crate) fn on_unsupported(folder: &Path, files: &[PathBuf]) -> Vec<Note> {
    let mut found: BTreeMap<String, (usize, &PathBuf)> = BTreeMap::new();
    for path in files.iter().filter(|path| has_unsupported_extension(path)) {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        found.entry(extension).or_insert((0, path)).0 += 1;
    }
    let note = |(extension, (files, example)): (String, (usize, &PathBuf))| Note::Unsupported {
        folder: folder.display().to_string(),
        extension,
        files,
        example: example.clone(),
    };
    found.into_iter().map(note).collect()
}

/// Takes times that cannot be read out of the rows, with a note that it did.
pub(crate) fn on_times(manifest: &mut Manifest) -> Option<Note> {
    let mut unreadable = Vec::new();
    for row in manifest.rows.iter_mut().flatten() {
        let time = row.time.take_if(|time| parse_time(time).is_none());
        unreadable.extend(time.map(|time| (row.line, time)));
    }
    let (rows, manifest) = (unreadable.len(), manifest.path.display().to_string());
    let (line, time) = unreadable.into_iter().next()?;
    Some(Note::UnreadableTimes { manifest, rows, line, time })
}

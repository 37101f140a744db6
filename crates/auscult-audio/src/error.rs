//! The crate's error type.

use std::io;
use std::path::Path;

/// The result of any fallible operation in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why sound could not be found, read or cut.
///
/// Every message names the input, what was wrong with it and what to do next.
/// `input` is the path as the user knows it, or `standard input`. The cause is
/// part of the message; there is no separate error source to print.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A named file or folder does not exist.
    #[error("{input}: no such file or folder; check the path")]
    NotFound {
        /// The path as the user knows it.
        input: String,
    },
    /// The operating system does not let this user read the input.
    #[error("{input}: permission denied; allow this user to read it (for example with chmod +r)")]
    PermissionDenied {
        /// The path as the user knows it.
        input: String,
    },
    /// A folder stands where one sound file is needed.
    #[error("{input}: is a folder, not a sound file; name the files in it or pass it as an input")]
    IsFolder {
        /// The path as the user knows it.
        input: String,
    },
    /// The operating system reported some other failure.
    #[error("{input}: cannot be read: {reason}; check the disk or the connection and try again")]
    Unreadable {
        /// The path as the user knows it.
        input: String,
        /// What the operating system said.
        reason: io::Error,
    },
    /// A folder holds no file with a known sound extension.
    #[error("{input}: no sound files in this folder; known extensions are {known}")]
    EmptyFolder {
        /// The folder as the user knows it.
        input: String,
        /// The extensions that are looked for.
        known: String,
    },
    /// A glob pattern matches nothing.
    #[error("{pattern}: no file matches this pattern; check it, and the folder it starts in")]
    NoMatch {
        /// The pattern as typed.
        pattern: String,
    },
    /// A glob pattern cannot be parsed.
    #[error("{pattern}: not a valid pattern: {reason}; use *, ?, ** and [abc]")]
    BadPattern {
        /// The pattern as typed.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Standard input is named more than once.
    #[error("standard input (-) is named more than once but can be read only once; name it once")]
    StandardInputTwice,
    /// A manifest as a whole cannot be used.
    #[error("{manifest}: {reason}")]
    Manifest {
        /// The manifest as the user knows it.
        manifest: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// One row of a manifest cannot be used; the others go on.
    #[error("{manifest}:{line}: {reason}")]
    ManifestRow {
        /// The manifest as the user knows it.
        manifest: String,
        /// The line in the manifest, counted from 1.
        line: u64,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A row of a table of samples cannot be used; the sound ends there.
    #[error("{input}:{line}: {reason}")]
    TableRow {
        /// The table as the user knows it.
        input: String,
        /// The line in the table, counted from 1.
        line: u64,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A manifest has no column with the paths of recordings.
    #[error(
        "{manifest}: the header has no column `path` (it has: {columns}); name the columns, such as: \
         path,visit,domain; a table of samples needs the name and the sample rate of its column"
    )]
    NoPathColumn {
        /// The manifest as the user knows it.
        manifest: String,
        /// The columns it has.
        columns: String,
    },
    /// The manifest is Parquet and this build cannot read it.
    #[error(
        "{input}: reading Parquet is not part of this build; use one built with the cargo feature \
         `parquet`, or save the list as CSV"
    )]
    NoParquet {
        /// The manifest as the user knows it.
        input: String,
    },
    /// The input holds no byte at all.
    #[error("{input}: the file is empty (0 bytes); record or copy it again")]
    EmptyFile {
        /// The input as the user knows it.
        input: String,
    },
    /// The content is not in a sound format this crate knows.
    #[error("{input}: not a sound file this program knows; it reads {known}")]
    NotSound {
        /// The input as the user knows it.
        input: String,
        /// The formats that can be read.
        known: &'static str,
    },
    /// The container is known but its coding is not.
    #[error("{input}: {format} is not supported; convert it first, for example with: {convert}")]
    Unsupported {
        /// The input as the user knows it.
        input: String,
        /// The format or coding found.
        format: String,
        /// A command that converts it.
        convert: &'static str,
    },
    /// The sound is Opus and this build has no Opus decoder.
    #[error(
        "{input}: this build has no Opus decoder; build with the cargo feature `opus`, \
         or convert the file, for example with: ffmpeg -i in.opus out.flac"
    )]
    NoOpus {
        /// The input as the user knows it.
        input: String,
    },
    /// The format must be read out of order, and a stream cannot be.
    #[error(
        "{input}: this format must be read out of order ({reason}) and a stream cannot be; \
         save it to a file first, or send WAV or FLAC"
    )]
    NeedsSeeking {
        /// The input as the user knows it.
        input: String,
        /// What the decoder said.
        reason: String,
    },
    /// The header contradicts itself or ends too early.
    #[error("{input}: the header is damaged: {reason}; record or copy the file again")]
    BadHeader {
        /// The input as the user knows it.
        input: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The number of channels is outside what this crate handles.
    #[error("{input}: has {channels} channels, allowed are 1 to {max}; split the file first")]
    ChannelCount {
        /// The input as the user knows it.
        input: String,
        /// The number of channels found.
        channels: usize,
        /// The largest number allowed.
        max: usize,
    },
    /// A part ends, or even starts, where the recording has ended already.
    #[error(
        "{input}: ends after {seconds:.3} s, before the part from {from:.3} s to {to:.3} s is over; correct \
         start_seconds and seconds"
    )]
    PartBeyondEnd {
        /// The input as the user knows it.
        input: String,
        /// How long the recording is.
        seconds: f64,
        /// Where the part starts, in seconds.
        from: f64,
        /// Where it ends, in seconds.
        to: f64,
    },
    /// The sample rate of the input is outside what this crate handles.
    #[error("{input}: has a sample rate of {rate} Hz, allowed are {min} to {max} Hz; convert it")]
    SampleRate {
        /// The input as the user knows it.
        input: String,
        /// The sample rate found.
        rate: u32,
        /// The lowest rate allowed.
        min: u32,
        /// The highest rate allowed.
        max: u32,
    },
    /// The wanted channel is not in the file.
    #[error(
        "{input}: there is no channel {index}: the file has {channels}, numbered from 0; choose a \
         lower channel or `mean`"
    )]
    NoSuchChannel {
        /// The input as the user knows it.
        input: String,
        /// The wanted channel, counted from 0.
        index: usize,
        /// The number of channels the file has.
        channels: usize,
    },
    /// The file is well formed but holds no sample.
    #[error("{input}: no sound in it (0 samples); record it again")]
    NoSound {
        /// The input as the user knows it.
        input: String,
    },
    /// The sound stops before its end because the file is cut or damaged.
    #[error("{input}: damaged after {seconds:.3} s: {reason}; record or copy the file again")]
    Damaged {
        /// The input as the user knows it.
        input: String,
        /// How much sound could be read, in seconds.
        seconds: f64,
        /// What went wrong there.
        reason: String,
    },
    /// A setting is outside its range.
    #[error("{name} must be {allowed}, got {value}")]
    Setting {
        /// The setting's name.
        name: &'static str,
        /// The rejected value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// The sample rate or the length of clips is outside its range.
    #[error(transparent)]
    Clip(#[from] auscult_core::Error),
    /// The rates cannot be converted into each other.
    #[error("cannot resample from {from} Hz to {to} Hz: {reason}; convert the file first")]
    Resample {
        /// The input's rate.
        from: u32,
        /// The wanted rate.
        to: u32,
        /// What the resampler said.
        reason: String,
    },
}

impl Error {
    /// Sorts an I/O failure on `path` into the variant that explains it best.
    pub(crate) fn from_io(path: &Path, reason: io::Error) -> Self {
        let input = path.display().to_string();
        match reason.kind() {
            io::ErrorKind::NotFound => Self::NotFound { input },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { input },
            io::ErrorKind::IsADirectory => Self::IsFolder { input },
            _ => Self::Unreadable { input, reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_system_are_sorted_and_name_the_file() {
        let cases = [
            (io::ErrorKind::NotFound, "a.wav: no such file or folder"),
            (io::ErrorKind::PermissionDenied, "a.wav: permission denied"),
            (io::ErrorKind::IsADirectory, "a.wav: is a folder"),
            (io::ErrorKind::TimedOut, "a.wav: cannot be read: timed out"),
        ];
        for (kind, message) in cases {
            let error = Error::from_io(Path::new("a.wav"), kind.into()).to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}

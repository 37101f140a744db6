//! Checks of the sound and manifest readers.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use auscult_audio::{
    AudioClip, CheckedReadSettings, ClipReader, Error, Expanded, Extent, Location, ReadSettings,
    Result, expand,
};

/// Bytes that cannot be read backwards, such as those of a pipe.
///
/// # Panics
///
/// If the reader breaks one of its promises.
pub fn stream(bytes: &[u8]) {
    let settings = settings();
    read_all(ClipReader::from_stream("stream", Cursor::new(bytes.to_vec()), &settings), &settings);
}

/// Bytes of a file, and a second time as a stream: plain samples must come out the same.
///
/// # Panics
///
/// If the reader breaks one of its promises, or a file cannot be written.
pub fn file(bytes: &[u8]) {
    let settings = settings();
    let folder = folder();
    let location = Location::File(written(folder.path(), "sound", bytes));
    let from_file = read_all(ClipReader::open(&location, &settings), &settings);
    if matches!(bytes.get(..4), Some(b"RIFF" | b"RF64" | b"BW64" | b"FORM")) {
        let stream = Cursor::new(bytes.to_vec());
        let from_stream = read_all(ClipReader::from_stream("stream", stream, &settings), &settings);
        assert!(same_clips(&from_file, &from_stream), "a file and a stream of it differ");
    }
}

/// Bytes of a manifest, as CSV and as JSON lines.
///
/// # Panics
///
/// If the reader breaks one of its promises, or a file cannot be written.
pub fn manifest(bytes: &[u8]) {
    let folder = folder();
    written(folder.path(), "a.wav", b"");
    for name in ["list.csv", "list.jsonl"] {
        let path = written(folder.path(), name, bytes);
        let Expanded { sources, problems, .. } = expand(&[path.display().to_string()]);
        assert!(
            !sources.is_empty() || !problems.is_empty(),
            "a manifest gives a source or says why not"
        );
        for source in &sources {
            assert!(matches!(source.location, Location::File(_)), "{source:?}");
            assert!(source.visit.as_deref() != Some(""), "an empty visit is none");
            assert!(source.domain.as_deref() != Some(""), "an empty domain is none");
        }
        for problem in &problems {
            assert!(!problem.to_string().is_empty(), "a problem says what it is");
        }
    }
}

/// Short clips that overlap, so that few bytes give many.
fn settings() -> CheckedReadSettings {
    let settings =
        ReadSettings { clip_seconds: 0.1, hop_seconds: Some(0.015), ..ReadSettings::default() };
    match settings.check() {
        Ok(checked) => checked,
        Err(error) => panic!("{error}"),
    }
}

/// The clips a reader gives, once every promise about them was looked at.
fn read_all(reader: Result<ClipReader>, settings: &CheckedReadSettings) -> Vec<AudioClip> {
    let mut reader = match reader {
        Ok(reader) => reader,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error says what it is");
            return Vec::new();
        }
    };
    let mut clips: Vec<AudioClip> = Vec::new();
    let mut failure: Option<Error> = None;
    for clip in reader.by_ref() {
        assert!(failure.is_none(), "nothing follows an error");
        match clip {
            Ok(clip) => clips.push(clip),
            Err(error) => failure = Some(error),
        }
    }
    assert!(reader.next().is_none(), "the end is the end");
    assert!(!clips.is_empty() || failure.is_some(), "an input gives sound or says why not");
    for (index, clip) in clips.iter().enumerate() {
        let is_last = index + 1 == clips.len();
        let is_full = clip.samples.len() == settings.clip_len();
        assert!(clip.start_seconds >= 0.0 && clip.start_seconds.is_finite(), "{clip:?}");
        match clip.extent {
            Extent::Full => assert!(is_full, "a full clip has {} samples", clip.samples.len()),
            Extent::ShortFile => assert!(clips.len() == 1 && !is_full && failure.is_none()),
            Extent::CutByDamage => assert!(is_last && failure.is_some()),
        }
    }
    let facts = reader.facts();
    assert!(facts.seconds_read >= 0.0 && facts.seconds_dropped >= 0.0, "{facts:?}");
    clips
}

/// Bit for bit, for NaN is not equal to itself.
fn same_clips(left: &[AudioClip], right: &[AudioClip]) -> bool {
    let bits = |clip: &AudioClip| clip.samples.iter().map(|s| s.to_bits()).collect::<Vec<_>>();
    left.len() == right.len()
        && left.iter().zip(right).all(|(l, r)| l.extent == r.extent && bits(l) == bits(r))
}

fn folder() -> tempfile::TempDir {
    match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => panic!("no temporary folder: {error}"),
    }
}

fn written(folder: &Path, name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = folder.join(name);
    match fs::write(&path, bytes) {
        Ok(()) => path,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

//! Replays the committed fuzz corpora against the checks of the fuzz targets.
#![expect(clippy::print_stdout, reason = "shown only when a check fails")]

#[path = "../../../fuzz/src/audio.rs"]
pub mod audio;

use std::fs;
use std::path::Path;

/// Runs `check` on every file of a corpus; the last file shown is the one it fails on.
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let inputs = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = inputs.map(|entry| entry.path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} holds no inputs", folder.display());
    for path in paths {
        println!("{}", path.display());
        match fs::read(&path) {
            Ok(bytes) => check(&bytes),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn corpus_of_streams_is_read_as_promised() {
    replay("audio_reader", audio::stream);
}

#[test]
fn corpus_of_files_is_read_as_promised() {
    replay("audio_file", audio::file);
}

#[test]
fn corpus_of_manifests_is_read_as_promised() {
    replay("manifest", audio::manifest);
}

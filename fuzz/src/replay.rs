//! Replays a committed corpus; for the tests of the crates whose checks the fuzz targets run.
#![expect(clippy::print_stdout, reason = "shown only when a check fails")]

use std::{fs, path::Path};

/// Runs `check` on every file of a corpus; the last file shown is the one it fails on.
pub(crate) fn replay(target: &str, check: fn(&[u8])) {
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

//! Replays the committed fuzz corpora against the checks of the fuzz targets.
#![expect(clippy::print_stdout, reason = "shown only when a check fails")]

#[path = "../../../fuzz/src/model.rs"]
pub mod model;

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
fn corpus_of_model_files_opens_or_is_refused() {
    replay("model_file", model::file);
}

#[test]
fn corpus_of_model_headers_opens_or_is_refused() {
    replay("model_header", model::header);
}

#[test]
fn seeds_of_model_files_open() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/model_file");
    for name in ["one_view", "two_views", "one_reference", "with_alarm"] {
        let bytes = fs::read(folder.join(name)).unwrap();
        let model = auscult_core::Model::from_bytes(&bytes).unwrap();
        assert_eq!(model.references().axis_len(), 5, "{name}");
    }
}

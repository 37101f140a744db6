//! Replays the committed fuzz corpora against the checks of the fuzz targets.
#![expect(clippy::print_stdout, reason = "shown only when a check fails")]

#[path = "../../../fuzz/src/checkpoint.rs"]
pub mod checkpoint;

use std::{fs, path::Path};

use auscult_encoders::Checkpoint;

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
fn corpus_of_checkpoints_opens_or_is_refused() {
    replay("checkpoint_file", checkpoint::file);
}

#[test]
fn corpus_of_pickles_opens_or_is_refused() {
    replay("checkpoint_pickle", checkpoint::pickle);
}

/// The fuzzer must reach the tensors: its first inputs are whole checkpoints.
#[test]
fn seeds_of_checkpoints_open() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for name in ["made.safetensors", "made.pt"] {
        let bytes = fs::read(corpus.join("checkpoint_file").join(name)).expect("a seed");
        let checkpoint = Checkpoint::from_bytes(bytes).expect("a whole checkpoint");
        assert_eq!(checkpoint.read("weight", &[2, 4]).expect("its tensor").len(), 8, "{name}");
    }
    let pickle = fs::read(corpus.join("checkpoint_pickle/made.pkl")).expect("a seed");
    let entries: [(&str, &[u8]); 2] = [("a/data.pkl", &pickle), ("a/data/0", &[0; 64])];
    let zip = checkpoint::stored_zip(&entries);
    assert!(
        Checkpoint::from_bytes(zip).expect("a whole checkpoint").read("weight", &[2, 4]).is_ok()
    );
}

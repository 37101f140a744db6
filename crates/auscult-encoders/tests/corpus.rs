//! Replays the committed fuzz corpora against the checks of the fuzz targets.

#[path = "../../../fuzz/src/checkpoint.rs"]
pub mod checkpoint;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

use std::{fs, path::Path};

use auscult_encoders::Checkpoint;

#[test]
fn corpus_of_checkpoints_opens_or_is_refused() {
    replay::replay("checkpoint_file", checkpoint::file);
}

#[test]
fn corpus_of_pickles_opens_or_is_refused() {
    replay::replay("checkpoint_pickle", checkpoint::pickle);
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

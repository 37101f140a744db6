//! Replays the committed fuzz corpus against the check of the fuzz target.

#[path = "../../../fuzz/src/replay.rs"]
mod replay;
#[path = "../../../fuzz/src/upload.rs"]
pub mod upload;

#[test]
fn corpus_of_uploads_is_taken_or_refused_and_leaves_nothing() {
    replay::replay("upload", upload::body);
}

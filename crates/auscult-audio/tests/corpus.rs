//! Replays the committed fuzz corpora against the checks of the fuzz targets.

#[path = "../../../fuzz/src/audio.rs"]
pub mod audio;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn corpus_of_streams_is_read_as_promised() {
    replay::replay("audio_reader", audio::stream);
}

#[test]
fn corpus_of_files_is_read_as_promised() {
    replay::replay("audio_file", audio::file);
}

#[test]
fn corpus_of_manifests_is_read_as_promised() {
    replay::replay("manifest", audio::manifest);
}

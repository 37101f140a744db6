//! Replays the committed fuzz corpora against the checks of the fuzz targets.

#[path = "../../../fuzz/src/model.rs"]
pub mod model;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

use std::{fs, path::Path};

#[test]
fn corpus_of_model_files_opens_or_is_refused() {
    replay::replay("model_file", model::file);
}

#[test]
fn corpus_of_model_headers_opens_or_is_refused() {
    replay::replay("model_header", model::header);
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

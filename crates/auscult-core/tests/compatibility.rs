//! Every model file version ever written stays readable and scores the same.
#![expect(clippy::unwrap_used, reason = "a test stops where its files cannot be read")]

use auscult_core::{ClipVectors, FrontEndSettings, Model, ModelSettings, Storage, Verdict};
use auscult_testing::golden;

#[test]
fn version_1_is_read_and_scores_as_it_did() {
    let folder = golden::testdata().join("models");
    let model = Model::from_bytes(&std::fs::read(folder.join("v1.auscult")).unwrap()).unwrap();
    assert_eq!(model.references().len(), 12);
    assert_eq!(model.references().provenance()[0].visit.as_deref(), Some("visit_01"));
    let settings = model.settings();
    let front_end = FrontEndSettings::from_identity(&settings.front_end)
        .unwrap()
        .build(settings.clip.check().unwrap())
        .unwrap();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    let samples = golden::read_wav_pcm16(folder.join("v1.wav")).unwrap();
    front_end.extractor().extract_into(&samples, &mut vectors).unwrap();
    let scored = model.score(&vectors).unwrap();
    let text = std::fs::read_to_string(folder.join("v1.csv")).unwrap();
    let row: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    let want: f64 = row[2].parse().unwrap();
    // Another architecture may differ in the last digits of the features.
    assert!((scored.score.value - want).abs() < 1e-4 * want, "{} {want}", scored.score.value);
    assert_eq!(scored.p_value, Some(row[3].parse().unwrap()));
    assert_eq!(scored.verdict, row[5].parse::<Verdict>().unwrap());
}

/// The model of version 1 with its references rounded.
fn rounded(storage: Storage) -> Model {
    let folder = golden::testdata().join("models");
    let model = Model::from_bytes(&std::fs::read(folder.join("v1.auscult")).unwrap()).unwrap();
    let settings = ModelSettings { storage, ..model.settings().clone() };
    Model::fit(settings, model.references().clone()).unwrap()
}

#[test]
fn version_2_is_read_and_scores_close_to_version_1() {
    let folder = golden::testdata().join("models");
    let v1 = Model::from_bytes(&std::fs::read(folder.join("v1.auscult")).unwrap()).unwrap();
    let query = v1.references().clip(3).unwrap();
    for (storage, allowed) in [(Storage::F16, 0.02), (Storage::Int8, 0.2)] {
        let bytes = std::fs::read(folder.join(format!("v2-{storage}.auscult"))).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        assert_eq!(model.settings().storage, storage);
        model.verify().unwrap();
        let kept = model.references().clip(3).unwrap();
        for (view, vector) in query.views() {
            for (kept, value) in kept.view(view).unwrap().iter().zip(vector) {
                assert!((kept - value).abs() < 0.02, "{storage}: {kept} {value}");
            }
        }
        for (old, new) in
            v1.detector().left_out_scores().iter().zip(model.detector().left_out_scores())
        {
            let (old, new) = (old.unwrap(), new.unwrap());
            assert!((old - new).abs() < allowed * old, "{storage}: {old} {new}");
        }
    }
}

#[test]
#[ignore = "writes testdata/models/v2-*.auscult, which never change once committed; to make them anew, remove them and run with --run-ignored only"]
fn write_version_2() {
    for storage in [Storage::F16, Storage::Int8] {
        let path = golden::testdata().join(format!("models/v2-{storage}.auscult"));
        assert!(!path.exists(), "{} is there already", path.display());
        std::fs::write(path, rounded(storage).to_bytes().unwrap()).unwrap();
    }
}

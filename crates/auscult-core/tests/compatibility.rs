//! Every model file version ever written stays readable and scores the same.

use auscult_core::{ClipVectors, FrontEndSettings, Model, Verdict};
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

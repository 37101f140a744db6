//! Model files with a trained network stay readable and score the same.
#![expect(clippy::unwrap_used, reason = "a test stops where its files cannot be read")]

use auscult_autoencoder::AutoencoderFrontEnd;
use auscult_core::{ClipVectors, FrontEnd, Model};
use auscult_testing::golden;

/// The weights of a model by name.
type Arrays = std::collections::BTreeMap<String, Vec<f32>>;

fn model() -> Model {
    let path = golden::testdata().join("models/v3.auscult");
    Model::from_bytes(&std::fs::read(path).unwrap()).unwrap()
}

fn front_end(model: &Model) -> auscult_autoencoder::Result<AutoencoderFrontEnd> {
    let settings = model.settings();
    let length = settings.clip.check().unwrap();
    AutoencoderFrontEnd::of_model(&settings.front_end, &settings.weights, length)
}

#[test]
fn version_3_is_read_and_scores_as_it_did() {
    let model = model();
    model.verify().unwrap();
    let front_end = front_end(&model).unwrap();
    model.check_front_end(&front_end).unwrap();
    let mut vectors = ClipVectors::for_front_end(&front_end);
    let folder = golden::testdata().join("models");
    let samples = golden::read_wav_pcm16(folder.join("v1.wav")).unwrap();
    front_end.extractor().extract_into(&samples, &mut vectors).unwrap();
    let scored = model.score(&vectors).unwrap();
    let text = std::fs::read_to_string(folder.join("v3.csv")).unwrap();
    let want: f64 = text.lines().nth(1).unwrap().split(',').nth(2).unwrap().parse().unwrap();
    // Another architecture may differ in the last digits.
    assert!((scored.score.value - want).abs() < 1e-4 * want, "{} {want}", scored.score.value);
    assert_eq!(model.to_bytes().unwrap(), std::fs::read(folder.join("v3.auscult")).unwrap());
}

#[test]
fn weights_that_do_not_belong_to_the_model_are_refused() {
    let model = model();
    let refused = |change: &dyn Fn(&mut Arrays)| {
        let mut settings = model.settings().clone();
        let mut weights = (*settings.weights).clone();
        change(&mut weights);
        settings.weights = std::sync::Arc::new(weights);
        let length = settings.clip.check().unwrap();
        AutoencoderFrontEnd::of_model(&settings.front_end, &settings.weights, length)
            .unwrap_err()
            .to_string()
    };
    let missing = refused(&|weights| drop(weights.remove("layer.0.bias")));
    assert!(missing.contains("layer.0.bias has no values"), "{missing}");
    let short = refused(&|weights| weights.get_mut("layer.1.weight").unwrap().truncate(9));
    assert!(short.contains("layer.1.weight has"), "{short}");
    let other = refused(&|weights| weights.get_mut("layer.1.bias").unwrap()[0] += 1.0);
    assert!(other.contains("not those of its autoencoder"), "{other}");
}

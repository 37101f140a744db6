//! The presets, from files to scores, against an independent implementation.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::Path;

use auscult::encoders::Precision;
use auscult::{ClipSettings, ClipVectors, FrontEnd, FrontEnds, Preset, Provenance, References};
use auscult_testing::golden;
use serde_json::Value;

fn clips(front_end: &dyn FrontEnd, folder: &Path, files: &Value) -> Vec<ClipVectors> {
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(front_end);
    let files = files.as_array().unwrap().iter();
    let clips = files.map(|file| {
        let samples = golden::read_wav_pcm16(folder.join(file.as_str().unwrap())).unwrap();
        extractor.extract_into(&samples, &mut vectors).unwrap();
        vectors.clone()
    });
    clips.collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Members in the order of the presets, as the golden pack names them.
const MEMBERS: [&str; 3] = ["log-mel", "modulation", "ced"];

#[test]
fn presets_give_the_golden_numbers() {
    let Some(folder) = golden::shared() else {
        eprintln!("SKIPPED: the large golden pack (golden/presets) is not present");
        return;
    };
    let text = std::fs::read_to_string(folder.join("presets/presets.json")).unwrap();
    let golden: Value = serde_json::from_str(&text).unwrap();
    let seconds = golden["clip_seconds"].as_f64().unwrap();
    let length = ClipSettings { seconds, ..ClipSettings::default() }.check().unwrap();
    let front_ends = FrontEnds::standard();
    for preset in [Preset::Fast, Preset::Best] {
        let (mut spec, note) = preset.spec(length);
        assert_eq!(note, None);
        if preset == Preset::Best {
            // In int16, the default, scores of CED differ by some hundredths of a deviation.
            spec.encoder.precision = Some(Precision::F32);
        }
        let front_end = front_ends.named(&spec, length).unwrap();
        let detector = front_ends.usual_detector(&spec, &*front_end).unwrap();
        let beam = detector.check(front_end.axis().len()).unwrap();
        for (machine, expected) in golden["machines"].as_object().unwrap() {
            let mut references = References::for_front_end(&*front_end);
            for clip in clips(&*front_end, &folder, &expected["train_files"]) {
                let name = references.len().to_string();
                references.push(&clip, Provenance::of(name)).unwrap();
            }
            let fitted = beam.fit_for_scoring(references).unwrap();
            let test = clips(&*front_end, &folder, &expected["test_files"]);
            let want = numbers(&expected["presets"][preset.name()]);
            assert_eq!(want.len(), test.len());
            for (index, (clip, want)) in test.iter().zip(want).enumerate() {
                let score = fitted.score(clip).unwrap();
                let deviations = fitted.member_deviations(&score);
                for (got, name) in deviations.iter().zip(MEMBERS) {
                    let want = expected["z"][name][index].as_f64().unwrap();
                    assert!((got - want).abs() < 5e-3, "{machine} {name} {index}: {got} {want}");
                }
                let got = score.value.ln();
                assert!((got - want).abs() < 5e-3, "{machine} {preset} {index}: {got} {want}");
            }
        }
    }
}

#[test]
fn a_preset_does_without_a_member_that_cannot_take_the_clips() {
    let length = |seconds, sample_rate| ClipSettings { seconds, sample_rate }.check().unwrap();
    let front_ends = FrontEnds::standard();
    let (short, detector, note) = Preset::Best.build(&front_ends, length(0.5, 16_000)).unwrap();
    let note = note.unwrap();
    assert!(note.contains("without modulation") && note.contains("without ced"), "{note}");
    assert_eq!(short.identity().name, "log-mel");
    assert_eq!(detector.exponent, auscult::DensityExponent::Auto);
    let (fast, _, note) = Preset::Best.build(&front_ends, length(2.0, 25_600)).unwrap();
    assert_eq!(fast.identity().name, "log-mel+modulation");
    let expected = "preset best goes without ced, which needs 16000 Hz (here it is 25600 Hz)";
    assert_eq!(note.as_deref(), Some(expected));
}

//! From files to scores against golden/e2e: one test a machine and method.

use std::path::{Path, PathBuf};

use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, FrontEndSettings, Method, Provenance, References,
};
use auscult_testing::golden::read_wav_pcm16;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::{Worst, entries};

/// f32 front ends against f64 ones: log-mel distances are of the order of 1e-5, the angle between
/// two log-mel vectors of 1e-2, and features agree to 1e-5 of their value.
const RELATIVE: f64 = 2e-3;

pub(crate) fn trials(pack: &str, folder: &Path) -> Vec<Trial> {
    let Ok(text) = std::fs::read_to_string(folder.join("e2e/expected.json")) else {
        return Vec::new();
    };
    let data: Value = serde_json::from_str(&text).expect("expected.json is JSON");
    let seconds = data["clip_seconds"].as_f64().expect("clip_seconds");
    let mut trials = Vec::new();
    for (machine, expected) in data["machines"].as_object().expect("machines") {
        for (method, scores) in expected["scores"].as_object().expect("scores") {
            let files: Vec<PathBuf> = expected["test_files"]
                .as_array()
                .expect("test_files")
                .iter()
                .map(|file| folder.join(file.as_str().expect("a path")))
                .collect();
            let train = folder.join("e2e").join(machine).join("train");
            let want: Vec<f64> =
                scores.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
            let name = method.clone();
            trials.push(Trial::test(format!("{pack}::e2e::{machine}::{method}"), move || {
                check(&name, seconds, &train, &files, &want)
            }));
        }
    }
    trials
}

fn check(
    name: &str,
    seconds: f64,
    train: &Path,
    test: &[PathBuf],
    want: &[f64],
) -> Result<(), Failed> {
    let (features, method) = name.split_once('/').expect("front end / method");
    let (front_end, convention) = match features {
        "logmel" => ("log-mel", "kaldi"),
        "logmel_s15" => ("log-mel", "s15"),
        "mfcc" => ("mfcc", "kaldi"),
        "mfcc_s15_nolifter" => ("mfcc", "s15-no-lifter"),
        "lpc" => ("lpc", "spectrum"),
        "lpc_inv" => ("lpc", "inverse"),
        other => panic!("unknown front end {other}"),
    };
    let length = ClipSettings { seconds, ..Default::default() }.check()?;
    let front_end = FrontEndSettings::named(front_end, Some(convention))?.build(length)?;
    let (method, neighbours) = method.rsplit_once("_K").expect("method and K");
    let paper = |method| BeamSettings::paper(method, &*front_end);
    let settings = match method {
        "global" => paper(Method::Global),
        "global_dmm" => BeamSettings { views: front_end.views().to_vec(), ..paper(Method::Global) },
        "beam" => paper(Method::Beam),
        "adabeam" => paper(Method::AdaBeam),
        other => panic!("unknown method {other}"),
    };
    let settings = BeamSettings { neighbours: neighbours.parse()?, ..settings };
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    let mut references = References::for_front_end(&*front_end);
    for path in entries(train) {
        extractor.extract_into(&read_wav_pcm16(&path)?, &mut vectors)?;
        references.push(&vectors, Provenance::of(path.display().to_string()))?;
    }
    let fitted = settings.check(front_end.axis().len())?.fit(references)?;
    let mut worst = Worst::default();
    for (path, &want) in test.iter().zip(want) {
        extractor.extract_into(&read_wav_pcm16(path)?, &mut vectors)?;
        worst.compare(name, fitted.score(&vectors)?.value, want, 0.0, RELATIVE);
    }
    worst.outcome()
}

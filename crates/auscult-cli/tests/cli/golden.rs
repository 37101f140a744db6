//! The whole program against scores of an independent implementation (numpy, f64).
//!
//! `testdata/golden/README.md` says how they were made.

use auscult_testing::golden::{self, Tolerance};
use serde_json::Value;

use crate::support::{Sandbox, rows};

/// f32 front ends against f64 ones, as in the tests of the core.
const TOLERANCE: Tolerance = Tolerance::relative(2e-3);

#[test]
fn fan_scores_agree_for_each_front_end_method_and_k() {
    check("fan");
}

#[test]
fn valve_scores_agree_for_each_front_end_method_and_k() {
    check("valve");
}

fn check(machine: &str) {
    let pack = golden::testdata().join("golden");
    let text = std::fs::read_to_string(pack.join("e2e/expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let seconds = expected["clip_seconds"].as_f64().unwrap().to_string();
    let expected = &expected["machines"][machine];
    let files = expected["test_files"].as_array().unwrap();
    let files: Vec<String> =
        files.iter().map(|file| pack.join(file.as_str().unwrap()).display().to_string()).collect();
    let train = pack.join("e2e").join(machine).join("train").display().to_string();
    let sandbox = Sandbox::new();
    let mut compared = 0;
    for (name, scores) in expected["scores"].as_object().unwrap() {
        let mut fit = vec!["fit", &train, "-o", "m.auscult", "--clip-seconds", &seconds];
        fit.extend(flags(name));
        sandbox.run_words(&fit).exits(0);
        let mut score = vec!["score", "m.auscult", "--csv"];
        score.extend(files.iter().map(String::as_str));
        let rows = rows(&sandbox.run_words(&score).exits(0).stdout);
        let got: Vec<f64> = rows.iter().map(|row| row[2].parse().unwrap()).collect();
        let want: Vec<f64> =
            scores.as_array().unwrap().iter().map(|score| score.as_f64().unwrap()).collect();
        golden::assert_close(&format!("{machine} {name}"), &got, &want, TOLERANCE);
        compared += got.len();
    }
    assert_eq!(compared, 40 * 20, "every combination has 20 scores");
}

/// The options that stand for a name such as `mfcc/global_dmm_K1`.
fn flags(name: &str) -> Vec<&str> {
    let (features, method) = name.split_once('/').unwrap();
    let (front_end, convention) = match features {
        "logmel" => ("log-mel", "kaldi"),
        "logmel_s15" => ("log-mel", "s15"),
        "mfcc" => ("mfcc", "kaldi"),
        "mfcc_s15_nolifter" => ("mfcc", "s15-no-lifter"),
        "lpc" => ("lpc", "spectrum"),
        "lpc_inv" => ("lpc", "inverse"),
        other => panic!("unknown front end {other}"),
    };
    let (method, neighbours) = method.rsplit_once("_K").unwrap();
    let mut flags = vec!["--front-end", front_end, "--convention", convention];
    flags.extend(["--neighbours", neighbours, "--method"]);
    match method {
        "global_dmm" => flags.extend(["global", "--fuse", "mean"]),
        other => flags.push(other),
    }
    flags
}

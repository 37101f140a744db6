//! The gamma percentile against golden/metrics.

use std::path::Path;

use auscult_core::calibration::gamma::{GammaFit, GammaForm};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::Worst;

pub(crate) fn trials(pack: &str, folder: &Path) -> Vec<Trial> {
    let Ok(text) = std::fs::read_to_string(folder.join("metrics/gamma_thresholds.json")) else {
        return Vec::new();
    };
    let cases: Vec<Value> = serde_json::from_str(&text).expect("gamma_thresholds.json is a list");
    let trial = |(index, case): (usize, Value)| {
        Trial::test(format!("{pack}::calibration::gamma_{index}"), move || check(&case))
    };
    cases.into_iter().enumerate().map(trial).collect()
}

fn check(case: &Value) -> Result<(), Failed> {
    let scores: Vec<f64> =
        case["scores"].as_array().expect("scores").iter().filter_map(Value::as_f64).collect();
    let quantile = case["q"].as_f64().expect("q");
    let want = |key: &str| case[key].as_f64().expect("a threshold");
    let threshold = |form| GammaFit::new(&scores, form)?.quantile(quantile);
    let mut worst = Worst::default();
    let got = threshold(GammaForm::TwoParameters)?;
    worst.compare("two parameters", got, want("floc0_threshold"), 0.0, 1e-6);
    // scipy stops its search early and elsewhere; its values are informative.
    let got = threshold(GammaForm::ThreeParameters)?;
    worst.compare("three parameters", got, want("scipy3_threshold"), 0.0, 1e-2);
    worst.outcome()
}

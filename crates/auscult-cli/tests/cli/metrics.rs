//! `auscult metrics`.

use auscult_testing::golden;
use serde_json::Value;

use crate::support::Sandbox;

/// Writes a case of the golden metrics as a table; the numbers are scikit-learn's.
fn write_case(sandbox: &Sandbox, words: bool) -> Value {
    let bytes = std::fs::read(golden::testdata().join("golden/metrics/metrics.json")).unwrap();
    let golden: Value = serde_json::from_slice(&bytes).unwrap();
    let case = golden["cases"][0].clone();
    let column = |name: &str| case[name].as_array().unwrap().clone();
    let mut text = String::from("path,label,score,domain\n");
    let rows = column("y").into_iter().zip(column("s")).zip(column("target"));
    for (index, ((label, score), target)) in rows.enumerate() {
        let label = match (words, label.as_i64()) {
            (true, Some(0)) => "normal".to_owned(),
            (true, _) => "anomaly".to_owned(),
            (false, _) => label.to_string(),
        };
        let domain = if target == 0 { "source" } else { "target" };
        text.extend(
            [format!("{index}.wav"), label, score.to_string(), domain.to_owned()]
                .join(",")
                .chars()
                .chain(['\n']),
        );
    }
    sandbox.write("scores.csv", text);
    case
}

#[test]
fn figures_are_those_of_scikit_learn_for_words_and_numbers() {
    for words in [false, true] {
        let sandbox = Sandbox::new();
        let case = write_case(&sandbox, words);
        let got: Value =
            serde_json::from_str(&sandbox.run("metrics scores.csv --json").exits(0).stdout)
                .unwrap();
        for name in ["auc", "pauc", "auc_source", "auc_target"] {
            let want = case["official_convention"][name].as_f64().unwrap();
            assert!((got[name].as_f64().unwrap() - want).abs() < 1e-12, "{name}");
            let interval = &got["intervals"][name]["bootstrap"];
            assert!(
                interval["low"].as_f64().unwrap() < want
                    && want < interval["high"].as_f64().unwrap()
            );
        }
        let want = case["same_domain_only"]["auc_target"].as_f64().unwrap();
        assert!((got["auc_target_same_domain"].as_f64().unwrap() - want).abs() < 1e-12);
        assert_eq!(got["asdkit"]["smix_auc"], got["auc_source"]);
        assert!(got["d_prime"].as_f64().unwrap() > 0.0);
        let three = ["auc_source", "auc_target", "pauc"].map(|name| got[name].as_f64().unwrap());
        let harmonic = 3.0 / three.iter().map(|value| 1.0 / value).sum::<f64>();
        for year in ["dcase2022", "dcase2023", "dcase2024", "dcase2025", "dcase2026"] {
            assert!((got["official_scores"][year].as_f64().unwrap() - harmonic).abs() < 1e-12);
        }
    }
}

#[test]
fn the_table_for_people_has_the_same_figures() {
    let sandbox = Sandbox::new();
    write_case(&sandbox, false);
    let ran = sandbox.run("metrics scores.csv --threshold 1").exits(0);
    assert!(ran.stdout.contains("111 labelled clips: 56 normal, 55 anomalous"), "{}", ran.stdout);
    assert!(ran.stdout.contains("AUC                                   89.32"), "{}", ran.stdout);
    assert!(ran.stdout.contains("decisions, source: F1"), "{}", ran.stdout);
}

#[test]
fn intervals_depend_on_the_seed_only() {
    let sandbox = Sandbox::new();
    write_case(&sandbox, false);
    let run = |line: &str| sandbox.run(line).exits(0).stdout;
    let first = run("metrics scores.csv --json");
    assert_eq!(first, run("metrics scores.csv --json --jobs 1"));
    assert_ne!(first, run("metrics scores.csv --json --seed 2"));
}

#[test]
fn bad_tables_are_told_apart() {
    let sandbox = Sandbox::new();
    for (text, message) in [
        ("path,score\na,1\n", "no column \"label\""),
        ("path,label,score\na,0,nan\n", "is NaN; scores must be finite"),
        ("path,label,score\na,maybe,1\n", "line 2: label must be 0, 1, normal or anomaly"),
        ("path,label,score\n", "no scores below the header"),
        ("path,label,score,score\na,0,1,2\n", "line 1: two columns are called \"score\""),
        ("path,label,score\na,0,1\na,1,2\n", "line 3: \"a\" is in line 2 too"),
    ] {
        sandbox.write("bad.csv", text);
        sandbox.run("metrics bad.csv").exits(2).says(message);
    }
    sandbox.run("metrics nowhere.csv").exits(2).says("nowhere.csv");
    sandbox.write("one.csv", "path,label,score\na,0,1\nb,0,2\n");
    sandbox.run("metrics one.csv --samples 10").exits(2).says("bootstrap samples must be 100 to");
}

#[test]
fn one_class_and_unlabelled_clips_give_what_can_be_given_and_say_why_not_more() {
    let sandbox = Sandbox::new();
    sandbox.write("one.csv", "path,label,score\na,0,1\nb,0,2\n");
    let ran = sandbox
        .run("metrics one.csv --json")
        .exits(2)
        .says("no AUC: among the labelled clips is no anomaly");
    let got: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(got["auc"].is_null());
    // No heads of tables that have no rows.
    let ran = sandbox.run("metrics one.csv").exits(2);
    assert_eq!(ran.stdout, "2 labelled clips: 2 normal, 0 anomalous\n");
    sandbox.write("hidden.csv", "path,label,score\na,,1\nb,0,2\nc,1,3\n");
    let ran = sandbox
        .run("metrics hidden.csv --json")
        .exits(0)
        .says("without a label and in no figure: 1 clip;");
    let got: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((got["auc"].as_f64(), got["unlabelled"].as_u64()), (Some(1.0), Some(1)));
}

#[test]
fn sections_of_one_class_are_named_and_the_exit_code_says_that_something_is_missing() {
    let sandbox = Sandbox::new();
    let head = "path,label,score,machine,section\n";
    let whole = "a,0,1,fan,00\nb,1,2,fan,00\n";
    sandbox.write("whole.csv", format!("{head}{whole}"));
    let ran = sandbox.run("metrics whole.csv").exits(0);
    assert!(!ran.stderr.contains("no official score"), "{ran:#?}");
    sandbox
        .write("half.csv", format!("{head}{whole}a,0,1,pump,00\nb,0,2,pump,00\nc,1,3,valve,02\n"));
    let told =
        "no official score: 2 sections without both normal and anomalous clips: pump 00, valve 02";
    let got: Value =
        serde_json::from_str(&sandbox.run("metrics half.csv --json").exits(2).says(told).stdout)
            .unwrap();
    // What can be given is given.
    assert_eq!(got["sections"][0]["auc"], 1.0);
    assert!(got["auc"].is_f64() && got["official_scores"]["dcase2020"].is_null());
}

//! Submission files: the form of each year's evaluator.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{collections::BTreeSet, fs, path::Path};

use auscult_eval::{
    metrics::Label,
    run::{SectionResult, Threshold, write_submission},
};
use serde_json::json;

/// Two clips of each domain, in the names hidden test clips have that year.
fn section(dataset: &str, machine: &str, section: &str, names: [&str; 4]) -> SectionResult {
    let domains = if dataset == "dcase2020" {
        [None; 4]
    } else {
        [Some("source"), Some("source"), Some("target"), Some("target")]
    };
    let clips: Vec<_> = names
        .iter()
        .zip(domains)
        .map(|(name, domain)| json!({ "name": name, "label": null, "domain": domain }))
        .collect();
    serde_json::from_value(json!({
        "fingerprint": "",
        "dataset": dataset,
        "set": "eval",
        "machine": machine,
        "section": section,
        "train": 9,
        "clips": clips,
        "systems": [{
            "system": "one",
            "scores": [0.5, 1.5, 1e-7, 2.5],
            "threshold_gamma": 1.0,
            "threshold_quantile": 2.0,
        }],
    }))
    .unwrap()
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn check(section: &SectionResult, threshold: Threshold, wanted: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let written =
        write_submission(std::slice::from_ref(section), "one", threshold, folder.path()).unwrap();
    assert_eq!(written.files.len(), wanted.len());
    let names: BTreeSet<String> = wanted.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names_in(folder.path()), names);
    for (name, text) in wanted {
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), *text, "{name}");
    }
}

#[test]
fn dcase_2020_has_scores_by_id_and_no_decisions() {
    let names =
        ["id_01_00000000.wav", "id_01_00000001.wav", "id_01_00000002.wav", "id_01_00000003.wav"];
    let scores = "id_01_00000000.wav,0.5\nid_01_00000001.wav,1.5\nid_01_00000002.wav,0.0000001\nid_01_00000003.wav,2.5\n";
    let section = section("dcase2020", "ToyCar", "01", names);
    check(&section, Threshold::Gamma, &[("anomaly_score_ToyCar_id_01.csv", scores)]);
}

#[test]
fn dcase_2021_has_files_by_domain() {
    let names = [
        "section_03_source_test_0000.wav",
        "section_03_source_test_0001.wav",
        "section_03_target_test_0000.wav",
        "section_03_target_test_0001.wav",
    ];
    check(
        &section("dcase2021", "fan", "03", names),
        Threshold::Gamma,
        &[
            (
                "anomaly_score_fan_section_03_source_test.csv",
                "section_03_source_test_0000.wav,0.5\nsection_03_source_test_0001.wav,1.5\n",
            ),
            (
                "decision_result_fan_section_03_source_test.csv",
                "section_03_source_test_0000.wav,0\nsection_03_source_test_0001.wav,1\n",
            ),
            (
                "anomaly_score_fan_section_03_target_test.csv",
                "section_03_target_test_0000.wav,0.0000001\nsection_03_target_test_0001.wav,2.5\n",
            ),
            (
                "decision_result_fan_section_03_target_test.csv",
                "section_03_target_test_0000.wav,0\nsection_03_target_test_0001.wav,1\n",
            ),
        ],
    );
}

#[test]
fn since_2022_both_domains_share_a_file() {
    // Kept as FLAC here: evaluators know them as they were published.
    let names = [
        "section_00_0000.flac",
        "section_00_0001.wav",
        "section_00_0002.wav",
        "section_00_0007.wav",
    ];
    let scores = "section_00_0000.wav,0.5\nsection_00_0001.wav,1.5\nsection_00_0002.wav,0.0000001\nsection_00_0007.wav,2.5\n";
    for (dataset, machine) in [
        ("dcase2022", "bearing"),
        ("dcase2023", "Vacuum"),
        ("dcase2024", "3DPrinter"),
        ("dcase2025", "ToyRCCar"),
        ("dcase2026", "BlowerDustCollector"),
    ] {
        let found = section(dataset, machine, "00", names);
        for (threshold, decisions) in
            [(Threshold::Gamma, [0, 1, 0, 1]), (Threshold::Quantile, [0, 0, 0, 1])]
        {
            let rows = ["0000", "0001", "0002", "0007"].iter().zip(decisions);
            let lines =
                rows.map(|(number, decision)| format!("section_00_{number}.wav,{decision}\n"));
            let decisions = lines.collect::<Vec<_>>().concat();
            let [score_name, decision_name] = ["anomaly_score", "decision_result"]
                .map(|kind| format!("{kind}_{machine}_section_00_test.csv"));
            check(&found, threshold, &[(&score_name, scores), (&decision_name, &decisions)]);
        }
    }
}

#[test]
fn other_data_sets_have_no_such_form() {
    let folder = tempfile::tempdir().unwrap();
    let found = section("dcase2023", "fan", "00", ["a.wav", "b.wav", "c.wav", "d.wav"]);
    let mimii = SectionResult { dataset: "mimii".parse().unwrap(), ..found };
    let error = write_submission(&[mimii], "one", Threshold::Gamma, folder.path()).unwrap_err();
    assert!(error.to_string().contains("only DCASE has submission files"), "{error}");
}

#[test]
fn decisions_are_counted_and_judged_where_labels_are_known() {
    let names = ["a.wav", "b.wav", "c.wav", "d.wav"];
    let mut of_year = section("dcase2023", "fan", "00", names);
    let submit = |section: &SectionResult, threshold| {
        let folder = tempfile::tempdir().unwrap();
        write_submission(std::slice::from_ref(section), "one", threshold, folder.path()).unwrap()
    };
    let [hidden] = &submit(&of_year, Threshold::Gamma).decisions[..] else { panic!("one section") };
    assert_eq!((hidden.clips, hidden.anomalous, hidden.figures), (4, 2, None));
    assert!(!hidden.is_one_sided());
    // Scores are 0.5, 1.5, 1e-7, 2.5; above 2 is the last one only.
    let labels = [Label::Normal, Label::Anomaly, Label::Normal, Label::Anomaly];
    for (clip, label) in of_year.clips.iter_mut().zip(labels) {
        clip.label = Some(label);
    }
    let found = submit(&of_year, Threshold::Quantile).decisions.remove(0);
    let figures = found.figures.unwrap();
    assert_eq!((found.anomalous, figures.precision, figures.recall), (1, 1.0, 0.5));
    of_year.systems[0].threshold_gamma = Some(0.0);
    assert!(submit(&of_year, Threshold::Gamma).decisions[0].is_one_sided());
    let first_year = section("dcase2020", "ToyCar", "01", names);
    assert_eq!(submit(&first_year, Threshold::Gamma).decisions, []);
}

//! `auscult data`, and protocols on data sets that lie together or in part.

use auscult_testing::ClipRecipe;
use serde_json::Value;

use super::bench::{e2e, json, with_folder};
use crate::support::{Sandbox, clip, wav_of};

#[test]
fn data_are_looked_at_and_the_set_is_recognised_by_names() {
    let sandbox = with_folder();
    let ran = sandbox.run("data check data").exits(0);
    assert!(ran.stdout.contains("folder: 1 section"), "{}", ran.stdout);
    let line = format!("data check {} --dataset dcase2023 --json", e2e());
    let report = json(&sandbox.run(&line).exits(2).stdout);
    assert_eq!(report["sections"][0]["train_source"], 10);
    assert_eq!(report["complete"], false);
    // Two development machines fit three years.
    sandbox.run(&format!("data check {}", e2e())).exits(2).says(
        "machines and names fit dcase2023, dcase2024, dcase2025; name the one it is; see --dataset",
    );
    sandbox.run("data check nowhere").exits(2).says("nowhere");
    // Names of DCASE with machines of no year: someone's own.
    sandbox.run("synth --out own --train 2 2 --test 1 1 --visits 1 --seconds 1").exits(0);
    let ran = sandbox.run("data check own").exits(0);
    assert!(ran.stdout.contains("folder: 4 sections"), "{}", ran.stdout);
}

#[test]
fn downloads_are_planned_and_offline_is_told() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("data download dcase2023 --split dev --machine fan --dry-run").exits(0);
    assert_eq!(ran.stdout, "https://zenodo.org/records/7882613/files/dev_fan.zip\n");
    sandbox
        .run("data download dcase2023 --split dev --machine pump")
        .exits(2)
        .says("no machine \"pump\"");
    // A port nobody listens on.
    sandbox
        .run("data download dcase2023 --split dev --machine fan --insecure --from http://127.0.0.1:9")
        .exits(2)
        .says("check the connection");
}

#[test]
fn every_protocol_that_comes_with_the_program_can_be_read() {
    let folder =
        std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../auscult-eval/protocols");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 14);
    let sandbox = Sandbox::new();
    for name in names {
        let ran = sandbox.run(&format!("bench run {name} --data . --out {name}"));
        // Windows need no recordings.
        if name == "table-2" {
            ran.exits(0);
            continue;
        }
        // Reading it is all that can go wrong before the data are looked for.
        let ran = ran.exits(2);
        let says = |what: &str| ran.stderr.contains(what);
        assert!(says("found no clips") || says("none of"), "{name}: {ran:?}");
    }
}

#[test]
fn of_two_years_in_one_root_each_is_read_alone() {
    let sandbox = Sandbox::new();
    for (year, machine) in [(2023, "fan"), (2024, "gearbox")] {
        for take in 0..4 {
            let (split, label) = if take < 2 { ("train", "normal") } else { ("test", "anomaly") };
            let name = format!("section_00_source_{split}_{label}_000{take}_x.wav");
            let path = format!("data/dcase{year}/{machine}/{split}/{name}");
            sandbox.write(&path, wav_of(&ClipRecipe { take, ..clip() }));
        }
    }
    let machines = |report: &Value| -> Vec<String> {
        let sections = report["sections"].as_array().unwrap().iter();
        sections.map(|found| found["machine"].as_str().unwrap().to_owned()).collect()
    };
    let both = json(&sandbox.run("data check data --json").exits(2).stdout);
    let both = both.as_array().unwrap();
    assert_eq!(both.len(), 2);
    for (report, (name, machine)) in
        both.iter().zip([("dcase2023", "fan"), ("dcase2024", "gearbox")])
    {
        assert_eq!(
            (report["dataset"].as_str(), machines(report)),
            (Some(name), vec![machine.to_owned()])
        );
        let one = sandbox.run(&format!("data check data --dataset {name} --json")).exits(2);
        assert_eq!(machines(&json(&one.stdout)), [machine]);
        let line = format!("bench eval --data data --dataset {name} --clip-seconds 1 --json");
        let eval = json(&sandbox.run(&line).stdout);
        assert_eq!(eval["machines"].as_array().unwrap().len(), 1);
        assert_eq!(eval["machines"][0]["machine"], machine);
    }
    let ran = sandbox.run("data check data").exits(2);
    assert!(
        ran.stdout.contains("dcase2023: 1 section") && ran.stdout.contains("dcase2024: 1 section")
    );
}

#[test]
fn the_score_of_a_part_of_a_set_is_not_called_that_of_the_set() {
    let sandbox = Sandbox::new();
    let line = format!("bench eval --data {} --dataset dcase2023 --clip-seconds 2", e2e());
    let ran = sandbox.run(&line).exits(0);
    let clips = json(&sandbox.run(&format!("{line} --json")).exits(0).stdout);
    let told = clips["overall"][0]["partial"].as_str().unwrap().to_owned();
    assert!(told.starts_with("2 of 7 machines, "), "{told}");
    assert!(told.ends_with(" of 400 test clips: not the official score of the set"), "{told}");
    assert!(ran.stdout.contains(&format!("\n{told}\n")), "{}", ran.stdout);
    let line = format!(
        "bench run baselines --data {} --dataset dcase2023 --out run --clip-seconds 2 --samples 0",
        e2e()
    );
    let ran = sandbox.run(&line);
    assert!(ran.stdout.contains(&format!("- dcase2023 dev: {told}\n")), "{}", ran.stdout);
    let page = String::from_utf8(sandbox.read("run/index.html")).unwrap();
    assert!(page.contains(&told), "{page}");
    let results = json(&String::from_utf8(sandbox.read("run/results.json")).unwrap());
    assert_eq!(results["rows"][0]["partial"], told.as_str());
}

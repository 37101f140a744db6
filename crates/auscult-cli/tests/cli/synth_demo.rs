//! Synthetic machines and the demonstration.

use std::time::{Duration, Instant};

use crate::support::Sandbox;

#[test]
fn synth_writes_the_same_tree_for_the_same_seed() {
    let sandbox = Sandbox::new();
    let synth = |out: &str, seed: u32| {
        let line =
            "--machine valve --layout visits --train 4 0 --test 2 0 --visits 2 --seconds 0.5";
        let ran = sandbox.run(&format!("synth --out {out} {line} --seed {seed}")).exits(0);
        assert_eq!(ran.stdout, format!("8 clips in {out}\n"));
        sandbox.read(&format!("{out}/valve/normal/visit_01/0000.wav"))
    };
    assert_eq!(synth("a", 1), synth("b", 1));
    assert_ne!(synth("c", 2), synth("d", 3));
    assert!(sandbox.path("a/valve/check/leak_0000.wav").is_file());
}

#[test]
fn synth_does_not_write_into_a_folder_in_use() {
    let sandbox = Sandbox::new();
    sandbox.write("mine/notes.txt", b"keep");
    sandbox.run("synth --out mine --seconds 0.1").exits(2).says("mine");
    assert_eq!(std::fs::read_dir(sandbox.path("mine")).unwrap().count(), 1);
}

#[test]
fn dcase_layout_fits_and_scores() {
    let sandbox = Sandbox::new();
    sandbox.run("synth --out d --machine fan --train 20 2 --test 2 1 --seconds 1").exits(0);
    sandbox.run("fit --preset paper d/fan/train -o fan.auscult --clip-seconds 1").exits(0);
    let rows = sandbox.score("fan.auscult d/fan/test");
    assert_eq!(rows.len(), 6);
    assert!(rows[0][0].starts_with("d/fan/test/section_00_"), "{:?}", rows[0]);
}

#[test]
fn demonstration_leaves_a_report_in_under_two_minutes() {
    let sandbox = Sandbox::new();
    let start = Instant::now();
    let ran = sandbox.run("demo --out demo").exits(0);
    assert!(start.elapsed() < Duration::from_mins(2), "{:?}", start.elapsed());
    for part in
        ["$ auscult fit demo", "$ auscult score demo", "faulty clips were found", "report.html"]
    {
        assert!(ran.stdout.contains(part), "no {part:?} in {ran:#?}");
    }
    let page = String::from_utf8(sandbox.read("demo/report.html")).unwrap();
    assert!(page.trim_start().to_lowercase().starts_with("<!doctype html>"));
    sandbox.run("model verify demo/pump.auscult").exits(0);
    // Once more: what somebody put there stays.
    sandbox.write("demo/mine.txt", "mine");
    sandbox.run("demo --out demo").exits(0);
    assert_eq!(sandbox.read("demo/mine.txt"), b"mine");
    sandbox.write("demo/sounds/pump/normal/visit_01/mine.wav", "mine");
    sandbox.run("demo --out demo").exits(2).says("demo/sounds is not empty");
    assert_eq!(sandbox.read("demo/sounds/pump/normal/visit_01/mine.wav"), b"mine");
}

#[test]
fn demonstration_does_not_replace_a_folder_it_did_not_make() {
    let sandbox = Sandbox::new();
    sandbox.write("mine/notes.txt", b"keep");
    sandbox.run("demo --out mine").exits(2).says("choose another folder with --out");
    assert_eq!(sandbox.read("mine/notes.txt"), b"keep");
}

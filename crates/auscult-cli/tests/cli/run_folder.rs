//! One folder, one run: `auscult bench run` never replaces another run unasked.

use std::path::Path;

use serde_json::Value;

use crate::{
    bench::{json, with_folder},
    support::{Sandbox, written_below},
};

const PROTOCOL: &str = "name = 'p'\ntitle = 'P'\ndatasets = ['folder']\nclip_seconds = 1.0\n\
    [[system]]\nname = 'one, two'\n";

const LINE: &str = "bench run p.toml --data data --out run --samples 100";

fn finished() -> Sandbox {
    let sandbox = with_folder();
    sandbox.write("p.toml", PROTOCOL);
    sandbox.run(LINE).exits(0);
    sandbox
}

fn results(sandbox: &Sandbox) -> Value {
    json(&String::from_utf8(sandbox.read("run/results.json")).unwrap())
}

/// The names of everything in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn another_run_is_refused_with_what_differs() {
    let sandbox = finished();
    let before = sandbox.read("run/results.json");
    let refused = |line: &str, told: &str| {
        let ran = sandbox.run(line).exits(2);
        let ran = ran.says("run holds another run, nothing was done: ").says(told);
        ran.says("choose another folder with --out, or give --replace");
        assert_eq!(sandbox.read("run/results.json"), before);
    };
    refused(&format!("{LINE} --clip-seconds 1.5"), "clip_seconds 1.0 there, 1.5 now");
    refused(&LINE.replace("100", "200"), "100 samples there, 200 now");
    sandbox.write("p.toml", PROTOCOL.replace("one, two", "three"));
    refused(LINE, "systems only there: \"one, two\"; only now: \"three\"");
    sandbox.write("p.toml", format!("{PROTOCOL}neighbours = 3\n"));
    refused(LINE, "systems with other settings there: \"one, two\"");
    sandbox.write("p.toml", PROTOCOL);
    let clip = sandbox.read("data/pump/train/0.wav");
    sandbox.write("data/pump/train/more.wav", clip);
    refused(LINE, "folder with other machines, splits, clips or labels there");
    std::fs::remove_file(sandbox.path("data/pump/train/more.wav")).unwrap();
    // Words change no number.
    sandbox.write("p.toml", PROTOCOL.replace("title = 'P'", "title = 'Q'"));
    sandbox.run(LINE).exits(0);
    assert_eq!(results(&sandbox)["protocol"]["title"], "Q");
}

#[test]
fn a_run_without_a_plan_is_known_by_its_results() {
    let sandbox = finished();
    std::fs::remove_file(sandbox.path("run/run.json")).unwrap();
    let ran = sandbox.run(&format!("{LINE} --clip-seconds 1.5")).exits(2);
    ran.says("clip_seconds 1.0 there, 1.5 now");
    sandbox.run(LINE).exits(0);
    sandbox.write("run/run.json", "[]");
    sandbox.run(LINE).exits(2).says("its run.json is not that of a run");
    std::fs::remove_file(sandbox.path("run/run.json")).unwrap();
    sandbox.write("run/results.json", "{}");
    sandbox.run(LINE).exits(2).says("its results.json is not that of a run");
}

#[test]
fn a_folder_that_is_a_file_and_a_protocol_that_is_none_are_told() {
    let sandbox = with_folder();
    sandbox.write("p.toml", PROTOCOL);
    sandbox
        .run(&LINE.replace("--out run", "--out p.toml"))
        .exits(2)
        .says("p.toml is not a run: it is a file");
    sandbox.write("p.toml", PROTOCOL.replace("title = 'P'", "title = 3"));
    let ran = sandbox.run(LINE).exits(2);
    assert_eq!(ran.stderr, "error: p.toml: line 2: invalid type: integer `3`, expected a string\n");
    assert!(!sandbox.path("run").exists());
}

#[test]
fn replacing_leaves_nothing_of_the_other_run() {
    let sandbox = finished();
    let files = names(&sandbox.path("run"));
    assert_eq!(names(&sandbox.path("run/sections")), ["folder_all_pump_.json"]);
    // The same sections are not computed again.
    let sections = written_below(&sandbox.path("run/sections"));
    sandbox.run(&format!("{} --replace", LINE.replace("100", "200"))).exits(0);
    assert_eq!(written_below(&sandbox.path("run/sections")), sections);
    std::fs::rename(sandbox.path("data/pump"), sandbox.path("data/fan")).unwrap();
    sandbox.write("run/scores-dcase2020.parquet", "stale");
    sandbox.run(&format!("{LINE} --replace")).exits(0);
    assert_eq!(names(&sandbox.path("run/sections")), ["folder_all_fan_.json"]);
    assert_eq!(names(&sandbox.path("run")), files);
    assert_eq!(results(&sandbox)["rows"][0]["sections"][0]["machine"], "fan");
    // What was replaced is a run like any other: the same command goes on.
    sandbox.run(LINE).exits(0);
}

#[test]
fn results_name_the_encoder_its_weights_its_layer_and_its_precision() {
    let sandbox = with_folder();
    let system = |name: &str, rest: &str| format!("[[system]]\nname = '{name}'\n{rest}");
    let protocol = [
        PROTOCOL.to_owned(),
        system("plain", "front_end = 'ced'\n"),
        system("integers", "front_end = 'ced'\nconvention = 'layer-4'\nprecision = 'int16'\n"),
        system("both", "front_end = 'ced+mfcc'\n"),
    ];
    sandbox.write("p.toml", protocol.concat());
    sandbox.run(LINE).exits(0);
    let found = results(&sandbox);
    let settings = |called: &str| found["facts"]["front_ends"][called]["settings"].clone();
    let (plain, integers) = (settings("ced"), settings("ced (layer-4, int16)"));
    let weights = &plain["fingerprint"];
    assert_eq!(weights.as_str().unwrap().len(), 32);
    for (found, layer, precision) in [(&plain, 8, "int16"), (&integers, 4, "int16")] {
        assert_eq!(found["encoder"], "ced-tiny");
        assert_eq!(&found["fingerprint"], weights);
        assert_eq!(found["layers"], serde_json::json!([layer]));
        assert_eq!(found["precision"], precision);
    }
    assert_eq!(&settings("ced+mfcc")["members"][0]["settings"]["fingerprint"], weights);
    let page = String::from_utf8(sandbox.read("run/results.md")).unwrap();
    let told = format!(
        "encoder: ced (layer-4, int16): ced-tiny, fingerprint {}",
        weights.as_str().unwrap()
    );
    assert!(page.contains(&format!("{told}, layer 4, int16")), "{page}");
    // Other weights are another run.
    sandbox.run("encoder convert ced -o ced.safetensors").exits(0);
    let mut bytes = sandbox.read("ced.safetensors");
    let last = bytes.len() - 1;
    bytes[last] ^= 0x10;
    sandbox.write("other.safetensors", bytes);
    sandbox
        .run(&format!("{LINE} --encoder other.safetensors"))
        .exits(2)
        .says("other weights or settings of ced there");
    // What is no encoder has no precision.
    sandbox.write("q.toml", format!("{PROTOCOL}precision = 'int16'\n"));
    sandbox
        .run("bench run q.toml --data data --out other")
        .exits(2)
        .says("layers, rows, class token and precision are for encoders (ced, beats, eat); log-mel is not an encoder");
}

//! `auscult report`: one page for people, the same facts for programs.

use super::verdicts::{changed, json};
use crate::support::{Sandbox, clip, wav_of_samples};

#[test]
fn a_report_names_what_is_not_in_it() {
    let sandbox = Sandbox::with_model();
    sandbox.write("check/a.wav", changed(|_, s| s * 0.9));
    sandbox.write("check/broken.wav", "no sound");
    sandbox.run("report model.auscult check nowhere.wav -o page.html").exits(2);
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("not read, or not to its end: check/broken.wav: not a sound file"));
    assert!(page.contains("not read, or not to its end: nowhere.wav: "));
}

#[test]
fn a_report_is_a_page_and_the_same_facts_as_json() {
    let sandbox = Sandbox::with_model();
    sandbox.write("check/normal.wav", changed(|_, s| s * 0.9));
    sandbox.write("check/squeal.wav", changed(|i, s| s + 0.3 * (i as f32 * 1.3).sin()));
    let line = "report model.auscult check -o page.html --json facts.json --title Pump<3>";
    sandbox.run(line).exits(0).says("page.html: 2 clips, 1 anomalous");
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("Pump&lt;3&gt; sounds unusual at times</h1>"));
    assert!(page.contains("<main data-state=\"alert\" data-changed=\"false\">"));
    assert!(page.contains(" dB at "), "what differs is said in decibels");
    assert_eq!(page.matches("<audio").count(), 2, "the clip and its closest reference");
    let facts = json(&String::from_utf8(sandbox.read("facts.json")).unwrap());
    assert_eq!(facts["clips"][1]["verdict"], "anomalous");
    let scored = sandbox.score("model.auscult check");
    assert_eq!(facts["clips"][1]["score"].to_string(), scored[1][2]);
    // A reference that has gone is a report with one player less.
    std::fs::remove_dir_all(sandbox.path("normal")).unwrap();
    sandbox.run("report model.auscult check -o page.html").exits(0);
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert_eq!(page.matches("<audio").count(), 1);
    let ran = sandbox.run("report model.auscult check").exits(2);
    ran.says("--output");
    sandbox.run("report model.auscult nowhere -o other.html").exits(2);
    assert!(!sandbox.path("other.html").exists());
    sandbox.run("report model.auscult check -o no/such/folder.html").exits(2).says("no folder");
}

#[test]
fn several_machines_share_a_page_and_the_worst_comes_first() {
    let sandbox = Sandbox::with_model();
    sandbox.write("quiet/normal.wav", changed(|_, s| s * 0.9));
    for index in 0..5 {
        let squeal =
            changed(move |i, s| s * (0.8 + 0.02 * index as f32) + 0.3 * (i as f32 * 1.3).sin());
        sandbox.write(&format!("loud/{index}.wav"), squeal);
    }
    std::fs::copy(sandbox.path("model.auscult"), sandbox.path("fan.auscult")).unwrap();
    let line = "report --machine model.auscult quiet --machine fan.auscult loud quiet -o hall.html --json hall.json";
    let ran = sandbox.run(line).exits(0).says("hall.html: 2 machines, 7 clips, 5 anomalous");
    ran.says("note: fan: changed: ").says("note: model: verdicts are provisional");
    let page = String::from_utf8(sandbox.read("hall.html")).unwrap();
    assert!(page.contains("<main data-state=\"alarm\" data-changed=\"true\">"));
    let [fan, model] = [">fan</strong>", ">model</strong>"].map(|name| page.find(name).unwrap());
    assert!(fan < model, "an alarm comes before a machine that is well");
    let facts = json(&String::from_utf8(sandbox.read("hall.json")).unwrap());
    assert_eq!((&facts["state"], &facts["machines"][0]["title"]), (&"alarm".into(), &"fan".into()));
    assert_eq!(
        facts["machines"][0]["kinds"][0]["clips"].as_array().unwrap().len(),
        5,
        "one kind, not five"
    );

    sandbox.run("report --machine model.auscult -o hall.html").exits(2).says("2 values required");
    sandbox.run("report -o hall.html").exits(2).says("<MODEL>");
    sandbox
        .run("report fan.auscult loud --machine model.auscult quiet -o hall.html")
        .exits(2)
        .says("cannot be used with");
    sandbox
        .run("report --machine model.auscult quiet -o quiet/normal.wav")
        .exits(2)
        .says("is a recording");
}

#[test]
fn a_report_with_its_own_hop_hears_the_clips_it_scored() {
    let sandbox = Sandbox::with_model();
    let squeal = |i: usize, s: f32| s + 0.3 * (i as f32 * 1.3).sin();
    // A quiet second, then a squeal that starts between two whole seconds.
    let samples = clip().render().unwrap();
    let tail: Vec<f32> = samples.iter().enumerate().map(|(i, s)| squeal(i, *s)).collect();
    let whole: Vec<f32> = samples[..8_000].iter().copied().chain(tail).collect();
    sandbox.write("check/a.wav", wav_of_samples(&whole));
    sandbox
        .run("report model.auscult check -o page.html --hop-seconds 0.5 --json facts.json")
        .exits(0);
    let facts = json(&String::from_utf8(sandbox.read("facts.json")).unwrap());
    assert_eq!(facts["clips"][1]["start_seconds"], 0.5);
    assert_eq!(facts["notes"], serde_json::json!([]), "every clip was found again");
}

#[test]
fn a_report_of_standard_input_says_what_cannot_be_heard() {
    let sandbox = Sandbox::with_model();
    let squeal = changed(|i, s| s + 0.3 * (i as f32 * 1.3).sin());
    sandbox.run_with_input("report model.auscult - -o page.html", &squeal).exits(0);
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("standard input cannot be read twice"));
    assert!(!page.contains("<audio"));
}

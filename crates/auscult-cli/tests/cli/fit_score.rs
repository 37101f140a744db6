//! From recordings to a model to verdicts.

use crate::support::{Sandbox, clip, faulty_clip, wav_of};
use auscult_testing::ClipRecipe;

/// A model, and `check/` with a normal and a faulty clip of an unseen visit.
fn plant() -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.write("check/normal.wav", wav_of(&ClipRecipe { take: 50, ..clip() }));
    sandbox.write("check/odd.wav", wav_of(&faulty_clip()));
    sandbox
}

#[test]
fn fit_tells_what_it_learned() {
    let sandbox = Sandbox::with_recordings();
    let ran = sandbox.run("fit --preset paper normal -o pump.auscult --clip-seconds 1").exits(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "model       pump.auscult");
    let worse = "preset      paper; --preset best costs more and detects 14 of 100 points better";
    assert_eq!(lines[1], worse);
    assert_eq!(lines[2], "front end   log-mel (s15), 4 bands");
    assert_eq!(lines[3], "references  24 from 24 files, 3 visits; 0 skipped, 0 left out as copies");
    assert!(lines[4].starts_with("threshold   "), "{ran:#?}");
}

#[test]
fn summary_of_fit_is_json_on_request() {
    let sandbox = Sandbox::with_recordings();
    let ran =
        sandbox.run("fit --preset paper normal -o pump.auscult --clip-seconds 1 --json").exits(0);
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(summary["references"], 24);
    assert_eq!(summary["files"], 24);
    assert_eq!(summary["visits"], 3);
    assert_eq!(summary["skipped"], 0);
    assert_eq!((&summary["preset"], &summary["clip_seconds"]), (&"paper".into(), &1.0.into()));
    assert_eq!(summary["left_out"], serde_json::json!({}));
    assert!(summary["threshold"].is_f64());
}

#[test]
fn without_options_a_machine_is_learnt_by_the_best_preset() {
    let sandbox = Sandbox::with_recordings();
    sandbox.record("faulty", 4..5, 1);
    let ran = sandbox.run("fit normal -o best.auscult --clip-seconds 1").exits(0);
    let note = "preset      best; --preset fast costs a tenth and detects 3 of 100 points worse";
    assert!(ran.stdout.contains(note), "{ran:#?}");
    let members = "members     log-mel + modulation + ced";
    assert!(ran.stdout.contains(members), "{ran:#?}");
    let facts: serde_json::Value =
        serde_json::from_str(&sandbox.run("inspect best.auscult --json").exits(0).stdout).unwrap();
    assert_eq!(facts["preset"], "best");
    assert_eq!(facts["differs_from_preset"], serde_json::json!([]));
    let member = |at: usize, key: &str| facts["members"][at][key].clone();
    assert_eq!(member(0, "convention"), "dcase");
    assert_eq!(member(0, "exponent"), "auto");
    assert_eq!(member(0, "views"), serde_json::json!(["mean", "max"]));
    assert_eq!((member(1, "metric"), member(1, "neighbours")), ("scaled".into(), 3.into()));
    assert_eq!(member(2, "views"), serde_json::json!(["mean"]));
    // What inspect shows can be typed.
    let shown = sandbox.run("inspect best.auscult").exits(0).stdout;
    let line = shown.lines().find(|line| line.starts_with("members")).unwrap();
    let typed = line["members".len()..].trim().split(',').collect::<Vec<_>>().join(",");
    let typed = typed.trim_end_matches(", mean of their scores").replace(" + ", "+");
    let fit =
        ["fit", "normal", "-o", "typed.auscult", "--clip-seconds", "1", "--front-end", &typed];
    sandbox.run_words(&fit).exits(0);
    assert_eq!(sandbox.read("typed.auscult"), sandbox.read("best.auscult"));
    sandbox.run("model verify best.auscult").exits(0);
    sandbox.run("explain best.auscult faulty").exits(0);
}

#[test]
fn options_of_one_front_end_are_refused_beside_a_preset() {
    let sandbox = Sandbox::with_recordings();
    for option in ["--front-end mfcc", "--neighbours 3", "--layer 6", "--method beam"] {
        let line = format!("fit normal -o x.auscult --clip-seconds 1 --preset fast {option}");
        let name = option.split(' ').next().unwrap();
        let ran = sandbox.run(&line).exits(2);
        ran.says(&format!("{name} cannot be given beside --preset fast, which chooses it"));
    }
    let ran = sandbox.run("fit normal -o x.auscult --preset quick").exits(2);
    ran.says("unknown preset \"quick\"; known: fast, best, paper");
    let most = "fit normal -o max.auscult --clip-seconds 1 --preset fast --combine-members max";
    sandbox.run(most).exits(0);
    let shown = sandbox.run("inspect max.auscult").exits(0).stdout;
    assert!(shown.contains("fast, with its own combine-members"), "{shown}");
}

#[test]
fn a_preset_goes_without_what_short_clips_cannot_have() {
    let sandbox = Sandbox::with_recordings();
    let ran = sandbox.run("fit normal -o short.auscult --clip-seconds 0.5").exits(0);
    ran.says(
        "preset best goes without modulation, which needs clips of at least 1 s (these have 0.5 s)",
    );
}

#[test]
fn faulty_clip_is_anomalous_and_the_exit_code_says_so_on_request() {
    let sandbox = plant();
    let ran = sandbox.run("score model.auscult check").exits(0);
    assert!(ran.stdout.contains("1 anomalous, 1 normal"), "{ran:#?}");
    let odd = ran.stdout.lines().find(|line| line.starts_with("check/odd.wav")).unwrap();
    assert!(odd.contains("anomalous") && odd.contains(" dB at "), "{odd}");
    sandbox.run("score model.auscult check --fail-on-anomaly").exits(1);
    sandbox.run("score model.auscult check/normal.wav --fail-on-anomaly").exits(0);
    sandbox.run("score model.auscult check gone.wav --fail-on-anomaly").exits(2);
}

#[test]
fn explanation_names_the_band_the_reference_and_decibels() {
    let sandbox = plant();
    let ran = sandbox.run("explain model.auscult check/odd.wav").exits(0);
    for part in ["check/odd.wav", "does not sound normal", "Hz", "normal/visit_", "dB louder"] {
        assert!(ran.stdout.contains(part), "no {part:?} in {ran:#?}");
    }
    let table = sandbox.run("score model.auscult check/odd.wav --explain").exits(0);
    assert!(table.stdout.contains("dB louder"), "{table:#?}");
    let json = sandbox.run("explain model.auscult check/odd.wav --json").exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["clips"][0]["verdict"], "anomalous");
    assert!(json["clips"][0]["explanation"]["bands"][0]["times_normal"].is_f64());
}

#[test]
fn a_reference_scores_as_normal_against_itself() {
    let sandbox = Sandbox::with_model();
    for row in sandbox.score("model.auscult normal/visit_1") {
        assert_eq!(&row[5], "normal");
        assert!(row[2].parse::<f64>().unwrap().abs() < 1e-3, "{row:?}");
    }
}

#[test]
fn model_and_scores_do_not_depend_on_the_number_of_threads() {
    let sandbox = plant();
    for jobs in [1, 2, 3, 7] {
        let line =
            format!("fit --preset paper normal -o {jobs}.auscult --clip-seconds 1 --jobs {jobs}");
        sandbox.run(&line).exits(0);
        assert_eq!(sandbox.read(&format!("{jobs}.auscult")), sandbox.read("model.auscult"));
        let scores = sandbox.score(&format!("model.auscult normal check --jobs {jobs} --bands"));
        assert_eq!(scores, sandbox.score("model.auscult normal check --jobs 1 --bands"));
    }
}

#[test]
fn too_few_clips_give_scores_without_verdicts_and_say_how_many_are_missing() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..3, 4);
    sandbox
        .run("fit --preset paper normal -o few.auscult --clip-seconds 1")
        .exits(0)
        .says("no verdicts yet");
    let rows = sandbox.score("few.auscult normal/visit_1/0.wav");
    assert_eq!(&rows[0][5], "undecided");
    let table = sandbox.run("score few.auscult normal/visit_1/0.wav").exits(0).stdout;
    assert!(
        table.contains(
            "1 undecided\nno verdicts yet: 2 visits are too few for 5 % (auscult inspect"
        ),
        "{table}"
    );
    let rows = sandbox.score("few.auscult normal/visit_1/0.wav --false-alarm-rate 20%");
    assert_eq!(&rows[0][5], "normal");
}

#[test]
fn one_visit_is_said_to_promise_too_much() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..2, 20);
    let ran =
        sandbox.run("fit --preset paper normal/visit_1 -o one.auscult --clip-seconds 1").exits(0);
    ran.says("record on other days");
}

#[test]
fn copies_are_left_out_and_named() {
    let sandbox = Sandbox::with_recordings();
    let copy = sandbox.read("normal/visit_1/0.wav");
    sandbox.write("normal/visit_2/copy.wav", copy);
    sandbox
        .run("fit --preset paper normal -o m.auscult --clip-seconds 1")
        .exits(0)
        .says("left out normal/visit_2/copy.wav: it is the same sound as normal/visit_1/0.wav");
}

#[test]
fn every_method_and_front_end_fits_and_scores() {
    let sandbox = plant();
    let lines = [
        "--method global",
        "--method global --fuse max --neighbours 0",
        "--method beam --band-width 30 --band-stride 10 --aggregate max",
        "--method adabeam --fuse min --density-exponent auto --density-rule at-nearest",
        "--front-end mfcc --metric unit-euclidean",
        "--front-end lpc --convention inverse",
        "--preset paper --sample-rate 8000 --max-references 10",
    ];
    for line in lines {
        let fit = format!("fit normal -o other.auscult --clip-seconds 1 {line}");
        sandbox.run(&fit).exits(0);
        sandbox.run("model verify other.auscult").exits(0);
        assert_eq!(sandbox.score("other.auscult check").len(), 2, "{line}");
    }
}

#[test]
fn inspect_shows_settings_visits_and_references() {
    let sandbox = Sandbox::with_model();
    let text = sandbox.run("inspect model.auscult --references").exits(0).stdout;
    for part in ["1 s at 16000 Hz, channel 0", "visit_1: 8, visit_2: 8", "normal/visit_3/7.wav"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let json = sandbox.run("inspect model.auscult --references --json").exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["references"], 24);
    assert_eq!(json["visits"]["visit_2"], 8);
    assert_eq!(json["reference_list"][23]["visit"], "visit_3");
    assert_eq!(json["bands"].as_array().unwrap().len(), 4);
}

#[test]
fn recordings_kept_for_testing_are_not_learnt_from() {
    let sandbox = Sandbox::with_recordings();
    let rows = "normal/visit_1/0.wav,train\nnormal/visit_1/1.wav,\nnormal/visit_2/0.wav,Test\n";
    sandbox.write("list.csv", format!("path,split\n{rows}"));
    let ran = sandbox.run("fit --preset paper list.csv -o m.auscult --clip-seconds 1").exits(0);
    assert!(ran.stdout.contains("references  2 from 2 files"), "{ran:#?}");
    ran.says("left out 1 recording that the manifest keeps for testing");
    sandbox.write("list.csv", "path,split\nnormal/visit_1/0.wav,test\n");
    let ran = sandbox.run("fit --preset paper list.csv -o n.auscult --clip-seconds 1").exits(2);
    ran.says("the manifest keeps every recording for testing");
}

#[test]
fn recordings_labelled_as_anomalous_are_not_learnt_from() {
    let sandbox = Sandbox::with_recordings();
    let rows: Vec<String> = (0..8)
        .map(|take| {
            format!("normal/visit_1/{take}.wav,{}", if take < 2 { "anomaly" } else { "normal" })
        })
        .collect();
    sandbox.write("list.csv", format!("path,label\n{}\nnowhere.wav,normal\n", rows.join("\n")));
    let ran = sandbox.run("fit --preset paper list.csv -o model.auscult --clip-seconds 1").exits(2);
    assert!(ran.stdout.contains("references  6 from 6 files"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 skipped"), "the row without a file counts: {}", ran.stdout);
    ran.says("left out 2 recordings labelled as anomalous");
    sandbox.write("faults.jsonl", "{\"path\": \"normal/visit_2/0.wav\", \"label\": 1}\n");
    let ran = sandbox.run("model add model.auscult faults.jsonl").exits(2);
    ran.says("no recording is labelled as normal");
    sandbox.write(
        "odd.csv",
        "path,label\nnormal/visit_2/0.wav,NG\nnormal/visit_2/1.wav,hm\nnormal/visit_2/2.wav,0.0\n",
    );
    let ran = sandbox.run("model add model.auscult odd.csv").exits(2);
    let ran =
        ran.says("normal/visit_2/1.wav: the label \"hm\" is not known; label it normal or anomaly");
    assert!(ran.stdout.contains("7 references, were 6"), "{}", ran.stdout);
}

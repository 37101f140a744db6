//! Command forms that scripts may rely on: the fields they print, and what they say about parts that
//! cannot be judged.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    path::Path,
};

use auscult_testing::ClipRecipe;
use serde_json::Value;

use crate::support::{Ran, Sandbox, clip, faulty_clip, raw_wav, wav_of};

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Fails unless all fields are there (and not null).
#[track_caller]
fn has(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(!value[field].is_null(), "no {field} in {value}");
    }
}

/// A machine of DCASE 2023 in two domains: `d/fan/{train,test}`.
fn with_domains() -> Sandbox {
    let sandbox = Sandbox::new();
    for take in 0..24 {
        let domain = if take % 2 == 0 { "source" } else { "target" };
        let (part, label) = match take {
            0..12 => ("train", "normal"),
            12..18 => ("test", "normal"),
            _ => ("test", "anomaly"),
        };
        let recipe = if label == "normal" { clip() } else { faulty_clip() };
        let name = format!("d/fan/{part}/section_00_{domain}_{part}_{label}_00{take:02}_m-n_W.wav");
        sandbox.write(&name, wav_of(&ClipRecipe { take, ..recipe }));
    }
    sandbox
}

const EVAL: &str = "bench eval --data d --dataset dcase2023 --clip-seconds 1";

const FIGURES: [&str; 21] = [
    "auc",
    "pauc",
    "auc_source",
    "auc_target",
    "pauc_source",
    "pauc_target",
    "auc_source_same_domain",
    "auc_target_same_domain",
    "pauc_source_same_domain",
    "pauc_target_same_domain",
    "mean_gap",
    "d_prime",
    "normal",
    "anomalous",
    "asdkit",
    "f1_over_thresholds",
    "decisions",
    "intervals",
    "official_score_ci95",
    "official_scores",
    "sections",
];

#[test]
fn metrics_prints_every_figure_under_its_name() {
    let sandbox = with_domains();
    sandbox.run(&format!("{EVAL} --scores scores.csv")).exits(0);
    let got = json(&sandbox.run("metrics scores.csv --json --threshold 1").exits(0));
    has(&got, &FIGURES);
    // Nothing below 10 % false positives among six normal clips.
    assert_eq!(got.get("pauc_dcase2020_formula"), Some(&Value::Null));
    assert_eq!(got["sections"][0]["section"], "00");
    has(
        &got["official_scores"],
        &[
            "dcase2020",
            "dcase2020_by_type",
            "dcase2020_ids_pooled_auc",
            "dcase2021",
            "dcase2022",
            "dcase2023",
            "dcase2024",
            "dcase2025",
            "dcase2026",
            "since_2022_same_domain",
            "mean_auc",
        ],
    );
    for name in ["auc", "pauc", "auc_source", "auc_target"] {
        has(&got["intervals"][name], &["bootstrap", "jackknife", "official_half_width"]);
    }
    has(&got["asdkit"], &["s_auc", "t_auc", "smix_auc", "tmix_auc", "mix_auc", "mix_pauc"]);
    has(&got["f1_over_thresholds"], &["f1_ev", "f1_ev_bounded", "f1_oracle"]);
    for which in ["all", "source", "target"] {
        has(&got["decisions"][which], &["precision", "recall", "f1", "false_alarm_rate"]);
    }
}

#[test]
fn bench_eval_prints_machines_and_overall_figures() {
    let sandbox = with_domains();
    let got = json(&sandbox.run(&format!("{EVAL} --machine fan --json")).exits(0));
    has(
        &got,
        &[
            "dataset",
            "fingerprint",
            "front_end",
            "detector",
            "official_score",
            "auc",
            "pauc",
            "auc_source",
            "auc_target",
            "mean_over_sections",
            "overall",
            "official_scores_over_all",
            "machines",
            "problems",
            "remarks",
        ],
    );
    assert_eq!(got["mean_over_sections"]["auc"], got["auc"]);
    let machine = &got["machines"][0];
    has(machine, &["machine", "section", "set", "train", "normal", "anomalous", "auc", "d_prime"]);
    assert_eq!((&machine["machine"], &machine["train"]), (&"fan".into(), &12.into()));
    has(&got["overall"][0], &["set", "measure", "official_score", "interval", "official_scores"]);
    assert_eq!(got["overall"][0]["official_score"], got["official_score"]);
}

#[test]
fn bench_run_compare_and_submit_and_data_check_keep_their_forms() {
    let sandbox = with_domains();
    sandbox.write(
        "p.toml",
        "name = 'p'\ntitle = 'P'\ndatasets = ['dcase2023']\nclip_seconds = 1.0\n\
         [[system]]\nname = 'a'\nmethod = 'global'\n[[system]]\nname = 'b'\nfront_end = 'mfcc'\n",
    );
    sandbox.run("bench run p.toml --data d --out run").exits(0);
    let text = String::from_utf8(sandbox.read("run/results.json")).unwrap();
    let results: Value = serde_json::from_str(&text).unwrap();
    has(&results, &["protocol", "facts", "rows", "diagnostics", "problems", "section_files"]);
    has(&results["facts"], &["command", "program", "machine", "data", "missing", "not_run"]);
    has(&results["rows"][0], &["dataset", "set", "system", "measure", "score", "interval", "auc"]);
    let rows = json(&sandbox.run("bench compare run run --system a --against b --json").exits(0));
    let row = &rows[0];
    has(row, &["dataset", "set", "first", "second", "clips", "first_score", "second_score"]);
    has(row, &["measure", "difference", "interval", "p_value"]);
    sandbox.run("bench submit run --out sub").exits(2).says("name one with --system: \"a\", \"b\"");
    sandbox.run("bench submit run --system b --out sub").exits(0);
    assert!(sandbox.path("sub/decision_result_fan_section_00_test.csv").is_file());
    let report = json(&sandbox.run("data check d --dataset dcase2023 --json").exits(2));
    has(&report, &["dataset", "sections", "missing", "classes", "classes_by_section"]);
    has(&report, &["known_classes", "complete", "fingerprint", "remarks"]);
    has(&report["sections"][0], &["train_source", "train_target", "test", "unlabelled", "classes"]);
    assert!(report["classes_as_known"].is_null(), "one machine of fourteen");
    let ran = sandbox.run("data check d --dataset dcase2023").exits(2);
    let told = "classes of training clips: 1 by machine and section, 1 with attributes (the whole data set has 167)";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
}

/// MIMII's normal and abnormal clips have the same base names.
#[test]
fn clips_with_the_same_name_are_compared_each_with_itself() {
    let sandbox = Sandbox::new();
    for take in 0..8 {
        let name = |label: &str| format!("m/0dB/pump/id_00/{label}/{take:08}.wav");
        sandbox.write(&name("normal"), wav_of(&ClipRecipe { take, ..clip() }));
        if take < 3 {
            sandbox.write(&name("abnormal"), wav_of(&ClipRecipe { take, ..faulty_clip() }));
        }
    }
    sandbox.write(
        "p.toml",
        "name = 'p'\ntitle = 'P'\ndatasets = ['mimii']\nclip_seconds = 1.0\n[[system]]\nname = 'a'\n",
    );
    sandbox.run("bench run p.toml --data m --out run").exits(0);
    let rows = json(&sandbox.run("bench compare run run --json").exits(0));
    assert_eq!((&rows[0]["clips"], &rows[0]["difference"]), (&6.into(), &0.0.into()));
}

/// DCASE 2026: the near microphone is channel 0; its baseline takes that one.
#[test]
fn of_two_channels_the_first_is_taken_unless_asked_otherwise() {
    let (mono, stereo) = (Sandbox::new(), Sandbox::new());
    for take in 0..16 {
        let (part, label) = match take {
            0..8 => ("train", "normal"),
            8..12 => ("test", "normal"),
            _ => ("test", "anomaly"),
        };
        let domain = if take % 2 == 0 { "source" } else { "target" };
        let recipe = if label == "normal" { clip() } else { faulty_clip() };
        let near = wav_of(&ClipRecipe { take, ..recipe });
        let name = format!("d/fan/{part}/section_00_{domain}_{part}_{label}_00{take:02}_.wav");
        let far: Vec<u8> = wav_of(&ClipRecipe { take: 99 - take, visit: 3, ..clip() });
        let frames = near[44..].chunks(2).zip(far[44..].chunks(2));
        let both: Vec<u8> = frames.flat_map(|(a, b)| [a, b].concat()).collect();
        stereo.write(&name, raw_wav(1, 16, 2, &both));
        mono.write(&name, near);
    }
    let line = "bench eval --data d --dataset dcase2026 --clip-seconds 1 --json --no-cache";
    let first = json(&stereo.run(line).exits(0));
    assert_eq!(json(&mono.run(line).exits(0))["machines"], first["machines"]);
    let second = json(&stereo.run(&format!("{line} --channel 1")).exits(0));
    assert_ne!(second["machines"], first["machines"]);
}

#[test]
fn one_class_only_is_scored_and_said_not_to_be_judged() {
    let sandbox = Sandbox::new();
    for take in 0..6 {
        let folder = if take < 4 { "train" } else { "test/normal" };
        sandbox
            .write(&format!("d/pump/{folder}/{take}.wav"), wav_of(&ClipRecipe { take, ..clip() }));
    }
    let line = "bench eval --data d --dataset folder --clip-seconds 1 --json --scores s.csv";
    let ran = sandbox.run(line).exits(2).says("no score: test clips of one class only in pump");
    let got = json(&ran);
    assert!(got["official_score"].is_null() && got["machines"][0]["normal"] == 2, "{got}");
    assert_eq!(crate::support::rows(&String::from_utf8(sandbox.read("s.csv")).unwrap()).len(), 2);
}

/// Serves one record with one file from now on.
fn serve(name: &'static str, body: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let list = format!(r#"{{"files":[{{"key":"{name}","size":{}}}]}}"#, body.len()).into_bytes();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines =
                BufReader::new((&mut stream).take(1 << 16)).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            let _ = lines.by_ref().take_while(|line| !line.is_empty()).count();
            drop(lines);
            let body = if first.contains("/api/records/") { &list } else { &body };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", body.len());
            let _ = stream.write_all((head + "Connection: close\r\n\r\n").as_bytes());
            let _ = stream.write_all(body);
        }
    });
    address
}

/// From the server to figures without unpacking anything.
#[test]
fn a_downloaded_archive_is_checked_and_evaluated_in_place() {
    let sandbox = with_domains();
    let mut archive = Vec::new();
    zip_folder(&sandbox.path("d"), &mut archive);
    let server = serve("-6_dB_fan.zip", archive);
    let line = format!(
        "data download mimii --split min6dB --machine fan -o got --insecure --unverified --from {server}"
    );
    let ran = sandbox.run(&line).exits(0);
    assert_eq!(Path::new(ran.stdout.trim()), Path::new("got/-6_dB_fan.zip"));
    // What is in it is of DCASE 2023 here; names tell, not the archive's.
    let report = json(&sandbox.run("data check got --dataset dcase2023 --json").exits(2));
    assert_eq!(report["sections"][0]["test"], serde_json::json!([3, 3, 3, 3]));
    let plain = json(&sandbox.run(&format!("{EVAL} --json")).exits(0));
    let packed =
        json(&sandbox.run(&format!("{EVAL} --json").replace("--data d", "--data got")).exits(0));
    assert_eq!(plain["machines"], packed["machines"]);
    // Known checksums hold whatever the server says.
    let server = serve("dev_fan.zip", b"something else".to_vec());
    sandbox
        .run(&format!(
            "data download dcase2023 --split dev --machine fan -o other --insecure --from {server}"
        ))
        .exits(2)
        .says("9348591e96fb0ad499a1e33b082562fc was expected; it was removed, try again");
    assert_eq!(std::fs::read_dir(sandbox.path("other")).unwrap().count(), 0);
}

/// The folder as a zip archive without compression.
fn zip_folder(folder: &Path, out: &mut Vec<u8>) {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(out));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for part in ["fan/train", "fan/test"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{part}/{}", path.file_name().unwrap().to_str().unwrap());
            writer.start_file(name, options).unwrap();
            writer.write_all(&std::fs::read(path).unwrap()).unwrap();
        }
    }
    writer.finish().unwrap();
}

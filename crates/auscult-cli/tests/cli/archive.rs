//! `auscult archive`: the rows of `auscult score`, in shards that are there whole or not at all.

use std::{collections::BTreeMap, fs, process::Stdio, time::Duration};

use auscult_archive::{Table, columns::Values};
use serde_json::Value;

use crate::support::{Sandbox, clip, faulty_clip, wav_of, wav_of_samples};
use auscult_testing::ClipRecipe;

/// With a model, and a minute of sound whose seconds `clips.csv` lists.
fn with_archive(seconds: usize) -> Sandbox {
    let sandbox = Sandbox::with_model();
    let samples = ClipRecipe { seconds: 60.0, visit: 5, ..clip() }.render().unwrap();
    sandbox.write("minute.wav", wav_of_samples(&samples));
    let row = |second: usize| {
        let recording = second / 60;
        fs::hard_link(sandbox.path("minute.wav"), sandbox.path(format!("{recording}.wav"))).ok();
        format!("{recording}.wav,{},1\n", second % 60)
    };
    let rows: String = (0..seconds).map(row).collect();
    sandbox.write("clips.csv", format!("path,start_seconds,seconds\n{rows}"));
    sandbox
}

/// The bytes of every file of a folder.
fn files(sandbox: &Sandbox, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = fs::read_dir(sandbox.path(folder)) else { return BTreeMap::new() };
    let entries = entries.map(|entry| entry.unwrap());
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    entries.map(|entry| (name(&entry), fs::read(entry.path()).unwrap())).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn rows_are_those_of_score() {
    let sandbox = with_archive(0);
    sandbox.write("faulty.wav", wav_of(&faulty_clip()));
    sandbox.write("list.csv", "path\nminute.wav\nfaulty.wav\n");
    let ran = sandbox.run("archive score model.auscult list.csv --out scores --json").exits(0);
    let summary = json(&ran.stdout);
    assert_eq!((&summary["rows"], &summary["errors"]), (&61.into(), &0.into()));
    let table = Table::read(&sandbox.path("scores/shard=00000.parquet")).unwrap();
    let names: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    let expected = "clip_id uri start_seconds seconds score p_value verdict differs_most error \
                    model_hash settings_hash";
    assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
    let numbers = |name: &str| match &table.columns.iter().find(|(it, _)| it == name).unwrap().1 {
        Values::Numbers(numbers) => {
            numbers.iter().map(|number| number.unwrap()).collect::<Vec<_>>()
        }
        Values::Text(_) => panic!("{name} is text"),
    };
    let rows = sandbox.score("model.auscult minute.wav faulty.wav");
    let scored: Vec<f64> = rows.iter().map(|row| row[2].parse().unwrap()).collect();
    assert_eq!(numbers("score"), scored);
    let p_values: Vec<f64> = rows.iter().map(|row| row[3].parse().unwrap()).collect();
    assert_eq!(numbers("p_value"), p_values);
}

#[test]
fn parts_of_recordings_are_scored_by_every_command() {
    let sandbox = with_archive(60);
    let parts = sandbox.score("model.auscult clips.csv");
    let whole = sandbox.score("model.auscult 0.wav");
    let numbers = |rows: &[csv::StringRecord]| {
        rows.iter().map(|row| (row[1].to_owned(), row[2].to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&parts), numbers(&whole));
}

#[test]
fn kill_9_loses_no_shard_and_scores_nothing_twice() {
    let sandbox = with_archive(2_400);
    let line = "archive score model.auscult clips.csv --shard-clips 50";
    sandbox.run(&format!("{line} --out whole")).exits(0);
    let whole = files(&sandbox, "whole");
    assert_eq!(whole.len(), 48);
    let mut killed = 0;
    for attempt in 0..40 {
        let words = format!("{line} --out out --json");
        let mut command = sandbox.command(words.split_whitespace());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(30 + 17 * attempt));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        killed += u32::from(status.code().is_none());
        let shards = files(&sandbox, "out");
        let shards = shards.iter().filter(|(name, _)| name.starts_with("shard="));
        shards.for_each(|(name, bytes)| {
            assert!(bytes == &whole[name], "{name} is torn or different");
        });
        if status.success() {
            break;
        }
    }
    assert!(killed > 0, "it was always done before it was killed");
    let ran = sandbox.run(&format!("{line} --out out --json")).exits(0);
    let summary = json(&ran.stdout);
    let (skipped, rows) = (summary["skipped"].as_u64().unwrap(), summary["rows"].as_u64().unwrap());
    assert_eq!(skipped * 50 + rows, 2_400);
    let out = files(&sandbox, "out");
    let shards: BTreeMap<_, _> =
        out.into_iter().filter(|(name, _)| name.starts_with("shard=")).collect();
    assert!(shards == whole);
}

#[test]
fn errors_are_rows_and_the_exit_code_says_so() {
    let sandbox = with_archive(0);
    sandbox.write(
        "list.csv",
        "path,start_seconds,seconds\nminute.wav,0,1\ngone.wav,,\nminute.wav,90,1\n",
    );
    let ran = sandbox.run("archive score model.auscult list.csv --out scores").exits(2);
    assert!(ran.stdout.contains("3 rows") && ran.stdout.contains("2 with an error"), "{ran:?}");
    for (list, expected) in [
        ("path\nminute.wav\nminute.wav\n", "the same clip as in line 2"),
        ("path,seconds\nminute.wav,x\n", "1 of its rows cannot be used, so no work was begun"),
        ("path\n", "lists no clips"),
        ("name\nminute.wav\n", "no column `path`"),
    ] {
        sandbox.write("bad.csv", list);
        sandbox.run("archive score model.auscult bad.csv --out none").exits(2).says(expected);
        assert!(!sandbox.path("none").exists());
    }
    sandbox
        .run("archive score model.auscult list.csv --out scores --hop-seconds 0.5")
        .exits(2)
        .says("made with other settings")
        .says("--replace");
    sandbox
        .run("archive score model.auscult list.csv --out scores --hop-seconds 0.5 --replace")
        .exits(2);
    sandbox
        .run("archive score model.auscult list.csv --out scores --shard-clips 0")
        .exits(2)
        .says("must be 1 to 1000000, got 0");
    sandbox
        .run("archive score minute.wav list.csv --out scores")
        .exits(2)
        .says("not an auscult model");
}

#[test]
fn a_plan_measures_before_it_promises() {
    let sandbox = with_archive(600);
    let ran =
        sandbox.run("archive plan model.auscult clips.csv --shard-clips 100 --json --price 0.05");
    let plan = json(&ran.exits(0).stdout);
    assert_eq!(
        (&plan["clips"], &plan["shards"], &plan["tried"]),
        (&600.into(), &6.into(), &25.into())
    );
    let hours = plan["processor_hours"].as_f64().unwrap();
    assert!(hours > 0.0);
    assert!((plan["price"].as_f64().unwrap() - 0.05 * hours).abs() < 1e-12);
    sandbox.run("archive score model.auscult clips.csv --shard-clips 100 --out scores").exits(0);
    fs::remove_file(sandbox.path("scores/shard=00003.parquet")).unwrap();
    let ran = sandbox.run("archive plan model.auscult clips.csv --shard-clips 100 --out scores");
    assert!(ran.exits(0).stdout.contains("600 clips in 6 shards, 1 of them to do"));
}

#[test]
fn a_manifest_of_many_machines_becomes_many_models() {
    let sandbox = Sandbox::with_recordings();
    let rows: Vec<String> = (1..4)
        .flat_map(|visit| {
            (0..8)
                .map(move |take| format!("normal/visit_{visit}/{take}.wav,{visit},m{}\n", take % 3))
        })
        .collect();
    let rows = rows.concat();
    sandbox.write("machines.csv", format!("path,visit,machine\n{rows}"));
    let line = "archive fit machines.csv --out models --preset paper";
    let ran = sandbox.run(line).exits(0);
    assert!(ran.stdout.contains("3 models in models, 0 failed"), "{ran:?}");
    let again = json(&sandbox.run(&format!("{line} --json")).exits(0).stdout);
    assert!(
        again["machines"].as_array().unwrap().iter().all(|machine| machine["is_skipped"] == true)
    );
    // The same model as the machine's own rows give.
    let own: Vec<&str> = rows.lines().filter(|row| row.ends_with(",m1")).collect();
    let own = own.join("\n");
    sandbox.write("own.csv", format!("path,visit,machine\n{own}"));
    sandbox.run("fit own.csv -o own.auscult --preset paper").exits(0);
    assert!(sandbox.read("own.auscult") == sandbox.read("models/m1.auscult"));
    sandbox.run("archive score models machines.csv --out scores").exits(0);
    sandbox.write("plain.csv", "path\nnormal/visit_1/0.wav\n");
    sandbox
        .run("archive score models plain.csv --out other")
        .exits(2)
        .says("has no column machine");
}

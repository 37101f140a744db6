//! Where sound comes from.

use crate::support::{Sandbox, clip, raw_wav, rows, wav_of, wav_of_samples};
use auscult_testing::{ClipRecipe, golden};

fn paths(rows: &[csv::StringRecord]) -> Vec<&str> {
    rows.iter().map(|row| &row[0]).collect()
}

/// A pump for some seconds.
fn long(seconds: f64) -> Vec<f32> {
    ClipRecipe { seconds, visit: 5, ..clip() }.render().unwrap()
}

#[test]
fn globs_folders_and_files_are_taken_in_the_order_typed() {
    let sandbox = Sandbox::with_model();
    let line = "model.auscult normal/visit_2/1.wav normal/visit_*/0.wav normal/visit_3";
    let rows = sandbox.score(line);
    let first = ["normal/visit_2/1.wav", "normal/visit_1/0.wav", "normal/visit_2/0.wav"];
    assert_eq!(paths(&rows)[..3], first);
    assert_eq!(paths(&rows)[3..5], ["normal/visit_3/0.wav", "normal/visit_3/0.wav"]);
    assert_eq!(rows.len(), 4 + 8);
    assert_eq!(sandbox.score("model.auscult **/*.wav").len(), 24);
}

#[test]
fn manifests_name_files_visits_and_domains() {
    let sandbox = Sandbox::with_recordings();
    let entries = [(0, "mon"), (1, "tue"), (2, "tue")];
    let row = |(index, visit)| format!("normal/visit_1/{index}.wav,{visit},source,\"a, b\"\n");
    let line = |(index, visit): (u32, &str)| {
        let path = format!("normal/visit_1/{index}.wav");
        serde_json::json!({ "path": path, "visit": visit, "domain": "source", "note": 1 })
            .to_string()
    };
    let csv = format!("path,visit,domain,note\n{}", entries.map(row).concat());
    let lines = entries.map(line).join("\n");
    sandbox.write("list.csv", &csv);
    sandbox.write("list.jsonl", &lines);
    sandbox.run("fit --preset paper list.csv -o csv.auscult --clip-seconds 1").exits(0);
    sandbox.run("fit --preset paper list.jsonl -o jsonl.auscult --clip-seconds 1").exits(0);
    assert_eq!(sandbox.read("csv.auscult"), sandbox.read("jsonl.auscult"));
    let json = sandbox.run("inspect csv.auscult --references --json").exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["visits"], serde_json::json!({ "mon": 1, "tue": 2 }));
    assert_eq!(json["reference_list"][2]["domain"], "source");
}

#[test]
fn bad_rows_of_a_manifest_are_named_by_line_and_the_others_go_on() {
    let sandbox = Sandbox::with_model();
    sandbox.write("list.csv", "path\nnormal/visit_1/0.wav\ngone.wav\n\nnormal/visit_1/1.wav\n");
    let ran = sandbox.run("score model.auscult list.csv --csv").exits(2);
    assert_eq!(paths(&rows(&ran.stdout)), ["normal/visit_1/0.wav", "normal/visit_1/1.wav"]);
    ran.says("list.csv:3: gone.wav: no such file or folder");
    sandbox.write("bad.csv", "file\na.wav\n");
    sandbox.run("score model.auscult bad.csv").exits(2).says("the header has no column `path`");
}

#[test]
fn sound_that_is_not_read_is_noted_and_nothing_fails() {
    let sandbox = Sandbox::with_model();
    sandbox.write("normal/visit_1/film.webm", "");
    let ran = sandbox.run("score model.auscult normal --csv").exits(0);
    ran.says("1 .webm file in normal is not read, such as normal/visit_1/film.webm");
}

#[test]
fn visits_come_from_sub_folders_unless_named() {
    let sandbox = Sandbox::with_recordings();
    let visits = |line: &str| {
        sandbox
            .run(&format!("fit --preset paper normal -o m.auscult --clip-seconds 1 {line}"))
            .exits(0);
        let json = sandbox.run("inspect m.auscult --json").exits(0).stdout;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        (json["visits"].clone(), json["calibration"]["basis"].clone())
    };
    let (found, basis) = visits("");
    assert_eq!(found, serde_json::json!({ "visit_1": 8, "visit_2": 8, "visit_3": 8 }));
    assert_eq!(basis, "visits");
    let (found, basis) = visits("--visit monday");
    assert_eq!(found, serde_json::json!({ "monday": 24 }));
    assert_ne!(basis, "visits");
}

#[test]
fn standard_input_scores_like_the_file() {
    let sandbox = Sandbox::with_model();
    let bytes = sandbox.read("normal/visit_1/0.wav");
    let ran = sandbox.run_with_input("score model.auscult - --csv", &bytes).exits(0);
    let (from_stream, from_file) =
        (rows(&ran.stdout), sandbox.score("model.auscult normal/visit_1/0.wav"));
    assert_eq!(&from_stream[0][0], "-");
    // Only a file has a time of its own.
    let but_time = |row: &csv::StringRecord| -> Vec<String> {
        row.iter()
            .enumerate()
            .filter(|(at, _)| ![0, 7, 8].contains(at))
            .map(|(_, cell)| cell.to_owned())
            .collect()
    };
    assert_eq!(but_time(&from_stream[0]), but_time(&from_file[0]));
    assert_eq!((&from_stream[0][7], &from_stream[0][8]), ("", ""));
    assert_eq!(&from_file[0][8], "file-time");
}

#[test]
fn standard_input_keeps_its_place_among_files() {
    let sandbox = Sandbox::with_model();
    let line = "score model.auscult normal/visit_1/0.wav - normal/visit_2 --csv";
    let ran = sandbox.run_with_input(line, &wav_of_samples(&long(3.0))).exits(0);
    let rows = rows(&ran.stdout);
    assert_eq!(paths(&rows)[..5], ["normal/visit_1/0.wav", "-", "-", "-", "normal/visit_2/0.wav"]);
    assert_eq!(rows.len(), 1 + 3 + 8);
}

#[test]
fn standard_input_that_is_empty_or_no_sound_is_named() {
    let sandbox = Sandbox::with_model();
    let score = |bytes: &[u8]| sandbox.run_with_input("score model.auscult -", bytes).exits(2);
    score(b"").says("standard input: the file is empty");
    score(b"certainly no sound, but long enough").says("standard input: not a sound file");
    sandbox
        .run("score model.auscult - -")
        .exits(2)
        .says("standard input (-) is named more than once");
}

#[test]
fn clips_of_a_live_stream_are_printed_as_they_come() {
    use std::{
        io::{BufRead, BufReader, Write},
        process::Stdio,
    };
    let sandbox = Sandbox::with_model();
    let mut command = sandbox.command(["score", "model.auscult", "-", "--jsonl"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = wav_of_samples(&long(4.0));
    stdin.write_all(&bytes[..2 * 2 * 16_000 + 10_000]).unwrap();
    stdin.flush().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Two seconds and a bit went in, and the stream is still open.
    assert!(lines.next().unwrap().unwrap().contains("\"start_seconds\":0.0"));
    assert!(lines.next().unwrap().unwrap().contains("\"start_seconds\":1.0"));
    stdin.write_all(&bytes[2 * 2 * 16_000 + 10_000..]).unwrap();
    drop(stdin);
    assert_eq!(lines.count(), 2);
    assert!(child.wait().unwrap().success());
}

#[test]
fn long_recordings_are_cut_by_clip_and_hop() {
    let sandbox = Sandbox::with_model();
    sandbox.write("long.wav", wav_of_samples(&long(3.5)));
    let starts = |line: &str| -> Vec<f64> {
        let rows = sandbox.score(&format!("model.auscult long.wav {line}"));
        rows.iter().map(|row| row[1].parse().unwrap()).collect()
    };
    assert_eq!(starts(""), [0.0, 1.0, 2.0]);
    assert_eq!(starts("--hop-seconds 0.5"), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    assert_eq!(starts("--hop-seconds 2"), [0.0, 2.0]);
    assert_eq!(starts("--clips first"), [0.0]);
    sandbox.run("score model.auscult long.wav").exits(0).says("0.5 s at the end of 1 recording");
    let json = sandbox
        .run("fit --preset paper long.wav -o l.auscult --clip-seconds 0.5 --json")
        .exits(0)
        .stdout;
    assert!(json.contains("\"references\": 7"), "{json}");
}

#[test]
fn channels_are_chosen_or_averaged() {
    let sandbox = Sandbox::with_model();
    let [left, right] =
        [2, 3].map(|visit| ClipRecipe { visit, take: 40, ..clip() }.render().unwrap());
    let step = |value: f32| (value * 32_768.0).round() as i16;
    let both = left.iter().zip(&right).flat_map(|(&left, &right)| [step(left), step(right)]);
    let bytes: Vec<u8> = both.flat_map(i16::to_le_bytes).collect();
    sandbox.write("stereo.wav", raw_wav(1, 16, 2, &bytes));
    sandbox.write("left.wav", wav_of_samples(&left));
    sandbox.write("right.wav", wav_of_samples(&right));
    let score = |line: &str| sandbox.score(&format!("model.auscult {line}"))[0][2].to_owned();
    assert_eq!(score("stereo.wav"), score("left.wav"));
    assert_eq!(score("stereo.wav --channel 1"), score("right.wav"));
    let mean = score("stereo.wav --channel mean");
    assert!(mean != score("left.wav") && mean != score("right.wav"));
    // A model remembers the channel it was made with.
    sandbox
        .run("fit --preset paper normal -o mean.auscult --clip-seconds 1 --channel mean")
        .exits(0);
    assert_eq!(sandbox.score("mean.auscult stereo.wav")[0][2], mean);
}

#[test]
fn every_format_is_read() {
    let sandbox = Sandbox::with_model();
    let samples = clip().render().unwrap();
    let bits = |bits: u32| {
        let scale = f64::from(1_u32 << (bits - 1));
        move |&value: &f32| (f64::from(value) * scale).round() as i32
    };
    let data = |bytes: usize, shift: i32| -> Vec<u8> {
        let values = samples.iter().map(bits(8 * bytes as u32)).map(|value| value + shift);
        values.flat_map(|value| value.to_le_bytes().into_iter().take(bytes)).collect()
    };
    sandbox.write("in/pcm08.wav", raw_wav(1, 8, 1, &data(1, 128)));
    sandbox.write("in/pcm16.wav", raw_wav(1, 16, 1, &data(2, 0)));
    sandbox.write("in/pcm24.wav", raw_wav(1, 24, 1, &data(3, 0)));
    sandbox.write("in/pcm32.wav", raw_wav(1, 32, 1, &data(4, 0)));
    sandbox.write("in/pcm32f.wav", crate::support::float_wav(&samples));
    let rows = sandbox.score("model.auscult in");
    assert_eq!(rows.len(), 5);
    for row in &rows[1..] {
        // A reference: every coding but 8 bits comes as close to it as 16 bits allow.
        assert!(row[2].parse::<f64>().unwrap().abs() < 0.05, "{row:?}");
    }
    // The recorded files are a tenth of a second and longer.
    sandbox.run("fit --preset paper normal -o short.auscult --clip-seconds 0.1").exits(0);
    let recorded = golden::testdata().join("audio");
    for name in ["saw16.flac", "saw24.flac", "tone.aac", "tone.m4a", "tone.mp3", "tone.ogg"] {
        let path = recorded.join(name);
        let words = ["score", "short.auscult", path.to_str().unwrap(), "--csv"];
        let ran = sandbox.run_words(&words).exits(0);
        assert!(ran.stdout.lines().count() > 1, "{name}");
    }
}

#[test]
fn other_sample_rates_are_resampled() {
    let sandbox = Sandbox::with_model();
    let recipe = ClipRecipe { sample_rate: 48_000, ..clip() };
    let mut bytes = Vec::new();
    auscult_testing::wav::write(&mut bytes, &recipe.render().unwrap(), 48_000).unwrap();
    sandbox.write("fast.wav", bytes);
    sandbox.write("same.wav", wav_of(&clip()));
    assert_eq!(sandbox.score("model.auscult fast.wav same.wav").len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_text_are_read_as_arguments_too() {
    use std::os::unix::ffi::OsStrExt;

    let sandbox = Sandbox::with_model();
    let clip = sandbox.read("normal/visit_1/0.wav");
    let name = std::ffi::OsStr::from_bytes(b"bad\xff.wav");
    std::fs::write(sandbox.path(name), clip).unwrap();
    for before in [&["score", "model.auscult"][..], &["explain", "model.auscult"]] {
        let ran = sandbox.command(before.iter().copied()).arg(name).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{before:?}: {ran:?}");
        assert!(String::from_utf8_lossy(&ran.stdout).contains("bad"), "{before:?}: {ran:?}");
    }
}

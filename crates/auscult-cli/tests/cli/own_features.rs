//! `--features-from`: embeddings of one's own, scored as ours are.

use std::{fmt::Write as _, fs, path::Path};

use auscult::{ClipSettings, FrontEndSpec, FrontEnds};

use crate::{
    bench::{json, with_folder},
    support::Sandbox,
};

const CLIP: ClipSettings = ClipSettings { sample_rate: 16_000, seconds: 1.0 };

/// The samples of a WAV file of 16 bits that we wrote.
fn samples_of(path: &Path) -> Vec<f32> {
    let bytes = fs::read(path).unwrap();
    let pairs = bytes[44..].chunks_exact(2);
    pairs.map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0).collect()
}

fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// Clips, and beside them a table with what log-mel makes of each.
fn with_table() -> Sandbox {
    let sandbox = with_folder();
    let front_end = FrontEnds::new(None, None)
        .named(&FrontEndSpec::of("log-mel"), CLIP.check().unwrap())
        .unwrap();
    let mut table = "Path,features\n".to_owned();
    for folder in ["train", "test/normal", "test/anomaly"] {
        let mut names: Vec<_> = fs::read_dir(sandbox.path(format!("data/pump/{folder}")))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        names.sort();
        for path in names {
            let mut frames = Vec::new();
            let mut extractor = front_end.extractor();
            extractor
                .for_each_frame(&samples_of(&path), &mut |frame| frames.extend_from_slice(frame))
                .unwrap();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let name = format!("{}_{stem}.npy", folder.replace('/', "_"));
            let shape = format!("{}, {}", frames.len() / 128, 128);
            sandbox.write(&format!("own/{name}"), npy(&shape, &frames));
            writeln!(table, "../data/pump/{folder}/{stem}.wav,{name}").unwrap();
        }
    }
    sandbox.write("own/table.csv", table);
    sandbox
}

const EVAL: &str = "bench eval --data data --dataset folder --clip-seconds 1 --json";

#[test]
fn what_we_compute_ourselves_and_what_we_are_given_score_alike() {
    let sandbox = with_table();
    for options in ["--method adabeam --band-width 38", "--method global", "--back-end gmm"] {
        let of = |front_end: &str| {
            let line = format!("{EVAL} {front_end} {options} --scores scores.csv");
            let found = json(&sandbox.run(&line).exits(0).stdout);
            (found["machines"].clone(), sandbox.read("scores.csv"))
        };
        let (ours, own) = (of("--front-end log-mel"), of("--features-from own/table.csv"));
        assert_eq!(ours.0[0]["auc"], own.0[0]["auc"], "{options}");
        assert_eq!(ours.1, own.1, "{options}");
    }
}

#[test]
fn they_stand_beside_the_systems_of_any_protocol() {
    let sandbox = with_table();
    let run = "bench run my-folder --data data --clip-seconds 1 --samples 0";
    let own = "--features-from own/table.csv --band-width 38";
    sandbox.run(&format!("{run} {own} --out run")).exits(0);
    let results = json(&String::from_utf8(sandbox.read("run/results.json")).unwrap());
    let rows = results["rows"].as_array().unwrap();
    let score = |system: &str| {
        let row = rows.iter().find(|row| row["system"] == system);
        row.unwrap_or_else(|| panic!("no {system}"))["score"].as_f64().unwrap()
    };
    for method in ["global", "BEAM", "AdaBEAM"] {
        assert!((0.0..=1.0).contains(&score(&format!("own {method}"))), "{method}");
    }
    // Other embeddings are another run.
    let first = sandbox.read("own/train_0.npy");
    sandbox.write("own/train_0.npy", sandbox.read("own/train_1.npy"));
    sandbox.run(&format!("{run} {own} --out run")).exits(2).says("holds another run");
    sandbox.write("own/train_0.npy", first);
    sandbox.run(&format!("{run} {own} --out run")).exits(0);
    // As a whole they need no width.
    sandbox.run(&format!("{run} --features-from own/table.csv --out whole")).exits(0);
    let whole = String::from_utf8(sandbox.read("whole/results.md")).unwrap();
    assert!(whole.contains("own global") && !whole.contains("own BEAM"), "{whole}");
}

#[test]
fn tables_and_embeddings_that_do_not_fit_are_named() {
    let sandbox = with_table();
    let eval = format!("{EVAL} --features-from own/table.csv");
    let table = String::from_utf8(sandbox.read("own/table.csv")).unwrap();
    let with = |table: &str, says: &str| {
        sandbox.write("own/table.csv", table);
        sandbox.run(&eval).exits(2).says(says);
    };
    with(&table.replace("Path,", "clip,"), "line 1: no column path");
    with(&table.replacen("train_0.npy", "", 1), "line 2: features is empty");
    with(&table.replacen("train_0.npy", "nowhere.npy", 1), "cannot read own/nowhere.npy");
    let twice = table.replacen("train/1.wav", "train/0.wav", 1);
    with(&twice, "stands in line 2 already");
    with(&table.replace("../data", "../other"), "none of its 16 paths is a clip of the data");
    with("path,features\n", "none of its 0 paths is a clip of the data");
    sandbox.write("own/train_0.npy", "no array");
    with(&table, "train_0.npy: not an npy file; numpy.save writes one");
    sandbox.write("own/train_0.npy", npy("1, 2", &[1.0, 2.0]));
    with(&table, "features and others have");
    // A clip without an embedding is named, and the others are judged.
    let without: String = table
        .lines()
        .filter(|line| !line.contains("train_0"))
        .fold(String::new(), |all, line| all + line + "\n");
    with(&without, "own has no embedding of this clip");
    sandbox.run(&format!("{eval} --front-end mfcc")).exits(2);
    sandbox.run(&format!("{eval} --layer 3")).exits(2).says("has no effect on --features-from");
}

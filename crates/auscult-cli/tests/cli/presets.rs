//! Presets in evaluations, and clips that are judged by the others.

use std::fmt::Write as _;
use std::{collections::BTreeMap, path::Path};

use auscult::{ClipSettings, Learn, Machine, Preset, Sources};
use auscult_testing::{ClipRecipe, Fault, Machine as Kind};
use serde_json::Value;

use crate::{
    bench::json,
    support::{Sandbox, rows, wav_of, written_below},
};

/// 10 normal clips to learn, 4 normal and 4 faulty ones to judge, of 2 s.
fn with_folder() -> Sandbox {
    let sandbox = Sandbox::new();
    let clip = ClipRecipe { seconds: 2.0, ..ClipRecipe::new(Kind::Pump) };
    for take in 0..14 {
        let folder = if take < 10 { "train" } else { "test/normal" };
        let recipe = ClipRecipe { visit: take / 4, take, ..clip.clone() };
        sandbox.write(&format!("data/pump/{folder}/{take:02}.wav"), wav_of(&recipe));
    }
    for take in 0..4 {
        let fault = Some((Fault::BearingImpulses, 1.0));
        let recipe = ClipRecipe { visit: 9, take, fault, ..clip.clone() };
        sandbox.write(&format!("data/pump/test/anomaly/x{take}.wav"), wav_of(&recipe));
    }
    sandbox
}

const EVAL: &str = "bench eval --data data --dataset folder --clip-seconds 2";

/// Scores by name, as `--scores` wrote them.
fn scores(sandbox: &Sandbox, name: &str) -> BTreeMap<String, f64> {
    let text = String::from_utf8(sandbox.read(name)).unwrap();
    rows(&text).iter().map(|row| (row[0].to_owned(), row[2].parse().unwrap())).collect()
}

#[test]
fn a_fitted_machine_and_an_evaluation_give_the_same_scores() {
    let sandbox = with_folder();
    for preset in [Preset::Fast, Preset::Best] {
        let line = format!("{EVAL} --preset {preset} --scores s.csv --json");
        let found = json(&sandbox.run(&line).exits(0).stdout);
        assert_eq!(found["preset"], preset.name());
        assert_eq!(found["leave_one_out"], false);
        let clip = ClipSettings { seconds: 2.0, ..ClipSettings::default() };
        let learn = Learn { preset, clip, ..Learn::default() };
        let machine = Machine::learn(sandbox.path("data/pump/train"), &learn).unwrap();
        let evaluated = scores(&sandbox, "s.csv");
        let sources = Sources::of([sandbox.path("data/pump/test")]).unwrap();
        let listened: BTreeMap<String, f64> = machine
            .listen(sources)
            .map(|record| {
                let record = record.unwrap();
                let name = Path::new(&record.path).file_name().unwrap().to_str().unwrap();
                (name.to_owned(), record.scored.unwrap().score.value)
            })
            .collect();
        assert_eq!(evaluated.len(), 8);
        assert_eq!(evaluated, listened, "{preset}");
    }
}

#[test]
fn the_encoder_of_a_preset_is_computed_once() {
    let sandbox = with_folder();
    let kept = || written_below(&sandbox.path("cache"));
    sandbox.run(&format!("{EVAL} --preset fast")).exits(0);
    assert!(kept().is_empty(), "what computes faster than it is read is not kept");
    let computed = sandbox.run(&format!("{EVAL} --preset best --json")).exits(0).stdout;
    let best = kept();
    assert_eq!(best.len(), 18 + 1, "18 vectors, and of what");
    assert_eq!(sandbox.run(&format!("{EVAL} --preset best --json")).exits(0).stdout, computed);
    let alone = sandbox.run(&format!("{EVAL} --front-end ced --json")).exits(0).stdout;
    assert_eq!(kept(), best, "nothing is written twice");
    for (line, wanted) in [("--preset best", computed), ("--front-end ced", alone)] {
        let anew = sandbox.run(&format!("{EVAL} {line} --json --no-cache")).exits(0).stdout;
        assert_eq!(anew, wanted, "{line}");
    }
}

#[test]
fn a_preset_its_text_and_a_protocol_are_the_same_system() {
    let sandbox = with_folder();
    let figures = |value: &Value| (value["auc"].clone(), value["detector"].clone());
    let preset = json(&sandbox.run(&format!("{EVAL} --preset fast --json")).exits(0).stdout);
    let text = Preset::Fast.front_end();
    let typed = json(&sandbox.run(&format!("{EVAL} --front-end {text} --json")).exits(0).stdout);
    assert_eq!(figures(&preset), figures(&typed));
    assert!(typed["preset"].is_null());
    let tables = "[{ front_end = 'log-mel', convention = 'dcase', exponent = 'auto' }, \
                  { front_end = 'modulation', metric = 'scaled', neighbours = 3 }]";
    sandbox.write(
        "p.toml",
        format!(
            "name = 'p'\ntitle = 'P'\ndatasets = ['folder']\n[[system]]\nname = 'preset'\npreset = 'fast'\n\
             [[system]]\nname = 'text'\nfront_end = '{text}'\n[[system]]\nname = 'tables'\nfront_ends = {tables}\n"
        ),
    );
    let line = "bench run p.toml --data data --clip-seconds 2 --out run --samples 0";
    sandbox.run(line).exits(0);
    let results = json(&String::from_utf8(sandbox.read("run/results.json")).unwrap());
    let rows = results["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["auc"] == preset["auc"]), "{rows:?}");
}

#[test]
fn short_clips_go_without_the_modulation_spectrum_and_the_note_says_so() {
    let sandbox = with_folder();
    let note =
        "preset fast goes without modulation, which needs clips of at least 1 s (these have 0.5 s)";
    let line = "bench eval --data data --dataset folder --clip-seconds 0.5 --preset fast --json";
    let found = json(&sandbox.run(line).exits(0).says(note).stdout);
    assert_eq!(found["front_end"]["name"], "log-mel");
    assert!(found["remarks"].to_string().contains(note));
    sandbox.write(
        "p.toml",
        "name = 'p'\ntitle = 'P'\ndatasets = ['folder']\n[[system]]\nname = 'x'\npreset = 'fast'\n",
    );
    let line = "bench run p.toml --data data --clip-seconds 0.5 --out run --samples 0";
    sandbox.run(line).exits(0).says(note);
}

#[test]
fn options_beside_a_preset_are_refused_by_name() {
    let sandbox = Sandbox::new();
    for option in [
        "--front-end ced",
        "--convention dcase",
        "--layer 4",
        "--precision int16",
        "--method beam",
        "--band-width 8",
        "--neighbours 2",
        "--density-exponent auto",
        "--metric scaled",
        "--aggregate max",
        "--fuse max",
    ] {
        let name = option.split(' ').next().unwrap();
        sandbox.run(&format!("{EVAL} --preset fast {option}")).exits(2).says(&format!(
            "{name} cannot be given beside --preset fast, which chooses it; leave it out, name the member it is for \
             (--front-end 'modulation(neighbours=5)'), or write the whole preset without --preset: --front-end \
             'log-mel(convention=dcase,exponent=auto)+modulation(metric=scaled,neighbours=3)'"
        ));
    }
    // The same of every preset wherever one is named.
    let fit = "fit data -o m.auscult --clip-seconds 2 --preset paper";
    for option in ["--front-end ced", "--method global", "--neighbours 2", "--precision f32"] {
        let name = option.split(' ').next().unwrap();
        let refused = format!("{name} cannot be given beside --preset paper, which chooses it");
        sandbox.run(&format!("{fit} {option}")).exits(2).says(&refused);
    }
    let refused =
        "--encoder cannot be given beside --preset paper: other weights are another system";
    sandbox.run(&format!("{fit} --encoder x.bin")).exits(2).says(refused);
    sandbox
        .run(&format!("{EVAL} --preset best --encoder x.bin"))
        .exits(2)
        .says("--encoder cannot be given beside --preset best");
    sandbox
        .run(&format!("{EVAL} --preset best --back-end gmm"))
        .exits(2)
        .says("--preset best compares with the nearest references; leave out --back-end");
    sandbox.run(&format!("{EVAL} --preset slow")).exits(2).says("known: fast, best, paper");
    let stacked = "--front-end mfcc(neighbours=3)+log-mel";
    sandbox.run(&format!("{EVAL} {stacked} --metric scaled")).exits(2).says(
        "metric cannot be set for all members of mfcc+log-mel: each says how it compares; options of members \
         stand in their parentheses, such as ced(neighbours=3); leave out --metric",
    );
    sandbox
        .run(&format!("{EVAL} {stacked} --back-end genrep"))
        .exits(2)
        .says("says in parentheses how references are compared, which is for --back-end nearest");
}

#[test]
fn a_named_member_of_a_preset_is_changed() {
    let sandbox = with_folder();
    let figures = |line: &str| {
        let found = json(&sandbox.run(&format!("{EVAL} {line} --json")).exits(0).stdout);
        (found["auc"].clone(), found["detector"].clone(), found["preset"].clone())
    };
    let (auc, detector, preset) = figures("--preset fast --front-end modulation(neighbours=5)");
    assert!(preset.is_null(), "it is not the preset any more");
    let whole = "log-mel(convention=dcase,exponent=auto)+modulation(metric=scaled,neighbours=5)";
    assert_eq!((auc, detector, preset), figures(&format!("--front-end {whole}")));
    let fit = "fit data/pump/train --clip-seconds 2 -o m.auscult --preset fast --front-end";
    sandbox.run(&format!("{fit} log-mel(exponent=1)+modulation(neighbours=5)")).exits(0);
    let facts = json(&sandbox.run("inspect m.auscult --json").exits(0).stdout);
    assert_eq!(facts["preset"], "fast");
    let differs = serde_json::json!(["log-mel exponent", "modulation neighbours"]);
    assert_eq!(facts["differs_from_preset"], differs);
    assert_eq!(facts["members"][1]["metric"], "scaled", "what was not said is the preset's");
    let shown = sandbox.run("inspect m.auscult").exits(0).stdout;
    let own = "fast, with its own log-mel exponent, modulation neighbours";
    assert!(shown.contains(own), "{shown}");
    for (member, reason) in [
        ("ced(neighbours=5)", "ced: not a member of preset fast, which has log-mel, modulation"),
        ("modulation(metric=red)", "modulation: unknown metric \"red\""),
        ("modulation(neighbours=5)+modulation(exponent=1)", "modulation: named twice"),
        ("modulation(neighbours=5)+log-mel", "--front-end cannot be given beside --preset fast"),
    ] {
        sandbox.run(&format!("{fit} {member}")).exits(2).says(reason);
        sandbox.run(&format!("{EVAL} --preset fast --front-end {member}")).exits(2).says(reason);
    }
    // What clips of half a second cannot have is left out here, too.
    let short = "fit data/pump/train --clip-seconds 0.5 -o s.auscult --preset fast --front-end";
    let ran = sandbox.run(&format!("{short} modulation(neighbours=5)")).exits(0);
    ran.says("preset fast goes without modulation");
}

#[test]
fn members_of_a_preset_are_combined_as_asked() {
    let sandbox = with_folder();
    let line = format!("{EVAL} --preset fast --combine-members max --json");
    let found = json(&sandbox.run(&line).exits(0).stdout);
    assert_eq!(found["detector"]["ensemble"]["combine"], "max");
}

#[test]
fn leaving_one_out_judges_every_clip_by_the_other_normal_ones() {
    let sandbox = with_folder();
    let line = format!("{EVAL} --preset fast --leave-one-out --scores s.csv --json");
    let found = json(&sandbox.run(&line).exits(0).stdout);
    assert_eq!(found["leave_one_out"], true);
    assert_eq!(found["machines"][0]["train"], 13, "each against the others");
    let left_out = scores(&sandbox, "s.csv");
    assert_eq!(left_out.len(), 14 + 4);
    // The same by hand: the first clip alone is judged, by all others, as the anomalous ones are.
    let mut manifest = "path,split,label\n".to_owned();
    for take in 0..14 {
        let (folder, split) = if take < 10 { ("train", "train") } else { ("test/normal", "train") };
        let split = if take == 0 { "test" } else { split };
        writeln!(manifest, "data/pump/{folder}/{take:02}.wav,{split},normal").unwrap();
    }
    for take in 0..4 {
        writeln!(manifest, "data/pump/test/anomaly/x{take}.wav,test,anomaly").unwrap();
    }
    sandbox.write("m.csv", manifest);
    let line = "bench eval --data m.csv --dataset folder --clip-seconds 2 --preset fast --scores by-hand.csv";
    sandbox.run(line).exits(0);
    let by_hand = scores(&sandbox, "by-hand.csv");
    assert_eq!(by_hand.len(), 5);
    assert!(
        by_hand.iter().all(|(name, score)| left_out[name] == *score),
        "{by_hand:?} {left_out:?}"
    );
    let table = sandbox.run(&format!("{EVAL} --leave-one-out")).exits(0).stdout;
    assert!(
        table.starts_with(
            "folder, leave one out: each normal clip judged by the others of its section"
        ),
        "{table}"
    );
}

#[test]
fn leaving_one_out_needs_labels_and_no_split() {
    let sandbox = with_folder();
    // Without a column split nothing is said of a split that does not count.
    let mut manifest = "path,label\n".to_owned();
    for take in 0..10 {
        writeln!(manifest, "data/pump/train/{take:02}.wav,normal").unwrap();
    }
    manifest += "data/pump/test/anomaly/x0.wav,anomaly\n";
    sandbox.write("m.csv", &manifest);
    let line = "bench eval --data m.csv --dataset folder --clip-seconds 2 --preset fast";
    sandbox.run(line).exits(0).says("no clip is marked for testing");
    let ran = sandbox.run(&format!("{line} --leave-one-out")).exits(0);
    assert!(!ran.stderr.contains("marked for testing"), "{ran:?}");
    sandbox.write("m.csv", format!("{manifest}data/pump/test/anomaly/x1.wav,\n"));
    sandbox
        .run(&format!("{line} --leave-one-out"))
        .exits(2)
        .says("folder: leaving one out needs the label of every clip; without one: 1, the first");
    sandbox
        .run(&format!("{EVAL} --leave-one-out --back-end gmm"))
        .exits(2)
        .says("--leave-one-out is for --back-end nearest");
    let golden = auscult_testing::golden::testdata().join("golden/e2e").display().to_string();
    sandbox
        .run(&format!("bench eval --data {golden} --dataset dcase2023 --leave-one-out"))
        .exits(2)
        .says("dcase2023: its scores are those of its own split");
    // One normal clip has no others.
    sandbox.write(
        "m.csv",
        "path,label\ndata/pump/train/00.wav,normal\ndata/pump/test/anomaly/x0.wav,anomaly\n",
    );
    sandbox
        .run(&format!("{line} --leave-one-out"))
        .exits(2)
        .says("normal clips of a section must be 2 or more, to leave one out, got 1");
}

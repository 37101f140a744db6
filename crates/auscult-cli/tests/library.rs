//! The library and the program give the same model files and the same records.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{fs, path::Path, process::Command};

use auscult::{
    Learn, LearnMethod, LeftOutReason, Listen, Machine, Preset, Sources,
    autoencoder::{AutoencoderModelSettings, TrainingSettings},
};
use auscult_testing::{ClipRecipe, Fault, Machine as Kind, wav};

/// Three visits of six clips, and everything that must not be learnt: a copy, silence, a file cut short, a test clip, an
/// anomaly and a label nobody knows. Relative paths: models and records hold them as they were named.
fn plant(folder: &Path) {
    std::env::set_current_dir(folder).unwrap();
    let mut manifest = "Path,VISIT,label,split\n".to_owned();
    let mut list = |path: &str, visit: &str, label: &str, split: &str| {
        manifest.push_str(&[path, visit, label, split].join(","));
        manifest.push('\n');
    };
    for visit in 0..3 {
        for take in 0..6 {
            let path = format!("{visit}-{take}.wav");
            record(&path, &ClipRecipe { visit, take, ..clip() });
            list(&path, &format!("day {visit}"), "normal", "train");
        }
    }
    fs::copy("0-0.wav", "copy.wav").unwrap();
    list("copy.wav", "day 2", "normal", "train");
    write("silence.wav", &vec![0.0; 16_000]);
    list("silence.wav", "day 2", "0", "train");
    let whole = fs::read("1-1.wav").unwrap();
    fs::write("cut.wav", &whole[..whole.len() / 3]).unwrap();
    list("cut.wav", "day 2", "", "train");
    record("test.wav", &ClipRecipe { take: 40, ..clip() });
    list("test.wav", "day 2", "normal", "test");
    record("faulty.wav", &ClipRecipe { take: 41, fault: Some((Fault::Imbalance, 1.0)), ..clip() });
    list("faulty.wav", "day 2", "anomaly", "train");
    list("test.wav", "day 2", "perhaps", "train");
    fs::write("plant.csv", manifest).unwrap();
    fs::create_dir("today").unwrap();
    for name in ["faulty.wav", "test.wav", "silence.wav", "cut.wav", "0-0.wav"] {
        fs::copy(name, format!("today/{name}")).unwrap();
    }
    fs::copy("faulty.wav", "today/zz-again.wav").unwrap();
}

fn clip() -> ClipRecipe {
    ClipRecipe { seconds: 1.0, ..ClipRecipe::new(Kind::Fan) }
}

fn record(path: &str, recipe: &ClipRecipe) {
    write(path, &recipe.render().unwrap());
}

fn write(path: &str, samples: &[f32]) {
    wav::write(&mut fs::File::create(path).unwrap(), samples, 16_000).unwrap();
}

/// What the program prints; its exit code is 2, because some inputs cannot be used.
fn program(line: &str) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_auscult")).args(line.split_whitespace()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn same(options: &str, learn: &Learn) {
    let folder = tempfile::tempdir().unwrap();
    plant(folder.path());
    program(&format!("fit plant.csv -o program.auscult --clip-seconds 1 {options}"));
    let machine = Machine::learn("plant.csv", learn).unwrap();
    machine.save("library.auscult").unwrap();
    let [ours, theirs] = ["library.auscult", "program.auscult"].map(|path| fs::read(path).unwrap());
    assert!(ours == theirs, "{options}: the model files differ");

    let learned = machine.learned();
    assert_eq!((learned.references, learned.visits.len()), (18, 3));
    let count = |is: fn(&LeftOutReason) -> bool| {
        learned.left_out.iter().filter(|left_out| is(&left_out.reason)).count()
    };
    assert_eq!(count(|reason| matches!(reason, LeftOutReason::Copy { .. })), 1);
    assert_eq!(count(|reason| matches!(reason, LeftOutReason::Unusable { .. })), 1);
    assert_eq!(count(|reason| matches!(reason, LeftOutReason::Unreadable { .. })), 1);
    assert_eq!(count(|reason| matches!(reason, LeftOutReason::ForTesting)), 1);
    assert_eq!(count(|reason| matches!(reason, LeftOutReason::Anomalous)), 1);
    assert_eq!(count(|reason| matches!(reason, LeftOutReason::UnknownLabel { .. })), 1);

    let lines = program("score program.auscult today --jsonl --explain");
    let opened = Machine::open("program.auscult").unwrap();
    let listen = Listen { explain: true, ..Listen::default() };
    let mut listening = opened.listen_with(Sources::of(["today"]).unwrap(), &listen).unwrap();
    let records: Vec<String> = listening
        .by_ref()
        .filter_map(|record| Some(serde_json::to_string(&record.ok()?).unwrap()))
        .collect();
    assert_eq!(records, lines.lines().collect::<Vec<_>>(), "{options}");
    let summary = listening.summary();
    assert_eq!((summary.unread.len(), summary.is_complete), (1, false));
    let json: serde_json::Value = serde_json::from_str(records.last().unwrap()).unwrap();
    assert_eq!(json["copy_of"], "today/faulty.wav");
    assert_eq!(json["schema"], serde_json::Value::Null, "the schema is said once a run");
}

fn learn() -> Learn {
    Learn::default().with_clip_seconds(1.0)
}

#[test]
fn a_preset_learns_and_scores_the_same() {
    same("", &learn());
    same("--preset fast", &learn().with_preset(Preset::Fast));
}

#[test]
fn log_mel_learns_and_scores_the_same() {
    same("--preset paper", &learn().with_preset(Preset::Paper));
    same("--front-end log-mel", &learn().with_front_end("log-mel"));
}

#[test]
fn an_encoder_learns_and_scores_the_same() {
    same("--front-end ced", &learn().with_front_end("ced"));
}

#[test]
fn an_ensemble_learns_and_scores_the_same() {
    same("--front-end mfcc+log-mel:dcase", &learn().with_front_end("mfcc+log-mel:dcase"));
}

#[test]
fn an_autoencoder_learns_and_scores_the_same() {
    let training = TrainingSettings { epochs: 2, ..TrainingSettings::default() };
    let network = AutoencoderModelSettings { training, ..AutoencoderModelSettings::default() };
    let learn = Learn { method: LearnMethod::Autoencoder(network), ..learn() };
    same("--method autoencoder --epochs 2", &learn);
}

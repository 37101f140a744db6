//! `auscult tune` and `auscult fit --settings`, with short clips of a synthetic fan.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{fs, path::PathBuf, process::Command};

use auscult_testing::{ClipRecipe, Machine, wav};
use serde_json::Value;
use tempfile::TempDir;

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// A folder with three visits to a fan in `normal/`, four clips of 1 s each.
struct Sandbox(TempDir);

impl Sandbox {
    fn new() -> Self {
        let sandbox = Self(tempfile::tempdir().unwrap());
        for visit in 1..4 {
            for take in 0..4 {
                sandbox.record(
                    Machine::Fan,
                    visit,
                    take,
                    &format!("normal/visit_{visit}/{take}.wav"),
                );
            }
        }
        sandbox
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn record(&self, machine: Machine, visit: u32, take: u32, name: &str) {
        let recipe = ClipRecipe { visit, take, seconds: 1.0, ..ClipRecipe::new(machine) };
        let mut bytes = Vec::new();
        wav::write(&mut bytes, &recipe.render().unwrap(), recipe.sample_rate).unwrap();
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Runs the program with a line of arguments, split at spaces.
    fn run(&self, line: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_auscult"));
        let output = command.current_dir(self.0.path()).args(line.split(' ')).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    fn tune(&self, options: &str) -> Ran {
        self.run(&format!("tune --clip-seconds 1 {options}"))
    }
}

#[test]
fn settings_are_chosen_written_and_used() {
    let sandbox = Sandbox::new();
    sandbox.record(Machine::Valve, 1, 0, "other/valve.wav");
    let ran = sandbox.tune("normal -o fan.json --budget 3 --outliers other").exits(0);
    assert!(ran.stdout.contains("3 of 639 settings tried (less than 1 %)"), "{}", ran.stdout);
    for preset in ["preset best", "preset fast", "preset paper"] {
        assert!(ran.stdout.contains(preset), "{}", ran.stdout);
    }
    assert!(ran.stdout.contains("outlier"), "{}", ran.stdout);
    sandbox.run("fit normal -o fan.auscult --settings fan.json").exits(0);
    let settings: Value =
        serde_json::from_slice(&fs::read(sandbox.path("fan.json")).unwrap()).unwrap();
    assert_eq!(settings["clip"]["seconds"], 1.0);
}

#[test]
fn threads_change_nothing_and_only_normal_clips_are_used() {
    let sandbox = Sandbox::new();
    // Rows of every clip, or of each with an even number.
    let list = |name: &str, head: &str, step: usize, [even, odd]: [&str; 2]| {
        let row = |index: usize| {
            let (visit, take) = (index / 4 + 1, index % 4);
            let last = if index.is_multiple_of(2) { even } else { odd };
            format!("normal/visit_{visit}/{take}.wav,{visit}{last}\n")
        };
        let rows: String = (0..12).step_by(step).map(row).collect();
        fs::write(sandbox.path(name), format!("path,visit{head}\n{rows}")).unwrap();
    };
    let tune = |name: &str, jobs: usize| {
        let line = format!("{name}.csv -o {name}.json --budget 2 --json --jobs {jobs}");
        sandbox.tune(&line).exits(0)
    };
    list("plain.csv", "", 1, ["", ""]);
    list("normal.csv", ",label", 1, [",normal", ",normal"]);
    let plain = tune("plain", 1);
    assert_eq!(plain.json()["clips"], 12);
    assert_eq!(tune("normal", 2).json(), plain.json());
    list("half.csv", "", 2, ["", ""]);
    list("labelled.csv", ",label", 1, [",normal", ",anomaly"]);
    list("kept.csv", ",split", 1, [",train", ",test"]);
    let half = tune("half", 1);
    assert_eq!(half.json()["clips"], 6);
    for name in ["labelled", "kept"] {
        let ran = tune(name, 2);
        assert_eq!(ran.json(), half.json(), "{name}");
        assert!(ran.stderr.contains("note: left out 6 recordings "), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_run_that_is_continued_ends_like_one_that_was_not() {
    let sandbox = Sandbox::new();
    sandbox.tune("normal -o a.json --budget 1").exits(0);
    let continued = sandbox.tune("normal -o a.json --budget 4 --json").exits(0);
    assert!(
        continued.stderr.contains("continuing: 1 setting tried already"),
        "{}",
        continued.stderr
    );
    let at_once = sandbox.tune("normal -o b.json --budget 4 --json").exits(0);
    assert_eq!(continued.json(), at_once.json());
    assert_eq!(continued.json()["settings_tried"], 4);
    assert_eq!(
        fs::read(sandbox.path("a.json")).unwrap(),
        fs::read(sandbox.path("b.json")).unwrap()
    );
    let other = sandbox.tune("normal -o a.json --budget 1 --seed 2").exits(0);
    assert!(other.stderr.contains("starting over"), "{}", other.stderr);
}

#[test]
fn what_is_typed_goes_before_the_file_and_unknown_keys_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.tune("normal -o fan.json --budget 1 --preset paper").exits(0);
    let settings = fs::read_to_string(sandbox.path("fan.json")).unwrap();
    let other = settings.replace("\"neighbours\": 1", "\"neighbours\": 3").replace("s15", "dcase");
    fs::write(sandbox.path("other.json"), other).unwrap();
    let fitted = |options: &str| {
        sandbox.run(&format!("fit normal -o m --settings other.json {options}")).exits(0);
        let shown = sandbox.run("inspect m --json").exits(0).json().to_string();
        let has = |text: &str| shown.contains(text);
        (has("\"neighbours\":3"), has("dcase"), has("\"seconds\":1.0"))
    };
    assert_eq!(fitted("--fuse max"), (true, true, true));
    assert_eq!(fitted("--neighbours 1"), (false, true, true));
    assert_eq!(fitted("--front-end mfcc"), (true, false, true));

    let unknown = settings.replace("\"channel\"", "\"colour\": 1, \"channel\"");
    fs::write(sandbox.path("unknown.json"), unknown).unwrap();
    let ran = sandbox.run("fit normal -o m --settings unknown.json").exits(2);
    assert!(ran.stderr.contains("unknown field `colour`"), "{}", ran.stderr);
    let ran = sandbox.run("fit normal -o m --settings nowhere.json").exits(2);
    assert!(ran.stderr.contains("nowhere.json"), "{}", ran.stderr);
}

#[test]
fn what_cannot_work_is_refused_with_advice() {
    let sandbox = Sandbox::new();
    for (line, words) in [
        ("normal -o normal/visit_1/0.wav --budget 1", "not a settings file"),
        ("- -o a.json", "cannot take standard input"),
        ("normal/visit_1/0.wav -o a.json", "at least 4 normal clips"),
        ("normal -o a.json --budget soon", "90s, 5m or 1h"),
    ] {
        let ran = sandbox.tune(line).exits(2);
        assert!(ran.stderr.contains(words), "{line}: {}", ran.stderr);
    }
    assert!(!sandbox.path("a.json").exists());
}

#[test]
fn too_many_clips_are_thinned_and_it_says_so() {
    let sandbox = Sandbox::new();
    let ran = sandbox.tune("normal -o a.json --budget 1 --max-clips 6 --json").exits(0);
    assert!(ran.stderr.contains("using 6 of 12 normal clips"), "{}", ran.stderr);
    assert_eq!((&ran.json()["clips"], &ran.json()["groups"]), (&6.into(), &3.into()));
}

#[test]
fn encoders_are_tried_too_and_their_settings_used() {
    let sandbox = Sandbox::new();
    let ran = sandbox
        .tune("normal -o fan.json --budget 6 --preset paper --front-end ced --json")
        .exits(0);
    let json = ran.json();
    // Two widths of rows and the whole axis: 3 views x 7 densities x (2 x 2 + 1).
    assert_eq!(json["settings_in_all"], 637 + 3 * 7 * 5);
    let names: Vec<&Value> = json["ranking"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ranked| &ranked["candidate"]["front_end"]["name"])
        .collect();
    assert!(names.contains(&&Value::from("ced")), "{names:?}");
    let table = sandbox
        .tune("normal -o fan.json --budget 6 --preset paper --front-end ced")
        .exits(0)
        .stdout;
    assert!(table.contains("ced-tiny (layer 8), adabeam 192, K 1, exponent 1"), "{table}");
    // The settings of the encoder, as if they had been chosen.
    let mut settings: Value =
        serde_json::from_slice(&fs::read(sandbox.path("fan.json")).unwrap()).unwrap();
    let of_ced = json["ranking"]
        .as_array()
        .unwrap()
        .iter()
        .find(|ranked| ranked["candidate"]["front_end"]["name"] == "ced")
        .unwrap();
    settings["front_end"] = of_ced["candidate"]["front_end"].clone();
    settings["detector"] = of_ced["candidate"]["detector"].clone();
    fs::write(sandbox.path("ced.json"), settings.to_string()).unwrap();
    let ran = sandbox.run("fit normal -o fan.auscult --settings ced.json").exits(0);
    assert!(ran.stdout.contains("ced-tiny (layer 8), 4 bands"), "{}", ran.stdout);
    for (line, reason) in [
        ("fit normal -o m --settings ced.json --layer 6", "give --front-end too"),
        ("tune normal -o x.json --clip-seconds 0.5 --front-end ced", "must be 1 to 30 seconds"),
        ("tune normal -o x.json --clip-seconds 1 --front-end ced+mfcc", "tune them one by one"),
        ("tune normal -o x.json --clip-seconds 1 --front-end mfcc", "tried in any case"),
        ("tune normal -o x.json --clip-seconds 1 --front-end ced,ced", "once is enough"),
        ("tune normal -o x.json --clip-seconds 1 --front-end bees", "unknown front end"),
    ] {
        let ran = sandbox.run(line).exits(2);
        assert!(ran.stderr.contains(reason), "{line}: {}", ran.stderr);
    }
}

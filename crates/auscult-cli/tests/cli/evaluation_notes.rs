//! What evaluation says beside its figures: about files, neighbours, labels and scores.

use auscult_testing::ClipRecipe;

use crate::{
    bench::{json, with_folder},
    support::{Sandbox, clip, faulty_clip, wav_of},
};

const EVAL: &str = "bench eval --data data --dataset folder --clip-seconds 1";

/// 30 training clips that are 0 bytes are one line, not thirty.
#[test]
fn checking_looks_at_headers_and_names_ten_files() {
    let sandbox = with_folder();
    sandbox.run("data check data").exits(0);
    for at in 0..30 {
        sandbox.write(&format!("data/pump/train/empty-{at:02}.wav"), b"");
    }
    let half = sandbox.read("data/pump/train/0.wav");
    sandbox.write("data/pump/test/normal/cut.wav", &half[..half.len() / 2]);
    let ran = sandbox.run("data check data").exits(2);
    let lines: Vec<&str> = ran.stdout.lines().filter(|line| line.contains(".wav")).collect();
    assert_eq!(lines.len(), 2, "{}", ran.stdout);
    let empty = lines.iter().find(|line| line.starts_with("30 files: the file is empty")).unwrap();
    assert!(empty.ends_with(" and 20 more"), "{empty}");
    assert_eq!(empty.matches("empty-").count(), 10, "{empty}");
    let cut = lines.iter().find(|line| line.contains("cut.wav: damaged after 0.499 s")).unwrap();
    assert!(cut.contains("before the sound its header promises"), "{cut}");
    let report = json(&sandbox.run("data check data --json").exits(2).stdout);
    assert_eq!(report["unusable"].as_array().unwrap().len(), 31);
    // Those who read the sound say the same, once.
    let ran = sandbox.run(EVAL).exits(2).says("problem: 30 files: the file is empty (0 bytes)");
    assert_eq!(ran.stderr.matches("the file is empty").count(), 1, "{}", ran.stderr);
}

#[test]
fn rows_without_a_file_are_named() {
    let sandbox = with_folder();
    let mut rows = "path,split,label\npump/test/anomaly/0.wav,test,anomaly\n".to_owned();
    rows += "pump/train/0.wav,train,\npump/train/gone.wav,train,\npump/test/normal/8.wav,test,0\n";
    sandbox.write("data/manifest.csv", &rows);
    let ran = sandbox.run("data check data").exits(2);
    assert!(ran.stdout.contains("gone.wav: cannot be read: "), "{}", ran.stdout);
    sandbox.write("data/manifest.csv", rows.replace("pump/train/gone.wav,train,\n", ""));
    sandbox.run("data check data").exits(0);
    // Nobody said which machine: problems have a name all the same.
    sandbox.write("data/manifest.csv", rows.replace(",test,0", ",test,"));
    let ran = sandbox.run("data check data").exits(2);
    assert!(ran.stdout.contains("\nall clips: 1 test clip without a label"), "{}", ran.stdout);
}

#[test]
fn more_neighbours_than_references_are_told() {
    let sandbox = with_folder();
    let told =
        "neighbours = 500, but a reference has 7 others in pump: all of them count, as with 7";
    let ran = sandbox.run(&format!("{EVAL} --neighbours 500 --json")).exits(0).says(told);
    assert_eq!(json(&ran.stdout)["remarks"][0], told);
    for options in ["--neighbours 7", "--back-end gmm", ""] {
        let ran = sandbox.run(&format!("{EVAL} {options}")).exits(0);
        assert!(!ran.stderr.contains("but a reference has"), "{options}: {}", ran.stderr);
    }
    sandbox.write(
        "p.toml",
        "name = 'p'\ntitle = 'P'\ndatasets = ['folder']\nclip_seconds = 1.0\n\
         [[system]]\nname = 'a'\nneighbours = 9\n",
    );
    let ran = sandbox.run("bench run p.toml --data data --out run --samples 0").exits(0);
    assert!(ran.stdout.contains("- folder: neighbours = 9, but a reference has"), "{}", ran.stdout);
}

#[test]
fn one_class_is_told_with_the_clips_that_have_no_label() {
    let sandbox = with_folder();
    let row = |take: usize| {
        let test = 8 + take;
        format!("pump/train/{take}.wav,train,\npump/test/normal/{test}.wav,test,0\n")
    };
    let rows: Vec<String> = (0..4).map(row).collect();
    let rows = format!("path,split,label\n{}pump/test/anomaly/0.wav,test,\n", rows.concat());
    sandbox.write("data/manifest.csv", rows);
    sandbox
        .run(EVAL)
        .exits(2)
        .says("no score: test clips of one class only")
        .says("; without a label: 1 test clip; ");
}

#[test]
fn a_comparison_says_which_score_it_compares() {
    let sandbox = with_folder();
    sandbox.write(
        "p.toml",
        "name = 'p'\ntitle = 'P'\ndatasets = ['folder']\nclip_seconds = 1.0\n[[system]]\nname = 'a'\n",
    );
    sandbox.run("bench run p.toml --data data --out run --samples 0").exits(0);
    let ran = sandbox.run("bench compare run run --samples 100").exits(0);
    assert!(ran.stdout.starts_with("Compared: mean of AUC and pAUC\n\n"), "{}", ran.stdout);
    let rows = json(&sandbox.run("bench compare run run --samples 100 --json").exits(0).stdout);
    assert_eq!(rows[0]["measure"], "mean of AUC and pAUC");
}

#[test]
fn protocols_with_settings_that_nothing_looks_at_are_refused() {
    let sandbox = with_folder();
    sandbox.write(
        "p.toml",
        "name = 'p'\ntitle = 'P'\ndatasets = ['folder']\n\
         [[system]]\nname = 'a'\nback_end = 'gmm'\nmetric = 'euclidean'\n",
    );
    sandbox
        .run("bench run p.toml --data data --out run")
        .exits(2)
        .says("\"a\": metric has no effect on back_end = \"gmm\"; leave it out, it is for nearest, genrep");
    assert!(!sandbox.path("run").exists());
}

#[test]
fn noise_ratios_stand_in_the_order_of_their_numbers() {
    let sandbox = Sandbox::new();
    for ratio in ["0dB", "6dB", "min6dB"] {
        for take in 0..8 {
            let name = |label: &str| format!("m/{ratio}/pump/id_00/{label}/{take:08}.wav");
            sandbox.write(&name("normal"), wav_of(&ClipRecipe { take, ..clip() }));
            if take < 3 {
                sandbox.write(&name("abnormal"), wav_of(&ClipRecipe { take, ..faulty_clip() }));
            }
        }
    }
    sandbox.write(
        "p.toml",
        "name = 'p'\ntitle = 'P'\ndatasets = ['mimii']\nclip_seconds = 1.0\n[[system]]\nname = 'a'\n",
    );
    let ran = sandbox.run("bench run p.toml --data m --out run --samples 0").exits(0);
    let head = "| system | mimii min6dB | mimii 0dB | mimii 6dB |";
    assert!(ran.stdout.contains(head), "{}", ran.stdout);
}

/// Two lines of a table are of other clips than the run's.
#[test]
fn clips_that_are_not_compared_are_told() {
    let sandbox = with_folder();
    sandbox.run(&format!("{EVAL} --scores all.csv")).exits(0);
    let all = String::from_utf8(sandbox.read("all.csv")).unwrap();
    let rename = |(at, line): (usize, &str)| match at {
        1 | 2 => format!("other_{line}\n"),
        _ => format!("{line}\n"),
    };
    sandbox.write("other.csv", all.lines().enumerate().map(rename).collect::<String>());
    let ran = sandbox.run("bench compare all.csv other.csv --samples 100").exits(2);
    ran.says("folder: 6 clips are in both with the same label and are compared; of A 2 more are not, of B 2");
    let line = "bench compare all.csv other.csv --samples 100 --json";
    let rows = json(&sandbox.run(line).exits(2).stdout);
    assert_eq!((&rows[0]["only_first"], &rows[0]["only_second"]), (&2.into(), &2.into()));
    sandbox.run("bench compare all.csv all.csv --samples 100").exits(0);
}

#[test]
fn a_section_without_a_score_does_not_hide_the_others() {
    let sandbox = with_folder();
    for take in 0..6 {
        let folder = if take < 4 { "train" } else { "test/normal" };
        let recipe = ClipRecipe { take: 40 + take, ..clip() };
        sandbox.write(&format!("data/quiet/{folder}/{take}.wav"), wav_of(&recipe));
    }
    let protocol = "name = 'p'\ntitle = 'P'\ndatasets = ['folder']\n[[system]]\nname = 'one'\n";
    sandbox.write("p.toml", protocol);
    let line = "bench run p.toml --data data --out run --clip-seconds 1 --samples 0";
    let ran = sandbox.run(line).exits(2);
    assert!(ran.stdout.contains("each section") && ran.stdout.contains("| pump"), "{}", ran.stdout);
}

/// A submission lacks a clip that could not be read, and the evaluators would refuse it.
#[test]
fn an_incomplete_submission_is_told() {
    let sandbox = Sandbox::new();
    let source = auscult_testing::golden::testdata().join("golden/e2e/fan");
    for folder in ["train", "test"] {
        for file in std::fs::read_dir(source.join(folder)).unwrap() {
            let file = file.unwrap();
            let to = format!("data/fan/{folder}/{}", file.file_name().display());
            sandbox.write(&to, std::fs::read(file.path()).unwrap());
        }
    }
    let broken = std::fs::read_dir(sandbox.path("data/fan/test")).unwrap().next().unwrap().unwrap();
    let broken = broken.file_name().into_string().unwrap();
    sandbox.write(&format!("data/fan/test/{broken}"), b"");
    let protocol = "name = 'p'\ntitle = 'P'\ndatasets = ['dcase2023']\n[[system]]\nname = 'one'\n";
    sandbox.write("p.toml", protocol);
    sandbox.run("bench run p.toml --data data --out run --clip-seconds 2 --samples 0").exits(2);
    let ran = sandbox.run("bench submit run --out sub").exits(2);
    ran.says(&broken).says("a test clip without a score is in no file");
}

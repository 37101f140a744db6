//! Files nobody should give to the program.

use crate::support::{
    Sandbox, clip, constant_wav, faulty_clip, float_wav, raw_wav, rows, wav_of, wav_of_samples,
};

/// Every kind of bad file in `bad/`, with what must be said of it.
const SAYINGS: [(&str, &str); 12] = [
    ("adpcm.wav", "is not supported; convert it first"),
    ("channels.wav", "has 200 channels, allowed are 1 to 64"),
    ("constant.wav", "constant: every sample is 0.25; check the sensor"),
    ("empty.wav", "the file is empty (0 bytes); record or copy it again"),
    ("header.wav", "record or copy the file again"),
    ("nan.wav", "not finite: sample 77 is NaN or infinite; export the recording again"),
    ("no_samples.wav", "no sound in it (0 samples); record it again"),
    ("overflow.wav", "features must be finite"),
    ("short.wav", "too short: 800 samples, at least 8000 (half a clip) are needed; record longer"),
    ("silent.wav", "silent: the peak is below -96 dBFS; check the microphone"),
    ("text.wav", "not a sound file this program knows; it reads WAV"),
    ("truncated.wav", "damaged after 0.5"),
];

/// A model, one good clip in `mixed/`, and beside it every kind of bad one.
fn plant() -> Sandbox {
    let sandbox = Sandbox::with_model();
    let good = clip().render().unwrap();
    let mut nan = good.clone();
    nan[77] = f32::NAN;
    let whole = wav_of_samples(&good);
    let files: [(&str, Vec<u8>); 13] = [
        ("adpcm.wav", raw_wav(2, 4, 2, &[0; 1000])),
        ("channels.wav", raw_wav(1, 16, 200, &[1; 4000])),
        ("constant.wav", constant_wav(0.25)),
        ("empty.wav", Vec::new()),
        ("good.wav", whole.clone()),
        ("header.wav", whole[..30].to_vec()),
        ("nan.wav", float_wav(&nan)),
        ("no_samples.wav", wav_of_samples(&[])),
        ("overflow.wav", float_wav(&good.iter().map(|value| value * 1e30).collect::<Vec<_>>())),
        ("short.wav", wav_of_samples(&good[..800])),
        ("silent.wav", constant_wav(0.0)),
        ("text.wav", b"Meeting notes, pump hall 3\n".to_vec()),
        ("truncated.wav", whole[..44 + 16_500].to_vec()),
    ];
    for (name, bytes) in files {
        sandbox.write(&format!("mixed/{name}"), bytes);
    }
    sandbox
}

#[test]
fn score_names_each_bad_file_and_scores_the_others() {
    let sandbox = plant();
    let ran = sandbox.run("score model.auscult mixed --csv").exits(2);
    for (name, saying) in SAYINGS {
        let told = |line: &str| line.contains(&format!("mixed/{name}")) && line.contains(saying);
        assert!(ran.stderr.lines().any(told), "{name}: {ran:#?}");
    }
    let verdicts: Vec<(String, String)> = rows(&ran.stdout)
        .iter()
        .map(|row| (row[0].replace("mixed/", ""), row[5].to_owned()))
        .collect();
    let verdict = |name: &str| {
        verdicts.iter().find(|(found, _)| found == name).map(|(_, verdict)| verdict.as_str())
    };
    assert_eq!(verdict("good.wav"), Some("normal"));
    // Clips that are no sound of a machine have a row that says so, and no score.
    assert_eq!(verdict("constant.wav"), Some("constant"));
    assert_eq!(verdict("nan.wav"), Some("not-finite"));
    assert_eq!(verdict("overflow.wav"), Some("not-scored"));
    assert_eq!(verdict("short.wav"), Some("too-short"));
    assert_eq!(verdict("silent.wav"), Some("silent"));
    // Files that cannot be read have none.
    for name in
        ["adpcm.wav", "channels.wav", "empty.wav", "header.wav", "no_samples.wav", "text.wav"]
    {
        assert_eq!(verdict(name), None, "{name}");
    }
    // What could be read of a damaged file is scored, with a note.
    assert!(verdict("truncated.wav").is_some());
    assert!(ran.stderr.contains("mixed/truncated.wav ends where the file is damaged"));
}

#[test]
fn unscored_rows_have_no_numbers() {
    let sandbox = plant();
    let ran = sandbox.run("score model.auscult mixed/silent.wav mixed/overflow.wav --csv").exits(2);
    for row in rows(&ran.stdout) {
        assert_eq!((&row[2], &row[3], &row[4]), ("", "", ""), "{row:?}");
    }
}

#[test]
fn fit_learns_from_good_files_only_and_says_what_it_skipped() {
    let sandbox = plant();
    let ran = sandbox.run("fit --preset paper normal mixed -o m.auscult --clip-seconds 1").exits(2);
    for (name, saying) in SAYINGS {
        let line = ran.stderr.lines().find(|line| line.contains(&format!("mixed/{name}")));
        let line = line.unwrap_or_else(|| panic!("{name} is not named in {ran:#?}"));
        assert!(line.contains("skipped") && line.contains(saying), "{line}");
    }
    // The good clip is a copy of a reference.
    assert!(ran.stdout.contains("references  24 from 37 files"), "{ran:#?}");
    assert!(ran.stdout.contains("12 skipped, 1 left out as copies"), "{ran:#?}");
    sandbox.run("model verify m.auscult").exits(0);
    assert_eq!(
        sandbox.read("m.auscult")[8..].len(),
        sandbox.read("model.auscult")[8..].len(),
        "nothing of the bad files is in the model"
    );
}

#[test]
fn a_clipped_recording_is_scored_with_a_note() {
    let sandbox = Sandbox::with_model();
    let loud: Vec<f32> = clip().render().unwrap().iter().map(|value| value * 30.0).collect();
    sandbox.write("loud.wav", wav_of_samples(&loud));
    let ran = sandbox.run("score model.auscult loud.wav --csv").exits(0);
    assert_eq!(rows(&ran.stdout).len(), 1);
    ran.says("loud.wav: clipped: ").says("lower the recording level");
}

#[test]
fn missing_inputs_are_named_and_the_others_are_scored() {
    let sandbox = Sandbox::with_model();
    let ran =
        sandbox.run("score model.auscult gone.wav normal/visit_1 nothing-*.wav --csv").exits(2);
    assert_eq!(rows(&ran.stdout).len(), 8);
    ran.says("gone.wav: no such file or folder; check the path")
        .says("nothing-*.wav: no file matches this pattern");
}

#[test]
fn nothing_to_score_is_an_error_that_says_what_to_name() {
    let sandbox = Sandbox::with_model();
    let ran = sandbox.run("score model.auscult gone.wav").exits(2);
    assert_eq!(ran.stdout, "");
    ran.says("gone.wav: no such file or folder").says("name recordings, folders with recordings");
}

#[test]
fn a_file_that_vanishes_is_named_and_the_others_are_scored() {
    let sandbox = Sandbox::with_model();
    // A link to nothing is a file that was there when the folder was listed.
    #[cfg(unix)]
    std::os::unix::fs::symlink("gone.wav", sandbox.path("normal/visit_1/vanished.wav")).unwrap();
    #[cfg(not(unix))]
    sandbox.write("normal/visit_1/vanished.wav", b"");
    let ran = sandbox.run("score model.auscult normal/visit_1 --csv").exits(2);
    assert_eq!(rows(&ran.stdout).len(), 8);
    ran.says("normal/visit_1/vanished.wav");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_model();
    let path = sandbox.path("normal/visit_1/0.wav");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        eprintln!("SKIPPED: nothing is forbidden to root; run as another user");
        return;
    }
    sandbox.run("score model.auscult normal").exits(2).says("0.wav: permission denied; allow");
}

#[test]
fn an_empty_folder_is_named_with_the_extensions_looked_for() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    let ran = sandbox.run("fit --preset paper empty -o m.auscult").exits(2);
    assert!(!sandbox.path("m.auscult").exists());
    ran.says("empty: no sound files in this folder; known extensions are wav,");
}

#[test]
fn only_unusable_recordings_leave_no_model() {
    let sandbox = Sandbox::new();
    sandbox.write("quiet/1.wav", constant_wav(0.0));
    sandbox
        .run("fit --preset paper quiet -o m.auscult --clip-seconds 1")
        .exits(2)
        .says("no usable clip in 1 file: nothing to learn from; record the machine while it runs");
    assert!(!sandbox.path("m.auscult").exists());
}

#[test]
fn sound_and_model_in_each_other_s_place_are_recognised() {
    let sandbox = Sandbox::with_model();
    sandbox
        .run("score normal/visit_1/0.wav model.auscult")
        .exits(2)
        .says("normal/visit_1/0.wav: not an auscult model")
        .says("the model comes first, then the recordings");
    sandbox.run("score normal model.auscult").exits(2).says("cannot read normal: is a directory; a folder is not a model file; the model comes first, then");
    sandbox
        .run("score model.auscult model.auscult")
        .exits(2)
        .says("model.auscult: not a sound file this program knows");
    sandbox
        .run("score gone.auscult normal")
        .exits(2)
        .says("cannot read gone.auscult: No such file or directory (os error 2); check the path, or make a model with auscult fit");
}

#[test]
fn long_and_foreign_names_are_read_and_printed_whole() {
    let sandbox = Sandbox::with_model();
    let names = ["Lüfter — зал №3 風扇 🔊.wav".to_owned(), format!("{}.wav", "x".repeat(250))];
    for name in &names {
        sandbox.write(&format!("odd names/{name}"), wav_of(&clip()));
    }
    let ran = sandbox.run_words(&["score", "model.auscult", "odd names", "--csv"]).exits(0);
    for (row, name) in rows(&ran.stdout).iter().zip(&names) {
        assert_eq!(&row[0], format!("odd names/{name}"));
    }
    let too_long = format!("{}.wav", "x".repeat(300));
    let ran = sandbox.run_words(&["score", "model.auscult", &too_long]).exits(2);
    ran.says("xxx.wav: ");
}

#[cfg(unix)]
#[test]
fn names_with_control_characters_do_not_reach_the_terminal() {
    let sandbox = Sandbox::with_model();
    sandbox.write("in/a\u{1b}[31m\nb.wav", wav_of(&clip()));
    sandbox.write("in/c\u{1b}[31md.wav", b"");
    let ran = sandbox.run("score model.auscult in").exits(2);
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran:#?}");
    assert_eq!(ran.stdout.lines().filter(|line| line.starts_with("in/a")).count(), 1);
    // Programs get the name as it is.
    let json = sandbox.run("score model.auscult in --jsonl").exits(2).stdout;
    let row: serde_json::Value = serde_json::from_str(json.trim()).unwrap();
    assert_eq!(row["path"], "in/a\u{1b}[31m\nb.wav");
}

#[cfg(unix)]
#[test]
fn names_that_are_not_unicode_are_read() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let sandbox = Sandbox::with_model();
    std::fs::create_dir(sandbox.path("in")).unwrap();
    let name = OsStr::from_bytes(b"in/caf\xe9.wav");
    std::fs::write(sandbox.path(name), wav_of(&clip())).unwrap();
    let ran = sandbox.run("score model.auscult in --csv").exits(0);
    assert!(ran.stdout.contains("in/caf\u{fffd}.wav"), "{ran:#?}");
}

#[test]
fn an_evaluation_judges_no_sound_that_is_not_finite_whatever_the_front_end() {
    let sandbox = Sandbox::with_recordings();
    let mut nan = clip().render().unwrap();
    nan[77] = f32::NAN;
    sandbox.write("nan.wav", float_wav(&nan));
    sandbox.write("fault.wav", wav_of(&faulty_clip()));
    let train = (0..4).map(|take| format!("normal/visit_1/{take}.wav,train,normal"));
    let test =
        ["normal/visit_2/0.wav,test,normal", "fault.wav,test,anomaly", "nan.wav,test,normal"];
    let rows: Vec<String> = train.chain(test.map(str::to_owned)).collect();
    sandbox.write("manifest.csv", format!("path,split,label\n{}\n", rows.join("\n")));
    for front_end in ["log-mel", "mfcc", "lpc", "ced"] {
        let line = format!(
            "bench eval --data . --dataset folder --clip-seconds 1 --front-end {front_end} --no-cache"
        );
        sandbox.run(&line).exits(2).says("not finite: sample 77 is NaN or infinite");
    }
}

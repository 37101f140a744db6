//! Recordings at rates of their own, and as text.

use std::fmt::Write as _;

use auscult_testing::wav;

use crate::support::{Sandbox, rows};

/// Noise in m/s^2 at 4 kHz, up to 8.
fn acceleration(seed: u32) -> Vec<f64> {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 23) - 1.0
    };
    (0..4_000).map(|at| (3.0 + (f64::from(at) / 60.0).sin()) * 2.0 * random()).collect()
}

fn csv(values: &[f64]) -> String {
    let mut text = "time;a_x\r\n".to_owned();
    for (at, value) in values.iter().enumerate() {
        let _ = write!(text, "{};{value}\r\n", at as f64 / 4_000.0);
    }
    text
}

/// Ten recordings as text in `text/`, and the same as WAV in `sound/`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for seed in 0..10 {
        let values = acceleration(seed);
        sandbox.write(&format!("text/{seed}.csv"), csv(&values));
        let samples: Vec<f32> = values.iter().map(|value| (value / 16.0) as f32).collect();
        let mut bytes = Vec::new();
        wav::write(&mut bytes, &samples, 4_000).unwrap();
        sandbox.write(&format!("sound/{seed}.wav"), bytes);
    }
    sandbox
}

const OPTIONS: &str = "--clip-seconds 1 --sample-rate native";

#[test]
fn tables_are_recordings_at_their_own_rate() {
    let sandbox = sandbox();
    let column = "--samples-csv a_x@4000/16";
    sandbox.run(&format!("fit text {column} --preset fast {OPTIONS} -o model.auscult")).exits(0);
    let json = sandbox.run("inspect model.auscult --json").exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["references"], 10, "{json}");
    assert!(json.to_string().contains("4000"), "{json}");
    let of_text = sandbox.run(&format!("score model.auscult text/3.csv {column} --csv")).exits(0);
    assert_eq!(&rows(&of_text.stdout)[0][0], "text/3.csv");
    // The same sound, but for the rounding to 16 bits.
    let of_sound = sandbox.run("score model.auscult sound/3.wav --csv").exits(0);
    let score = |text: &str| rows(text)[0][2].parse::<f64>().unwrap();
    assert!((score(&of_text.stdout) - score(&of_sound.stdout)).abs() < 0.01, "{of_sound:?}");
    sandbox.run(&format!("report model.auscult text/3.csv {column} -o page.html")).exits(0);
    // A row in the middle that is no number: that is said, and not that the file is short.
    let mut broken = csv(&acceleration(3)[..100]);
    broken.push_str("0;oops\r\n");
    sandbox.write("broken.csv", broken + &csv(&acceleration(3)));
    let ran = sandbox.run(&format!("score model.auscult broken.csv {column}")).exits(2);
    let ran = ran.says("broken.csv:102: \"oops\" is not a number");
    assert!(!(ran.stdout.clone() + &ran.stderr).contains("short"), "{ran:#?}");
    sandbox.run(&format!("model add model.auscult text/3.csv {column}")).exits(0);
    let features = format!("features text {column} --front-end modulation {OPTIONS} --csv");
    assert_eq!(rows(&sandbox.run(&features).exits(0).stdout).len(), 10);
}

#[test]
fn clips_are_as_long_as_tables_that_agree() {
    let sandbox = sandbox();
    let fit =
        "fit text --samples-csv a_x@4000/16 --sample-rate native --preset fast -o model.auscult";
    sandbox.run(fit).exits(0).says("clips are 1 s long, as all recordings are");
    // A longer one does not change what the others are.
    sandbox.write("text/long.csv", csv(&acceleration(0).repeat(70)));
    sandbox.run(fit).exits(2).says("too short");
}

#[test]
fn tables_taken_for_manifests_are_explained() {
    let sandbox = sandbox();
    let ran = sandbox.run("fit text/3.csv -o model.auscult").exits(2);
    ran.says("no column `path` (it has: time;a_x)").says("give --samples-csv COLUMN@HZ");
}

#[test]
fn what_is_wrong_with_a_table_is_named_by_line() {
    let sandbox = sandbox();
    let fit = |column: &str| {
        let line = format!("fit text --samples-csv {column} --preset fast {OPTIONS} -o m.auscult");
        sandbox.run(&line).exits(2)
    };
    fit("a_x@4000").says("is beyond the full scale of 1; give the full scale").says("text/0.csv:");
    fit("a_y@4000/16").says("text/0.csv:1: there is no column \"a_y\"; the columns are: time, a_x");
    fit("a_x/16").says("COLUMN@HZ or COLUMN@HZ/FULL_SCALE");
}

#[test]
fn a_data_set_is_judged_at_its_own_rate() {
    let sandbox = sandbox();
    let manifest = (0..10).map(|at| {
        let label = if at < 8 { "normal" } else { "anomaly" };
        format!("sound/{at}.wav,{label}\n")
    });
    let manifest: String = manifest.collect();
    sandbox.write("manifest.csv", format!("path,label\n{manifest}"));
    let eval = |rate: &str| {
        let line = format!(
            "bench eval --data . --dataset folder --leave-one-out --preset fast --clip-seconds 1 --no-cache \
             --sample-rate {rate} --json"
        );
        sandbox.run(&line).exits(0).stdout
    };
    let (native, given, other) = (eval("native"), eval("4000"), eval("8000"));
    assert_eq!(native, given);
    assert_ne!(native, other);
}

#[test]
fn recordings_of_several_rates_need_one_to_be_chosen() {
    let sandbox = sandbox();
    let mut bytes = Vec::new();
    wav::write(&mut bytes, &vec![0.1; 4_800], 48_000).unwrap();
    sandbox.write("sound/fast.wav", bytes);
    let ran = sandbox.run(&format!("fit sound {OPTIONS} -o model.auscult")).exits(2);
    ran.says("4000 Hz (10 recordings, such as sound/0.wav), 48000 Hz (1 recording, such as")
        .says("give --sample-rate HZ");
    let fast = sandbox.run("fit sound --sample-rate fast -o model.auscult").exits(2);
    fast.says("a sample rate is 1000 to 384000 Hz, or native");
    let live = sandbox.run(&format!("fit - {OPTIONS} -o model.auscult")).exits(2);
    live.says("live sound").says("give --sample-rate HZ");
}

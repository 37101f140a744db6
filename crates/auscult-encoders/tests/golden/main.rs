//! Golden numbers of the official code with deterministic weights, and of the real CED-tiny.
//!
//! The pack lies outside the repository; where it is not present this says so. The real sizes run
//! in `real_size`, with weights made from their tensors' names.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test, and a skipped one must be heard"
)]

mod ced;
mod deterministic;
mod real_size;
mod small;

use std::{path::Path, process::ExitCode};

use auscult_core::ClipSettings;
use auscult_encoders::{Encoder, LayerTokens, Threads};
use auscult_testing::golden;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = deterministic::trials();
    match golden::shared().map(|folder| folder.join("encoders")).filter(|folder| folder.is_dir()) {
        Some(folder) => {
            trials.extend(small::trials(&folder));
            trials.extend(real_size::trials(&folder));
            trials.extend(ced::trials(&folder));
        }
        None => trials.push(skipped()),
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn skipped() -> Trial {
    let reason = "SKIPPED shared::encoders: the large golden pack is neither at $AUSCULT_GOLDEN nor \
                  in ../shared/golden";
    eprintln!("{reason}");
    Trial::test("shared::encoders (the large golden pack is not present)", || Ok(()))
        .with_ignored_flag(true)
}

/// The two clips the pack has outputs for.
const CLIPS: [&str; 2] = ["fan_normal_10s", "pump_leak_10s"];

/// The samples of a clip of the pack.
fn samples(folder: &Path, clip: &str) -> Vec<f32> {
    let path = folder.join("../wav").join(format!("{clip}.wav"));
    let bytes = std::fs::read(path).expect("the pack has its clips");
    let data = bytes.windows(4).position(|window| window == b"data").expect("a WAV file") + 8;
    let samples = bytes[data..].as_chunks::<2>().0.iter();
    samples.map(|bytes| f32::from(i16::from_le_bytes(*bytes)) / 32_768.0).collect()
}

/// Tokens of some layers, each token after token in the encoder's order.
fn layers(
    encoder: &Encoder,
    samples: &[f32],
    layers: &[usize],
    mut sink: impl FnMut(LayerTokens<'_>),
) {
    let mut buffers = encoder.buffers(ClipSettings::default().check().unwrap()).unwrap();
    encoder.run(samples, &mut buffers, Threads::One, layers, &mut sink).unwrap();
}

/// The largest difference to golden values.
fn compare(name: &str, got: &[f32], want: &golden::Array, allowed: f64) -> Result<(), Failed> {
    if got.len() != want.values.len() {
        return Err(format!("{name}: {} values for {}", got.len(), want.values.len()).into());
    }
    let differences =
        got.iter().zip(&want.values).map(|(&got, want)| (f64::from(got) - want).abs());
    let worst = differences.fold(0.0_f64, |worst, next| if next <= worst { worst } else { next });
    eprintln!("{name}: largest difference {worst:.2e}, allowed {allowed:.0e}");
    if worst <= allowed { Ok(()) } else { Err(format!("{name}: off by {worst:e}").into()) }
}

/// Mean and max over time of each row of tokens.
fn pooled(tokens: LayerTokens<'_>) -> [Vec<f32>; 2] {
    let (mut mean, mut max) = (Vec::new(), Vec::new());
    for row in 0..tokens.rows {
        let width = tokens.token(0, row).len();
        let mut sums = vec![0.0_f64; width];
        let mut most = vec![f32::NEG_INFINITY; width];
        for column in 0..tokens.columns {
            for (at, &value) in tokens.token(column, row).iter().enumerate() {
                sums[at] += f64::from(value);
                most[at] = most[at].max(value);
            }
        }
        mean.extend(sums.iter().map(|sum| (sum / tokens.columns as f64) as f32));
        max.extend(most);
    }
    [mean, max]
}

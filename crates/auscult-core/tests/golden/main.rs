//! Golden numbers of an independent reference implementation (numpy, f64).
//!
//! A small copy lies in `testdata/golden`; the whole pack is used where it is present, and is
//! reported as ignored where it is not.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test, and a skipped one must be heard"
)]

mod backend;
mod calibration;
mod e2e;
mod features;
mod modulation;

use std::{path::Path, process::ExitCode};

use auscult_testing::golden;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = trials_in("testdata", &golden::testdata().join("golden"));
    match golden::shared() {
        Some(folder) => trials.extend(trials_in("shared", &folder)),
        None => trials.push(skipped()),
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trials_in(pack: &str, folder: &Path) -> Vec<Trial> {
    let mut trials = features::trials(pack, folder);
    trials.extend(modulation::trials(pack, folder));
    trials.extend(backend::trials(pack, folder));
    trials.extend(e2e::trials(pack, folder));
    trials.extend(calibration::trials(pack, folder));
    assert!(!trials.is_empty(), "no golden numbers in {}", folder.display());
    trials
}

fn skipped() -> Trial {
    let reason = "SKIPPED shared::all: the large golden pack is neither at $AUSCULT_GOLDEN nor in \
                  ../shared/golden; only the copy in testdata/golden is checked";
    eprintln!("{reason}");
    Trial::test("shared::all (the large golden pack is not present)", || Ok(()))
        .with_ignored_flag(true)
}

/// Paths in a folder, sorted.
fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.sort();
    paths
}

/// The worst of many comparisons, as a test outcome.
#[derive(Default)]
struct Worst {
    excess: f64,
    text: String,
    compared: usize,
}

impl Worst {
    /// Notes one comparison: |got - want| <= absolute + relative |want|.
    fn compare(&mut self, name: &str, got: f64, want: f64, absolute: f64, relative: f64) {
        self.compared += 1;
        let allowed = absolute + relative * want.abs();
        let excess = if got == want { 0.0 } else { (got - want).abs() / allowed };
        if excess.is_nan() || excess > self.excess {
            self.excess = if excess.is_nan() { f64::INFINITY } else { excess };
            self.text = format!("{name}: got {got}, want {want}, allowed difference {allowed:e}");
        }
    }

    fn compare_all(&mut self, name: &str, got: &[f64], want: &[f64], absolute: f64, relative: f64) {
        assert_eq!(got.len(), want.len(), "{name}");
        for (index, (&got, &want)) in got.iter().zip(want).enumerate() {
            self.compare(&format!("{name}[{index}]"), got, want, absolute, relative);
        }
    }

    fn outcome(self) -> Result<(), Failed> {
        match (self.compared, self.excess <= 1.0) {
            (0, _) => Err("nothing was compared".into()),
            (_, true) => Ok(()),
            (_, false) => Err(self.text.into()),
        }
    }
}

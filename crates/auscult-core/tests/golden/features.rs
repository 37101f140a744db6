//! Front ends with frames and LPC against golden/features: one test a file.

use std::path::Path;

use auscult_core::{ClipSettings, ClipVectors, FrontEndSettings, View};
use auscult_testing::golden::{read_npy, read_wav_pcm16};
use libtest_mimic::{Failed, Trial};

use crate::{Worst, entries};

pub(crate) fn trials(pack: &str, folder: &Path) -> Vec<Trial> {
    let wanted = entries(&folder.join("features"));
    let trial = |path: &std::path::PathBuf| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        let (clip, name) = stem.split_once("__")?;
        let wav = folder.join("wav").join(format!("{clip}.wav"));
        let (clip, name, path) = (clip.to_owned(), name.to_owned(), path.clone());
        let title = format!("{pack}::features::{clip}::{name}");
        Some(Trial::test(title, move || check(&clip, &name, &wav, &path)))
    };
    let trial = |path| trial(path).expect("golden file names have two parts");
    // Those of the modulation spectrum have clips of other lengths and rates: see `modulation.rs`.
    let own = |path: &&std::path::PathBuf| !path.to_string_lossy().ends_with("__modulation.npy");
    wanted.iter().filter(own).map(trial).collect()
}

/// What a golden name stands for.
struct Expected {
    front_end: &'static str,
    convention: &'static str,
    shape: Shape,
    absolute: f64,
    relative: f64,
}

enum Shape {
    View(View),
    Frames,
    Coefficients,
}

fn expected(clip: &str, name: &str) -> Expected {
    let (stem, shape) = match name.rsplit_once('_') {
        Some((stem, "tmean" | "colmean")) => (stem, Shape::View(View::Mean)),
        Some((stem, "tmax")) => (stem, Shape::View(View::Max)),
        Some((stem, "full")) => (stem, Shape::Frames),
        Some((_, "coef")) => (name, Shape::Coefficients),
        _ => (name, Shape::View(View::Mean)),
    };
    let (front_end, convention) = match stem {
        "logmel" => ("log-mel", "kaldi"),
        "logmel_s15" => ("log-mel", "s15"),
        "logmel_dcase" => ("log-mel", "dcase"),
        "beats_in" => ("log-mel", "beats-input"),
        "eat_in" => ("log-mel", "eat-input"),
        "mfcc" => ("mfcc", "kaldi"),
        "mfcc_nolifter" => ("mfcc", "no-lifter"),
        "mfcc_s15" => ("mfcc", "s15"),
        "mfcc_s15_nolifter" => ("mfcc", "s15-no-lifter"),
        "mfcc_librosa" => ("mfcc", "librosa"),
        "lpc_spec" | "lpc_coef" => ("lpc", "spectrum"),
        "lpc_inv" => ("lpc", "inverse"),
        other => panic!("unknown golden name {other}"),
    };
    // golden/README.md, "float32 implementation"; tones sit on the leakage floor.
    let tone = clip.starts_with("tone");
    let (absolute, relative) = match (front_end, convention) {
        ("lpc", _) if tone => (0.0, 1e-5),
        // f32 output of an f64 computation; some of the files are f32 themselves.
        ("lpc", _) => (0.0, 2e-7),
        _ if tone => (5e-2, 0.0),
        ("mfcc", _) => (5e-3, 0.0),
        (_, "beats-input" | "eat-input") => (2e-4, 0.0),
        _ => (5e-4, 0.0),
    };
    Expected { front_end, convention, shape, absolute, relative }
}

fn check(clip: &str, name: &str, wav: &Path, npy: &Path) -> Result<(), Failed> {
    let samples = read_wav_pcm16(wav)?;
    let want = read_npy(npy)?;
    let expected = expected(clip, name);
    let length = ClipSettings::default().check()?;
    let front_end =
        FrontEndSettings::named(expected.front_end, Some(expected.convention))?.build(length)?;
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    extractor.extract_into(&samples, &mut vectors)?;
    let mut got: Vec<f64> = Vec::new();
    match expected.shape {
        Shape::View(view) => got.extend(vectors.view(view).unwrap().iter().map(|&v| f64::from(v))),
        Shape::Frames => extractor.for_each_frame(&samples, &mut |frame| {
            got.extend(frame.iter().map(|&value| f64::from(value)));
        })?,
        // Coefficients are not part of the interface: they are checked through the spectrum
        // they define.
        Shape::Coefficients => {
            got.extend(vectors.view(View::Mean).unwrap().iter().map(|&value| f64::from(value)));
            let spectrum = spectrum_of(&want.values, got.len());
            return compare(clip, &got, &spectrum, expected.absolute, expected.relative);
        }
    }
    compare(clip, &got, &want.values, expected.absolute, expected.relative)
}

fn compare(
    clip: &str,
    got: &[f64],
    want: &[f64],
    absolute: f64,
    relative: f64,
) -> Result<(), Failed> {
    // A pure tone's model is ill-conditioned: finite, and the peak within one point.
    if clip == "tone_10s" && relative > 0.0 {
        assert!(got.iter().all(|value| value.is_finite()));
        let extreme = |values: &[f64]| {
            let inverse = values.iter().copied().fold(f64::INFINITY, f64::min) < 1e-3;
            let sign = if inverse { -1.0 } else { 1.0 };
            (0..values.len()).max_by(|&a, &b| (sign * values[a]).total_cmp(&(sign * values[b])))
        };
        let (got, want) = (extreme(got).unwrap(), extreme(want).unwrap());
        assert!(got.abs_diff(want) <= 1, "peak at {got}, expected {want}");
        return Ok(());
    }
    let mut worst = Worst::default();
    worst.compare_all(clip, got, want, absolute, relative);
    worst.outcome()
}

/// 1 / |A| by the definition.
fn spectrum_of(coefficients: &[f64], points: usize) -> Vec<f64> {
    let at = |point: usize| {
        let w = std::f64::consts::PI * point as f64 / points as f64;
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (k, coefficient) in coefficients.iter().enumerate() {
            real += coefficient * (w * k as f64).cos();
            imaginary -= coefficient * (w * k as f64).sin();
        }
        1.0 / real.hypot(imaginary)
    };
    (0..points).map(at).collect()
}

//! The modulation spectrum against golden/features and golden/presets: one test a file.

use std::path::{Path, PathBuf};

use auscult_core::{ClipSettings, ClipVectors, FrontEndSettings, View};
use auscult_testing::golden::{read_npy, read_wav_pcm16};
use libtest_mimic::{Failed, Trial};

use crate::{Worst, entries};

/// Of the largest value of a vector.
const RELATIVE: f64 = 1e-5; // The pack allows 1e-4.

/// Longer files are cut to this.
const LONGEST_SECONDS: f64 = 10.0;

pub(crate) fn trials(pack: &str, folder: &Path) -> Vec<Trial> {
    let files = ["features", "presets"].iter().flat_map(|part| entries(&folder.join(part)));
    let trial = |path: PathBuf| {
        let clip = path.file_stem()?.to_str()?.strip_suffix("__modulation")?.to_owned();
        let wav = folder.join("wav").join(format!("{clip}.wav"));
        let title = format!("{pack}::modulation::{clip}");
        Some(Trial::test(title, move || check(&clip, &wav, &path)))
    };
    files.filter_map(trial).collect()
}

fn check(clip: &str, wav: &Path, npy: &Path) -> Result<(), Failed> {
    let samples = read_wav_pcm16(wav)?;
    let sample_rate = sample_rate(wav)?;
    let seconds = (samples.len() as f64 / f64::from(sample_rate)).min(LONGEST_SECONDS);
    let length = ClipSettings { sample_rate, seconds }.check()?;
    let front_end = FrontEndSettings::named("modulation", None)?.build(length)?;
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    front_end.extractor().extract_into(&samples, &mut vectors)?;
    let got: Vec<f64> = vectors.view(View::Mean).unwrap().iter().map(|&v| f64::from(v)).collect();
    let want = read_npy(npy)?.values;
    let largest = want.iter().copied().fold(0.0, f64::max);
    let mut worst = Worst::default();
    worst.compare_all(clip, &got, &want, RELATIVE * largest, 0.0);
    worst.outcome()
}

/// From the header of a file that [`read_wav_pcm16`] takes, whose first chunk is the format.
fn sample_rate(wav: &Path) -> Result<u32, Failed> {
    let bytes = std::fs::read(wav)?;
    let field = bytes.get(24..28).ok_or("a file without a header")?;
    Ok(u32::from_le_bytes(field.try_into()?))
}

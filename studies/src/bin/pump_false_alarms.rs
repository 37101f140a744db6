//! Promised against realised false-alarm rates on real recordings: normal clips of a MIMII pump.
//!
//! `cargo run --release -p auscult-studies --bin pump_false_alarms FOLDER [REPETITIONS]`
//!
//! FOLDER holds manifest.csv (columns path, label). MIMII names no visits, but its files are numbered
//! in the order they were recorded: the normal clips are cut into ten stretches of neighbours, which
//! stand for visits. Each repetition learns from n clips of seven stretches and counts false alarms
//! on the other three.

use std::path::{Path, PathBuf};

use anyhow::Context;
use auscult::{ClipRules, reading::Reading};
use auscult_audio::{ChannelRule, Label, Location, manifest::Manifest};
use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, FrontEndSettings, Method as Detection, Provenance,
    References,
};
use auscult_studies::{Estimate, cell, methods::Method};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use rayon::prelude::*;

const SIZES: [usize; 3] = [20, 50, 100];
const RATES: [f64; 2] = [0.05, 0.10];
const STRETCHES: usize = 10;
const TEST_STRETCHES: usize = 3;

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().context("name the folder of the recordings")?;
    let repetitions: u64 = arguments.next().map_or(Ok(120), |text| text.parse())?;
    let front_end = FrontEndSettings::default().build(ClipSettings::default().check()?)?;
    let detector = BeamSettings::paper(Detection::AdaBeam, &*front_end);
    let clips = normal_clips(Path::new(&folder))?
        .par_iter()
        .map_init(
            || front_end.extractor(),
            |extractor, path| {
                let mut vectors = ClipVectors::for_front_end(&*front_end);
                extractor.extract_into(&first_clip(path)?, &mut vectors)?;
                Ok(vectors)
            },
        )
        .collect::<anyhow::Result<Vec<_>>>()?;
    let study = Study { views: front_end.views().to_vec(), clips, detector };
    println!("| promised | method | n = 20 | n = 50 | n = 100 |\n|---|---|---|---|---|");
    for rate in RATES {
        for method in Method::ALL {
            let mut cells = Vec::new();
            for size in SIZES {
                let realised: Vec<Option<f64>> = (0..repetitions)
                    .into_par_iter()
                    .map(|repetition| study.realised(method, rate, size, repetition))
                    .collect::<anyhow::Result<_>>()?;
                let realised: Vec<f64> = realised.into_iter().flatten().collect();
                cells.push(cell(Estimate::of(&realised), rate, repetitions));
            }
            println!("| {} % | {} | {} |", rate * 100.0, method.name(), cells.join(" | "));
        }
    }
    Ok(())
}

/// Normal clips in the order they were recorded.
struct Study {
    views: Vec<auscult_core::View>,
    clips: Vec<ClipVectors>,
    detector: BeamSettings,
}

impl Study {
    fn realised(
        &self,
        method: Method,
        rate: f64,
        size: usize,
        repetition: u64,
    ) -> anyhow::Result<Option<f64>> {
        let mut random = ChaCha8Rng::seed_from_u64(repetition);
        let mut stretches: Vec<usize> = (0..STRETCHES).collect();
        shuffle(&mut stretches, &mut random);
        let stretch = |index: usize| index * STRETCHES / self.clips.len();
        let (test, mut learn): (Vec<usize>, Vec<usize>) = (0..self.clips.len())
            .partition(|&index| stretches[..TEST_STRETCHES].contains(&stretch(index)));
        shuffle(&mut learn, &mut random);
        learn.truncate(size);
        learn.sort_unstable();
        let mut references = References::new(&self.views, self.clips[0].axis_len());
        for index in learn {
            let visit = Some(format!("stretch {}", stretch(index)));
            let from = Provenance { visit, ..Provenance::of(format!("clip {index}")) };
            references.push(&self.clips[index], from)?;
        }
        let chosen = method.threshold(&references, rate.try_into()?, &self.detector)?;
        let Some((model, threshold)) = chosen else { return Ok(None) };
        let mut alarms = 0;
        for &index in &test {
            alarms += usize::from(model.score(&self.clips[index])?.score.value > threshold);
        }
        Ok(Some(alarms as f64 / test.len() as f64))
    }
}

fn shuffle(values: &mut [usize], random: &mut ChaCha8Rng) {
    for last in (1..values.len()).rev() {
        values.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}

/// Paths of the normal clips by file name, which numbers them in time.
fn normal_clips(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let manifest = Manifest::open(&folder.join("manifest.csv"))?;
    let mut paths = Vec::new();
    for row in manifest.rows {
        let row = row?;
        if row.label == Some(Ok(Label::Normal)) {
            paths.push(row.path);
        }
    }
    paths.sort_by_key(|path| path.file_name().map(ToOwned::to_owned));
    anyhow::ensure!(paths.len() >= STRETCHES, "{} normal clips are too few", paths.len());
    Ok(paths)
}

fn first_clip(path: &Path) -> anyhow::Result<Vec<f32>> {
    let clip = ClipSettings::default();
    let reading = Reading::new(clip, ChannelRule::default(), None, ClipRules::protocol())?;
    let mut clips = reading.clips(&Location::File(path.to_owned()))?;
    Ok(clips.next().context("no clip")??.samples)
}

//! The pieces of work. Each returns some of its numbers, for comparison.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use auscult_audio::{ClipReader, Location, ReadSettings};
use auscult_core::{
    BandSettings, BeamSettings, ClipSettings, ClipVectors, FrontEndSettings, Method, Model,
    ModelSettings, Provenance, References, View,
};
use auscult_testing::golden::read_npy;
use rayon::prelude::*;

/// Something that can be done again and again.
pub(crate) type Work = Box<dyn FnMut() -> Result<Vec<f64>>>;

/// Clips that are handed to all threads at once.
const MANY: usize = 8;

/// Work by name: `<what>` or `<what>:<axis>`, with `many-` in front for several clips on all
/// threads. Without files in `folder`, the inputs are made up.
pub(crate) fn load(name: &str, folder: &Path) -> Result<Work> {
    let (many, rest) = name.strip_prefix("many-").map_or((1, name), |rest| (MANY, rest));
    let (what, axis) = rest.split_once(':').unwrap_or((rest, "128"));
    let axis_len: usize = axis.parse().context("the axis is a number")?;
    match what {
        "log-mel" => front_end("log-mel", "s15", many, folder),
        "log-mel-dcase" => front_end("log-mel", "dcase", many, folder),
        "mfcc" => front_end("mfcc", "kaldi", many, folder),
        "lpc" => front_end("lpc", "spectrum", many, folder),
        "wav" => Ok(read(folder.join("clip.wav"), many)),
        "flac" => Ok(read(folder.join("clip.flac"), many)),
        "score" => score(axis_len, folder),
        "fit" => fit(axis_len, folder),
        "verdict" => verdict(folder),
        _ => bail!("unknown work {name}"),
    }
}

pub(crate) fn samples(folder: &Path) -> Result<Vec<f32>> {
    let path = folder.join("clip.wav");
    if path.exists() {
        return read_clip(&path);
    }
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0 - 0.5
    };
    Ok((0..160_000).map(|i| 0.2 * (i as f32 * 0.05).sin() + 0.1 * random()).collect())
}

fn front_end(name: &str, convention: &str, many: usize, folder: &Path) -> Result<Work> {
    let samples = samples(folder)?;
    let front_end =
        FrontEndSettings::named(name, Some(convention))?.build(ClipSettings::default().check()?)?;
    let mut workers: Vec<_> = (0..many)
        .map(|_| (front_end.extractor(), ClipVectors::for_front_end(&*front_end)))
        .collect();
    Ok(Box::new(move || {
        match &mut workers[..] {
            [(extractor, vectors)] => extractor.extract_into(&samples, vectors)?,
            workers => workers
                .par_iter_mut()
                .try_for_each(|(extractor, vectors)| extractor.extract_into(&samples, vectors))?,
        }
        let views = workers[0].1.views();
        Ok(views.flat_map(|(_, vector)| vector.iter().map(|&v| f64::from(v))).collect())
    }))
}

pub(crate) fn read_clip(path: &Path) -> Result<Vec<f32>> {
    let settings = ReadSettings::default().check()?;
    let mut reader = ClipReader::open(&Location::File(path.to_owned()), &settings)?;
    Ok(reader.next().context("the file has a clip")??.samples)
}

fn read(path: PathBuf, many: usize) -> Work {
    let first = move || -> Result<Vec<f64>> {
        Ok(read_clip(&path)?.iter().take(100).map(|&v| f64::from(v)).collect())
    };
    if many == 1 {
        return Box::new(first);
    }
    // As for the peers, no clip is kept.
    Box::new(move || {
        let clips = (0..many).into_par_iter().map(|_| first());
        Ok(clips.collect::<Result<Vec<_>>>()?.swap_remove(0))
    })
}

/// Vectors near a common shape, as the clips of one machine are.
pub(crate) fn made_up(axis_len: usize, count: usize) -> Vec<Vec<f32>> {
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    let vector = |_| (0..axis_len).map(|at| 10.0 + (at as f32).sin() + 0.3 * random()).collect();
    (0..count).map(vector).collect()
}

fn vectors(axis_len: usize, name: &str, count: usize, folder: &Path) -> Result<Vec<Vec<f32>>> {
    let path = folder.join(format!("{name}_{axis_len}.npy"));
    if !path.exists() {
        return Ok(made_up(axis_len, count));
    }
    let array = read_npy(&path)?;
    Ok(array.values.chunks(axis_len).map(|row| row.iter().map(|&v| v as f32).collect()).collect())
}

fn references(vectors: &[Vec<f32>], views: &[View]) -> Result<References> {
    let axis_len = vectors.first().context("there are references")?.len();
    let mut references = References::new(views, axis_len);
    for (index, vector) in vectors.iter().enumerate() {
        let views = views.iter().map(|&view| (view, vector.clone())).collect();
        references.push(&ClipVectors::from_views(views)?, Provenance::of(index.to_string()))?;
    }
    Ok(references)
}

/// BEAM with local scales on one view, in the bands of the paper.
fn beam(axis_len: usize) -> Result<auscult_core::Beam> {
    let width = match axis_len {
        128 => 38,
        6144 => 768,
        _ => axis_len * 2 / 5,
    };
    Ok(BeamSettings::new(BandSettings::touching(width), vec![View::Mean]).check(axis_len)?)
}

fn score(axis_len: usize, folder: &Path) -> Result<Work> {
    let bank = vectors(axis_len, "references", 500, folder)?;
    let query = vectors(axis_len, "queries", 1, folder)?.swap_remove(0);
    let fitted = beam(axis_len)?.fit(references(&bank, &[View::Mean])?)?;
    let query = ClipVectors::from_views(vec![(View::Mean, query)])?;
    let mut score = fitted.new_score();
    Ok(Box::new(move || {
        fitted.score_into(&query, &mut score)?;
        Ok(vec![score.value])
    }))
}

fn fit(axis_len: usize, folder: &Path) -> Result<Work> {
    let bank = vectors(axis_len, "references", 500, folder)?;
    let mut bank = Some(references(&bank, &[View::Mean])?);
    Ok(Box::new(move || {
        let fitted = beam(axis_len)?.fit(bank.take().context("the references came back")?)?;
        let left_out = fitted.left_out_scores().iter().flatten().copied().collect();
        bank = Some(fitted.into_references());
        Ok(left_out)
    }))
}

/// From a file to a verdict: `AdaBEAM` on log-mel with 1000 references.
fn verdict(folder: &Path) -> Result<Work> {
    let clip = ClipSettings::default();
    let front_end = FrontEndSettings::default().build(clip.check()?)?;
    let bank = vectors(128, "verdict", 1000, folder)?;
    let references = references(&bank, front_end.views())?;
    let detector = BeamSettings::paper(Method::AdaBeam, &*front_end);
    let model = Model::fit(ModelSettings::new(clip, &*front_end, detector), references)?;
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    let path = folder.join("clip.wav");
    Ok(Box::new(move || {
        let samples = read_clip(&path)?;
        extractor.extract_into(&samples, &mut vectors)?;
        let scored = model.score(&vectors)?;
        Ok(vec![scored.score.value, f64::from(u8::from(scored.verdict.name() == "anomalous"))])
    }))
}

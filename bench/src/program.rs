//! What `auscult fit` and `auscult score` do with files, without the program around it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use auscult_core::{
    BeamSettings, ClipCondition, ClipSettings, ClipVectors, FrontEndSettings, Method, Model,
    ModelSettings, Provenance, References, memory,
};
use rayon::prelude::*;

use crate::work::read_clip;

/// Reads every WAV of a folder on all threads, fits, calibrates and writes the model.
pub(crate) fn fit(folder: &Path, model: &Path) -> Result<()> {
    let clip = ClipSettings::default();
    let length = clip.check()?;
    let front_end = FrontEndSettings::default().build(length)?;
    let files = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = files.collect::<Result<_>>()?;
    files.sort();
    let vectors: Vec<(ClipVectors, String)> = files
        .par_iter()
        .map_init(
            || (front_end.extractor(), ClipVectors::for_front_end(&*front_end)),
            |(extractor, vectors), path| {
                let samples = read_clip(path)?;
                let condition = ClipCondition::of(&samples, length);
                anyhow::ensure!(condition.is_usable(), "{}: {condition}", path.display());
                extractor.extract_into(&samples, vectors)?;
                Ok((vectors.clone(), memory::digest(&samples)))
            },
        )
        .collect::<Result<_>>()?;
    let mut references = References::new(front_end.views(), front_end.axis().len());
    for (path, (vectors, digest)) in files.iter().zip(vectors) {
        let provenance = Provenance { digest, ..Provenance::of(path.display().to_string()) };
        references.push(&vectors, provenance)?;
    }
    let detector = BeamSettings::paper(Method::AdaBeam, &*front_end);
    let fitted = Model::fit(ModelSettings::new(clip, &*front_end, detector), references)?;
    std::fs::write(model, fitted.to_bytes()?)?;
    Ok(())
}

/// Reads a model and a clip and prints the verdict.
pub(crate) fn score(model: &Path, path: &Path) -> Result<()> {
    let model = Model::from_bytes(&std::fs::read(model).context("the model")?)?;
    let settings = model.settings();
    let front_end =
        FrontEndSettings::from_identity(&settings.front_end)?.build(settings.clip.check()?)?;
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    front_end.extractor().extract_into(&read_clip(path)?, &mut vectors)?;
    println!("{}", model.score(&vectors)?.verdict);
    Ok(())
}

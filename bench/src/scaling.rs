//! How time and memory grow with the references and with the clips.

use std::{path::Path, time::Instant};

use anyhow::{Context, Result};
use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, FrontEndSettings, Method, Model, ModelSettings,
    Provenance, References,
};
use rayon::prelude::*;

use crate::work;

/// Fits a log-mel `AdaBEAM` model of `count` references and scores with it; prints JSON.
pub(crate) fn references(count: usize) -> Result<()> {
    let clip = ClipSettings::default();
    let front_end = FrontEndSettings::default().build(clip.check()?)?;
    let mut references = References::new(front_end.views(), front_end.axis().len());
    let rows = work::made_up(128, count + 1);
    let vectors = |row: &[f32]| {
        let views = front_end.views().iter().map(|&view| (view, row.to_vec()));
        ClipVectors::from_views(views.collect())
    };
    // A hundred visits, as a machine that is heard for years has.
    for (index, row) in rows[..count].iter().enumerate() {
        let visit = Some((index * 100 / count).to_string());
        let provenance = Provenance { visit, ..Provenance::of(index.to_string()) };
        references.push(&vectors(row)?, provenance)?;
    }
    let query = vectors(&rows[count])?;
    drop(rows);
    let before = peak_megabytes()?;
    let detector = BeamSettings::paper(Method::AdaBeam, &*front_end);
    let (start, cpu_before) = (Instant::now(), cpu_seconds()?);
    let model = Model::fit(ModelSettings::new(clip, &*front_end, detector), references)?;
    let fit_seconds = start.elapsed().as_secs_f64();
    let fit_cpu_seconds = cpu_seconds()? - cpu_before;
    let after = peak_megabytes()?;
    let mut score_seconds = f64::INFINITY;
    for _ in 0..50 {
        let start = Instant::now();
        std::hint::black_box(model.detector().score(&query)?);
        score_seconds = score_seconds.min(start.elapsed().as_secs_f64());
    }
    let bytes = model.to_bytes()?;
    let start = Instant::now();
    std::hint::black_box(Model::from_bytes(&bytes)?);
    let load_seconds = start.elapsed().as_secs_f64();
    println!(
        r#"{{"references": {count}, "fit_seconds": {fit_seconds}, "fit_cpu_seconds": {fit_cpu_seconds:.2}, "score_seconds": {score_seconds}, "load_seconds": {load_seconds}, "file_mb": {}, "peak_mb_before": {before}, "peak_mb": {after}}}"#,
        bytes.len() as f64 / 1e6
    );
    Ok(())
}

/// Turns `count` clips into log-mel vectors on all threads; prints JSON.
pub(crate) fn clips(count: usize) -> Result<()> {
    let samples = work::samples(Path::new("made-up"))?;
    let front_end = FrontEndSettings::default().build(ClipSettings::default().check()?)?;
    let (start, cpu_before) = (Instant::now(), cpu_seconds()?);
    let loudest = (0..count)
        .into_par_iter()
        .map_init(
            || (front_end.extractor(), ClipVectors::for_front_end(&*front_end)),
            |(extractor, vectors), index| {
                // Another piece of the sound every time.
                extractor.extract_into(&samples[index % 1000..], vectors)?;
                Ok(vectors.views().map(|(_, vector)| vector[0]).fold(0.0, f32::max))
            },
        )
        .collect::<auscult_core::Result<Vec<f32>>>()?;
    let seconds = start.elapsed().as_secs_f64();
    std::hint::black_box(loudest);
    let cpu_seconds = cpu_seconds()? - cpu_before;
    println!(
        r#"{{"clips": {count}, "seconds": {seconds}, "cpu_seconds": {cpu_seconds:.2}, "peak_mb": {}}}"#,
        peak_megabytes()?
    );
    Ok(())
}

/// The most memory this process ever held.
pub(crate) fn peak_megabytes() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status").context("needs Linux")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM")).context("no VmHWM")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
    Ok(kilobytes / 1024.0)
}

/// What all threads have worked so far: on a busy machine the clock says little. Linux counts in
/// hundredths of a second.
pub(crate) fn cpu_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("needs Linux")?;
    // After the name, which may hold spaces: state is field 0, user and system time 11 and 12.
    let fields = stat.rsplit_once(')').context("no name")?.1.split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).map(|field| field.parse().unwrap_or(0.0)).sum();
    Ok(ticks / 100.0)
}

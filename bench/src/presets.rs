//! What the preset `fast` costs: from samples to a score, and fits of growing memories.

use std::{hint::black_box, time::Instant};

use anyhow::Result;
use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, DensityExponent, FrontEnd, FrontEndSettings, Method,
    Metric, Provenance, References,
    features::{MemberFrontEnd, MemberOptions},
};
use auscult_testing::{ClipRecipe, Machine};
use std::sync::Arc;

/// The members of `fast`, as `auscult::Preset` names them.
fn front_end() -> Result<Arc<dyn FrontEnd>> {
    let length = ClipSettings::default().check()?;
    let member = |name, convention, metric, neighbours, exponent| -> Result<_> {
        let front_end = FrontEndSettings::named(name, convention)?.build(length)?;
        let views = front_end.views().to_vec();
        Ok((front_end, MemberOptions { views, bands: None, metric, neighbours, exponent }))
    };
    Ok(MemberFrontEnd::stack(vec![
        member("log-mel", Some("dcase"), Metric::Cosine, 1, DensityExponent::Auto)?,
        member("modulation", None, Metric::Scaled, 3, DensityExponent::default())?,
    ])?)
}

/// References whose vectors vary like those of a few real clips.
fn references(front_end: &dyn FrontEnd, count: usize) -> Result<References> {
    let mut extractor = front_end.extractor();
    let mut clips = Vec::new();
    for take in 0..16 {
        let samples = ClipRecipe { take, ..ClipRecipe::new(Machine::Fan) }.render()?;
        let mut vectors = ClipVectors::for_front_end(front_end);
        extractor.extract_into(&samples, &mut vectors)?;
        clips.push(
            vectors.views().map(|(view, values)| (view, values.to_vec())).collect::<Vec<_>>(),
        );
    }
    let mut references = References::new(front_end.views(), front_end.axis().len());
    for index in 0..count {
        let (one, other) = (&clips[index % 16], &clips[(index * 7 + index / 16) % 16]);
        let share = (index % 97) as f32 / 97.0;
        let mixed = one.iter().zip(other).map(|((view, one), (_, other))| {
            let values = one.iter().zip(other).enumerate().map(|(at, (one, other))| {
                let ripple = 1.0 + 1e-3 * ((at * 31 + index * 17) % 101) as f32 / 101.0;
                (one * share + other * (1.0 - share)) * ripple
            });
            (*view, values.collect())
        });
        let vectors = ClipVectors::from_views(mixed.collect())?;
        references.push(&vectors, Provenance::of(format!("{index}.wav")))?;
    }
    Ok(references)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Prints milliseconds: samples to score at `count` references, its parts, and the fits.
#[expect(clippy::print_stdout, reason = "the answer")]
pub(crate) fn run(count: usize, rounds: usize) -> Result<()> {
    let front_end = front_end()?;
    let references = references(&*front_end, count)?;
    let beam = BeamSettings::paper(Method::AdaBeam, &*front_end).check(front_end.axis().len())?;
    let started = Instant::now();
    let fitted = beam.fit_for_scoring(references.clone())?;
    let memory = started.elapsed().as_secs_f64() * 1e3;
    let started = Instant::now();
    black_box(beam.fit(references)?);
    let calibrated = started.elapsed().as_secs_f64() * 1e3;
    let samples = ClipRecipe { take: 99, ..ClipRecipe::new(Machine::Fan) }.render()?;
    let mut extractor = front_end.extractor();
    // By hand, so that vectors need no identity.
    let mut vectors = ClipVectors::zeros(front_end.views(), front_end.axis().len());
    let mut score = fitted.new_score();
    let (mut extract, mut compare, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds + 3 {
        let start = Instant::now();
        extractor.extract_into(black_box(&samples), &mut vectors)?;
        let extracted = start.elapsed().as_secs_f64() * 1e3;
        fitted.score_into(&vectors, &mut score)?;
        let total = start.elapsed().as_secs_f64() * 1e3;
        black_box(&score);
        extract.push(extracted);
        compare.push(total - extracted);
        whole.push(total);
    }
    println!(
        "{{\"references\": {count}, \"samples_to_score_ms\": {:.4}, \"extract_ms\": {:.4}, \"score_ms\": {:.4}, \
         \"fit_ms\": {memory:.1}, \"fit_and_calibrate_ms\": {calibrated:.1}}}",
        median(whole),
        median(extract),
        median(compare)
    );
    Ok(())
}

//! What presets cost: `fast` from samples to a score, and both with growing memories.

use std::{hint::black_box, time::Instant};

use anyhow::Result;
use auscult_core::{
    BandSettings, BeamSettings, ClipSettings, ClipVectors, DensityExponent, Extractor, FrontEnd,
    FrontEndIdentity, FrontEndSettings, Method, Metric, Provenance, References, View,
    features::{Axis, Level, MemberFrontEnd, MemberOptions},
};
use auscult_testing::{ClipRecipe, Machine};
use std::sync::Arc;

use crate::scaling::{cpu_seconds, peak_megabytes};

/// As many numbers a clip as CED gives, in its bands, without the network: how loud each part of the
/// clip is.
#[derive(Debug)]
struct EncoderStandIn(Axis);

impl EncoderStandIn {
    const NUMBERS: usize = 768;

    fn new() -> Self {
        let edges = (0..=Self::NUMBERS).map(|edge| edge as f64).collect();
        Self(Axis::frequency(edges, Level::NaturalLogPower))
    }
}

impl FrontEnd for EncoderStandIn {
    fn identity(&self) -> FrontEndIdentity {
        FrontEndIdentity::of("stand-in")
    }

    fn axis(&self) -> &Axis {
        &self.0
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean]
    }

    fn default_bands(&self) -> BandSettings {
        BandSettings::touching(192)
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(StandInExtractor)
    }
}

struct StandInExtractor;

impl Extractor for StandInExtractor {
    fn for_each_frame(
        &mut self,
        samples: &[f32],
        sink: &mut dyn FnMut(&[f32]),
    ) -> auscult_core::Result<()> {
        let part = (samples.len() / EncoderStandIn::NUMBERS).max(1);
        let parts = samples.chunks(part).take(EncoderStandIn::NUMBERS);
        let mut numbers: Vec<f32> = parts
            .map(|part| part.iter().map(|sample| sample * sample).sum::<f32>().sqrt())
            .collect();
        numbers.resize(EncoderStandIn::NUMBERS, 0.0);
        sink(&numbers);
        Ok(())
    }
}

/// The members of `fast`, as `auscult::Preset` names them; for `best`, a stand-in for the encoder too.
fn front_end(is_best: bool) -> Result<Arc<dyn FrontEnd>> {
    let length = ClipSettings::default().check()?;
    let member = |name, convention, metric, neighbours, exponent| -> Result<_> {
        let front_end = FrontEndSettings::named(name, convention)?.build(length)?;
        let views = front_end.views().to_vec();
        Ok((front_end, MemberOptions { views, bands: None, metric, neighbours, exponent }))
    };
    let exponent = DensityExponent::default();
    let mut members = vec![
        member("log-mel", Some("dcase"), Metric::Cosine, 1, DensityExponent::Auto)?,
        member("modulation", None, Metric::Scaled, 3, exponent)?,
    ];
    if is_best {
        let (views, metric) = (vec![View::Mean], Metric::Scaled);
        let options = MemberOptions { views, bands: None, metric, neighbours: 3, exponent };
        members.push((Arc::new(EncoderStandIn::new()), options));
    }
    Ok(MemberFrontEnd::stack(members)?)
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
    let front_end = front_end(false)?;
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

/// Prints what a preset costs with `count` references: fitting (with calibration if it is asked for), and
/// comparing one clip.
#[expect(clippy::print_stdout, reason = "the answer")]
pub(crate) fn growth(preset: &str, count: usize, calibrates: bool) -> Result<()> {
    anyhow::ensure!(["fast", "best"].contains(&preset), "fast or best, not {preset}");
    let front_end = front_end(preset == "best")?;
    let references = references(&*front_end, count)?;
    let beam = BeamSettings::paper(Method::AdaBeam, &*front_end).check(front_end.axis().len())?;
    // By hand, so that vectors need no identity.
    let mut clip = ClipVectors::zeros(front_end.views(), front_end.axis().len());
    let samples = ClipRecipe { take: 99, ..ClipRecipe::new(Machine::Fan) }.render()?;
    front_end.extractor().extract_into(&samples, &mut clip)?;
    let (started, cpu) = (Instant::now(), cpu_seconds()?);
    let fitted = if calibrates { beam.fit(references)? } else { beam.fit_for_scoring(references)? };
    let (fit, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds()? - cpu);
    let mut score = fitted.new_score();
    let mut times = Vec::new();
    for _ in 0..50 {
        let start = Instant::now();
        fitted.score_into(&clip, &mut score)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        black_box(&score);
    }
    println!(
        "{{\"preset\": \"{preset}\", \"references\": {count}, \"calibrated\": {calibrates}, \"fit_s\": {fit:.3}, \"fit_cpu_s\": {cpu:.2}, \
         \"score_ms\": {:.4}, \"peak_mb\": {:.0}}}",
        median(times),
        peak_megabytes()?
    );
    Ok(())
}

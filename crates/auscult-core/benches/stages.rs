//! Every stage of the core, one thread: `cargo bench -p auscult-core`.
//!
//! Clips have 10 s at 16 kHz. Comparisons with other programs are in `bench/`.
#![expect(clippy::unwrap_used, reason = "a benchmark stops where its set-up fails")]

use auscult_core::{
    BandSettings, BeamSettings, ClipCondition, ClipSettings, ClipVectors, Explanation, FittedBeam,
    FrontEnd, FrontEndSettings, Method, Model, ModelSettings, Provenance, References, View, memory,
};
use auscult_testing::{ClipRecipe, Machine};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Ten seconds of a fan.
fn sound() -> Vec<f32> {
    ClipRecipe::new(Machine::Fan).render().unwrap()
}

fn extract(bencher: Bencher<'_, '_>, name: &str, convention: Option<&str>) {
    let settings = FrontEndSettings::named(name, convention).unwrap();
    let front_end = settings.build(ClipSettings::default().check().unwrap()).unwrap();
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    let samples = sound();
    bencher.bench_local(|| extractor.extract_into(black_box(&samples), &mut vectors));
}

#[divan::bench(args = ["s15", "kaldi", "dcase", "beats-input", "eat-input"])]
fn log_mel(bencher: Bencher<'_, '_>, convention: &str) {
    extract(bencher, "log-mel", Some(convention));
}

#[divan::bench(args = ["kaldi", "librosa"])]
fn mfcc(bencher: Bencher<'_, '_>, convention: &str) {
    extract(bencher, "mfcc", Some(convention));
}

#[divan::bench(args = ["spectrum", "inverse"])]
fn lpc(bencher: Bencher<'_, '_>, convention: &str) {
    extract(bencher, "lpc", Some(convention));
}

#[divan::bench]
fn modulation(bencher: Bencher<'_, '_>) {
    extract(bencher, "modulation", None);
}

#[divan::bench]
fn condition(bencher: Bencher<'_, '_>) {
    let (samples, length) = (sound(), ClipSettings::default().check().unwrap());
    bencher.bench_local(|| ClipCondition::of(black_box(&samples), length));
}

#[divan::bench]
fn digest(bencher: Bencher<'_, '_>) {
    let samples = sound();
    bencher.bench_local(|| memory::digest(black_box(&samples)));
}

/// A vector near a common shape, as the clips of one machine are: `clip` 0, 1, ... differ.
fn vector(axis_len: usize, clip: usize) -> Vec<f32> {
    let mut state = clip as u64 * 7_919 + 1;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    let (level, tilt) = (random(), random());
    let value = |at: usize| {
        let x = at as f32 / axis_len as f32;
        10.0 + 3.0 * (9.0 * x).sin() + 0.2 * level + 0.2 * tilt * x
    };
    (0..axis_len).map(|at| value(at) + 0.1 * random()).collect()
}

fn clip(axis_len: usize, index: usize) -> ClipVectors {
    let max = vector(axis_len, index).iter().map(|value| value + 2.0).collect();
    ClipVectors::from_views(vec![(View::Mean, vector(axis_len, index)), (View::Max, max)]).unwrap()
}

fn references(axis_len: usize, count: usize) -> References {
    let mut references = References::new(&[View::Mean, View::Max], axis_len);
    for index in 0..count {
        references.push(&clip(axis_len, index), Provenance::of(index.to_string())).unwrap();
    }
    references
}

/// BEAM with local scales on the mean view, in the bands of the paper.
fn beam(axis_len: usize) -> auscult_core::Beam {
    let width = match axis_len {
        128 => 38,
        6144 => 768,
        _ => axis_len * 2 / 5,
    };
    BeamSettings::new(BandSettings::touching(width), vec![View::Mean]).check(axis_len).unwrap()
}

const REFERENCES: usize = 500;

#[divan::bench(args = [128, 8000, 6144], sample_count = 10)]
fn fit(bencher: Bencher<'_, '_>, axis_len: usize) {
    let references = references(axis_len, REFERENCES);
    bencher
        .with_inputs(|| references.clone())
        .bench_local_values(|references| beam(axis_len).fit(references).unwrap());
}

#[divan::bench(args = [128, 8000, 6144])]
fn score(bencher: Bencher<'_, '_>, axis_len: usize) {
    let fitted: FittedBeam = beam(axis_len).fit(references(axis_len, REFERENCES)).unwrap();
    let query = clip(axis_len, REFERENCES + 1);
    let mut score = fitted.new_score();
    bencher.bench_local(|| fitted.score_into(black_box(&query), &mut score));
}

#[divan::bench(sample_count = 10)]
fn coreset(bencher: Bencher<'_, '_>) {
    let references = references(128, 1000);
    bencher.bench_local(|| beam(128).coreset(black_box(&references), 100));
}

/// A log-mel model of 1000 references.
fn model() -> (std::sync::Arc<dyn FrontEnd>, Model) {
    let clip = ClipSettings::default();
    let front_end = FrontEndSettings::default().build(clip.check().unwrap()).unwrap();
    let detector = BeamSettings::paper(Method::AdaBeam, &*front_end);
    let settings = ModelSettings::new(clip, &*front_end, detector);
    let model = Model::fit(settings, references(128, 1000)).unwrap();
    (front_end, model)
}

#[divan::bench]
fn judge(bencher: Bencher<'_, '_>) {
    let (_, model) = model();
    let score = model.detector().score(&clip(128, 2000)).unwrap();
    bencher.with_inputs(|| score.clone()).bench_local_values(|score| model.judge(score));
}

#[divan::bench]
fn explain(bencher: Bencher<'_, '_>) {
    let (front_end, model) = model();
    let query = clip(128, 2000);
    let scored = model.score(&query).unwrap();
    bencher.bench_local(|| Explanation::new(&model, front_end.axis(), &query, black_box(&scored)));
}

#[divan::bench]
fn write_model(bencher: Bencher<'_, '_>) {
    let (_, model) = model();
    bencher.bench_local(|| model.to_bytes().unwrap());
}

#[divan::bench]
fn read_model(bencher: Bencher<'_, '_>) {
    let bytes = model().1.to_bytes().unwrap();
    bencher.bench_local(|| Model::from_bytes(black_box(&bytes)).unwrap());
}

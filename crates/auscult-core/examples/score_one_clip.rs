//! Learns a hum and scores a squeal: the whole method in one page.
//!
//! `cargo run -p auscult-core --example score_one_clip`

use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, Explanation, FrontEndSettings, Method, Model,
    ModelSettings, Provenance, References, Result,
};

/// One second of a hum at `hertz` with some noise.
fn hum(hertz: f32, seed: u32) -> Vec<f32> {
    let mut state = seed;
    (0..16_000)
        .map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = (state >> 8) as f32 / 16_777_216.0 - 0.5;
            0.2 * (std::f32::consts::TAU * hertz * i as f32 / 16_000.0).sin() + 0.02 * noise
        })
        .collect()
}

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<()> {
    let clip = ClipSettings { seconds: 1.0, ..ClipSettings::default() };
    let front_end = FrontEndSettings::default().build(clip.check()?)?;
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);

    let mut references = References::for_front_end(&*front_end);
    for seed in 0..30 {
        extractor.extract_into(&hum(120.0 + seed as f32 * 0.1, seed), &mut vectors)?;
        references.push(&vectors, Provenance::of(format!("hum {seed}")))?;
    }
    let detector = BeamSettings::paper(Method::AdaBeam, &*front_end);
    let model = Model::fit(ModelSettings::new(clip, &*front_end, detector), references)?;

    let squeal: Vec<f32> = hum(120.0, 99)
        .iter()
        .zip(hum(2_600.0, 7))
        .map(|(hum, squeal)| hum + 0.1 * squeal)
        .collect();
    extractor.extract_into(&squeal, &mut vectors)?;
    let scored = model.score(&vectors)?;
    let explanation = Explanation::new(&model, front_end.axis(), &vectors, &scored);
    println!("{}", explanation.summary);
    for sentence in explanation.sentences() {
        println!("  {sentence}");
    }
    Ok(())
}

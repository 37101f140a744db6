//! Scoring on a device: all memory is taken before the first clip, none per clip.
//!
//! `cargo run -p auscult-core --example fixed_buffers`

use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, FrontEndSettings, Method, Provenance, References,
    Result,
};

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<()> {
    let clip = ClipSettings { seconds: 1.0, ..ClipSettings::default() };
    let front_end = FrontEndSettings::default().build(clip.check()?)?;
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    let mut samples = vec![0.0_f32; clip.check()?.samples()];

    let mut references = References::for_front_end(&*front_end);
    for step in 0..20 {
        record(&mut samples, 0.05 + step as f32 * 1e-4);
        extractor.extract_into(&samples, &mut vectors)?;
        references.push(&vectors, Provenance::of(format!("clip {step}")))?;
    }
    let settings = BeamSettings::paper(Method::AdaBeam, &*front_end);
    let fitted = settings.check(front_end.axis().len())?.fit(references)?;
    let mut score = fitted.new_score();

    // From here on nothing is allocated (tests/no_allocation.rs counts).
    for radians in [0.0512, 0.052, 0.9] {
        record(&mut samples, radians);
        extractor.extract_into(&samples, &mut vectors)?;
        fitted.score_into(&vectors, &mut score)?;
        println!("{radians:.4}: {:.3}", score.value);
    }
    Ok(())
}

/// Stands for a microphone.
fn record(samples: &mut [f32], radians: f32) {
    for (i, sample) in samples.iter_mut().enumerate() {
        *sample = (i as f32 * radians).sin() * 0.3;
    }
}

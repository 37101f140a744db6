//! Extracting and scoring allocate nothing per clip.

use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, FrontEndSettings, Method, Provenance, References,
};

#[test]
fn scoring_a_clip_allocates_nothing() {
    for name in FrontEndSettings::NAMES {
        let clip = ClipSettings { seconds: 1.0, ..ClipSettings::default() };
        let settings = FrontEndSettings::named(name, None).unwrap();
        let front_end = settings.build(clip.check().unwrap()).unwrap();
        let mut extractor = front_end.extractor();
        let mut vectors = ClipVectors::for_front_end(&*front_end);
        let mut references = References::for_front_end(&*front_end);
        let mut samples = vec![0.0_f32; 16_000];
        for step in 0..5 {
            fill(&mut samples, 0.1 + step as f32 * 1e-3);
            extractor.extract_into(&samples, &mut vectors).unwrap();
            references.push(&vectors, Provenance::of("hum")).unwrap();
        }
        let method = if front_end.views().len() == 2 { Method::AdaBeam } else { Method::Beam };
        let settings = BeamSettings::paper(method, &*front_end);
        let fitted = settings.check(front_end.axis().len()).unwrap().fit(references).unwrap();
        let mut score = fitted.new_score();
        fill(&mut samples, 0.7);
        let counted = allocation_counter::measure(|| {
            extractor.extract_into(&samples, &mut vectors).unwrap();
            fitted.score_into(&vectors, &mut score).unwrap();
        });
        assert!(score.value.is_finite());
        assert_eq!(counted.count_total, 0, "{name}: {counted:?}");
    }
}

/// A tone with noise under it, so that LPC takes its usual path.
fn fill(samples: &mut [f32], radians: f32) {
    let mut state = 1_u32;
    for (i, sample) in samples.iter_mut().enumerate() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *sample = (i as f32 * radians).sin() * 0.3 + (state >> 8) as f32 / 16_777_216.0 * 0.1;
    }
}

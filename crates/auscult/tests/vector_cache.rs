//! Vectors of encoders are kept by themselves: whichever front ends they are heard with, they are computed once.
#![cfg(feature = "ced-tiny")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use auscult::{ClipSettings, ClipVectors, FrontEndSpec, FrontEnds, VectorCache};
use auscult_testing::{ClipRecipe, Machine};

const CLIP: ClipSettings = ClipSettings { sample_rate: 16_000, seconds: 1.0 };

fn bits_of(front_ends: &FrontEnds, spec: &FrontEndSpec, samples: &[f32]) -> Vec<Vec<u32>> {
    let front_end = front_ends.named(spec, CLIP.check().unwrap()).unwrap();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    front_end.extractor().extract_into(samples, &mut vectors).unwrap();
    vectors.views().map(|(_, vector)| vector.iter().map(|it| it.to_bits()).collect()).collect()
}

#[test]
fn encoders_are_computed_once_in_whatever_company() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Arc::new(VectorCache::new(folder.path()));
    let plain = FrontEnds::new(None, None);
    let kept = plain.clone().with_cache(Some(Arc::clone(&cache)));
    let recipe = ClipRecipe { seconds: 1.0, ..ClipRecipe::new(Machine::Fan) };
    let samples = recipe.render().unwrap();
    for name in ["ced", "ced+mfcc", "mfcc+ced", "log-mel(neighbours=3)+ced(metric=scaled)"] {
        let spec = FrontEndSpec::of(name);
        let wanted = bits_of(&plain, &spec, &samples);
        assert_eq!(bits_of(&kept, &spec, &samples), wanted, "{name}");
        assert_eq!(bits_of(&kept, &spec, &samples), wanted, "{name}");
        assert_eq!(cache.facts().unwrap().entries, 1, "{name}");
    }
    // What computes faster than it is read is not kept.
    bits_of(&kept, &FrontEndSpec::of("log-mel+mfcc"), &samples);
    assert_eq!(cache.facts().unwrap().entries, 1);
    // Another layer is another front end.
    let third = FrontEndSpec { convention: Some("layer-3".to_owned()), ..FrontEndSpec::of("ced") };
    bits_of(&kept, &third, &samples);
    let facts = cache.facts().unwrap();
    assert_eq!((facts.entries, facts.front_ends.len()), (2, 2));
    assert!(facts.front_ends.iter().all(|own| own.name.starts_with("ced")), "{facts:?}");
}

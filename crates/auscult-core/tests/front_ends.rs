//! What all front ends have in common; vectors are only compared with those of the same one.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, Error, FrontEnd, FrontEndSettings, Method, Model,
    ModelSettings, Provenance, References,
};

const CLIP: ClipSettings = ClipSettings { sample_rate: 16_000, seconds: 0.5 };

/// MFCC of two conventions have vectors of one length.
fn mfcc(convention: &str) -> Arc<dyn FrontEnd> {
    let settings = FrontEndSettings::named("mfcc", Some(convention)).unwrap();
    settings.build(CLIP.check().unwrap()).unwrap()
}

fn vectors(front_end: &dyn FrontEnd, pitch: f32) -> ClipVectors {
    let samples: Vec<f32> = (0..8_000).map(|at| (at as f32 * pitch).sin() * 0.2).collect();
    let mut vectors = ClipVectors::for_front_end(front_end);
    front_end.extractor().extract_into(&samples, &mut vectors).unwrap();
    vectors
}

fn references(front_end: &dyn FrontEnd) -> References {
    let mut references = References::for_front_end(front_end);
    for step in 0..5 {
        let clip = vectors(front_end, 0.1 + step as f32 * 1e-3);
        references.push(&clip, Provenance::of(format!("tone {step}"))).unwrap();
    }
    references
}

fn settings(front_end: &dyn FrontEnd) -> ModelSettings {
    ModelSettings::new(CLIP, front_end, BeamSettings::paper(Method::AdaBeam, front_end))
}

/// The names in an error about front ends.
fn names<T: std::fmt::Debug>(result: Result<T, Error>) -> [String; 2] {
    match result.unwrap_err() {
        Error::OtherFrontEnd { expected, got } => [expected, got],
        other => panic!("{other}"),
    }
}

#[test]
fn vectors_of_another_front_end_are_refused_everywhere() {
    let (own, other) = (mfcc("kaldi"), mfcc("librosa"));
    let expected = ["mfcc (kaldi)", "mfcc (librosa)"];
    let clip = vectors(&*other, 0.1);
    assert_eq!(names(references(&*own).push(&clip, Provenance::of("other"))), expected);
    assert_eq!(names(references(&*own).extend(&references(&*other))), expected);
    assert_eq!(names(Model::fit(settings(&*own), references(&*other))), expected);
    let model = Model::fit(settings(&*own), references(&*own)).unwrap();
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    for model in [model, again] {
        assert_eq!(names(model.score(&clip)), expected);
        assert_eq!(names(model.detector().score(&clip)), expected);
        assert_eq!(names(model.check_front_end(&*other)), expected);
        model.score(&vectors(&*own, 0.1)).unwrap();
    }
}

#[test]
fn a_set_made_by_hand_is_of_the_front_end_of_its_first_clip() {
    let (own, other) = (mfcc("kaldi"), mfcc("librosa"));
    let mut references = References::new(own.views(), own.axis().len());
    references.push(&vectors(&*own, 0.1), Provenance::of("own")).unwrap();
    references.push(&vectors(&*other, 0.1), Provenance::of("other")).unwrap_err();
    assert_eq!(references.len(), 1);
}

#[test]
fn vectors_made_by_hand_fit_everywhere() {
    let own = mfcc("kaldi");
    let views = vectors(&*own, 0.1);
    let views = views.views().map(|(view, vector)| (view, vector.to_vec())).collect();
    let by_hand = ClipVectors::from_views(views).unwrap();
    assert_eq!(by_hand.front_end(), None);
    let mut references = references(&*own);
    references.push(&by_hand, Provenance::of("by hand")).unwrap();
    Model::fit(settings(&*own), references).unwrap().score(&by_hand).unwrap();
}

#[test]
fn settings_are_named_where_names_agree() {
    let own = mfcc("kaldi");
    let mut identity = own.identity();
    identity.settings["coefficients"] = 91.into();
    let settings = ModelSettings { front_end: identity, ..settings(&*own) };
    let [expected, got] = names(Model::fit(settings, references(&*own)));
    assert!(expected.contains("\"coefficients\":91"), "{expected}");
    assert!(got.contains("\"coefficients\":90"), "{got}");
}

/// Every front end of the core, for clips of one second.
fn all_front_ends() -> Vec<Arc<dyn FrontEnd>> {
    let length = ClipSettings { seconds: 1.0, ..CLIP }.check().unwrap();
    let build = |name: &&str| FrontEndSettings::named(name, None).unwrap().build(length).unwrap();
    FrontEndSettings::NAMES.iter().map(build).collect()
}

#[test]
fn every_front_end_is_built_again_from_its_identity() {
    let length = ClipSettings { seconds: 1.0, ..CLIP }.check().unwrap();
    for (front_end, name) in all_front_ends().iter().zip(FrontEndSettings::NAMES) {
        let identity = front_end.identity();
        assert_eq!(identity.name, *name);
        let again = FrontEndSettings::from_identity(&identity).unwrap().build(length).unwrap();
        assert_eq!(again.identity(), identity);
        let mut other = identity.clone();
        other.settings["never-heard-of"] = 1.into();
        let error = FrontEndSettings::from_identity(&other).unwrap_err();
        assert!(matches!(error, Error::DamagedModel { .. }), "{name}: {error}");
    }
}

#[test]
fn clips_one_after_the_other_equal_clips_on_their_own() {
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0 - 0.5
    };
    // The last clip is a short one.
    let samples: Vec<f32> = (0..60_000).map(|_| random()).collect();
    for front_end in all_front_ends() {
        let mut extractor = front_end.extractor();
        let mut vectors = ClipVectors::for_front_end(&*front_end);
        for clip in samples.chunks(16_000) {
            extractor.extract_into(clip, &mut vectors).unwrap();
            let mut alone = ClipVectors::for_front_end(&*front_end);
            front_end.extractor().extract_into(clip, &mut alone).unwrap();
            assert_eq!(vectors, alone, "{}", front_end.identity());
        }
    }
}

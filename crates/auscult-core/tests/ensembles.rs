//! Several front ends in one model.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, Combine, Explanation, FrontEnd, Method, Model,
    ModelSettings, Provenance, References, View,
    features::{Ensemble, FrontEndSettings, FrontEnds, MemberFrontEnd, Normalisation},
};

const CLIP: ClipSettings = ClipSettings { sample_rate: 16_000, seconds: 0.5 };

fn member(name: &str) -> Arc<dyn FrontEnd> {
    FrontEndSettings::named(name, None).unwrap().build(CLIP.check().unwrap()).unwrap()
}

fn both() -> Ensemble {
    Ensemble::new(vec![member("log-mel"), member("mfcc")]).unwrap()
}

/// A hum with some noise, always the same for a seed; `pitch` is its frequency.
fn sound(seed: u32, pitch: f32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(1);
    (0..8_000)
        .map(|at| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = (state >> 9) as f32 / (1 << 23) as f32 - 0.5;
            (at as f32 * pitch).sin() * 0.2 + noise * 0.05
        })
        .collect()
}

fn vectors(front_end: &dyn FrontEnd, samples: &[f32]) -> ClipVectors {
    let mut vectors = ClipVectors::for_front_end(front_end);
    front_end.extractor().extract_into(samples, &mut vectors).unwrap();
    vectors
}

fn references(front_end: &dyn FrontEnd, seeds: std::ops::Range<u32>) -> References {
    let mut references = References::for_front_end(front_end);
    for seed in seeds {
        let clip = vectors(front_end, &sound(seed, 0.1 + seed as f32 * 1e-4));
        references.push(&clip, Provenance::of(format!("hum {seed}"))).unwrap();
    }
    references
}

fn model(front_end: &dyn FrontEnd, seeds: std::ops::Range<u32>, combine: Combine) -> Model {
    let mut detector = BeamSettings::paper(Method::AdaBeam, front_end);
    if let Some(ensemble) = &mut detector.ensemble {
        ensemble.combine = combine;
    }
    let settings = ModelSettings::new(CLIP, front_end, detector);
    Model::fit(settings, references(front_end, seeds)).unwrap()
}

/// ln of a score, standardised by ln of left-out scores.
fn standardised(model: &Model, clip: &ClipVectors) -> f64 {
    let logs: Vec<f64> =
        model.detector().left_out_scores().iter().flatten().map(|score| score.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let square = logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>();
    (model.score(clip).unwrap().score.value.ln() - mean) / (square / logs.len() as f64).sqrt()
}

#[test]
fn the_score_is_that_of_the_members_on_a_common_scale() {
    let samples = sound(99, 0.3);
    let alone = ["log-mel", "mfcc"].map(|name| {
        let front_end = member(name);
        let model = model(&*front_end, 0..12, Combine::Mean);
        standardised(&model, &vectors(&*front_end, &samples))
    });
    for (combine, expected) in
        [(Combine::Mean, f64::midpoint(alone[0], alone[1])), (Combine::Min, alone[0].min(alone[1]))]
    {
        let model = model(&both(), 0..12, combine);
        let score = model.score(&vectors(&both(), &samples)).unwrap().score.value;
        assert!((score.ln() - expected).abs() < 1e-9, "{combine}: {} for {expected}", score.ln());
    }
}

#[test]
fn the_model_file_brings_the_members_back() {
    let model = model(&both(), 0..12, Combine::Mean);
    let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    read.verify().unwrap();
    let built =
        FrontEnds::built_in().build(&read.settings().front_end, CLIP.check().unwrap()).unwrap();
    read.check_front_end(&*built).unwrap();
    assert_eq!(built.identity().to_string(), "log-mel (s15) + mfcc (kaldi)");
    let clip = vectors(&*built, &sound(99, 0.3));
    assert_eq!(read.score(&clip).unwrap(), model.score(&clip).unwrap());
    assert!(read.check_front_end(&*member("mfcc")).is_err());
}

#[test]
fn adding_and_forgetting_equal_a_fresh_fit() {
    let ensemble = both();
    let grown =
        model(&ensemble, 0..8, Combine::Mean).with_added(&references(&ensemble, 8..12)).unwrap();
    let fresh = model(&ensemble, 0..12, Combine::Mean);
    assert_eq!(grown.to_bytes().unwrap(), fresh.to_bytes().unwrap());
    let shrunk = fresh.with_only(&(0..8).collect::<Vec<_>>()).unwrap();
    assert_eq!(
        shrunk.to_bytes().unwrap(),
        model(&ensemble, 0..8, Combine::Mean).to_bytes().unwrap()
    );
}

#[test]
fn reasons_say_which_member_spoke() {
    let ensemble = both();
    let model = model(&ensemble, 0..12, Combine::Mean);
    let clip = vectors(&ensemble, &sound(99, 0.3));
    let scored = model.score(&clip).unwrap();
    let explanation = Explanation::new(&model, ensemble.axis(), &clip, &scored);
    let names: Vec<String> =
        explanation.bands.iter().map(auscult_core::explain::BandReason::name).collect();
    assert!(
        names.iter().any(|name| name.starts_with("log-mel ") && name.ends_with("Hz")),
        "{names:?}"
    );
    assert!(names.iter().any(|name| name == "mfcc coefficients 0-19"), "{names:?}");
}

#[test]
fn members_of_one_name_are_told_by_their_forms() {
    let mfcc = |convention| {
        let settings = FrontEndSettings::named("mfcc", Some(convention)).unwrap();
        (settings.build(CLIP.check().unwrap()).unwrap(), None)
    };
    let front_end = MemberFrontEnd::join(vec![mfcc("kaldi"), mfcc("librosa")]).unwrap();
    let model = model(&*front_end, 0..8, Combine::Mean);
    let clip = vectors(&*front_end, &sound(99, 0.3));
    let scored = model.score(&clip).unwrap();
    let explanation = Explanation::new(&model, front_end.axis(), &clip, &scored);
    for part in ["mfcc (kaldi)", "mfcc (librosa)"] {
        assert!(explanation.bands.iter().any(|band| band.part == part), "{part}");
    }
}

#[test]
fn an_ensemble_has_the_views_all_members_have() {
    let mixed = Ensemble::new(vec![member("log-mel"), member("lpc")]).unwrap();
    assert_eq!(mixed.views(), [View::Mean]);
    let model = model(&mixed, 0..4, Combine::Mean);
    assert!(model.score(&vectors(&mixed, &sound(5, 0.2))).is_ok());
}

#[test]
fn one_member_or_the_same_twice_is_refused() {
    for members in [vec![member("mfcc")], vec![member("mfcc"), member("mfcc")]] {
        let error = Ensemble::new(members).unwrap_err().to_string();
        assert!(error.contains("two different ones or more"), "{error}");
    }
}

#[test]
fn members_that_do_not_fill_the_axis_are_refused() {
    let mut detector = BeamSettings::paper(Method::AdaBeam, &both());
    detector.ensemble.as_mut().unwrap().members[0].positions = usize::MAX;
    assert!(detector.check(218).unwrap_err().to_string().contains("218 positions together"));
}

/// Both forms of both front ends.
fn four() -> Arc<dyn FrontEnd> {
    let forms = [Some(Normalisation::Raw), Some(Normalisation::Density)];
    let members =
        ["log-mel", "mfcc"].into_iter().flat_map(|name| forms.map(|form| (member(name), form)));
    MemberFrontEnd::join(members.collect()).unwrap()
}

#[test]
fn the_forms_of_one_front_end_share_its_vectors() {
    assert_eq!(four().identity(), both().identity());
    assert_eq!(four().axis(), both().axis());
    let mfcc = [Some(Normalisation::Raw), None].map(|form| (member("mfcc"), form));
    let forms = MemberFrontEnd::join(mfcc.to_vec()).unwrap();
    assert_eq!(forms.identity(), member("mfcc").identity());
    assert_eq!(forms.axis().len(), 90);
}

#[test]
fn each_member_scores_in_its_own_form() {
    let samples = sound(99, 0.3);
    let mut alone = Vec::new();
    for name in ["log-mel", "mfcc"] {
        for neighbours in [0, 1] {
            let front_end = member(name);
            let detector =
                BeamSettings { neighbours, ..BeamSettings::paper(Method::AdaBeam, &*front_end) };
            let settings = ModelSettings::new(CLIP, &*front_end, detector);
            let model = Model::fit(settings, references(&*front_end, 0..12)).unwrap();
            alone.push(standardised(&model, &vectors(&*front_end, &samples)));
        }
    }
    let expected = alone.iter().sum::<f64>() / 4.0;
    let model = model(&*four(), 0..12, Combine::Mean);
    let score = model.score(&vectors(&*four(), &samples)).unwrap().score.value;
    assert!((score.ln() - expected).abs() < 1e-9, "{} for {expected}", score.ln());
    assert!(alone.windows(2).all(|pair| (pair[0] - pair[1]).abs() > 1e-3), "{alone:?}");
}

#[test]
fn forms_survive_the_model_file_and_grow_and_shrink() {
    let made = model(&*four(), 0..12, Combine::Mean);
    let read = Model::from_bytes(&made.to_bytes().unwrap()).unwrap();
    read.verify().unwrap();
    let built =
        FrontEnds::built_in().build(&read.settings().front_end, CLIP.check().unwrap()).unwrap();
    read.check_front_end(&*built).unwrap();
    let clip = vectors(&*built, &sound(99, 0.3));
    let scored = read.score(&clip).unwrap();
    assert_eq!(scored, made.score(&clip).unwrap());
    let grown =
        model(&*four(), 0..8, Combine::Mean).with_added(&references(&*built, 8..12)).unwrap();
    assert_eq!(grown.to_bytes().unwrap(), made.to_bytes().unwrap());
    let explanation = Explanation::new(&read, built.axis(), &clip, &scored);
    for member in ["log-mel@raw", "log-mel@ldn", "mfcc@raw", "mfcc@ldn"] {
        assert!(explanation.bands.iter().any(|band| band.part == member), "{member}");
    }
}

#[test]
fn forms_that_are_the_same_are_refused() {
    let forms = |forms: [Option<Normalisation>; 2]| {
        MemberFrontEnd::join(forms.map(|form| (member("mfcc"), form)).to_vec())
    };
    let raw = Some(Normalisation::Raw);
    let error = forms([raw, raw]).unwrap_err().to_string();
    assert!(error.contains("got mfcc@raw twice"), "{error}");
    let check = |members, neighbours| {
        let front_end = forms(members).unwrap();
        let paper = BeamSettings::paper(Method::Beam, &*front_end);
        BeamSettings { neighbours, ..paper }.check(90).map(|_| ())
    };
    check([raw, None], 1).unwrap();
    let error = check([raw, None], 0).unwrap_err().to_string();
    assert!(error.contains("all different, got mfcc@raw and mfcc"), "{error}");
    let error = check([Some(Normalisation::Density), None], 2).unwrap_err().to_string();
    assert!(error.contains("all different, got mfcc@ldn and mfcc"), "{error}");
    let error = check([raw, Some(Normalisation::Density)], 0).unwrap_err().to_string();
    assert!(error.contains("neighbours must be 1 or more for mfcc@ldn, got 0"), "{error}");
}

#[test]
fn members_with_a_gap_between_them_are_refused() {
    let mut detector = BeamSettings::paper(Method::AdaBeam, &both());
    detector.ensemble.as_mut().unwrap().members[1].start = Some(130);
    assert!(detector.check(220).unwrap_err().to_string().contains("220 positions together"));
}

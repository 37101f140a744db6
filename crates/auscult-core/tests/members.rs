//! Ensembles whose members compare in ways of their own, against an independent implementation
//! (`tools/golden/members.py`), and the laws of scores that come from refits.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use auscult_core::{
    BandSettings, Beam, BeamSettings, ClipSettings, ClipVectors, Combine, DensityExponent,
    FittedBeam, FrontEndSettings, Groups, Metric, Model, ModelSettings, Provenance, References,
    View,
    beam::{EnsembleSettings, Standardise},
    features::{MemberFrontEnd, MemberOptions, MemberSettings},
};
use auscult_testing::golden;
use serde_json::Value;

/// Two views of 12 positions cut into bands of 5, and one of 40 that is not cut.
fn settings() -> BeamSettings {
    let member = |name: &str, positions| MemberSettings {
        name: name.to_owned(),
        positions,
        bands: BandSettings::Whole,
        start: None,
        normalisation: None,
        views: vec![View::Mean],
        metric: Some(Metric::Scaled),
        neighbours: Some(3),
        exponent: Some(DensityExponent::Fixed(1.0)),
    };
    let first = MemberSettings {
        bands: BandSettings::touching(5),
        views: vec![View::Mean, View::Max],
        metric: Some(Metric::Cosine),
        neighbours: Some(1),
        exponent: Some(DensityExponent::Auto),
        ..member("first", 24)
    };
    let members = vec![first, member("second", 40)];
    let standardise = Standardise::OtherVisits;
    let ensemble = EnsembleSettings { members, combine: Combine::Mean, standardise };
    let whole = BeamSettings::new(BandSettings::Whole, vec![View::Mean]);
    BeamSettings { ensemble: Some(ensemble), ..whole }
}

fn beam() -> Beam {
    settings().check(64).unwrap()
}

fn rows(value: &Value) -> Vec<Vec<f32>> {
    let row = |row: &Value| numbers(row).into_iter().map(|number| number as f32).collect();
    value.as_array().unwrap().iter().map(row).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn vectors(row: &[f32]) -> ClipVectors {
    ClipVectors::from_views(vec![(View::Mean, row.to_vec())]).unwrap()
}

/// A golden case: references, clips, and the numbers they must give.
fn case(name: &str) -> (References, Vec<ClipVectors>, Value) {
    let path = golden::testdata().join("golden/members/members.json");
    let text = std::fs::read_to_string(path).unwrap();
    let case = serde_json::from_str::<Value>(&text).unwrap()[name].take();
    let mut references = References::new(&[View::Mean], 64);
    for (index, row) in rows(&case["references"]).iter().enumerate() {
        let visit = case["visits"].get(index).map(|visit| format!("visit {visit}"));
        let from = Provenance { visit, ..Provenance::of(format!("{index:02}.wav")) };
        references.push(&vectors(row), from).unwrap();
    }
    let clips = rows(&case["clips"]).iter().map(|row| vectors(row)).collect();
    (references, clips, case)
}

fn assert_close(what: &str, got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (index, (got, want)) in got.iter().zip(want).enumerate() {
        // Mapped vectors are f32.
        assert!((got - want).abs() <= 1e-5 * (1.0 + want.abs()), "{what} {index}: {got} {want}");
    }
}

#[test]
fn scores_and_left_out_scores_are_those_of_an_independent_implementation() {
    for name in ["no_visits", "three_visits"] {
        let (references, clips, case) = case(name);
        let fitted = beam().fit(references).unwrap();
        let scored: Vec<_> = clips.iter().map(|clip| fitted.score(clip).unwrap()).collect();
        for member in 0..2 {
            let deviations = scored.iter().map(|score| fitted.member_deviations(score)[member]);
            let want = numbers(&case["z"][member]);
            assert_close("z", &deviations.collect::<Vec<_>>(), &want);
        }
        let scores: Vec<f64> = scored.iter().map(|score| score.value.ln()).collect();
        assert_close("score", &scores, &numbers(&case["score"]));
        let left_out = fitted.left_out_scores().iter().map(|score| score.unwrap().ln());
        assert_close("left out", &left_out.collect::<Vec<_>>(), &numbers(&case["left_out"]));
    }
}

/// The law of left-out scores where maps, exponents and standardisation belong to the memory: the
/// score of a fresh fit without the group, bit for bit.
#[test]
fn a_left_out_score_is_that_of_a_fit_without_the_group() {
    let (references, _, _) = case("three_visits");
    let groups = Groups::of(references.provenance());
    assert_eq!(groups.count(), 3);
    let fitted = beam().fit(references.clone()).unwrap();
    for (index, &group) in groups.members().iter().enumerate() {
        let rest: Vec<usize> =
            (0..references.len()).filter(|&other| groups.members()[other] != group).collect();
        let without = beam().fit(references.select(&rest)).unwrap();
        let score = without.score(&references.clip(index).unwrap()).unwrap().value;
        assert_eq!(fitted.left_out_scores()[index], Some(score), "{index}");
    }
}

fn model(references: &References) -> Model {
    let clip = ClipSettings { seconds: 1.0, ..ClipSettings::default() };
    let front_end = FrontEndSettings::default().build(clip.check().unwrap()).unwrap();
    let settings = ModelSettings::new(clip, &*front_end, settings());
    Model::fit(settings, references.clone()).unwrap()
}

#[test]
fn adding_and_forgetting_equal_a_fresh_fit_and_a_file_keeps_every_bit() {
    let (references, clips, _) = case("three_visits");
    let whole = model(&references);
    let first: Vec<usize> = (0..9).collect();
    let last: Vec<usize> = (9..references.len()).collect();
    let grown = model(&references.select(&first)).with_added(&references.select(&last)).unwrap();
    assert_eq!(grown.to_bytes().unwrap(), whole.to_bytes().unwrap());
    let forgot = whole.with_only(&first).unwrap();
    assert_eq!(forgot.to_bytes().unwrap(), model(&references.select(&first)).to_bytes().unwrap());
    assert_eq!(whole.file_version(), 5);
    let read = Model::from_bytes(&whole.to_bytes().unwrap()).unwrap();
    read.verify().unwrap();
    assert_eq!(read.to_bytes().unwrap(), whole.to_bytes().unwrap());
    for clip in &clips {
        assert_eq!(read.score(clip).unwrap(), whole.score(clip).unwrap());
    }
    assert_eq!(read.settings(), whole.settings());
}

#[test]
fn scoring_allocates_nothing() {
    let (references, clips, _) = case("three_visits");
    let fitted = beam().fit(references).unwrap();
    let mut score = fitted.new_score();
    let counted = allocation_counter::measure(|| {
        for clip in &clips {
            fitted.score_into(clip, &mut score).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

/// What must not be NaN whatever the references are.
fn assert_finite(fitted: &FittedBeam, clip: &ClipVectors) {
    let score = fitted.score(clip).unwrap();
    assert!(score.value.is_finite(), "{score:?}");
    assert!(fitted.left_out_scores().iter().flatten().all(|score| score.is_finite()));
}

#[test]
fn identical_few_and_constant_references_give_finite_scores() {
    let (references, clips, _) = case("no_visits");
    for count in 1..=5 {
        let few: Vec<usize> = (0..count).collect();
        assert_finite(&beam().fit(references.select(&few)).unwrap(), &clips[0]);
    }
    let same = references.select(&[0; 6]);
    assert_finite(&beam().fit(same).unwrap(), &clips[0]);
    let mut constant = References::new(&[View::Mean], 64);
    for index in 0..6 {
        let row: Vec<f32> = (0..64).map(|at| if at < 40 { 1.0 } else { index as f32 }).collect();
        constant.push(&vectors(&row), Provenance::of(format!("{index}.wav"))).unwrap();
    }
    assert_finite(&beam().fit(constant.clone()).unwrap(), &clips[0]);
    assert_finite(&beam().fit(constant).unwrap(), &vectors(&[0.0; 64]));
}

#[test]
fn a_coreset_of_different_distances_covers_both_members() {
    let (references, clips, _) = case("three_visits");
    let chosen = beam().coreset(&references, 6).unwrap();
    assert_eq!(chosen.len(), 6);
    let bounded = model(&references).with_coreset(6).unwrap();
    assert_eq!(bounded.references().len(), 6);
    assert_eq!(bounded.calibration().scores().len(), references.len());
    assert!(bounded.score(&clips[0]).unwrap().score.value.is_finite());
}

#[test]
fn stacked_front_ends_give_every_view_its_place() {
    let clip = ClipSettings { seconds: 1.0, ..ClipSettings::default() };
    let length = clip.check().unwrap();
    let front_end = |name| FrontEndSettings::named(name, None).unwrap().build(length).unwrap();
    let options = |views: &[View]| MemberOptions {
        views: views.to_vec(),
        bands: None,
        metric: Metric::Cosine,
        neighbours: 1,
        exponent: DensityExponent::default(),
    };
    let (log_mel, lpc) = (front_end("log-mel"), front_end("lpc"));
    let stacked = MemberFrontEnd::stack(vec![
        (Arc::clone(&log_mel), options(&[View::Mean, View::Max])),
        (Arc::clone(&lpc), options(&[View::Mean])),
    ])
    .unwrap();
    assert_eq!(stacked.views(), [View::Mean]);
    assert_eq!(stacked.axis().len(), 2 * 128 + 8000);
    let samples: Vec<f32> = (0..16_000).map(|at| (at as f32 * 0.3).sin() * 0.1).collect();
    let extract = |front_end: &dyn auscult_core::FrontEnd| {
        let mut vectors = ClipVectors::for_front_end(front_end);
        front_end.extractor().extract_into(&samples, &mut vectors).unwrap();
        vectors
    };
    let (whole, own, spectrum) = (extract(&*stacked), extract(&*log_mel), extract(&*lpc));
    let whole = whole.view(View::Mean).unwrap();
    assert_eq!(&whole[..128], own.view(View::Mean).unwrap());
    assert_eq!(&whole[128..256], own.view(View::Max).unwrap());
    assert_eq!(&whole[256..], spectrum.view(View::Mean).unwrap());
    let identity = stacked.identity();
    let again = auscult_core::features::FrontEnds::built_in().build(&identity, length).unwrap();
    assert_eq!(again.identity(), identity);
    let missing = MemberFrontEnd::stack(vec![
        (log_mel, options(&[View::Mean])),
        (lpc, options(&[View::Mean, View::Max])),
    ]);
    assert!(missing.unwrap_err().to_string().contains("views of a member"));
}

//! Studies of synthetic machines, short clips.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use auscult::tuning::{
    Candidate, Evaluation, Kind, NormalClip, Ranking, Study, StudySettings, StudyState, grid,
};
use auscult_core::{BandSettings, ClipSettings, FrontEnd, Provenance, features::FrontEnds};
use auscult_testing::{ClipRecipe, Machine};

const CLIP: ClipSettings = ClipSettings { sample_rate: 16_000, seconds: 0.5 };

fn samples(machine: Machine, visit: u32, take: u32) -> Vec<f32> {
    let recipe = ClipRecipe { visit, take, seconds: 0.5, ..ClipRecipe::new(machine) };
    recipe.render().unwrap()
}

/// A study of six visits to a fan, four clips each.
fn study(outliers: usize, seed: u64) -> Study {
    let clips = (0..24_u32).map(|index| {
        let visit = index / 4;
        let from =
            Provenance { visit: Some(visit.to_string()), ..Provenance::of(format!("{index}.wav")) };
        NormalClip { samples: samples(Machine::Fan, visit, index), from }
    });
    let outliers = (0..outliers as u32).map(|take| samples(Machine::Valve, 1, take)).collect();
    Study::new(clips.collect(), outliers, StudySettings { clip: CLIP, seed }).unwrap()
}

fn candidates(count: usize) -> Vec<Candidate> {
    // LPC is slow and shows nothing more here.
    let all = grid(CLIP.check().unwrap(), &[]).unwrap();
    all.into_iter().filter(|candidate| candidate.front_end.name != "lpc").take(count).collect()
}

fn front_end(candidate: &Candidate) -> Arc<dyn FrontEnd> {
    FrontEnds::built_in().build(&candidate.front_end, CLIP.check().unwrap()).unwrap()
}

fn evaluate(study: &Study, candidates: &[Candidate]) -> Vec<Evaluation> {
    let evaluate = |candidate: &Candidate| {
        let features = study.features(&*front_end(candidate), &|| true).unwrap().unwrap();
        study.evaluate(&features, candidate).unwrap()
    };
    candidates.iter().map(evaluate).collect()
}

#[test]
fn pseudo_anomalies_are_found_better_than_by_chance_but_not_always() {
    let study = study(6, 1);
    assert_eq!((study.groups().count(), study.folds()), (6, 3));
    let evaluation = evaluate(&study, &candidates(1)).remove(0);
    assert!((0.55..0.97).contains(&evaluation.mean_auc), "{evaluation:?}");
    let auc = |kind| evaluation.kinds.iter().find(|of| of.kind == kind).unwrap().auc;
    assert!(auc(Kind::Outlier) > 0.95, "a valve is no fan");
    assert!((0.4..0.6).contains(&auc(Kind::Reversal)), "pooling over time cannot hear it");
    assert!(evaluation.error() > 0.0);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| evaluate(&study(3, 1), &candidates(2)))
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn the_seed_decides_the_pseudo_anomalies() {
    let run = |seed| evaluate(&study(0, seed), &candidates(1));
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_useless_candidate_comes_last() {
    // The cosine of single positive numbers is 1: every distance is 0 but for rounding.
    let mut all = candidates(4);
    all[0].detector.bands = BandSettings::touching(1);
    let useless = all[0].clone();
    let ranking = Ranking::of(evaluate(&study(0, 1), &all));
    let last = ranking.candidates.last().unwrap();
    assert_eq!(last.evaluation.candidate, useless);
    assert!((last.evaluation.mean_auc - 0.5).abs() < 0.05, "{last:?}");
    assert!(last.behind > 0.2, "{last:?}");
}

#[test]
fn a_resumed_study_ends_like_an_uninterrupted_one() {
    let (study, all) = (study(3, 1), candidates(3));
    let mut whole = StudyState::new(&study);
    for evaluation in evaluate(&study, &all) {
        whole.insert(evaluation);
    }
    let mut first = StudyState::new(&study);
    first.insert(evaluate(&study, &all[..1]).remove(0));
    let mut resumed = StudyState::resume(&first.to_bytes().unwrap(), &study).unwrap().unwrap();
    assert!(resumed.has(&all[0]) && !resumed.has(&all[1]));
    for evaluation in evaluate(&study, &all[1..]) {
        resumed.insert(evaluation);
    }
    assert_eq!(resumed, whole);
    assert_eq!(Ranking::of(resumed.results(&all)), Ranking::of(whole.results(&all)));
}

#[test]
fn results_of_another_study_are_not_taken_up() {
    let bytes = StudyState::new(&study(3, 1)).to_bytes().unwrap();
    assert!(StudyState::resume(&bytes, &study(3, 1)).unwrap().is_some());
    assert!(StudyState::resume(&bytes, &study(3, 2)).unwrap().is_none());
    assert!(StudyState::resume(&bytes, &study(2, 1)).unwrap().is_none());
    assert!(StudyState::resume(b"{}", &study(3, 1)).is_err());
}

#[test]
fn a_stop_gives_no_features_and_three_clips_no_study() {
    let front_end = front_end(&candidates(1)[0]);
    assert!(study(0, 1).features(&*front_end, &|| false).unwrap().is_none());
    let clip = NormalClip { samples: vec![0.1; 8_000], from: Provenance::of("a") };
    let settings = StudySettings { clip: CLIP, seed: 1 };
    let error = Study::new(vec![clip; 3], Vec::new(), settings).unwrap_err();
    assert!(error.to_string().contains("at least 4 normal clips, got 3"), "{error}");
}

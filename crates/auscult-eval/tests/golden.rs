//! Golden numbers of an independent implementation (numpy, scikit-learn).
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test, and a skipped one must be heard"
)]

use std::{fs, path::Path, process::ExitCode};

use auscult_eval::metrics::{
    Domain, Figures, Label, OfficialScores, ScoreSet, Scored, SectionFigures, partial_auc,
    partial_auc_dcase2020,
};
use auscult_testing::golden;
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = trials_in("testdata", &golden::testdata().join("golden"));
    match golden::shared() {
        Some(folder) => trials.extend(trials_in("shared", &folder)),
        None => {
            eprintln!("SKIPPED shared::all: the large golden pack is not present");
            let skipped =
                Trial::test("shared::all (the large golden pack is not present)", || Ok(()));
            trials.push(skipped.with_ignored_flag(true));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trials_in(pack: &str, folder: &Path) -> Vec<Trial> {
    let metrics = folder.join("metrics/metrics.json");
    vec![Trial::test(format!("{pack}::metrics"), move || {
        check_metrics(&serde_json::from_slice(&fs::read(&metrics).unwrap()).unwrap());
        Ok(())
    })]
}

#[track_caller]
fn same(name: &str, got: Option<f64>, want: &Value) {
    match (got, want.as_f64()) {
        (None, None) => {}
        (Some(got), Some(want)) => {
            assert!((got - want).abs() <= 1e-12 * want.abs(), "{name}: got {got}, want {want}");
        }
        (got, want) => panic!("{name}: got {got:?}, want {want:?}"),
    }
}

fn check_metrics(golden: &Value) {
    let cases = golden["cases"].as_array().unwrap();
    let sets: Vec<ScoreSet> = cases.iter().map(set_of).collect();
    let mut compared = 0;
    for (index, (case, set)) in cases.iter().zip(&sets).enumerate() {
        let figures = set.figures();
        let names = |name: &str| format!("case {index} {name}");
        if case["official_convention"].is_null() {
            same(&names("auc"), figures.auc, &case["auc"]);
            same(&names("pauc"), figures.pauc, &case["pauc"]);
            compared += 2;
            continue;
        }
        let (normal, anomalous) =
            (set.scores(Label::Normal, None), set.scores(Label::Anomaly, None));
        let official = &case["official_convention"];
        same(&names("auc"), figures.auc, &official["auc"]);
        same(&names("pauc"), figures.pauc, &official["pauc"]);
        same(&names("auc_source"), figures.auc_source, &official["auc_source"]);
        same(&names("auc_target"), figures.auc_target, &official["auc_target"]);
        let own = &case["same_domain_only"];
        same(&names("source, same domain"), figures.auc_source_same_domain, &own["auc_source"]);
        same(&names("target, same domain"), figures.auc_target_same_domain, &own["auc_target"]);
        let formula = partial_auc_dcase2020(&normal, &anomalous, 0.1);
        same(&names("pauc of 2020"), formula, &case["pauc_dcase2020_formula"]);
        same(
            &names("pauc of 2020"),
            figures.pauc_dcase2020_formula,
            &case["pauc_dcase2020_formula"],
        );
        for (share, want) in case["pauc_p"].as_object().unwrap() {
            let got = partial_auc(&normal, &anomalous, share.parse().unwrap());
            same(&names(&format!("pauc at {share}")), got, want);
        }
        compared += 8 + case["pauc_p"].as_object().unwrap().len();
    }
    check_official(golden, &sets);
    assert!(compared > 80, "only {compared} numbers were compared");
}

/// The pack's harmonic score is over all cases with domains, its arithmetic ones over the first
/// sections of three machine types.
fn check_official(golden: &Value, sets: &[ScoreSet]) {
    let figures: Vec<Figures> = sets.iter().map(ScoreSet::figures).collect();
    let with_domains: Vec<&ScoreSet> = sets.iter().filter(|set| set.has_domains()).collect();
    let named = |machine: &str, section: usize, figures: Figures| SectionFigures {
        machine: machine.to_owned(),
        section: section.to_string(),
        figures,
    };
    let all: Vec<SectionFigures> =
        with_domains.iter().enumerate().map(|(i, set)| named("all", i, set.figures())).collect();
    let scores = OfficialScores::of(&all, &with_domains);
    same("harmonic", scores.dcase2022, &golden["official_harmonic"]);
    assert_eq!(scores.dcase2022, scores.dcase2026);
    let mut sections = Vec::new();
    for machine in ["fan", "pump", "ToyConveyor"] {
        for _ in 0..golden["sections"][machine].as_u64().unwrap() {
            let place = sections.len();
            sections.push(named(machine, place, figures[place]));
        }
    }
    let sets: Vec<&ScoreSet> = sets.iter().take(sections.len()).collect();
    let scores = OfficialScores::of(&sections, &sets);
    same("mean of ids", scores.dcase2020, &golden["flat_arithmetic"]);
    same("mean of types", scores.dcase2020_by_type, &golden["official_arithmetic_by_type"]);
}

fn set_of(case: &Value) -> ScoreSet {
    let numbers = |name: &str| -> Option<Vec<f64>> {
        Some(case[name].as_array()?.iter().map(|value| value.as_f64().unwrap()).collect())
    };
    let (labels, scores) = (numbers("y").unwrap(), numbers("s").unwrap());
    let targets = numbers("target");
    let clip = |index: usize| Scored {
        score: scores[index],
        label: if labels[index] == 0.0 { Label::Normal } else { Label::Anomaly },
        domain: targets
            .as_ref()
            .map(|targets| if targets[index] == 0.0 { Domain::Source } else { Domain::Target }),
    };
    ScoreSet::new((0..scores.len()).map(clip).collect()).unwrap()
}

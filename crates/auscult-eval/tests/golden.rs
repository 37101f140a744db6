//! Golden numbers of an independent implementation (numpy, scikit-learn).
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test, and a skipped one must be heard"
)]

use std::{fs, path::Path, process::ExitCode};

use auscult_core::BandSettings;
use auscult_eval::diagnostics::{ClipDiagnostics, Regimes, diagnose, summarise};
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
    if let Some(folder) = golden::shared() {
        trials.extend(trials_in("shared", &folder));
    } else {
        eprintln!("SKIPPED shared::all: the large golden pack is not present");
        let skipped = Trial::test("shared::all (the large golden pack is not present)", || Ok(()));
        trials.push(skipped.with_ignored_flag(true));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trials_in(pack: &str, folder: &Path) -> Vec<Trial> {
    let metrics = folder.join("metrics/metrics.json");
    let mut trials = vec![Trial::test(format!("{pack}::metrics"), move || {
        check_metrics(&serde_json::from_slice(&fs::read(&metrics).unwrap()).unwrap());
        Ok(())
    })];
    for name in cases_with_diagnostics(&folder.join("backend")) {
        let folder = folder.join("backend");
        trials.push(Trial::test(format!("{pack}::diagnostics::{name}"), move || {
            check_diagnostics(&folder, &name);
            Ok(())
        }));
    }
    assert!(trials.len() > 1, "no diagnostics in {}", folder.display());
    trials
}

fn cases_with_diagnostics(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            Some(entry.unwrap().file_name().to_str()?.strip_suffix(".json")?.to_owned())
        })
        .filter(|name| {
            let text = fs::read(folder.join(format!("{name}.json"))).unwrap();
            let case: Value = serde_json::from_slice(&text).unwrap();
            case["diagnostics"].as_array().is_some_and(|found| !found.is_empty())
        })
        .collect();
    names.sort();
    names
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

/// A golden name and our part of a clip.
type Part = (&'static str, fn(&ClipDiagnostics) -> f64);

/// Per-clip scores and summaries of every case of the back end that has diagnostics.
fn check_diagnostics(folder: &Path, name: &str) {
    let case: Value =
        serde_json::from_slice(&fs::read(folder.join(format!("{name}.json"))).unwrap()).unwrap();
    let read =
        |part: &str| golden::read_npy(folder.join(format!("{name}__{part}_tmean.npy"))).unwrap();
    let narrow = |array: &golden::Array| -> Vec<Vec<f32>> {
        let width = array.shape[1];
        array
            .values
            .chunks_exact(width)
            .map(|row| row.iter().map(|&value| value as f32).collect())
            .collect()
    };
    let (references, clips) = (narrow(&read("ref")), narrow(&read("query")));
    let references: Vec<&[f32]> = references.iter().map(Vec::as_slice).collect();
    let clips: Vec<&[f32]> = clips.iter().map(Vec::as_slice).collect();
    let numbers = |name: &str| -> Vec<i64> {
        case[name].as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect()
    };
    let labels: Vec<Label> = numbers("query_label")
        .iter()
        .map(|&label| if label == 0 { Label::Normal } else { Label::Anomaly })
        .collect();
    let domains: Vec<Option<Domain>> = numbers("query_domain")
        .iter()
        .map(|&domain| Some(if domain == 0 { Domain::Source } else { Domain::Target }))
        .collect();
    for wanted in case["diagnostics"].as_array().unwrap() {
        let (width, stride) = (wanted["C"].as_u64().unwrap(), wanted["s"].as_u64().unwrap());
        let bands = BandSettings::Windows { width: width as usize, stride: stride as usize };
        let got = diagnose(&references, &clips, bands, 0).unwrap();
        let names = |what: &str| format!("{name} C {width} {what}");
        let parts: [Part; 7] = [
            ("S_glob", |clip| clip.global),
            ("S_uni", |clip| clip.uniform),
            ("S_sub", |clip| clip.sub_band),
            ("P", |clip| clip.penalty),
            ("B", |clip| clip.deviation),
            ("B_def", |clip| clip.deviation_by_formula),
            ("rho", |clip| clip.coupling),
        ];
        for (what, part) in parts {
            let want = wanted[what].as_array().unwrap();
            assert_eq!(want.len(), got.len());
            for (index, (clip, want)) in got.iter().zip(want).enumerate() {
                near(
                    &names(&format!("{what}[{index}]")),
                    part(clip),
                    want.as_f64().unwrap(),
                    1e-9,
                    1e-12,
                );
            }
        }
        let nearest: Vec<u64> = got.iter().map(|clip| clip.nearest as u64).collect();
        let want: Vec<u64> =
            wanted["istar"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
        assert_eq!(nearest, want, "{}", names("istar"));
        let layout = bands.layout(references[0].len()).unwrap();
        for (key, regimes) in
            [("summary_trivial", Regimes::One), ("summary_regime", Regimes::CouplingAndDomain)]
        {
            let summary =
                summarise(&got, &labels, &domains, layout.bands().len(), regimes).unwrap();
            check_summary(&names(key), &serde_json::to_value(&summary).unwrap(), &wanted[key]);
        }
    }
}

const SUMMARY_NAMES: [(&str, &str); 26] = [
    ("bands", "N_b"),
    ("variance_global", "var_glob"),
    ("variance_uniform", "var_uni"),
    ("variance_sub_band", "var_sub"),
    ("variance_ratio_sub_uniform", "var_ratio_sub_uni"),
    ("variance_ratio_uniform_global", "var_ratio_uni_glob"),
    ("variance_ratio_sub_global", "var_ratio_sub_glob"),
    ("gap_global", "gap_glob"),
    ("gap_uniform", "gap_uni"),
    ("gap_sub_band", "gap_sub"),
    ("gap_penalty", "dP"),
    ("gap_deviation", "dB"),
    ("mean_gap_ratio", "mean_gap_ratio"),
    ("d_prime_global", "dprime_glob"),
    ("d_prime_uniform", "dprime_uni"),
    ("d_prime_sub_band", "dprime_sub"),
    ("mean_coupling", "rho_mean_normal"),
    ("within_ratio", "g0"),
    ("between_ratio", "gamma"),
    ("covariance_ratio", "lambda"),
    ("penalty_ratio", "p0"),
    ("variance_bound", "C_var"),
    ("regimes", "n_regimes"),
    ("eta", "eta"),
    ("proposition_holds", "prop1_holds"),
    ("theorem_condition", "theorem_condition"),
];

fn check_summary(name: &str, got: &Value, want: &Value) {
    let more = [
        ("measured_condition", "measured_condition"),
        ("d_prime_improves", "dprime_improves"),
        ("theorem_consistent", "theorem_consistent"),
    ];
    for (ours, theirs) in SUMMARY_NAMES.into_iter().chain(more) {
        let (got, want) = (&got[ours], &want[theirs]);
        match (got.as_f64(), want.as_f64()) {
            (Some(got), Some(want)) => near(&format!("{name} {ours}"), got, want, 1e-8, 1e-12),
            _ => assert_eq!(got, want, "{name} {ours}"),
        }
    }
}

#[track_caller]
fn near(name: &str, got: f64, want: f64, relative: f64, absolute: f64) {
    let allowed = absolute + relative * want.abs();
    assert!((got - want).abs() <= allowed, "{name}: got {got}, want {want}");
}

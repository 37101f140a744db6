//! The back end against golden/backend: one test a case.

use std::path::{Path, PathBuf};

use auscult_core::{
    BandLayout, BandSettings, Beam, BeamSettings, ClipVectors, Combine, DensityRule, Groups,
    Metric, Provenance, References, View,
    baselines::genrep::{DomainWise, Partners, Standardisation, mix_memory},
};
use auscult_testing::golden::read_npy;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::{Worst, entries};

/// golden/README.md: f64.
const RELATIVE: f64 = 1e-9;
/// Distances of duplicates are exactly 0 here and rounding noise there.
const ABSOLUTE: f64 = 1e-13;

pub(crate) fn trials(pack: &str, folder: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    for path in entries(&folder.join("backend")) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let test: fn(&Path) -> Result<(), Failed> = match stem.as_str() {
            "bands" => bands,
            name if name.starts_with("ldn_variants_") => variants,
            _ => case,
        };
        trials.push(Trial::test(format!("{pack}::backend::{stem}"), move || test(&path)));
    }
    trials
}

fn json(path: &Path) -> Result<Value, Failed> {
    Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?)
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap_or_else(|| panic!("{value} is not a list"));
    list.iter().map(|number| number.as_f64().expect("a number")).collect()
}

fn bands(path: &Path) -> Result<(), Failed> {
    for case in json(path)?.as_array().expect("a list") {
        let number = |key: &str| case[key].as_u64().expect(key) as usize;
        let layout = BandLayout::new(number("F"), number("C"), number("s"))?;
        let starts: Vec<f64> = layout.bands().iter().map(|band| band.start as f64).collect();
        assert_eq!(starts, numbers(&case["starts"]), "{case}");
    }
    Ok(())
}

/// Rows of a matrix file, one a clip.
fn rows(path: &Path, name: &str, view: &str) -> Result<Vec<Vec<f32>>, Failed> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let file = path.with_file_name(format!("{stem}__{name}_{view}.npy"));
    let array = read_npy(&file)?;
    let width = array.shape[1];
    Ok(array.values.chunks(width).map(|row| row.iter().map(|&v| v as f32).collect()).collect())
}

struct Case {
    references: References,
    queries: Vec<ClipVectors>,
    two_views: bool,
}

fn load(path: &Path, data: &Value) -> Result<Case, Failed> {
    let two_views = !data["tmax_equals_tmean"].as_bool().expect("a flag");
    let clips = |name: &str| -> Result<Vec<ClipVectors>, Failed> {
        let mean = rows(path, name, "tmean")?;
        let max = if two_views { rows(path, name, "tmax")? } else { mean.clone() };
        let clip =
            |(mean, max)| ClipVectors::from_views(vec![(View::Mean, mean), (View::Max, max)]);
        Ok(mean.into_iter().zip(max).map(clip).collect::<Result<_, _>>()?)
    };
    let queries = clips("query")?;
    let mut references = References::new(&[View::Mean, View::Max], queries[0].axis_len());
    let domains = numbers(&data["ref_domain"]);
    for (index, (clip, domain)) in clips("ref")?.iter().zip(domains).enumerate() {
        let domain = Some(if domain == 0.0 { "source" } else { "target" }.to_owned());
        references.push(clip, Provenance { domain, ..Provenance::of(index.to_string()) })?;
    }
    Ok(Case { references, queries, two_views })
}

fn band_settings(entry: &Value) -> BandSettings {
    match (entry["C"].as_u64(), entry["s"].as_u64()) {
        (Some(width), Some(stride)) => {
            BandSettings::Windows { width: width as usize, stride: stride as usize }
        }
        _ => BandSettings::Whole,
    }
}

fn case(path: &Path) -> Result<(), Failed> {
    let data = json(path)?;
    let case = load(path, &data)?;
    let mut worst = Worst::default();
    for entry in data["scores"].as_array().expect("scores") {
        match entry["kind"].as_str() {
            Some("genrep") => genrep(&case, entry, &mut worst)?,
            _ => scores(&case, entry, &mut worst)?,
        }
    }
    worst.outcome()
}

fn all_scores(beam: &Beam, case: &Case) -> Result<Vec<f64>, Failed> {
    let groups = Groups::clips(case.references.len());
    let fitted = beam.fit_with_groups(case.references.clone(), &groups)?;
    case.queries.iter().map(|query| Ok(fitted.score(query)?.value)).collect()
}

fn scores(case: &Case, entry: &Value, worst: &mut Worst) -> Result<(), Failed> {
    let axis_len = case.references.axis_len();
    let neighbours = entry["K"].as_u64().expect("K") as usize;
    let base = BeamSettings { neighbours, ..BeamSettings::new(band_settings(entry), vec![]) };
    for (key, want) in entry.as_object().expect("an entry") {
        let name = format!("C={} K={neighbours} {key}", entry["C"]);
        let Some((what, aggregation)) = key.split_once('_') else { continue };
        let Ok(aggregation) = aggregation.parse::<Combine>() else { continue };
        let (views, fusion) = match what {
            "tmean" => (vec![View::Mean], Combine::Mean),
            "tmax" => (vec![View::Max], Combine::Mean),
            "dmmmean" => (vec![View::Mean, View::Max], Combine::Mean),
            "dmmmax" => (vec![View::Mean, View::Max], Combine::Max),
            "dmmmin" => (vec![View::Mean, View::Max], Combine::Min),
            _ => continue,
        };
        let beam = BeamSettings { views, aggregation, fusion, ..base.clone() }.check(axis_len)?;
        let got = all_scores(&beam, case)?;
        worst.compare_all(&name, &got, &numbers(want), ABSOLUTE, RELATIVE);
    }
    details(case, entry, BeamSettings { views: vec![View::Mean], ..base }, worst)
}

/// Band scores, deciding references and left-out scores, where the case has them.
fn details(
    case: &Case,
    entry: &Value,
    settings: BeamSettings,
    worst: &mut Worst,
) -> Result<(), Failed> {
    let Some(bands) = entry["tmean_bands"].as_array() else { return Ok(()) };
    let name = format!("C={} K={}", entry["C"], entry["K"]);
    let groups = Groups::clips(case.references.len());
    let beam = settings.check(case.references.axis_len())?;
    let fitted = beam.fit_with_groups(case.references.clone(), &groups)?;
    let argmin = entry["tmean_argmin"].as_array().expect("argmin");
    for (index, query) in case.queries.iter().enumerate() {
        let score = fitted.score(query)?;
        let got: Vec<f64> = score.views[0].bands.iter().map(|band| band.value).collect();
        let want = numbers(&bands[index]);
        worst.compare_all(&format!("{name} bands[{index}]"), &got, &want, ABSOLUTE, RELATIVE);
        let references = numbers(&argmin[index]);
        for ((band, reference), want) in score.views[0].bands.iter().zip(references).zip(want) {
            // Rounding noise decides between duplicates there; ours are exact ties.
            if want > ABSOLUTE && band.reference as f64 != reference {
                let tie = (band.value - want).abs() <= 1e-14 * want;
                assert!(tie, "{name} argmin[{index}]: got {}, want {reference}", band.reference);
            }
        }
    }
    let left_out: Vec<f64> = fitted.left_out_scores().iter().flatten().copied().collect();
    if let Some(want) = entry.get("loo_tmean_mean_proper").filter(|want| want.is_array()) {
        worst.compare_all(
            &format!("{name} left out"),
            &left_out,
            &numbers(want),
            ABSOLUTE,
            RELATIVE,
        );
    }
    Ok(())
}

fn genrep(case: &Case, entry: &Value, worst: &mut Worst) -> Result<(), Failed> {
    let by_domain = |domain: &str| {
        let provenance = case.references.provenance();
        let indices: Vec<usize> = (0..provenance.len())
            .filter(|&index| provenance[index].domain.as_deref() == Some(domain))
            .collect();
        case.references.select(&indices)
    };
    let (source, target) = (by_domain("source"), by_domain("target"));
    for (key, want) in entry.as_object().expect("an entry") {
        let (form, metric) = match key.split('_').next() {
            Some("dss") if key.contains("euclid") => (Standardisation::Batch, Metric::Euclidean),
            Some("dss") => (Standardisation::Batch, Metric::Cosine),
            Some("raw") => (Standardisation::Raw, Metric::Cosine),
            _ => continue,
        };
        let view = if key.contains("tmax") { View::Max } else { View::Mean };
        let target = match key.rsplit_once('_').map(|(_, mix)| mix) {
            Some("nomix") => target.clone(),
            Some("mixall") => mix_memory(&source, &target, Partners::All)?,
            Some("mix5") => mix_memory(&source, &target, Partners::Nearest(5))?,
            _ => return Err(format!("unknown golden key {key}").into()),
        };
        let settings = BeamSettings {
            neighbours: 0,
            metric,
            ..BeamSettings::new(band_settings(entry), vec![view])
        };
        let beam = settings.check(case.references.axis_len())?;
        let scores = DomainWise::fit(&beam, source.clone(), target)?.scores(&case.queries, form)?;
        let name = format!("C={} {key}", entry["C"]);
        // Mixed vectors are stored as f32 like all references, and mixed in f64 there.
        let (absolute, relative) =
            if key.ends_with("nomix") { (ABSOLUTE, RELATIVE) } else { (2e-6, 2e-6) };
        worst.compare_all(&name, &scores, &numbers(want), absolute, relative);
    }
    Ok(())
}

fn variants(path: &Path) -> Result<(), Failed> {
    let data = json(path)?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let base: PathBuf =
        path.with_file_name(format!("{}.json", stem.trim_start_matches("ldn_variants_")));
    let case = load(&base, &json(&base)?)?;
    assert!(case.two_views);
    let mut worst = Worst::default();
    for entry in data.as_array().expect("a list") {
        let bands = match entry["C"].as_u64() {
            Some(width) => BandSettings::touching(width as usize),
            None => BandSettings::Whole,
        };
        let neighbours = entry["K"].as_u64().expect("K") as usize;
        let base = BeamSettings { neighbours, ..BeamSettings::new(bands, vec![View::Mean]) };
        let rule = DensityRule::AtNearest;
        for (key, settings) in [
            ("min_ratio", base.clone()),
            ("at_raw_nn", BeamSettings { rule, ..base.clone() }),
            ("chord", BeamSettings { metric: Metric::UnitEuclidean, ..base.clone() }),
        ] {
            let Some(want) = entry.get(key) else { continue };
            let got = all_scores(&settings.check(case.references.axis_len())?, &case)?;
            let name = format!("C={} K={neighbours} {key}", entry["C"]);
            worst.compare_all(&name, &got, &numbers(want), ABSOLUTE, RELATIVE);
        }
    }
    worst.outcome()
}

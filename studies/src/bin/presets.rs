//! What the presets promise and find with few references, one visit, and many: synthetic machines.
//!
//! `cargo run --release -p auscult-studies --bin presets [SEEDS]`
//!
//! Each repetition is a specimen of a machine (fan, pump, valve, slider; clips of 2 s): normal clips from some
//! visits to learn and calibrate on, and from 40 other visits one normal and one faulty clip each to judge.
//! "False alarms" are those at a rate of 10 %; in brackets the share of repetitions in which that rate was
//! promised, and not provisional.

use std::sync::Arc;

use auscult::{
    ClipSettings, ClipVectors, FrontEnd, FrontEnds, Model, ModelSettings, Preset, Provenance,
    References, Verdict, metrics::auc,
};
use auscult_studies::Estimate;
use auscult_testing::{ClipRecipe, Machine};
use rayon::prelude::*;

/// Visits, and clips of each.
const DESIGNS: [(u32, u32); 7] = [(1, 9), (1, 20), (2, 10), (10, 2), (1, 100), (10, 10), (25, 4)];
const TEST_VISITS: u32 = 40;
const RATE: f64 = 0.10;
const SECONDS: f64 = 2.0;

/// What one repetition showed.
struct Found {
    false_alarms: f64,
    detected: f64,
    auc: f64,
    is_promised: bool,
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn main() -> anyhow::Result<()> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(6), |text| text.parse())?;
    println!(
        "| preset | visits x clips | false alarms at 10 %, in % (promised in) | found, in % | AUC, in % |\n\
         |---|---|---|---|---|"
    );
    for preset in [Preset::Fast, Preset::Best, Preset::Paper] {
        let clip = ClipSettings { seconds: SECONDS, ..ClipSettings::default() };
        let front_ends = FrontEnds::standard();
        let (front_end, detector, _) = preset.build(&front_ends, clip.check()?)?;
        let rate = RATE.try_into()?;
        let settings = ModelSettings {
            false_alarm_rate: rate,
            ..ModelSettings::new(clip, &*front_end, detector)
        };
        for (visits, clips) in DESIGNS {
            let repetitions: Vec<(Machine, u64)> = Machine::ALL
                .into_iter()
                .flat_map(|machine| (1..=seeds).map(move |seed| (machine, seed)))
                .collect();
            let found: Vec<Found> = repetitions
                .into_par_iter()
                .map(|(machine, seed)| one(&settings, &front_end, machine, seed, (visits, clips)))
                .collect::<anyhow::Result<_>>()?;
            let show = |of: fn(&Found) -> f64| {
                let values: Vec<f64> = found.iter().map(of).collect();
                Estimate::of(&values).map_or_else(String::new, |estimate| {
                    let (mean, half) = (100.0 * estimate.mean, 196.0 * estimate.error);
                    format!("{mean:.1} ± {half:.1}")
                })
            };
            let promised = found.iter().filter(|found| found.is_promised).count();
            println!(
                "| {preset} | {visits} x {clips} | {} ({promised} of {}) | {} | {} |",
                show(|found| found.false_alarms),
                found.len(),
                show(|found| found.detected),
                show(|found| found.auc),
            );
        }
    }
    Ok(())
}

fn one(
    settings: &ModelSettings,
    front_end: &Arc<dyn FrontEnd>,
    machine: Machine,
    seed: u64,
    (visits, clips): (u32, u32),
) -> anyhow::Result<Found> {
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&**front_end);
    let recipe = ClipRecipe { seconds: SECONDS, seed, ..ClipRecipe::new(machine) };
    let mut references = References::for_front_end(&**front_end);
    for visit in 0..visits {
        for take in 0..clips {
            let samples = ClipRecipe { visit, take, ..recipe }.render()?;
            extractor.extract_into(&samples, &mut vectors)?;
            let name = Provenance::of(format!("{visit}-{take}.wav"));
            references.push(&vectors, Provenance { visit: Some(visit.to_string()), ..name })?;
        }
    }
    let model = Model::fit(settings.clone(), references)?;
    let faults = machine.faults();
    let mut scores = [Vec::new(), Vec::new()];
    let mut alarms = [0_usize; 2];
    for test in 0..TEST_VISITS {
        let fault = faults[test as usize % faults.len()];
        for (kind, fault) in [None, Some((fault, 0.5))].into_iter().enumerate() {
            let samples = ClipRecipe { visit: 1000 + test, fault, ..recipe }.render()?;
            extractor.extract_into(&samples, &mut vectors)?;
            let scored = model.score(&vectors)?;
            alarms[kind] += usize::from(scored.verdict == Verdict::Anomalous);
            scores[kind].push(scored.score.value);
        }
    }
    let share = |count: usize| count as f64 / f64::from(TEST_VISITS);
    Ok(Found {
        false_alarms: share(alarms[0]),
        detected: share(alarms[1]),
        auc: auc(&scores[0], &scores[1]).unwrap_or(f64::NAN),
        is_promised: model.standing().is_promised(),
    })
}

//! What a clip costs: features and a verdict, by front end and preset (the paper's Table 6).

use std::{fs, path::Path, sync::Arc, time::Instant};

use auscult::{FrontEnds, Preset};
use auscult_core::{
    BeamSettings, ClipSettings, ClipVectors, FittedBeam, FrontEnd, Method, Provenance, References,
    features::NetworkSize, random::Random,
};
use rayon::prelude::*;
use serde::Serialize;

use crate::{
    Result,
    run::{FrontEndMaker, FrontEndName},
};

/// How cost is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostSettings {
    /// Length and rate of the clip.
    pub clip: ClipSettings,
    /// References in memory; the paper has 500.
    pub references: usize,
    /// Runs; the paper has 5. Each takes at least a tenth of a second.
    pub runs: usize,
}

impl Default for CostSettings {
    fn default() -> Self {
        Self { clip: ClipSettings::default(), references: 500, runs: 5 }
    }
}

/// Milliseconds a clip, over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Timing {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// The shortest.
    pub minimum: f64,
}

/// What one front end or preset costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostRow {
    /// Its name, with its convention.
    pub name: String,
    /// How references are compared: `global` with the mean view, as the paper's table has it, or as the preset says.
    pub compares: String,
    /// Numbers in a vector.
    pub output: usize,
    /// Samples to vectors, on one thread.
    pub features_ms: Timing,
    /// Samples to score, on one thread.
    pub end_to_end_ms: Timing,
    /// Samples to score with a clip for each thread, milliseconds a clip.
    pub all_threads_ms: Timing,
    /// The network, if there is one.
    pub network: Option<NetworkSize>,
    /// The most memory the program took meanwhile, weights and references included; only known on Linux.
    pub peak_memory_bytes: Option<u64>,
    /// What the paper gives.
    pub paper: Option<PaperCost>,
}

/// A row of the paper's Table 6, on an AMD Ryzen 5 5600X.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the columns of the table")]
pub struct PaperCost {
    pub output: usize,
    pub features_ms: f64,
    pub end_to_end_ms: f64,
    pub giga_macs: Option<f64>,
    pub mega_parameters: Option<f64>,
}

/// What the paper calls them here, and its numbers.
const PAPER: [(&str, PaperCost); 4] = [
    ("log-mel", handcrafted(128, 3.95, 6.20)),
    ("mfcc", handcrafted(90, 3.95, 7.95)),
    ("lpc", handcrafted(8000, 31.34, 41.11)),
    (
        "beats",
        PaperCost {
            output: 6144,
            features_ms: 271.15,
            end_to_end_ms: 494.02,
            giga_macs: Some(45.01),
            mega_parameters: Some(90.71),
        },
    ),
];

const fn handcrafted(output: usize, features_ms: f64, end_to_end_ms: f64) -> PaperCost {
    PaperCost { output, features_ms, end_to_end_ms, giga_macs: None, mega_parameters: None }
}

/// Measures one front end, compared as the paper's table has it: one nearest reference, whole mean vector.
///
/// # Errors
///
/// If a setting is out of range, or the front end does not take the clip.
pub fn front_end_cost(
    name: &FrontEndName,
    make: &FrontEndMaker<'_>,
    settings: &CostSettings,
) -> Result<std::result::Result<CostRow, String>> {
    forget_peak_memory();
    let front_end = match make(name, settings.clip.check()?) {
        Ok(front_end) => front_end,
        Err(reason) => return Ok(Err(reason)),
    };
    let detector =
        BeamSettings { neighbours: 0, ..BeamSettings::paper(Method::Global, &*front_end) };
    let paper = PAPER.iter().find(|(paper, _)| *paper == front_end.identity().name);
    let row = cost(name.to_string(), "global", &front_end, detector, settings)?;
    Ok(Ok(CostRow { paper: paper.map(|(_, paper)| *paper), ..row }))
}

/// Measures a preset, compared as it says.
///
/// # Errors
///
/// If a setting is out of range, or a front end of the preset cannot be made.
pub fn preset_cost(
    preset: Preset,
    front_ends: &FrontEnds,
    settings: &CostSettings,
) -> Result<CostRow> {
    forget_peak_memory();
    let (front_end, detector, _) = preset.build(front_ends, settings.clip.check()?)?;
    cost(format!("preset {preset}"), "as the preset", &front_end, detector, settings)
}

fn cost(
    name: String,
    compares: &str,
    front_end: &Arc<dyn FrontEnd>,
    detector: BeamSettings,
    settings: &CostSettings,
) -> Result<CostRow> {
    let samples = clip(settings.clip);
    let memory = memory(&**front_end, detector, &samples, settings.references)?;
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&**front_end);
    let features_ms =
        timing(settings.runs, || Ok(extractor.extract_into(&samples, &mut vectors)?))?;
    let mut score = memory.new_score();
    let end_to_end_ms = timing(settings.runs, || {
        extractor.extract_into(&samples, &mut vectors)?;
        Ok(memory.score_into(&vectors, &mut score)?)
    })?;
    let clips = 4 * rayon::current_num_threads();
    let all_at_once = timing(settings.runs, || {
        let worker = || {
            (front_end.extractor(), ClipVectors::for_front_end(&**front_end), memory.new_score())
        };
        (0..clips).into_par_iter().try_for_each_init(worker, |(extractor, vectors, score), _| {
            extractor.extract_into(&samples, vectors)?;
            Ok(memory.score_into(vectors, score)?)
        })
    })?;
    let of_clip = |milliseconds: f64| milliseconds / clips as f64;
    Ok(CostRow {
        name,
        compares: compares.to_owned(),
        output: front_end.axis().len(),
        features_ms,
        end_to_end_ms,
        all_threads_ms: Timing {
            mean: of_clip(all_at_once.mean),
            deviation: of_clip(all_at_once.deviation),
            minimum: of_clip(all_at_once.minimum),
        },
        network: front_end.network(),
        peak_memory_bytes: peak_memory(),
        paper: None,
    })
}

/// A hum with noise: what is in a clip does not change what it costs.
fn clip(settings: ClipSettings) -> Vec<f32> {
    let rate = f64::from(settings.sample_rate);
    let mut random = Random::of(6, &[0]);
    let sample = |at: usize| {
        let seconds = at as f64 / rate;
        let hum = (std::f64::consts::TAU * 120.0 * seconds).sin() as f32;
        0.1 * hum + random.symmetric(0.1)
    };
    (0..(settings.seconds * rate) as usize).map(sample).collect()
}

/// References around the clip's own vectors: extracting hundreds of clips would take minutes with some encoders, and
/// tells nothing of the cost of one.
fn memory(
    front_end: &dyn FrontEnd,
    detector: BeamSettings,
    samples: &[f32],
    count: usize,
) -> Result<FittedBeam> {
    let mut clip = ClipVectors::for_front_end(front_end);
    front_end.extractor().extract_into(samples, &mut clip)?;
    let mut references = References::for_front_end(front_end);
    for index in 0..count {
        let mut random = Random::of(7, &[index as u64]);
        let mut around = |values: &[f32]| {
            values
                .iter()
                .map(|value| value + 0.05 * value.abs().max(1e-3) * random.symmetric(1.0))
                .collect()
        };
        let views = clip.views().map(|(view, values)| (view, around(values))).collect();
        references.push(&ClipVectors::from_views(views)?, Provenance::of(format!("{index}")))?;
    }
    Ok(detector.check(front_end.axis().len())?.fit_for_scoring(references)?)
}

/// The shortest run, in milliseconds.
const SHORTEST_RUN: f64 = 100.0;

fn timing(runs: usize, mut work: impl FnMut() -> Result<()>) -> Result<Timing> {
    // The first one warms up and says how many make a run.
    work()?;
    let begun = Instant::now();
    work()?;
    let once = begun.elapsed().as_secs_f64() * 1e3;
    let times = (SHORTEST_RUN / once.max(1e-6)).ceil().clamp(1.0, 1e6) as usize;
    let mut found = Vec::with_capacity(runs);
    for _ in 0..runs.max(1) {
        let begun = Instant::now();
        for _ in 0..times {
            work()?;
        }
        found.push(begun.elapsed().as_secs_f64() * 1e3 / times as f64);
    }
    let count = found.len() as f64;
    let mean = found.iter().sum::<f64>() / count;
    let squares: f64 = found.iter().map(|value| (value - mean).powi(2)).sum();
    Ok(Timing {
        mean,
        deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
        minimum: found.into_iter().fold(f64::INFINITY, f64::min),
    })
}

/// The most memory the program took since it began, or since it was last forgotten; only known on Linux.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Lets the peak begin anew. Where that is not possible it goes on from before, which only says too much.
fn forget_peak_memory() {
    let _ = fs::write(Path::new("/proc/self/clear_refs"), "5");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::built_in_front_end;

    #[test]
    fn every_column_of_a_front_end_is_measured() {
        let settings = CostSettings {
            clip: ClipSettings { seconds: 1.0, ..ClipSettings::default() },
            references: 20,
            runs: 2,
        };
        let name = FrontEndName { name: "mfcc".to_owned(), convention: None, precision: None };
        let row = front_end_cost(&name, &built_in_front_end, &settings).unwrap().unwrap();
        assert_eq!((row.output, row.network), (90, None));
        assert_eq!(row.paper.unwrap().output, 90);
        for timing in [row.features_ms, row.end_to_end_ms, row.all_threads_ms] {
            assert!(0.0 < timing.minimum && timing.minimum <= timing.mean, "{timing:?}");
        }
        let unknown = FrontEndName { name: "nothing".to_owned(), ..name };
        let reason = front_end_cost(&unknown, &built_in_front_end, &settings).unwrap().unwrap_err();
        assert!(reason.contains("nothing"), "{reason}");
    }

    #[test]
    fn a_preset_costs_at_least_its_features() {
        let settings = CostSettings {
            clip: ClipSettings { seconds: 1.0, ..ClipSettings::default() },
            references: 20,
            runs: 1,
        };
        let row = preset_cost(Preset::Fast, &FrontEnds::standard(), &settings).unwrap();
        assert!(row.output > 1920, "{}", row.output);
        assert!(row.end_to_end_ms.minimum > 0.0);
    }
}

//! Promised against realised false-alarm rates on synthetic visits.
//!
//! `cargo run --release -p auscult-studies --bin false_alarms [REPETITIONS] [SVG]`
//!
//! Each repetition draws normal clips from visits (5 clips each) to learn and calibrate on, and 200
//! normal clips from 200 other visits to count false alarms on.

use auscult_core::FalseAlarmRate;
use auscult_studies::{
    Estimate, cell,
    chart::{Series, render},
    methods::{Method, four_bands},
    visits::{AXIS, Visits},
};
use rayon::prelude::*;

const SIZES: [usize; 4] = [20, 50, 100, 200];
const RATES: [f64; 3] = [0.01, 0.05, 0.10];
const CLIPS_PER_VISIT: usize = 5;
const TEST_VISITS: usize = 200;

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let repetitions: u64 = arguments.next().map_or(Ok(200), |text| text.parse())?;
    println!(
        "| promised | method | n = 20 | n = 50 | n = 100 | n = 200 |\n|---|---|---|---|---|---|"
    );
    let mut panels = Vec::new();
    for rate in RATES {
        let mut panel = Vec::new();
        for method in Method::ALL {
            let mut points = Vec::new();
            for size in SIZES {
                points.push((size, realised(method, rate.try_into()?, size, repetitions)?));
            }
            let cells: Vec<String> =
                points.iter().map(|(_, estimate)| cell(*estimate, rate, repetitions)).collect();
            println!("| {} % | {} | {} |", rate * 100.0, method.name(), cells.join(" | "));
            panel.push(Series { name: method.name(), points });
        }
        panels.push((rate, panel));
    }
    if let Some(path) = arguments.next() {
        std::fs::write(path, render(&panels))?;
    }
    Ok(())
}

fn realised(
    method: Method,
    rate: FalseAlarmRate,
    size: usize,
    repetitions: u64,
) -> anyhow::Result<Option<Estimate>> {
    let rates: Vec<Option<f64>> = (0..repetitions)
        .into_par_iter()
        .map(|repetition| one(method, rate, size, repetition))
        .collect::<anyhow::Result<_>>()?;
    // A method that promises in some repetitions only is judged on those.
    let rates: Vec<f64> = rates.into_iter().flatten().collect();
    Ok(Estimate::of(&rates))
}

fn one(
    method: Method,
    rate: FalseAlarmRate,
    size: usize,
    repetition: u64,
) -> anyhow::Result<Option<f64>> {
    let mut visits = Visits::new(1_000 * repetition + size as u64);
    let references = visits.references(size, CLIPS_PER_VISIT);
    let Some((model, threshold)) = method.threshold(&references, rate, &four_bands(AXIS))? else {
        return Ok(None);
    };
    let mut alarms = 0;
    for _ in 0..TEST_VISITS {
        for clip in visits.visit(1) {
            alarms += usize::from(model.score(&clip)?.score.value > threshold);
        }
    }
    Ok(Some(alarms as f64 / TEST_VISITS as f64))
}

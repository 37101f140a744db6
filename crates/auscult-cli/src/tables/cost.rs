//! What a clip costs, beside the paper's numbers.

use auscult_eval::cost::{CostRow, CostSettings, Timing};

use super::{Align, Table};

/// A line a front end; the paper's numbers in brackets.
pub(crate) fn describe(rows: &[CostRow], settings: &CostSettings, machine: &str) -> String {
    let mut table = Table::new(&[
        ("front end", Align::Left),
        ("compares", Align::Left),
        ("output", Align::Right),
        ("features ms", Align::Right),
        ("end to end ms", Align::Right),
        ("all threads ms", Align::Right),
        ("G MACs", Align::Right),
        ("M parameters", Align::Right),
        ("peak MB", Align::Right),
    ]);
    for row in rows {
        let paper = row.paper;
        let timed = |timing: Timing, paper: Option<f64>| {
            let ours = format!(
                "{:.3} ± {:.3}, least {:.3}",
                timing.mean, timing.deviation, timing.minimum
            );
            with_paper(ours, paper)
        };
        let giga = row.network.map(|network| network.multiply_accumulates as f64 / 1e9);
        let mega = row.network.map(|network| network.parameters as f64 / 1e6);
        let sized = |value: Option<f64>, paper: Option<f64>| match value {
            Some(value) => with_paper(format!("{value:.2}"), paper),
            None => "-".to_owned(),
        };
        let memory = row.peak_memory_bytes.map(|bytes| format!("{:.0}", bytes as f64 / 1e6));
        table.row([
            row.name.clone(),
            row.compares.clone(),
            row.output.to_string(),
            timed(row.features_ms, paper.map(|paper| paper.features_ms)),
            timed(row.end_to_end_ms, paper.map(|paper| paper.end_to_end_ms)),
            format!("{:.3}", row.all_threads_ms.mean),
            sized(giga, paper.and_then(|paper| paper.giga_macs)),
            sized(mega, paper.and_then(|paper| paper.mega_parameters)),
            memory.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    let CostSettings { clip, references, runs } = settings;
    format!(
        "{}\na clip of {} s, {references} references, {runs} runs, one thread unless said otherwise, on {machine}; \
         the paper's numbers in brackets are of an AMD Ryzen 5 5600X\n",
        table.render(),
        clip.seconds
    )
}

fn with_paper(ours: String, paper: Option<f64>) -> String {
    match paper {
        Some(paper) => format!("{ours} ({paper})"),
        None => ours,
    }
}

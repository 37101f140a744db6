//! What became, or will become, of an archive.

use std::path::Path;

use auscult_archive::{ArchiveSummary, Estimate, FittedMachine};

use super::{Align, Table};
use crate::printer::count;

/// What a run came to.
pub(crate) fn summary(summary: &ArchiveSummary, out: &Path) -> String {
    let ArchiveSummary { shards, skipped, rows, errors, anomalous, seconds, .. } = summary;
    let written = shards - skipped;
    let mut text = format!(
        "{}: {} written, {skipped} of {shards} there already\n",
        out.display(),
        count(written, "shard")
    );
    if *rows > 0 {
        let rate = *rows as f64 / seconds.max(1e-9);
        text += &format!(
            "{rows} rows in {}, {rate:.0} a second: {anomalous} anomalous, {errors} with an error\n",
            duration(*seconds)
        );
    }
    text
}

/// What a run will cost.
pub(crate) fn estimate(estimate: &Estimate, left: Option<usize>, price: Option<f64>) -> String {
    let Estimate { clips, shards, tried, errors, seconds_per_clip, .. } = estimate;
    let hours = estimate.processor_hours;
    let mut text = format!("{clips} clips in {}", count(*shards, "shard"));
    if let Some(left) = left {
        text += &format!(", {left} of them to do");
    }
    text += &format!(
        "\n{:.2} ms of processor time each, measured on {}",
        1e3 * seconds_per_clip,
        count(*tried, "clip")
    );
    if *errors > 0 {
        text += &format!(" ({errors} could not be read)");
    }
    text += &format!(
        "\nall of them: {hours:.2} processor hours, about {} with {}\n",
        duration(estimate.seconds),
        count(estimate.jobs, "thread")
    );
    if let Some(price) = price {
        let million = 1e6 * seconds_per_clip / 3_600.0 * price;
        text += &format!("cost: {:.2}, {million:.2} a million clips\n", price * hours);
    }
    text
}

/// Models of many machines.
pub(crate) fn fitted(machines: &[FittedMachine], out: &Path) -> String {
    let mut table = Table::new(&[
        ("machine", Align::Left),
        ("references", Align::Right),
        ("visits", Align::Right),
        ("left out", Align::Right),
        ("", Align::Left),
    ]);
    for one in machines {
        let remark = match &one.error {
            Some(error) => error.clone(),
            None if one.is_skipped => "there already".to_owned(),
            None => String::new(),
        };
        let numbers = [one.references, one.visits, one.left_out].map(|number| number.to_string());
        let [references, visits, left_out] = numbers;
        table.row([one.machine.clone(), references, visits, left_out, remark]);
    }
    let failed = machines.iter().filter(|one| one.error.is_some()).count();
    let models = count(machines.len() - failed, "model");
    format!("{}\n{models} in {}, {failed} failed\n", table.render(), out.display())
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds if seconds < 7_200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3_600.0),
    }
}

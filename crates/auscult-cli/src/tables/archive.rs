//! What became, or will become, of an archive.

use std::path::Path;

use auscult_archive::{ArchiveSummary, Estimate, FittedMachine};

use super::{Align, Table};
use crate::printer::count;

/// What a run came to.
pub(crate) fn summary(summary: &ArchiveSummary, out: &Path) -> String {
    let ArchiveSummary { shards, skipped, rows, errors, anomalous, seconds, .. } = summary;
    let written = count(shards - skipped, "shard");
    let shards =
        format!("{}: {written} written, {skipped} of {shards} there already\n", out.display());
    if *rows == 0 {
        return shards;
    }
    let (rate, took) = (*rows as f64 / seconds.max(1e-9), duration(*seconds));
    format!(
        "{shards}{rows} rows in {took}, {rate:.0} a second: {anomalous} anomalous, {errors} with an error\n"
    )
}

/// What a run will cost.
pub(crate) fn estimate(estimate: &Estimate, left: Option<usize>, price: Option<f64>) -> String {
    let Estimate { clips, shards, tried, errors, seconds_per_clip, .. } = estimate;
    let (shards, tried) = (count(*shards, "shard"), count(*tried, "clip"));
    let left = left.map(|left| format!(", {left} of them to do")).unwrap_or_default();
    let unread = match errors {
        0 => String::new(),
        errors => format!(" ({errors} could not be read)"),
    };
    let (hours, milliseconds) = (estimate.processor_hours, 1e3 * seconds_per_clip);
    let (took, threads) = (duration(estimate.seconds), count(estimate.jobs, "thread"));
    let cost = price.map(|price| {
        let million = 1e6 * seconds_per_clip / 3_600.0 * price;
        format!("cost: {:.2}, {million:.2} a million clips\n", price * hours)
    });
    format!(
        "{clips} clips in {shards}{left}\n\
         {milliseconds:.2} ms of processor time each, measured on {tried}{unread}\n\
         all of them: {hours:.2} processor hours, about {took} with {threads}\n{}",
        cost.unwrap_or_default()
    )
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

//! `auscult archive plan`: what a run will cost.

use auscult_archive::{Estimate, ScoreArchive};
use serde_json::json;

use super::Archive;
use crate::{Outcome, args::ArchivePlanArguments, context::Context, tables};

pub(super) fn run(arguments: &ArchivePlanArguments, context: &Context) -> anyhow::Result<Outcome> {
    if let Some(price) = arguments.price {
        let is_price = price.is_finite() && price >= 0.0;
        anyhow::ensure!(is_price, "--price must be a number of at least 0, got {price}");
    }
    let archive = Archive::open(&arguments.archive, context)?;
    let control = context.control();
    let scorer = archive.scorer(&control);
    let estimate = Estimate::of(&archive.plan, &scorer)?;
    let left = arguments
        .out
        .as_deref()
        .map(|out| ScoreArchive { scorer, out, replace: false }.left(&archive.plan));
    let left = left.transpose()?;
    if arguments.json {
        let price = arguments.price.map(|price| price * estimate.processor_hours);
        let mut facts = serde_json::to_value(&estimate)?;
        facts["shards_left"] = json!(left.unwrap_or(estimate.shards));
        facts["price"] = json!(price);
        context.printer.line(serde_json::to_string_pretty(&facts)?)?;
    } else {
        context.printer.text(&tables::archive::estimate(&estimate, left, arguments.price))?;
    }
    Ok(Outcome::Done)
}

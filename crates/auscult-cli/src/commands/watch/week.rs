//! One page on the last week of a machine, or of all of them.

use std::path::PathBuf;

use auscult_monitor::{
    data::DataFolder,
    week::{site_page, week_page},
};

use crate::{Outcome, args::WeekArguments, context::Context};

pub(super) fn report(
    data: &DataFolder,
    arguments: &WeekArguments,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let usual = match &arguments.machine {
        Some(machine) => format!("{machine}-week.html"),
        None => "week.html".to_owned(),
    };
    let output = arguments.output.clone().unwrap_or_else(|| PathBuf::from(usual));
    auscult::files::check_target(&output)?;
    let (page, left_out) = match &arguments.machine {
        Some(machine) => {
            (week_page(data, machine, arguments.days, &context.front_ends)?, Vec::new())
        }
        None => site_page(data, arguments.days, &context.front_ends)?,
    };
    auscult::files::write_atomically(&output, page.as_bytes())?;
    context.printer.line(format!("wrote {}", output.display()))?;
    if !left_out.is_empty() {
        context
            .printer
            .note(format!("still being learnt, not on the page: {}", left_out.join(", ")));
    }
    Ok(Outcome::Done)
}

//! One page on a machine's last week.

use auscult_monitor::{data::DataFolder, week::week_page};

use crate::{Outcome, args::WeekArguments, context::Context};

pub(super) fn report(
    data: &DataFolder,
    arguments: &WeekArguments,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let days = if arguments.week { 7 } else { arguments.days };
    let page = week_page(data, &arguments.machine, days, &context.front_ends)?;
    auscult::files::check_target(&arguments.output)?;
    auscult::files::write_atomically(&arguments.output, page.as_bytes())?;
    context.printer.line(format!("wrote {}", arguments.output.display()))?;
    Ok(Outcome::Done)
}

//! A history played again.

use auscult_monitor::{clock::utc, data::DataFolder, history::History, replay::replay as play};

use super::looking::machine_of;
use crate::{Outcome, context::Context, printer::count};

pub(super) fn replay(
    data: &DataFolder,
    machines: &[String],
    context: &Context,
) -> anyhow::Result<Outcome> {
    let history = History::read(data.root())?;
    let all = history.machines()?.into_iter().map(|(_, name)| name);
    let machines: Vec<String> = if machines.is_empty() { all.collect() } else { machines.to_vec() };
    let mut outcome = Outcome::Done;
    for name in machines {
        machine_of(&history, &name)?;
        let Some(played) = play(data, &history, &name)? else {
            context.printer.problem(format!("{name}: nothing in the history can be replayed"));
            outcome = Outcome::Incomplete;
            continue;
        };
        let (inputs, events) = (count(played.inputs, "input"), count(played.events.len(), "event"));
        match played.difference {
            None => {
                let earlier = match played.earlier {
                    0 => String::new(),
                    some => format!(
                        " (since {}; {} before it rest on clips that are thinned out)",
                        utc(played.began.round()),
                        count(some, "event")
                    ),
                };
                context.printer.line(format!(
                    "{name}: {inputs}, {events}, the same as in the history{earlier}"
                ))?;
            }
            Some((old, new)) => {
                outcome = Outcome::Incomplete;
                let text = |event: Option<auscult_monitor::watch::Event>| {
                    event.map_or_else(
                        || "nothing".to_owned(),
                        |event| format!("{} {}", event.id, event.sentence()),
                    )
                };
                context.printer.problem(format!(
                    "{name}: {inputs}, {events}; the history has {}, the replay {}",
                    text(old),
                    text(new)
                ));
            }
        }
    }
    Ok(outcome)
}

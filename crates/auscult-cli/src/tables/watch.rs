//! What a monitor knows, for people.

use std::fmt::Write as _;

use auscult_monitor::{
    clock::utc,
    history::{ModelRow, WaitingClip},
    watch::{Event, MachineStatus},
};

use super::{Align, Table};
use crate::printer::{printable, state};

/// One line a machine, the worst first.
pub(crate) fn status_table(statuses: &[MachineStatus]) -> String {
    let mut table = Table::new(&[
        ("machine", Align::Left),
        ("state", Align::Left),
        ("since", Align::Left),
        ("score", Align::Right),
        ("trend", Align::Left),
        ("level", Align::Right),
        ("alarm", Align::Left),
        ("last event", Align::Left),
    ]);
    let mut statuses: Vec<&MachineStatus> = statuses.iter().collect();
    statuses.sort_by_key(|status| (severity(&status.state), status.name.clone()));
    for status in &statuses {
        let number = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let mut word = state(&status.state);
        if status.drift {
            word.push_str(" (drift)");
        }
        if status.acknowledged {
            word.push_str(" (acknowledged)");
        }
        if let Some(shelved) = &status.shelved {
            let _ = write!(word, " (shelved until {})", to_the_second(&shelved.until));
        }
        if status.out_of_service.is_some() {
            word.push_str(" (out of service)");
        }
        let last = match (&status.learning, &status.source.problem) {
            (_, Some(problem)) => problem.clone(),
            (Some(learning), None) => learning.text.clone(),
            (None, None) => last_event(status),
        };
        table.row([
            status.name.clone(),
            word,
            to_the_second(&status.since),
            number(status.score, 2),
            sparkline(&status.trend),
            number(status.level_dbfs, 0),
            rule_column(status),
            shortened(&last),
        ]);
    }
    if table.is_empty() {
        return "no machine has been heard of yet\n".to_owned();
    }
    let mut text = table.render();
    for status in statuses {
        if let Some(rule) = status.rule.as_ref().filter(|rule| rule.missing.is_some()) {
            let _ = writeln!(text, "{}: an alarm is {}", status.name, printable(&rule.text));
        }
    }
    text
}

/// Why the state is a bad one, while it is; otherwise what happened last.
fn last_event(status: &MachineStatus) -> String {
    match &status.last_event {
        Some(event) if ["normal", "learning", "not-running"].contains(&status.state.as_str()) => {
            format!("{} {}", to_the_second(&event.time), event.reason)
        }
        _ => status.reason.clone(),
    }
}

/// What raises an alarm, and of which budget: `4 of 6 (1 alarm per month)`.
fn rule_column(status: &MachineStatus) -> String {
    let Some(rule) = &status.rule else { return "-".to_owned() };
    let budget = match (&rule.budget, rule.promised) {
        (Some(budget), true) => format!(" ({budget})"),
        (Some(budget), false) => format!(" ({budget}, not promised)"),
        (None, _) => String::new(),
    };
    format!("{} of {}{budget}", rule.raise, rule.window)
}

/// A time of a status without its fraction.
fn to_the_second(time: &str) -> String {
    time.split_once('.').map_or(time.to_owned(), |(seconds, _)| format!("{seconds}Z"))
}

fn severity(state: &str) -> usize {
    const WORST_FIRST: [&str; 7] =
        ["alarm", "sensor-fault", "no-data", "alert", "learning", "not-running", "normal"];
    WORST_FIRST.iter().position(|known| *known == state).unwrap_or(WORST_FIRST.len())
}

/// The last scores as eight heights.
fn sparkline(trend: &[f64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let newest = &trend[trend.len().saturating_sub(20)..];
    let logs: Vec<f64> = newest.iter().map(|score| score.max(1e-9).ln()).collect();
    let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let height = |log: &f64| {
        let share = (log - low) / (high - low).max(1e-9);
        HEIGHTS[((share * 7.99) as usize).min(7)]
    };
    logs.iter().map(height).collect()
}

fn shortened(text: &str) -> String {
    let text = printable(text);
    if text.chars().count() <= 70 { text } else { text.chars().take(69).chain(['…']).collect() }
}

/// One line an event, the oldest first.
pub(crate) fn event_table(events: &[Event]) -> String {
    let mut table = Table::new(&[
        ("time", Align::Left),
        ("event", Align::Left),
        ("state", Align::Left),
        ("clips", Align::Left),
        ("why", Align::Left),
    ]);
    for event in events {
        // By these numbers feedback is given.
        let clips: Vec<String> = event.details.clips.iter().map(ToString::to_string).collect();
        table.row([
            utc(event.unix_seconds),
            event.id.clone(),
            state(event.to.name()),
            clips.join(","),
            printable(&event.reason),
        ]);
    }
    if table.is_empty() { "nothing has happened yet\n".to_owned() } else { table.render() }
}

/// One line a version.
pub(crate) fn model_table(models: &[ModelRow]) -> String {
    let mut table = Table::new(&[
        ("version", Align::Right),
        ("from", Align::Left),
        ("to", Align::Left),
        ("references", Align::Right),
        ("threshold", Align::Right),
        ("why", Align::Left),
    ]);
    for model in models {
        let threshold = model.threshold.map_or_else(|| "-".to_owned(), |it| format!("{it:.4}"));
        table.row([
            model.version.to_string(),
            utc(model.valid_from),
            model.valid_to.map_or_else(|| "now".to_owned(), utc),
            model.references.to_string(),
            threshold,
            printable(&model.note),
        ]);
    }
    if table.is_empty() { "it has no model yet\n".to_owned() } else { table.render() }
}

/// One line a clip that waits.
pub(crate) fn waiting_table(clips: &[WaitingClip]) -> String {
    let mut table = Table::new(&[
        ("clip", Align::Right),
        ("time", Align::Left),
        ("sound", Align::Left),
        ("why", Align::Left),
    ]);
    for clip in clips {
        table.row([
            clip.step.to_string(),
            utc(clip.time),
            clip.sound.clone(),
            printable(&clip.reason),
        ]);
    }
    if table.is_empty() { "no clip waits\n".to_owned() } else { table.render() }
}

//! The last day of every machine in half hours, for the small pictures of the plant. It is read from the history now and
//! then, a few machines at a time, so that a list of a thousand machines costs nothing more than one of ten.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use auscult_monitor::{history::History, running::Handle};
use serde_json::json;
use tokio::sync::broadcast;

use crate::{error::Result, hub::Frame, readers::Readers};

/// The mean score of each half hour, the oldest first, that which has just begun last; `None` where nothing was scored.
pub(crate) type Day = Vec<Option<f64>>;

/// Spans of a day.
const SPANS: usize = 48;

/// Their length in seconds.
const WIDTH: i64 = 1_800;

/// A machine is looked at again after this much time of the plant.
const AGAIN_SECONDS: f64 = WIDTH as f64 / 3.0;

/// How often somebody looks which machines are due.
const LOOK: Duration = Duration::from_secs(1);

/// No more time than this is spent on reading at a look; whoever is left is first at the next.
const MOST_READING: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct Known {
    /// When it was read, by the clock of the plant.
    at: f64,
    day: Day,
}

/// The days that were read last; clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Days {
    known: Arc<Mutex<HashMap<String, Known>>>,
    changes: Arc<AtomicU64>,
}

impl Days {
    /// Begins to read; ends with the runtime.
    pub(crate) fn start(
        monitor: Handle,
        readers: Readers,
        frames: broadcast::Sender<Frame>,
    ) -> Self {
        let days = Self::default();
        tokio::spawn(days.clone().keep(monitor, readers, frames));
        days
    }

    /// The day of a machine; empty if it was not read yet.
    pub(crate) fn of(&self, machine: &str) -> Day {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(machine).map(|known| known.day.clone()).unwrap_or_default()
    }

    /// How often one of them has changed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    async fn keep(self, monitor: Handle, readers: Readers, frames: broadcast::Sender<Frame>) {
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let (site, now) = (monitor.site(), monitor.settings().clock.now());
            let due = self.due(site.machines.iter().map(|machine| machine.name.as_str()), now);
            if due.is_empty() {
                continue;
            }
            // What cannot be read now is in the log, and tried again.
            let Ok(read) = readers.read(move |history| read(history, due, now)).await else {
                continue;
            };
            for (machine, day) in self.take(read, now) {
                let body = json!({ "name": machine, "day": day });
                let bytes = format!("event: day\ndata: {body}\n\n").into();
                // Nobody may look on.
                let _ = frames.send(Frame { event: None, bytes });
            }
        }
    }

    /// Machines whose day is old or not known, those that wait longest first; others are forgotten.
    fn due<'a>(&self, machines: impl Iterator<Item = &'a str>, now: f64) -> Vec<String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due: Vec<(f64, String)> = Vec::new();
        let mut kept = HashMap::with_capacity(known.len());
        for machine in machines {
            let before = known.remove_entry(machine);
            let at = before.as_ref().map_or(f64::NEG_INFINITY, |(_, known)| known.at);
            // Of a clock that was set back, too.
            if !(at..at + AGAIN_SECONDS).contains(&now) {
                due.push((at, machine.to_owned()));
            }
            kept.extend(before);
        }
        *known = kept;
        due.sort_by(|a, b| a.0.total_cmp(&b.0));
        due.into_iter().map(|(_, machine)| machine).collect()
    }

    /// Keeps what was read; gives what is new.
    fn take(&self, read: Vec<(String, Day)>, now: f64) -> Vec<(String, Day)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut news = Vec::new();
        for (machine, day) in read {
            let before = known.insert(machine.clone(), Known { at: now, day: day.clone() });
            if before.is_none_or(|before| before.day != day) {
                news.push((machine, day));
            }
        }
        if !news.is_empty() {
            self.changes.fetch_add(1, Ordering::AcqRel);
        }
        news
    }
}

fn read(history: &History, machines: Vec<String>, now: f64) -> Result<Vec<(String, Day)>> {
    let began = Instant::now();
    let mut found = Vec::new();
    for machine in machines {
        let day = day_of(history, &machine, now)?;
        found.push((machine, day));
        if began.elapsed() > MOST_READING {
            break;
        }
    }
    Ok(found)
}

fn day_of(history: &History, machine: &str, now: f64) -> Result<Day> {
    let mut day = vec![None; SPANS];
    let Some(machine) = history.machine_id(machine)? else { return Ok(day) };
    let end = (now / WIDTH as f64).floor() as i64 + 1;
    let first = end - SPANS as i64;
    let [from, to] = [first, end].map(|span| (span * WIDTH) as f64);
    for point in history.trend(machine, from, to, WIDTH)? {
        let span = (point.start / WIDTH as f64).round() as i64 - first;
        let cell = usize::try_from(span).ok().and_then(|span| day.get_mut(span));
        if let Some(cell) = cell {
            *cell = point.mean.map(rounded);
        }
    }
    Ok(day)
}

/// As many figures as a picture of the size of a stamp can show: lists of a thousand machines have many of them.
fn rounded(score: f64) -> f64 {
    format!("{score:.2e}").parse().unwrap_or(score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_days_are_due_and_those_that_wait_longest_come_first() {
        let days = Days::default();
        let due = |machines: &[&str], now| days.due(machines.iter().copied(), now);
        assert_eq!(due(&["a", "b", "c"], 0.0), ["a", "b", "c"]);
        assert_eq!(days.take(vec![("a".to_owned(), vec![Some(1.0)])], 0.0).len(), 1);
        assert_eq!(days.take(vec![("b".to_owned(), vec![None])], 300.0).len(), 1);
        assert_eq!((days.of("a"), days.of("c")), (vec![Some(1.0)], Vec::new()));
        assert_eq!(due(&["a", "b", "c"], 500.0), ["c"]);
        assert_eq!(due(&["a", "b", "c"], 1_000.0), ["c", "a", "b"]);
        // A clock that was set back.
        assert_eq!(due(&["a", "b"], 100.0), ["b"]);
        let changes = days.changes();
        assert!(days.take(vec![("b".to_owned(), vec![None])], 900.0).is_empty());
        assert_eq!(days.changes(), changes, "what is the same is not news");
        // Who is not watched any more is forgotten.
        due(&["b"], 900.0);
        assert!(days.of("a").is_empty());
    }

    #[test]
    fn scores_keep_three_figures() {
        assert_eq!(rounded(1_234.567), 1_230.0);
        assert_eq!(rounded(0.012_345), 0.0123);
        assert_eq!((rounded(0.0), rounded(-2.0)), (0.0, -2.0));
    }
}

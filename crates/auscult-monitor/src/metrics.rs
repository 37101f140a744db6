//! Numbers for Prometheus and the health of the monitor, as functions of the history; labels are machine and source only.

use std::fmt::Write;

use auscult::alarm::AlarmState;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::{error::Result, history::History, watch::MachineStatus};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfMachine {
    machine: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfState {
    machine: String,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfSink {
    sink: String,
}

type Number = Gauge<f64, std::sync::atomic::AtomicU64>;

/// Everything in the text form that Prometheus reads.
///
/// # Errors
///
/// If the history cannot be read.
pub fn metrics(history: &History) -> Result<String> {
    let statuses = history.statuses()?;
    let mut registry = Registry::with_prefix("auscult");
    let state = Family::<OfState, Gauge>::default();
    registry.register("machine_state", "1 for the state a machine is in", state.clone());
    let mut number = |name: &str, help: &str| {
        let family = Family::<OfMachine, Number>::default();
        registry.register(name, help, family.clone());
        family
    };
    let score = number("score", "Score of the last clip");
    let p_value = number("p_value", "p-value of the last clip");
    let level = number("level_dbfs", "Level of the last clip");
    let drift = number("drift", "1 if the normal has moved");
    let alive = number("source_alive", "1 if sound arrives");
    let clips = number("clips", "Clips taken in");
    for status in &statuses {
        let of = OfMachine { machine: status.name.clone() };
        for known in AlarmState::ALL {
            let label = OfState { machine: status.name.clone(), state: known.name() };
            state.get_or_create(&label).set(i64::from(known.name() == status.state));
        }
        for (family, value) in [
            (&score, status.score),
            (&p_value, status.p_value),
            (&level, status.level_dbfs),
            (&drift, Some(f64::from(u8::from(status.drift)))),
            (&alive, Some(f64::from(u8::from(status.source.alive)))),
            (&clips, Some(status.clips as f64)),
        ] {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                family.get_or_create(&of).set(value);
            }
        }
    }
    let waiting = Family::<OfSink, Gauge>::default();
    registry.register("outbox_waiting", "Messages that wait to be sent", waiting.clone());
    for (sink, count) in history.waiting_messages()? {
        waiting.get_or_create(&OfSink { sink }).set(count);
    }
    let bytes = Gauge::<i64>::default();
    registry.register("history_bytes", "Room that the history takes", bytes.clone());
    bytes.set(history.bytes() as i64);
    let mut text = String::new();
    if encode(&mut text, &registry).is_err() {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "# EOF");
    }
    Ok(text)
}

/// Whether the monitor is well enough to be relied on: its history can be read and every machine has been heard of.
///
/// # Errors
///
/// If the history cannot be read.
pub fn health(history: &History) -> Result<Vec<MachineStatus>> {
    let statuses = history.statuses()?;
    Ok(statuses.into_iter().filter(|status| !status.source.alive).collect())
}

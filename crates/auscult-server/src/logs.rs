//! The last lines of the log, for the page on the system.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use auscult_monitor::clock::{Clock, utc};
use serde::Serialize;
use tracing::{Event, Subscriber, field::Visit};
use tracing_subscriber::{Layer, layer::Context};
use utoipa::ToSchema;

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LogLine {
    /// When, in UTC, by the computer's clock.
    pub time: String,
    /// `ERROR`, `WARN` or `INFO`.
    pub level: &'static str,
    /// What.
    pub text: String,
}

/// Keeps the last lines; clones share them.
#[derive(Debug, Clone, Default)]
pub struct LogRing(Arc<Mutex<VecDeque<LogLine>>>);

/// Lines that are kept.
const MOST: usize = 200;

/// Letters of a line.
const LONGEST: usize = 1_000;

impl LogRing {
    /// The lines, the newest last.
    pub fn lines(&self) -> Vec<LogLine> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl<S: Subscriber> Layer<S> for LogRing {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = *event.metadata().level();
        if level > tracing::Level::INFO {
            return;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let text: String = (text.message + &text.fields).chars().take(LONGEST).collect();
        let line = LogLine { time: utc(Clock::system().now()), level: level.as_str(), text };
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MOST {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        // Writing to a text cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

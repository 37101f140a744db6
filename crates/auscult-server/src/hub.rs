//! What just happened, written once for everybody who looks on: events at once, where machines stand a few times a second.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use auscult_monitor::{
    news::News,
    running::Handle,
    watch::{Event, MachineStatus},
};
use axum::body::Bytes;
use tokio::sync::broadcast;

use crate::{
    scrub::{Scrubber, Scrubbing},
    severity::Severe,
};

/// A part of the stream, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// The event it is about, so that nobody gets it twice.
    pub(crate) event: Option<Arc<str>>,
    pub(crate) bytes: Bytes,
}

/// Writes frames; whoever is too slow is told to come again.
#[derive(Debug, Clone)]
pub(crate) struct Hub {
    frames: broadcast::Sender<Frame>,
}

/// Statuses are gathered for this long: people do not see faster, and a thousand machines stay cheap.
const GATHER: Duration = Duration::from_millis(250);

/// Frames that may wait for somebody slow.
const MOST_WAITING: usize = 1_024;

impl Hub {
    /// Begins to write; ends with the runtime or the monitor.
    pub(crate) fn start(monitor: Handle, scrubbing: Arc<Scrubbing>) -> Self {
        let frames = broadcast::channel(MOST_WAITING).0;
        let news = monitor.news().subscribe();
        let scrubber = move || scrubbing.of(monitor.settings().data.root(), &monitor.site());
        tokio::spawn(write(news, frames.clone(), scrubber));
        Self { frames }
    }

    /// For those who have frames of their own.
    pub(crate) fn sender(&self) -> broadcast::Sender<Frame> {
        self.frames.clone()
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Frame> {
        self.frames.subscribe()
    }
}

async fn write(
    mut news: broadcast::Receiver<News>,
    frames: broadcast::Sender<Frame>,
    scrubber: impl Fn() -> Arc<Scrubber>,
) {
    let mut statuses: BTreeMap<String, Arc<MachineStatus>> = BTreeMap::new();
    let mut ticks = tokio::time::interval(GATHER);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            told = news.recv() => match told {
                Ok(News::Event(event)) => {
                    let bytes = of_event(&event, &scrubber());
                    let frame = Frame { event: Some(event.id.as_str().into()), bytes };
                    // Nobody may look on.
                    let _ = frames.send(frame);
                }
                Ok(News::Status(status)) => drop(statuses.insert(status.name.clone(), status)),
                // Where machines stand comes again with their next clip; events are in the history.
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "the stream is behind");
                }
                Err(broadcast::error::RecvError::Closed) => return,
            },
            _ = ticks.tick() => {
                if statuses.is_empty() {
                    continue;
                }
                if frames.receiver_count() > 0 {
                    let mut text = String::new();
                    for status in statuses.values() {
                        text.push_str(&of_status(status));
                    }
                    let text = scrubber().scrub(&text).unwrap_or(text);
                    let _ = frames.send(Frame { event: None, bytes: text.into() });
                }
                statuses.clear();
            }
        }
    }
}

/// An event as the stream has it, with the id to resume from.
pub(crate) fn of_event(event: &Event, scrubber: &Scrubber) -> Bytes {
    let text = format!("id: {}\nevent: event\ndata: {}\n\n", event.id, event_json(event));
    scrubber.scrub(&text).unwrap_or(text).into()
}

/// An event as programs get it, with its sentence.
pub(crate) fn event_json(event: &Event) -> serde_json::Value {
    let mut value = event.to_json();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("sentence".to_owned(), event.sentence().into());
    }
    value
}

fn of_status(status: &MachineStatus) -> String {
    let body = serde_json::to_string(&Severe::of(status.clone())).unwrap_or_default();
    format!("event: status\ndata: {body}\n\n")
}

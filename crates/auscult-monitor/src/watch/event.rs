//! What happened to a machine, as history, messages and pages have it.

use auscult::alarm::AlarmState;
use serde::{Deserialize, Serialize};

use crate::clock::utc;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// `pump-7-12`: the machine and how many events it had.
    pub id: String,
    /// The machine.
    pub machine: String,
    /// When, in seconds since 1970.
    pub unix_seconds: f64,
    /// What kind of thing.
    pub kind: EventKind,
    /// The state before; the same as after where the state did not change.
    pub from: AlarmState,
    /// The state after.
    pub to: AlarmState,
    /// Why, in a sentence without its full stop.
    pub reason: String,
    /// Whether people are told: not while the machine is shelved or out of service.
    pub is_announced: bool,
    /// Everything else.
    #[serde(flatten)]
    pub details: EventDetails,
}

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// The state changed.
    State,
    /// The normal has moved, or is back.
    Drift,
    /// An alarm that nobody has acknowledged.
    Reminder,
    /// Somebody did something.
    Command,
    /// Another model judges from now on.
    Model,
    /// The source of the sound was lost or came back.
    Source,
    /// The clock was set.
    Clock,
    /// The rules changed.
    Rules,
}

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::State,
        Self::Drift,
        Self::Reminder,
        Self::Command,
        Self::Model,
        Self::Source,
        Self::Clock,
        Self::Rules,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Drift => "drift",
            Self::Reminder => "reminder",
            Self::Command => "command",
            Self::Model => "model",
            Self::Source => "source",
            Self::Clock => "clock",
            Self::Rules => "rules",
        }
    }
}

/// What an event rests on; what is not known is left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EventDetails {
    /// The step of the machine's history.
    pub step: u64,
    /// The clips behind it, by their steps.
    pub clips: Vec<u64>,
    /// Since when it has been so, in seconds since 1970.
    pub since: Option<f64>,
    /// The score of the last of these clips.
    pub score: Option<f64>,
    /// Its p-value.
    pub p_value: Option<f64>,
    /// What can be heard.
    pub heard: Option<String>,
    /// The band that differs most.
    pub differs_most: Option<String>,
    /// Where the spectrum differs most from the closest normal clip.
    pub bands: Vec<Band>,
    /// The closest normal clip.
    pub nearest: Option<String>,
    /// The model that judged.
    pub model: Option<ModelStamp>,
    /// The rule in force.
    pub rule: Option<String>,
    /// The sound that was kept, relative to the data folder.
    pub sound: Option<String>,
    /// Who did it.
    pub who: Option<String>,
    /// Of a machine that is normal again: what was wrong since it last was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<AlarmState>,
}

/// A part of the spectrum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Band {
    /// From here, in Hz ...
    pub low_hertz: f64,
    /// ... to here.
    pub high_hertz: f64,
    /// How much louder than in the closest normal clip, in dB.
    pub decibels: f32,
}

/// Which model it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelStamp {
    /// Counts from 1 for each machine.
    pub version: i64,
    /// The fingerprint of its file.
    pub hash: String,
    /// Scores above it are anomalous.
    pub threshold: Option<f64>,
}

impl Event {
    /// The word that sinks choose by.
    pub fn news(&self) -> &'static str {
        match self.kind {
            EventKind::State => self.to.name(),
            EventKind::Drift => "drift",
            EventKind::Reminder => "reminder",
            EventKind::Source => "source",
            EventKind::Model => "model",
            EventKind::Command | EventKind::Clock | EventKind::Rules => "record",
        }
    }

    /// The event as programs get it: everything, with its time as text.
    pub fn to_json(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("time".to_owned(), utc(self.unix_seconds).into());
            if let Some(since) = self.details.since {
                fields.insert("since_time".to_owned(), utc(since).into());
            }
        }
        value
    }

    /// One sentence for people.
    pub fn sentence(&self) -> String {
        let machine = &self.machine;
        match self.kind {
            EventKind::State => {
                let since = self.details.since.filter(|_| self.to == AlarmState::Alarm);
                let since = since.map_or(String::new(), |since| format!(" since {}", utc(since)));
                format!("{machine}: {}{since}: {}", self.to, self.reason)
            }
            _ => format!("{machine}: {}", self.reason),
        }
    }
}

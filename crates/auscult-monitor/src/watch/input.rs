//! What an engine hears: clips, commands, models, sources and clocks, as they are kept in the history.

use auscult::alarm::Observation;
use serde::{Deserialize, Serialize};

use super::{
    engine::RulesRecord,
    event::{Band, ModelStamp},
};

/// What the engine hears.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Input {
    /// A clip was judged.
    Clip(ClipInput),
    /// Somebody did something.
    Command(Command),
    /// Another model judges from now on.
    Model {
        /// Which one; `None` while the machine is being learnt.
        model: Option<ModelStamp>,
        /// Why.
        reason: String,
        /// The rules from now on.
        rules: RulesRecord,
        /// Whether the machine is being learnt.
        #[serde(default)]
        is_learning: bool,
    },
    /// The rules changed.
    Rules {
        /// The rules from now on.
        rules: RulesRecord,
    },
    /// The source was lost or came back.
    Source {
        /// Whether there is sound.
        is_alive: bool,
        /// What happened.
        text: String,
    },
    /// The clock was set by this many seconds.
    Clock {
        /// Forwards, or backwards if negative.
        seconds: f64,
    },
}

/// What a clip says, as the engine needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClipInput {
    /// What it amounts to.
    pub observation: Observation,
    /// When its sound began.
    pub began: f64,
    /// Its score.
    pub score: Option<f64>,
    /// Its p-value.
    pub p_value: Option<f64>,
    /// Why.
    pub reason: String,
    /// What can be heard.
    pub heard: Option<String>,
    /// The band that differs most.
    pub differs_most: Option<String>,
    /// Where the spectrum differs most.
    pub bands: Vec<Band>,
    /// The closest normal clip.
    pub nearest: Option<String>,
}

/// What people can do to a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "command")]
pub enum Command {
    /// They have seen the alarm.
    Acknowledge {
        /// Who.
        who: String,
    },
    /// They do not want to be told for a while.
    Shelve {
        /// Until when, in seconds since 1970.
        until: f64,
        /// Why.
        reason: String,
        /// Who.
        who: String,
    },
    /// They want to be told again.
    Unshelve {
        /// Who.
        who: String,
    },
    /// The machine is not to be judged until it is back.
    OutOfService {
        /// Why.
        reason: String,
        /// Who.
        who: String,
    },
    /// It is to be judged again.
    InService {
        /// Who.
        who: String,
    },
    /// The normal has moved, and somebody has looked at it.
    AcceptDrift {
        /// Who.
        who: String,
    },
    /// An outside system says which state the machine is in: `on`, `off`, or a name.
    Tag {
        /// The state.
        state: String,
    },
}

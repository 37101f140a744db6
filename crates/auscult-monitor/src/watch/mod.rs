//! One machine being watched, in the order its sound travels.

mod changing;
mod ear;
mod engine;
mod event;
mod health;
mod input;
mod judging;
mod keeping;
mod learner;
mod microphone;
mod models;
mod requests;
mod ring;
mod rule;
mod status;
mod watching;

pub(crate) use self::models::check_file;
pub use self::{
    ear::{Seam, Sound},
    engine::{Engine, EngineMemory, EngineRules, RulesRecord},
    event::{Band, Event, EventDetails, EventKind, ModelStamp},
    health::SensorFault,
    input::{ClipInput, Command, Input},
    learner::{Fitted, Learner, Lesson},
    models::{Models, OpenModel},
    requests::{Change, Request},
    ring::Ring,
    rule::{RulePlan, Ruled, USUAL_BUDGET, ends_once},
    status::{
        LastEvent, LearningStatus, MachineStatus, ModelStatus, RuleStatus, Shelved, SourceStatus,
    },
    watching::{Recording, Scorers, Surroundings, WantedBy, Watch},
};

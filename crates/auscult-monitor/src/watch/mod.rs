//! One machine being watched, in the order its sound travels.

mod ear;
mod engine;
mod event;
mod health;
mod learner;
mod models;
mod requests;
mod ring;
mod status;
mod watching;

pub use self::{
    ear::{Seam, Sound},
    engine::{ClipInput, Command, Engine, EngineMemory, EngineRules, Input, RulesRecord},
    event::{Band, Event, EventDetails, EventKind, ModelStamp},
    health::SensorFault,
    learner::{Fitted, Learner, Lesson},
    models::{Models, OpenModel},
    requests::{Change, Request},
    ring::Ring,
    status::{
        LastEvent, LearningStatus, MachineStatus, ModelStatus, Shelved, SourceStatus,
    },
    watching::{Recording, Scorers, Surroundings, Watch},
};
pub(crate) use self::models::open_file;

//! 13. Alarms: verdicts over time, as a state machine without a clock.
//!
//! A verdict is about one clip; an alarm is about the machine. Times are arguments in seconds of
//! whatever clock the caller has; the same observations at the same times give the same states.

mod budget;
mod dependence;
mod machine;
mod plan;
mod settings;

pub use self::{
    budget::{AlarmBudget, Choice, Period, Replay, alarms_per_clip},
    dependence::Dependence,
    machine::{AlarmMachine, AlarmMemory, AlarmState, Observation, Transition},
    plan::{BudgetPlan, BudgetShortfall, LeftOutSound},
    settings::{AlarmRules, AlarmSettings, Latch},
};

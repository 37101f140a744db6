#![doc = include_str!("../README.md")]
//!
//! # Modules, in the order a study goes
//!
//! 1. [`pseudo`]: normal clips are changed as a fault might change them.
//! 2. [`candidate`]: the settings to compare, in an order that suits a small budget.
//! 3. [`study`]: which clips leave the memory together, and how well a candidate finds the
//!    changed ones.
//! 4. [`ranking`]: the candidates in order, with what cannot be told from the best.
//! 5. [`state`]: what is done, so that a run can be continued.
//! 6. [`settings`]: the choice, as a file holds it.

pub mod auc;
pub mod candidate;
mod error;
pub mod pseudo;
pub mod ranking;
pub mod settings;
mod spectrum;
pub mod state;
pub mod study;

pub use crate::{
    candidate::{Candidate, grid, grid_with},
    error::{Error, Result},
    pseudo::{Change, Kind},
    ranking::{Ranked, Ranking},
    settings::TunedSettings,
    state::StudyState,
    study::{Evaluation, Features, KindAuc, NormalClip, Study, StudySettings},
};

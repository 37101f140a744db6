#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! 1. `settings`, `clips`, `labels`: every number, what is learnt from, and which classes are distinguished.
//! 2. `plan`, `parameters`: an encoder's shape and its arrays.
//! 3. `compute`, `augment`, `network`, `head`, `step`: a batch of clips becomes a loss and gradients.
//! 4. `optimiser`: gradients become smaller losses.
//! 5. `place`, `survey`, `checkpoint`, `curve`, `run`: a run that can be stopped at any moment.

mod augment;
mod checkpoint;
mod clips;
mod compute;
mod curve;
mod error;
mod head;
mod labels;
mod network;
mod optimiser;
mod parameters;
mod place;
mod plan;
mod run;
mod settings;
mod step;
mod survey;
#[cfg(test)]
mod tests;

pub use self::{
    clips::{ClipOrigin, LabelledClips},
    compute::Compute,
    curve::StepFacts,
    error::{Error, Result},
    labels::Classes,
    place::RunPlace,
    run::{Finetuned, RunEvent, finetune},
    settings::{Adaptation, FinetuneSettings, LoraTarget, MomentStorage},
};

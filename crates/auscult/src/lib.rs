#![doc = include_str!("../README.md")]
//!
//! # Modules, in the order the sound travels
//!
//! 1. [`sources`]: what the caller names becomes a list of recordings.
//! 2. [`rules`], [`reading`]: recordings become judged clips, on all cores, in order, in bounded memory.
//! 3. [`front_ends`], [`members`], [`presets`]: what clips are turned into and how they are compared, by name or as a
//!    model says.
//! 4. [`scorer`], [`live`]: one clip becomes a record.
//! 5. [`listen`]: sources become records; [`QualitySummary`]: what they say about the recording; [`changed`]: what a run
//!    says as a whole.
//! 6. [`learn`], [`learned`]: normal recordings become a machine, and what was left out.
//! 7. [`machine`]: everything that can be done with one.
//! 8. [`tuning`]: settings chosen from normal clips alone.
//!
//! The method itself, without files and threads, is `auscult-core`; its types are re-exported here.

pub mod changed;
mod error;
#[cfg(feature = "fetch")]
pub mod fetch;
pub mod front_ends;
mod input_quality;
pub mod learn;
pub mod learned;
pub mod listen;
pub mod live;
pub mod machine;
pub mod members;
pub mod metrics;
pub mod presets;
pub mod reading;
pub mod rules;
pub mod scorer;
pub mod sources;
mod targets;
pub mod tuning;
pub mod vector_cache;
mod waiting;

/// The weights of CED-tiny.
#[cfg(feature = "ced-tiny")]
pub use auscult_ced_tiny as ced_tiny;
pub use auscult_core::*;
pub use {
    auscult_audio as audio, auscult_autoencoder as autoencoder, auscult_core as core,
    auscult_encoders as encoders, auscult_files as files,
};

pub use crate::{
    changed::{Changed, WhatDiffers},
    error::{Error, RateCount, Result},
    front_ends::{FrontEndSpec, FrontEnds},
    input_quality::QualitySummary,
    learn::{FrontEndChoice, LabelFolders, Learn, LearnMethod},
    learned::{Learned, LeftOut, LeftOutReason},
    listen::{Listen, Listening, RunSummary},
    live::Live,
    machine::{Calibrate, Forget, Machine},
    presets::{Preset, PresetOfModel},
    reading::{Reading, Threads},
    rules::{ClipRules, CopyRule, Unusable},
    scorer::Scorer,
    sources::{IntoSources, Sources},
    targets::check_result_target,
    vector_cache::{CacheFacts, VectorCache},
};

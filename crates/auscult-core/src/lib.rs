#![doc = include_str!("../README.md")]
//!
//! # Modules, in the order the sound travels
//!
//! 1. [`clip`]: mono samples of a fixed length, and whether they are worth scoring; [`quality`]:
//!    what else they say about the recording.
//! 2. [`features`]: front ends turn a clip into frames with an ordered axis; several become the
//!    members of an ensemble.
//! 3. [`pooling`]: frames become one vector a view (mean, max).
//! 4. [`bands`]: the axis is cut into bands.
//! 5. [`distance`]: how far apart two bands are.
//! 6. [`memory`]: the references to compare with.
//! 7. [`density`]: how far apart a reference's own neighbours are.
//! 8. [`aggregation`]: band scores become a view score, view scores the clip score.
//! 9. [`score`]: that number, with the bands it came from.
//! 10. [`beam`], [`baselines`]: what learns and what scores.
//! 11. [`groups`], [`calibration`]: how unseen normal sound scores, what a score means, and whether a whole run has
//!     changed.
//! 12. [`explain`]: the reasons, as sentences.
//! 13. [`alarm`]: verdicts over time.
//! 14. [`record`]: one clip's result, whole.
//! 15. [`model`], [`storage`], [`model_file`]: everything about one machine, as one value and as bytes.
//!
//! [`Cancel`] and [`Event`] are how long work is stopped and what it reports.
//! `nearest` makes 6, 7 and 10 fast without changing a bit of what they compute.

pub mod aggregation;
pub mod alarm;
pub mod bands;
pub mod baselines;
pub mod beam;
pub mod calibration;
pub mod clip;
mod control;
pub mod coreset;
pub mod density;
pub mod distance;
mod error;
pub mod explain;
pub mod features;
pub mod groups;
pub mod memory;
pub mod model;
pub mod model_file;
mod names;
mod nearest;
mod parallel;
mod plural;
pub mod pooling;
pub mod quality;
pub mod random;
pub mod record;
mod scaled;
pub mod score;
pub mod storage;
#[cfg(test)]
mod testing;

#[doc(no_inline)]
pub use auscult_kernels::fourier;

pub use crate::{
    aggregation::Combine,
    bands::{BandLayout, BandSettings},
    beam::{Beam, BeamOverrides, BeamSettings, FittedBeam, Method, ScoreOf},
    calibration::{Calibration, Confidence, FalseAlarmRate, Promise, Standing, Verdict},
    clip::{
        ClipCondition, ClipLength, ClipSettings, MAX_CLIP_SAMPLE_RATE, MAX_CLIP_SECONDS,
        MIN_CLIP_SAMPLE_RATE, MIN_CLIP_SECONDS,
    },
    control::{Cancel, Control, Event, Events},
    density::{DensityExponent, DensityRule},
    distance::Metric,
    error::{Error, Result},
    explain::Explanation,
    features::{Extractor, FrontEnd, FrontEndIdentity, FrontEndSettings},
    groups::{Basis, CalibrationScheme, Groups},
    memory::{Provenance, References},
    model::{Judge, Model, ModelSettings, ScoredClip, Weights},
    plural::plural,
    pooling::{ClipVectors, View},
    quality::{ClipQuality, QualityMeter},
    record::{ClipRecord, ClipVerdict},
    score::{BandScore, ClipScore, ViewScore},
    storage::Storage,
};

#![doc = include_str!("../README.md")]
//!
//! # Modules, in the order the sound travels
//!
//! 1. [`clip`]: mono samples of a fixed length, and whether they are worth scoring; [`quality`]:
//!    what else they say about the recording.
//! 2. [`features`]: front ends turn a clip into frames with an ordered axis.
//! 3. [`pooling`]: frames become one vector a view (mean, max).
//! 4. [`bands`]: the axis is cut into bands.
//! 5. [`distance`]: how far apart two bands are.
//! 6. [`memory`]: the references to compare with.
//! 7. [`density`]: how far apart a reference's own neighbours are.
//! 8. [`aggregation`]: band scores become a view score, view scores the clip score.
//! 9. [`score`]: that number, with the bands it came from.
//! 10. [`detector`], [`beam`], [`baselines`]: what learns and what scores.
//! 11. [`groups`], [`calibration`]: how unseen normal sound scores, and what a score means.
//! 12. [`explain`]: the reasons, in words.
//! 13. [`model`], [`storage`], [`model_file`]: everything about one machine, as one value and as bytes.
//! 14. [`alarm`]: verdicts over time.

pub mod aggregation;
pub mod alarm;
pub mod bands;
pub mod baselines;
pub mod beam;
pub mod calibration;
pub mod clip;
mod copies;
pub mod coreset;
pub mod density;
pub mod detector;
pub mod distance;
mod error;
pub mod explain;
pub mod features;
pub mod groups;
mod lists;
pub mod memory;
pub mod model;
pub mod model_file;
mod names;
mod outline;
mod pairs;
mod panels;
mod parallel;
pub mod pooling;
mod products;
pub mod quality;
pub mod random;
pub mod score;
mod search;
mod spare;
pub mod storage;
#[cfg(test)]
mod testing;

pub use crate::{
    aggregation::Combine,
    bands::{BandLayout, BandSettings},
    beam::{Beam, BeamSettings, FittedBeam, Method, ScoreOf},
    calibration::{Calibration, Confidence, FalseAlarmRate, Promise, Standing, Verdict},
    clip::{
        ClipCondition, ClipLength, ClipSettings, MAX_CLIP_SAMPLE_RATE, MAX_CLIP_SECONDS,
        MIN_CLIP_SAMPLE_RATE, MIN_CLIP_SECONDS,
    },
    density::{DensityExponent, DensityRule},
    detector::{Detector, Scorer},
    distance::Metric,
    error::{Error, Result},
    explain::Explanation,
    features::{Extractor, FrontEnd, FrontEndIdentity, FrontEndSettings},
    groups::{Basis, CalibrationScheme, Groups},
    memory::{Provenance, References},
    model::{Judge, Model, ModelSettings, ScoredClip, Weights},
    pooling::{ClipVectors, View},
    quality::{ClipQuality, QualityMeter},
    score::{BandScore, ClipScore, ViewScore},
    storage::Storage,
};

//! Chooses front end, bands, neighbours, density exponent and fusion from normal clips alone.
//!
//! Clips of left-out visits are changed in ways a fault might change them (pseudo-anomalies), and every candidate
//! is ranked by how well it tells the changed clips from the unchanged ones. No label is ever read. What that is
//! worth, measured, is in `docs/tuning.md`: pseudo-anomalies are not faults, so the defaults stay unless another
//! candidate is clearly better.
//!
//! ```
//! use auscult::{ClipSettings, Provenance, features::FrontEnds};
//! use auscult::tuning::{NormalClip, Ranking, Study, StudySettings, grid};
//!
//! let hum = |index: u32| -> Vec<f32> {
//!     let step = 0.1 + index as f32 * 1e-3;
//!     (0..16_000).map(|i| (i as f32 * step).sin() * 0.1 + (i as f32 * 1.7).sin() * 0.01).collect()
//! };
//! let clips = (0..6)
//!     .map(|index| NormalClip { samples: hum(index), from: Provenance::of(format!("hum {index}")) });
//! let clip = ClipSettings { seconds: 1.0, ..ClipSettings::default() };
//! let study = Study::new(clips.collect(), Vec::new(), StudySettings { clip, seed: 1 })?;
//!
//! let candidates = grid(clip.check()?, &[])?;
//! let front_end = FrontEnds::built_in().build(&candidates[0].front_end, study.length())?;
//! if let Some(features) = study.features(&*front_end, &|| true)? {
//!     let first = study.evaluate(&features, &candidates[0])?;
//!     assert!((0.0..=1.0).contains(&first.mean_auc));
//!     let ranking = Ranking::of(vec![first]);
//!     assert_eq!(ranking.recommended().map(|chosen| &chosen.evaluation.candidate), Some(&candidates[0]));
//! }
//! # Ok::<(), auscult::tuning::Error>(())
//! ```
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
//! 7. [`search`]: all of it, from recordings to a ranking.

pub mod candidate;
mod error;
mod gather;
pub mod pseudo;
pub mod ranking;
pub mod search;
pub mod settings;
mod spectrum;
pub mod state;
pub mod study;

pub use crate::tuning::{
    candidate::{Candidate, grid, presets},
    error::{Error, Result},
    pseudo::{Change, Kind},
    ranking::{Ranked, Ranking},
    search::{Resumption, Search, StateFile, Tune, TuneBudget},
    settings::TunedSettings,
    state::StudyState,
    study::{Evaluation, Features, KindAuc, NormalClip, Study, StudySettings},
};

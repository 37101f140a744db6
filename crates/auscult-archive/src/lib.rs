#![doc = include_str!("../README.md")]
//!
//! # Modules, in the order the sound travels
//!
//! 1. [`mod@reference`]: where a clip is, and what it is called.
//! 2. [`plan`]: a manifest becomes shards, in bounded memory, before any work begins.
//! 3. [`models`]: one model for all clips, or one for each machine.
//! 4. [`sound`]: clips from disks, web addresses and object stores.
//! 5. [`shard`]: the pure function: clips in, rows out.
//! 6. [`row`], [`columns`]: a row of the result, and tables as Parquet.
//! 7. [`run`]: all shards on one machine, each written whole.
//! 8. [`estimate`], [`fit`]: what a run will cost; models of many machines.

pub mod columns;
mod error;
pub mod estimate;
pub mod fit;
pub mod models;
pub mod plan;
mod read_ahead;
pub mod reference;
pub mod row;
pub mod run;
pub mod shard;
pub mod sound;

pub use crate::{
    columns::Table,
    error::{Error, Result},
    estimate::Estimate,
    fit::{FitArchive, FittedMachine},
    models::Models,
    plan::{Plan, Shard, Shards},
    reference::{ClipReference, Settings},
    row::ArchiveRow,
    run::{ArchiveSummary, ScoreArchive},
    shard::ShardScorer,
    sound::Sound,
};

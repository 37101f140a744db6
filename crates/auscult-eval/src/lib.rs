#![doc = include_str!("../README.md")]
//!
//! # Modules, in the order a run goes
//!
//! 1. [`metrics`] (of `auscult`): from scores and labels to figures with intervals.
//! 2. [`datasets`]: what lies on the disk becomes clips with labels and domains.
//! 3. [`features`]: clips become vectors, once.
//! 4. [`systems`]: front ends and back ends by name score the clips of a section.
//! 5. [`diagnostics`]: why bands help or not.
//! 6. [`protocol`]: what to run on which data, as a file.
//! 7. [`run`]: systems on data sets, and tables, pages and files from it.
//!
//! Beside them [`given`] brings embeddings of somebody else, [`fine_tuning`] says how encoders are trained for a protocol, [`cost`] measures what a clip costs, [`paper`] has what a protocol says of the paper's own tables, [`fetch`] (of `auscult`) brings large files from elsewhere, for data sets and encoders, and [`problems`]
//! lists files that cannot be used.

pub mod cost;
mod counts;
pub mod datasets;
pub mod diagnostics;
mod error;
pub mod features;
pub mod fine_tuning;
pub mod given;
mod known_protocols;
pub mod paper;
pub mod problems;
pub mod protocol;
pub mod run;
pub mod systems;

pub use auscult::{fetch, metrics};

pub use crate::error::{Error, Result};

#![doc = include_str!("../README.md")]
//!
//! # Modules, in the order a run goes
//!
//! 1. [`metrics`]: from scores and labels to figures with intervals.
//! 2. [`datasets`]: what lies on the disk becomes clips with labels and domains.

pub mod datasets;
mod error;
pub mod metrics;

pub use crate::error::{Error, Result};

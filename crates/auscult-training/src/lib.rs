#![doc = include_str!("../README.md")]

pub mod autoencoder;
#[cfg(test)]
mod deterministic;
mod error;
#[cfg(feature = "finetune")]
pub mod finetune;
mod random;

pub use crate::error::{Error, Result};

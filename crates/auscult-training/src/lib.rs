#![doc = include_str!("../README.md")]

pub mod autoencoder;
mod error;
#[cfg(feature = "finetune")]
pub mod finetune;

pub use crate::error::{Error, Result};

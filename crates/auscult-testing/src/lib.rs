#![doc = include_str!("../README.md")]

pub mod error;
#[cfg(feature = "golden")]
pub mod golden;
pub mod machines;
pub mod tree;
pub mod wav;
#[cfg(feature = "golden")]
pub mod weights;

pub use error::{Error, Result};
pub use machines::{ClipRecipe, Domain, Fault, Machine};
pub use tree::{Layout, PerDomain, TreeFile, TreeRecipe, write_tree};

//! Folders full of synthetic clips, in the layouts that the program reads.
//!
//! A tree is first laid out ([`TreeRecipe::files`]: which clip goes where), then
//! written ([`write_tree`]), then described in CSV files.

mod dcase;
mod layout;
mod recipe;
mod tables;
mod visits;
mod write;

pub use layout::{Layout, Split, TreeFile};
pub use recipe::{PerDomain, TreeRecipe};
pub use write::write_tree;

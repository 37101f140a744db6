//! From what was typed to what the library takes.

mod data_folder;
pub(crate) mod evaluation;
pub(crate) mod front_end;
pub(crate) mod learning;
pub(crate) mod listening;
pub(crate) mod network;
pub(crate) mod presets;
pub(crate) mod settings_file;
#[cfg(feature = "training")]
pub(crate) mod training;
pub(crate) mod unused;
mod watched;

pub(crate) use self::{
    data_folder::data_folder,
    watched::{Watched, start_log},
};

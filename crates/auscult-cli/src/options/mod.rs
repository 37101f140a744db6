//! From what was typed to what the library takes.

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

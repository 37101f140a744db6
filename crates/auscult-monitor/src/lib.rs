#![doc = include_str!("../README.md")]
#![expect(
    clippy::cast_possible_wrap,
    reason = "steps, counts and sizes are far below the largest integer of SQLite"
)]

pub mod clock;
pub mod control;
pub mod data;
pub mod directory;
mod error;
pub mod history;
pub mod metrics;
pub mod news;
pub mod replay;
pub mod run;
pub mod running;
pub mod sinks;
pub mod site;
pub mod sources;
pub mod watch;
pub mod week;
pub mod worker;

pub use self::error::{Error, Result};

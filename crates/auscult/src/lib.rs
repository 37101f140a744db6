#![doc = include_str!("../README.md")]

pub use auscult_core::*;

/// Sound in: files, folders and streams become clips.
#[cfg(feature = "audio")]
pub use auscult_audio as audio;

/// One HTML page that explains a machine.
#[cfg(feature = "report")]
pub use auscult_report as report;

/// Model files on disk.
#[cfg(feature = "store")]
pub use auscult_store as store;

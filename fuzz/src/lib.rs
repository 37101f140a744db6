//! What is asked of every reader of untrusted bytes, whatever the bytes are.
//!
//! The fuzz targets run these checks on made-up bytes; `tests/corpus.rs` of the crates runs the
//! same checks on the committed corpora, without a fuzzer.

pub mod audio;
pub mod checkpoint;
pub mod model;
pub mod upload;

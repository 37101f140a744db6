//! Tests of the crate from outside, in one binary.

#![expect(clippy::unwrap_used, reason = "helpers of tests, too, fail by panicking")]

/// Clips: reproducible, finite, of the right length, alike within a visit.
mod clips;
/// Faults: each changes the healthy clip in the way its name says.
mod faults;
/// Not tests: spectra to look at clips with.
mod spectrum;
/// Trees: the promised files and nothing else.
mod trees;

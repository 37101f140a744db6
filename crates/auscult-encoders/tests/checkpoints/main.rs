//! Checkpoints, good and bad, and what encoders make of them.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod bad;
mod containers;
mod encoders;
mod front_ends;
mod made;

//! Encoders that learn, in programs built with training.

mod clips;
mod trials;

pub(crate) use self::{clips::Labelled, trials::train};

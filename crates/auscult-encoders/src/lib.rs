#![doc = include_str!("../README.md")]
//!
//! # Modules, in the order the sound travels
//!
//! 1. `checkpoint`: somebody's file becomes named tensors; nothing in it is executed.
//! 2. `weights`: tensors by canonical names, fingerprinted.
//! 3. `patches`, `embedding`, and the first half of `beats`, `eat`, `ced`: a clip becomes tokens.
//! 4. `transformer`: the blocks all of them share.
//! 5. `architecture`, `encoder`: one of the three, whole.
//! 6. `front_end`: tokens become frames of `auscult-core`'s front end.
//! 7. `known`, `library`: released encoders, and those on this machine.

mod architecture;
mod beats;
mod ced;
mod checkpoint;
mod eat;
mod embedding;
mod encoder;
mod error;
mod front_end;
mod known;
mod library;
mod patches;
mod transformer;
mod weights;

pub use crate::{
    architecture::Architecture,
    checkpoint::{Checkpoint, Container, Description, NamedTensor, to_safetensors},
    encoder::{Buffers, Encoder, LayerTokens},
    error::{Error, Result},
    front_end::{EncoderFrontEnd, EncoderSettings},
    known::{KNOWN, KnownEncoder},
    library::{Bundled, EncoderLibrary, EncoderRequest},
    transformer::{Precision, Threads, relative_bucket},
};

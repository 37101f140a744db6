#![doc = include_str!("../README.md")]

mod atomic;
mod cache;
mod error;
mod lock;
mod read;
mod target;

use std::path::Path;

use auscult_core::Model;

pub use crate::{
    atomic::{AtomicFile, write_atomically},
    cache::{cache_folder, state_folder},
    error::{Error, Result},
    lock::ModelLock,
    read::{read_at_most, read_text_at_most},
    target::{check_model_target, check_target, is_model},
};

/// Models larger than this are refused before they are read into memory.
pub const LARGEST_MODEL_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// Reads and verifies a model file.
///
/// # Errors
///
/// If the file cannot be read, is larger than [`LARGEST_MODEL_BYTES`], or is not an undamaged
/// model.
pub fn load(path: impl AsRef<Path>) -> Result<Model> {
    let path = path.as_ref();
    parse(&read(path)?, path)
}

/// Reads and verifies a model file, and fingerprints it: the same bytes have the same fingerprint.
///
/// # Errors
///
/// Those of [`load`].
pub fn load_with_fingerprint(path: impl AsRef<Path>) -> Result<(Model, String)> {
    let path = path.as_ref();
    let bytes = read(path)?;
    Ok((parse(&bytes, path)?, fingerprint(&bytes)))
}

/// The fingerprint of a model file's bytes.
pub fn fingerprint(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// Writes a model file, replacing what is there only once all of it is on the disk, and once nobody else changes it.
///
/// # Errors
///
/// If the model cannot be written, or another program changes what is there for ten minutes; what was there before is
/// untouched then.
pub fn save(model: &Model, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let _lock = ModelLock::wait_for(path)?;
    write(model, path)
}

fn write(model: &Model, path: &Path) -> Result<()> {
    let bytes =
        model.to_bytes().map_err(|source| Error::Model { path: path.to_owned(), source })?;
    write_atomically(path, &bytes)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    read_at_most(path, LARGEST_MODEL_BYTES)
        .map_err(|source| Error::Read { path: path.to_owned(), source })
}

fn parse(bytes: &[u8], path: &Path) -> Result<Model> {
    Model::from_bytes(bytes).map_err(|source| Error::Model { path: path.to_owned(), source })
}

//! Bytes a page carries inside itself: pictures and sound, as data addresses.

mod base64;
mod flac;
mod png;

pub use self::flac::flac;
pub(crate) use self::{
    flac::flac_address,
    png::{Palette, png_address},
};

/// A data address of bytes.
fn data_address(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", base64::encode(bytes))
}

#[cfg(test)]
pub(crate) fn base64_of(bytes: &[u8]) -> String {
    base64::encode(bytes)
}

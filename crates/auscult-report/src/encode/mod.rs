//! Bytes a page carries inside itself: pictures and sound, as data addresses.

mod base64;
mod png;
mod wave;

pub(crate) use self::{
    png::{Palette, png_address},
    wave::wave_address,
};

/// A data address of bytes.
fn data_address(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", base64::encode(bytes))
}

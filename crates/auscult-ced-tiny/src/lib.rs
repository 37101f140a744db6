#![doc = include_str!("../README.md")]

/// The name of the encoder.
pub const NAME: &str = "ced-tiny";

/// The licence of the weights.
pub const LICENCE: &str = "Apache-2.0";

/// Where the weights come from.
pub const SOURCE: &str = "https://huggingface.co/mispeech/ced-tiny";

/// The weights: a safetensors file of int8 tensors with one factor each.
///
/// A static: constants are copied to wherever they are used.
pub static WEIGHTS: &[u8] = include_bytes!("../data/ced-tiny-int8.safetensors");

#[cfg(test)]
mod tests {
    #[test]
    fn the_weights_are_those_that_were_packed() {
        assert_eq!(super::WEIGHTS.len(), 5_484_540);
        assert_eq!(blake3::hash(super::WEIGHTS).to_hex().as_str(), include_str!("../data/blake3"));
    }
}

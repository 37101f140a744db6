//! How references are stored: exactly, or rounded so that a large memory takes less room.
//!
//! Fitting works on the rounded vectors, so a model scores the same before it is written and after
//! it is read. Rounding what is already rounded changes nothing: adding to and forgetting from a
//! model still equal a fresh fit.

use crate::{Error, Result, names::named_choices};

/// How the numbers of references are stored in a model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Storage {
    /// Four bytes, exact.
    #[default]
    F32,
    /// Two bytes: IEEE half precision, 11 bits of each number. Numbers are at most 65504.
    F16,
    /// One byte, and the range of every sixteen neighbours: 1/255 of that range.
    Int8,
}

named_choices!(Storage, "storage", { F32 => "f32", F16 => "f16", Int8 => "int8" });

/// Neighbouring positions that share a range.
pub(crate) const RANGE_OF: usize = 16;

/// The largest finite half.
const LARGEST_HALF: f32 = 65_504.0;

impl Storage {
    /// For serde: the default is not written, so that files without it do not change.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Rounds vectors of `axis_len` numbers to what will be stored of them.
    pub(crate) fn round(self, matrix: &mut [f32], axis_len: usize) -> Result<()> {
        match self {
            Self::F32 => {}
            Self::F16 => {
                if let Some(value) = matrix.iter().find(|value| value.abs() > LARGEST_HALF) {
                    let allowed = "f32 or int8 for numbers beyond 65504";
                    return Err(Error::setting("storage", allowed, format!("f16 with {value}")));
                }
                for value in matrix {
                    *value = half_to_f32(f32_to_half(*value));
                }
            }
            Self::Int8 => {
                for block in
                    matrix.chunks_mut(axis_len.max(1)).flat_map(|row| row.chunks_mut(RANGE_OF))
                {
                    let range = range_of(block);
                    for value in block {
                        *value = from_byte(to_byte(*value, range), range);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Smallest and largest number of a block.
pub(crate) fn range_of(block: &[f32]) -> [f32; 2] {
    let smallest = block.iter().copied().fold(f32::INFINITY, f32::min);
    [smallest, block.iter().copied().fold(f32::NEG_INFINITY, f32::max)]
}

/// The step of the range a number is nearest to.
pub(crate) fn to_byte(value: f32, [low, high]: [f32; 2]) -> u8 {
    let [value, low, high] = [value, low, high].map(f64::from);
    if high > low { ((value - low) / (high - low) * 255.0).round() as u8 } else { 0 }
}

/// The ends of the range come back exactly, so that rounding twice is rounding once.
pub(crate) fn from_byte(byte: u8, [low, high]: [f32; 2]) -> f32 {
    let (from, to) = (f64::from(low), f64::from(high));
    match byte {
        0 => low,
        255 => high,
        _ => (from + (to - from) * f64::from(byte) / 255.0) as f32,
    }
}

/// The nearest half, the even one of two; infinity beyond the largest.
pub(crate) fn f32_to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    // Below the smallest normal half, steps are 2^-24: adding 0.5 leaves the count of them in the
    // low bits of the sum, rounded.
    let magnitude = f32::from_bits(bits & 0x7FFF_FFFF);
    let half = if magnitude < 6.103_515_6e-5 {
        (magnitude + 0.5).to_bits() - 0.5_f32.to_bits()
    } else if magnitude < 65_520.0 {
        // Exponents count from -15 instead of -127; 13 bits go, half a step up if that is even.
        let bits = magnitude.to_bits() - (112 << 23);
        (bits + 0x0FFF + (bits >> 13 & 1)) >> 13
    } else {
        0x7C00
    };
    sign | half as u16
}

/// Every half is an f32.
pub(crate) fn half_to_f32(half: u16) -> f32 {
    let magnitude = u32::from(half & 0x7FFF);
    let value = match magnitude {
        0..0x0400 => magnitude as f32 / 16_777_216.0,
        0x0400..0x7C00 => f32::from_bits((magnitude << 13) + (112 << 23)),
        _ => f32::INFINITY,
    };
    if half & 0x8000 == 0 { value } else { -value }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_half_comes_back() {
        for half in (0..=u16::MAX).filter(|half| half & 0x7C00 != 0x7C00) {
            assert_eq!(f32_to_half(half_to_f32(half)), half, "{half:#x}");
        }
        assert_eq!(half_to_f32(0x3C00), 1.0);
        assert_eq!(half_to_f32(0x7BFF), 65_504.0);
        assert_eq!(half_to_f32(0x0001), 2.0_f32.powi(-24));
    }

    proptest! {
        #[test]
        fn halves_are_the_nearest(value in -65_504.0_f32..65_504.0, shrink in 0_i32..30) {
            let value = value / 2.0_f32.powi(shrink);
            let half = f32_to_half(value);
            let error = (half_to_f32(half) - value).abs();
            for other in [half.wrapping_sub(1), half + 1] {
                if other & 0x7C00 != 0x7C00 && other & 0x8000 == half & 0x8000 {
                    let other = (half_to_f32(other) - value).abs();
                    prop_assert!(error < other || (error == other && half.is_multiple_of(2)));
                }
            }
        }

        #[test]
        fn rounding_twice_is_rounding_once(
            values in prop::collection::vec(-100.0_f32..100.0, 1..80), axis_len in 1_usize..40,
        ) {
            for &storage in Storage::ALL {
                let mut once = values.clone();
                storage.round(&mut once, axis_len).unwrap();
                let mut twice = once.clone();
                storage.round(&mut twice, axis_len).unwrap();
                prop_assert_eq!(&once, &twice, "{}", storage);
                for (once, value) in once.iter().zip(&values) {
                    prop_assert!((once - value).abs() <= 200.0 / 255.0 / 2.0 + 1e-4);
                }
            }
        }
    }

    #[test]
    fn numbers_too_large_for_a_half_are_refused() {
        let error = Storage::F16.round(&mut [1e6], 1).unwrap_err();
        assert!(error.to_string().contains("f16 with 1000000"), "{error}");
    }
}

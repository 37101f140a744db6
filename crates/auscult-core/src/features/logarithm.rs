//! Natural logarithm of many numbers at once.

use multiversion::multiversion;

use super::lanes::Lanes;

/// ln of `max(value + raise, floor)` times `factor`, in place; NaN becomes the floor's, infinity
/// stays. `floor` is positive and normal.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
pub(super) fn compress(rows: &mut [Lanes], raise: f32, floor: f32, factor: f32) {
    for row in rows {
        for value in row.iter_mut() {
            let raised = *value + raise;
            let raised = if raised > floor { raised } else { floor };
            *value = factor * natural_log(raised);
        }
    }
}

/// ln of a positive, normal number, to 1 unit in the last place or two; infinity stays.
///
/// The number is m 2^k with m from about 0.7 to 1.4; the series of ln(1 + r) in r = m - 1 is
/// Cephes' minimax polynomial for single precision.
#[inline(always)]
#[expect(clippy::excessive_precision, reason = "the published digits")]
fn natural_log(value: f32) -> f32 {
    // Bits of about sqrt(1/2): the mantissa counts from there.
    const START: u32 = 0x3F33_0000;
    let bits = value.to_bits();
    let exponent = bits.wrapping_sub(START).cast_signed() >> 23;
    let mantissa = f32::from_bits(bits.wrapping_sub((exponent << 23).cast_unsigned()));
    let r = mantissa - 1.0;
    let mut series = 7.037_683_6e-2_f32;
    for coefficient in [
        -1.151_461_03e-1,
        1.167_699_87e-1,
        -1.242_014_08e-1,
        1.424_932_28e-1,
        -1.666_805_77e-1,
        2.000_071_48e-1,
        -2.499_999_40e-1,
        3.333_333_12e-1,
    ] {
        series = series * r + coefficient;
    }
    // ln 2 in two parts: the first times any exponent is exact.
    let exponent = exponent as f32;
    let tail = r * r * r * series - 0.5 * r * r + exponent * -2.121_944_4e-4;
    let log = r + tail + exponent * 0.693_359_375;
    if value < f32::INFINITY { log } else { value }
}

#[cfg(test)]
mod tests {
    use super::{super::lanes::LANES, *};

    #[test]
    fn logarithms_are_those_of_the_standard_library() {
        let values =
            (0..200_000).map(|i| 1e-16_f32 * 1.000_45_f32.powi(i)).filter(|v| v.is_finite());
        for value in values.chain([f32::EPSILON, 0.999_999_9, 1.0, 1.000_000_1, f32::MAX]) {
            let (got, want) = (natural_log(value), f64::from(value).ln());
            let error = (f64::from(got) - want).abs();
            assert!(error <= 1.2e-7 * want.abs().max(1e-1), "{value}: {got} {want}");
        }
        assert_eq!(natural_log(1.0), 0.0);
        assert_eq!(natural_log(f32::INFINITY), f32::INFINITY);
    }

    #[test]
    fn not_a_number_becomes_the_floor() {
        let mut rows = [[f32::NAN; LANES]];
        compress(&mut rows, 0.0, 1.0, 10.0);
        assert_eq!(rows, [[0.0; LANES]]);
    }
}

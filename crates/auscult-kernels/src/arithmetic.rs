//! Scalar arithmetic the generic kernels are written with.

/// How a product is added to a sum.
pub(crate) trait Arithmetic {
    /// `a * b + c`.
    fn multiply_add(a: f32, b: f32, c: f32) -> f32;
}

/// One rounding; an instruction where the enclosing function has the feature.
#[derive(Debug)]
pub(crate) struct Fused;

impl Arithmetic for Fused {
    #[inline(always)]
    fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// Two roundings.
#[derive(Debug)]
pub(crate) struct Unfused;

impl Arithmetic for Unfused {
    #[inline(always)]
    #[expect(clippy::suboptimal_flops, reason = "for processors without a fused instruction")]
    fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// A polynomial, highest power first, by Horner's rule.
#[inline(always)]
pub(crate) fn polynomial<A: Arithmetic>(x: f32, coefficients: &[f32]) -> f32 {
    let mut sum = 0.0;
    for &coefficient in coefficients {
        sum = A::multiply_add(sum, x, coefficient);
    }
    sum
}

/// e^x for finite x, within 2 units in the last place; below -87 it is e^-87.
#[inline(always)]
pub(crate) fn exponential<A: Arithmetic>(x: f32) -> f32 {
    /// Adding and subtracting it rounds to the nearest integer.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = A::multiply_add(x, std::f32::consts::LOG2_E, ROUND);
    let whole = shifted - ROUND;
    // ln 2 in two parts (Cephes), so that the remainder keeps its digits.
    let remainder = A::multiply_add(whole, -0.693_359_4, x);
    let remainder = A::multiply_add(whole, 2.121_944_4e-4, remainder);
    // Cephes expf.
    let tail = polynomial::<A>(
        remainder,
        &[1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5],
    );
    let fraction = A::multiply_add(tail * remainder, remainder, remainder) + 1.0;
    // The low bits of `shifted` are the integer; as an exponent it is 2 to that power.
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    fraction * power
}

/// The error function within 4e-7: a ratio of polynomials in x squared (the form of Eigen and XLA).
#[inline(always)]
pub(crate) fn error_function<A: Arithmetic>(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let numerator = polynomial::<A>(
        square,
        &[
            -2.726_142_4e-10,
            2.770_681_4e-8,
            -2.101_024e-6,
            -5.692_506_4e-5,
            -7.349_906e-4,
            -2.954_600_1e-3,
            -1.609_603_5e-2,
        ],
    );
    let denominator = polynomial::<A>(
        square,
        &[-1.456_607_2e-5, -2.133_740_4e-4, -1.682_827_e-3, -7.373_329_e-3, -1.426_474_5e-2],
    );
    x * numerator / denominator
}

/// x times the normal distribution up to x (the exact GELU, not the tanh form).
#[inline(always)]
pub(crate) fn gelu<A: Arithmetic>(x: f32) -> f32 {
    let half = 0.5 * x;
    A::multiply_add(half, error_function::<A>(x * std::f32::consts::FRAC_1_SQRT_2), half)
}

/// Values that are summed side by side, so that every width of register gives the same sum.
pub(crate) const LANES: usize = 16;

/// The sum of the lanes, halving.
#[inline(always)]
pub(crate) fn sum_lanes(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_agree_with_f64() {
        for step in -8700..=880 {
            let x = step as f32 * 0.01;
            let exact = f64::from(x).exp();
            let got = f64::from(exponential::<Fused>(x));
            assert!((got / exact - 1.0).abs() < 2.5e-7, "e^{x}: {got} for {exact}");
        }
        assert_eq!(exponential::<Fused>(0.0), 1.0);
    }

    /// Abramowitz and Stegun 7.1.5, summed in f64.
    fn exact_error_function(x: f64) -> f64 {
        if x.abs() > 5.0 {
            return x.signum();
        }
        let (mut term, mut sum) = (x, x);
        for n in 1..200_i32 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn the_error_function_agrees_with_its_series() {
        for step in -600..=600 {
            let x = step as f32 * 0.01;
            let error = f64::from(error_function::<Fused>(x)) - exact_error_function(f64::from(x));
            assert!(error.abs() < 4e-7, "erf {x}: off by {error}");
        }
    }

    #[test]
    fn gelu_keeps_large_values_and_drops_small_ones() {
        assert_eq!(gelu::<Fused>(10.0), 10.0);
        assert!(gelu::<Fused>(-10.0).abs() < 1e-5);
        assert_eq!(gelu::<Fused>(0.0), 0.0);
        assert!((gelu::<Fused>(1.0) - 0.841_344_7).abs() < 1e-6);
    }
}

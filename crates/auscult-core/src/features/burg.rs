//! Burg's method for an all-pole model, in f64.
//!
//! The lattice form filters the whole clip once per order. The moment form needs one pass for the
//! autocorrelation and then works on (order + 1)^2 numbers, because everything Burg asks of the
//! signal is a quadratic form in the matrix of lagged products. Both give the same coefficients;
//! the moment form loses digits when the residual is tiny (pure tones), so it hands over there.

use multiversion::multiversion;

/// Workspace of the estimator.
#[derive(Debug, Default)]
pub(super) struct Burg {
    signal: Vec<f64>,
    forward: Vec<f64>,
    backward: Vec<f64>,
    moments: Moments,
    coefficients: Vec<f64>,
    reversed: Vec<f64>,
}

/// Below this share of the signal's energy the residual is computed by the lattice: the moment
/// form keeps about 16 digits of the energy, so 1e-7 of it still has 9.
const SMALLEST_SHARE: f64 = 1e-7;

impl Burg {
    /// Coefficients `[1, c1, ..., c_order]` of `A(z) = 1 + sum c_k z^-k`, finite for any finite input.
    ///
    /// Trailing zeros of a padded clip are part of the signal: pass its nominal length.
    pub(super) fn coefficients(
        &mut self,
        samples: &[f32],
        clip_len: usize,
        order: usize,
    ) -> &[f64] {
        self.signal.clear();
        self.signal.extend(samples.iter().take(clip_len).map(|&sample| f64::from(sample)));
        self.signal.resize(clip_len, 0.0);
        if !self.by_moments(order) {
            self.by_lattice(order);
        }
        &self.coefficients
    }

    fn start(&mut self) {
        self.coefficients.clear();
        self.coefficients.push(1.0);
    }

    /// Levinson's step: A += k times the reversed A, delayed by one.
    fn step(&mut self, reflection: f64) {
        self.coefficients.push(0.0);
        self.reversed.clear();
        self.reversed.extend(self.coefficients.iter().rev());
        for (coefficient, reversed) in self.coefficients.iter_mut().zip(&self.reversed) {
            *coefficient += reflection * reversed;
        }
    }

    /// False if the numbers do not allow it; the coefficients are then unfinished.
    fn by_moments(&mut self, order: usize) -> bool {
        if self.signal.len() <= order {
            return false;
        }
        self.start();
        self.moments.start(&self.signal, order);
        for _ in 0..order {
            self.moments.grow(&self.signal);
            let (product, energy) = self.moments.forms(&self.coefficients);
            if energy <= SMALLEST_SHARE * self.moments.total_energy() {
                return false;
            }
            self.step(-2.0 * product / energy);
        }
        true
    }

    fn by_lattice(&mut self, order: usize) {
        self.start();
        self.forward.clone_from(&self.signal);
        self.backward.clone_from(&self.signal);
        for stage in 0..order {
            // Forward errors from stage + 1 on, backward errors one sample earlier.
            let len = self.signal.len().saturating_sub(stage + 1);
            if len == 0 {
                self.step(0.0);
                continue;
            }
            let forward = &mut self.forward[self.signal.len() - len..];
            let backward = &mut self.backward[stage..stage + len];
            let (mut product, mut energy) = (0.0, 0.0);
            for (f, b) in forward.iter().zip(backward.iter()) {
                product += f * b;
                energy += f * f + b * b;
            }
            let reflection = if energy > 0.0 { -2.0 * product / energy } else { 0.0 };
            for (f, b) in forward.iter_mut().zip(backward.iter_mut()) {
                (*f, *b) = (*f + reflection * *b, *b + reflection * *f);
            }
            // backward[stage..] now holds the errors of the next stage, shifted by one.
            self.backward.copy_within(stage..stage + len, stage + 1);
            self.step(reflection);
        }
    }
}

/// `D_ij = sum over n >= m of x[n-i] x[n-j]`, for the current m.
#[derive(Debug, Default)]
struct Moments {
    autocorrelation: Vec<f64>,
    /// Lower triangle in rows of `width`.
    matrix: Vec<f64>,
    width: usize,
    size: usize,
    /// [a, 0] and its reverse.
    ahead: Vec<f64>,
    behind: Vec<f64>,
}

impl Moments {
    fn start(&mut self, signal: &[f64], order: usize) {
        self.width = order + 1;
        self.size = 1;
        self.autocorrelation.clear();
        self.autocorrelation.resize(order + 1, 0.0);
        autocorrelate(signal, &mut self.autocorrelation);
        self.matrix.clear();
        self.matrix.resize(self.width * self.width, 0.0);
        self.matrix[0] = self.autocorrelation[0];
    }

    fn total_energy(&self) -> f64 {
        2.0 * self.autocorrelation[0]
    }

    /// From m - 1 to m: the sums lose their first term, and one row is added, which is the last
    /// one shifted by a sample.
    fn grow(&mut self, signal: &[f64]) {
        let (width, m, last) = (self.width, self.size, signal.len() - 1);
        for j in 1..=m {
            let shifted = self.matrix[(m - 1) * width + j - 1];
            self.matrix[m * width + j] = shifted - signal[last + 1 - j] * signal[last + 1 - m];
        }
        self.matrix[m * width] = self.autocorrelation[m];
        for i in 0..m {
            for j in 0..=i {
                self.matrix[i * width + j] -= signal[m - 1 - i] * signal[m - 1 - j];
            }
        }
        self.size = m + 1;
    }

    /// (u D v, u D u + v D v) for u = [a, 0] and v = its reverse: Burg's numerator and
    /// denominator.
    fn forms(&mut self, a: &[f64]) -> (f64, f64) {
        self.ahead.clear();
        self.ahead.extend_from_slice(a);
        self.ahead.push(0.0);
        self.behind.clear();
        self.behind.extend(self.ahead.iter().rev());
        let (mut product, mut energy) = (0.0, 0.0);
        let (u, v) = (&self.ahead, &self.behind);
        for i in 0..self.size {
            let row = &self.matrix[i * self.width..=i * self.width + i];
            let (row_u, row_v) = (dot(&row[..i], &u[..i]), dot(&row[..i], &v[..i]));
            // Off-diagonal entries stand for two.
            product += u[i] * row_v + v[i] * row_u + row[i] * u[i] * v[i];
            energy += 2.0 * (u[i] * row_u + v[i] * row_v) + row[i] * (u[i].powi(2) + v[i].powi(2));
        }
        (product, energy)
    }
}

/// Four running sums: long sums keep their digits and the compiler its vector units.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<4>(), right.as_chunks::<4>());
    for (left, right) in left.iter().zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f64>() + rest
}

/// Lags that are summed together, and running sums a lag.
const LAGS: usize = 8;

/// Samples that stay in the nearest cache while all lags go over them.
const BLOCK: usize = 1024;

/// `sums[lag]` becomes the sum of signal[n] signal[n + lag] over all n where both are inside.
///
/// The order of additions is the same on every machine.
fn autocorrelate(signal: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    let reach = sums.len().next_multiple_of(LAGS) + LAGS;
    // Blocks whose every lag is inside the signal, then what is left, lag by lag.
    let blocks = signal.len().saturating_sub(reach) / BLOCK;
    for (group, sums) in sums.chunks_mut(LAGS).enumerate() {
        let mut totals = [[0.0; LAGS]; LAGS];
        for block in 0..blocks {
            let ahead = &signal[block * BLOCK + group * LAGS..][..BLOCK + LAGS];
            correlate_block(&signal[block * BLOCK..][..BLOCK], ahead, &mut totals);
        }
        for (index, (sum, totals)) in sums.iter_mut().zip(&totals).enumerate() {
            let rest = &signal[blocks * BLOCK..];
            let shifted = rest.get(group * LAGS + index..).unwrap_or_default();
            *sum = totals.iter().sum::<f64>() + dot(&rest[..shifted.len()], shifted);
        }
    }
}

/// Adds a block's products with itself `LAGS` times shifted; each lag has a sum for every eighth
/// sample.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn correlate_block(block: &[f64], ahead: &[f64], totals: &mut [[f64; LAGS]; LAGS]) {
    let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5, mut t6, mut t7] = *totals;
    for (at, here) in block.as_chunks::<LAGS>().0.iter().enumerate() {
        let Some(ahead) = ahead[at * LAGS..].first_chunk::<{ 2 * LAGS }>() else { continue };
        for k in 0..LAGS {
            t0[k] += here[k] * ahead[k];
            t1[k] += here[k] * ahead[k + 1];
            t2[k] += here[k] * ahead[k + 2];
            t3[k] += here[k] * ahead[k + 3];
            t4[k] += here[k] * ahead[k + 4];
            t5[k] += here[k] * ahead[k + 5];
            t6[k] += here[k] * ahead[k + 6];
            t7[k] += here[k] * ahead[k + 7];
        }
    }
    *totals = [t0, t1, t2, t3, t4, t5, t6, t7];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coefficients(samples: &[f32], order: usize, moments: bool) -> Vec<f64> {
        let mut burg =
            Burg { signal: samples.iter().copied().map(f64::from).collect(), ..Burg::default() };
        if moments {
            assert!(burg.by_moments(order));
        } else {
            burg.by_lattice(order);
        }
        burg.coefficients
    }

    fn noise(len: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        (0..len)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40) as f32 / 8_388_608.0 - 1.0
            })
            .collect()
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]
        #[test]
        fn moments_and_lattice_agree(seed in 1_u64..1000, len in 80_usize..2000, order in 1_usize..60) {
            let white = noise(len, seed);
            let coloured: Vec<f32> =
                white.windows(2).map(|pair| pair[1] + 0.9 * pair[0]).collect();
            let fast = coefficients(&coloured, order.min(len / 2), true);
            let plain = coefficients(&coloured, order.min(len / 2), false);
            for (fast, plain) in fast.iter().zip(&plain) {
                proptest::prop_assert!((fast - plain).abs() < 1e-9, "{} {}", fast, plain);
            }
        }
    }

    #[test]
    fn blocks_of_lags_equal_the_definition() {
        for len in [1, 60, 1000, 2119, 5000] {
            let signal: Vec<f64> = noise(len, 7).into_iter().map(f64::from).collect();
            for lags in [1, 8, 61] {
                let mut sums = vec![f64::NAN; lags];
                autocorrelate(&signal, &mut sums);
                for (lag, sum) in sums.iter().enumerate() {
                    let shifted = signal.iter().skip(lag);
                    let want: f64 = signal.iter().zip(shifted).map(|(a, b)| a * b).sum();
                    assert!((sum - want).abs() < 1e-10, "{len} {lag}: {sum} {want}");
                }
            }
        }
    }

    #[test]
    fn silence_gives_a_flat_model() {
        let mut burg = Burg::default();
        let mut expected = vec![0.0; 61];
        expected[0] = 1.0;
        assert_eq!(burg.coefficients(&[0.0; 1000], 16_000, 60), expected);
        assert_eq!(burg.coefficients(&[], 10, 60), expected);
    }

    #[test]
    fn a_pure_tone_stays_finite() {
        let tone: Vec<f32> = (0..16_000).map(|i| (0.2 * f64::from(i)).sin() as f32).collect();
        let mut burg = Burg::default();
        assert!(burg.coefficients(&tone, 16_000, 60).iter().all(|value| value.is_finite()));
    }
}

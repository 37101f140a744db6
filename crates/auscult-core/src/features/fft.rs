//! Power spectra of sixteen real frames at once, for lengths that are powers of two.
//!
//! A real transform of N samples is a complex one of M = N/2 pairs (`butterflies.rs`) and one more
//! step. `spectrum.rs` is the plain form for one frame.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use multiversion::multiversion;

use super::{
    butterflies::{Complex, Number, Pair, Stage, add, multiply, place, stages, subtract, turn},
    lanes::{LANES, Lanes},
};

/// A planned transform.
#[derive(Debug, Clone)]
pub(super) struct BatchFft<T = f32> {
    stages: Vec<Stage<T>>,
    /// Where the result of each frequency lies.
    place: Vec<usize>,
    /// e^(-2 pi i k / N) for the step from complex to real, k up to M/2.
    turns: Vec<Complex<T>>,
}

impl<T: Number> BatchFft<T> {
    /// Plans frames of `fft_len` samples; `None` if that is not a power of two from 16 on.
    pub(super) fn new(fft_len: usize) -> Option<Self> {
        if !fft_len.is_power_of_two() || fft_len < 16 {
            return None;
        }
        let half = fft_len / 2;
        let stages = stages(half);
        let place = (0..half).map(|frequency| place(frequency, half, &stages)).collect();
        let turns = (0..=half / 2).map(|k| turn(k, fft_len).map(T::nearest)).collect();
        Some(Self { stages, place, turns })
    }

    /// Length of the frames.
    pub(super) fn fft_len(&self) -> usize {
        2 * self.place.len()
    }

    /// Powers at the N/2 + 1 frequencies up to Nyquist, of frames whose samples 2n and 2n + 1 are
    /// `pairs[n]`, which is overwritten.
    ///
    /// `offset` is a constant taken from each frame before a periodic Hann window as long as the
    /// transform: such a window has three nonzero bins, N/2 at 0 and -N/4 beside it.
    pub(super) fn power(&self, pairs: &mut [Pair<T>], offset: &Lanes, power: &mut [Lanes]) {
        let mut blocks = 1;
        for stage in &self.stages {
            let len = if stage.is_last() { pairs.len() } else { pairs.len() / blocks };
            for block in pairs.chunks_exact_mut(len) {
                stage.forward(block);
            }
            blocks *= stage.radix;
        }
        powers(self, pairs, offset, power);
    }
}

/// From the complex transform of pairs to the powers of the real one.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn powers<T: Number>(plan: &BatchFft<T>, pairs: &[Pair<T>], offset: &Lanes, power: &mut [Lanes]) {
    let half = plan.place.len();
    let (quarter_len, half_len) = (T::nearest(half as f64 / 2.0), T::nearest(half as f64));
    let [real, imaginary] = &pairs[plan.place[0]];
    for lane in 0..LANES {
        let offset = T::nearest(f64::from(offset[lane]));
        let lowest = real[lane] + imaginary[lane] + half_len * offset;
        let highest = real[lane] - imaginary[lane];
        power[0][lane] = (lowest * lowest).to_f32();
        power[half][lane] = (highest * highest).to_f32();
    }
    let (low, high) = power.split_at_mut(half / 2 + 1);
    for k in 1..half / 2 {
        let shift = if k == 1 { quarter_len } else { T::nearest(0.0) };
        let (at, mirrored) = (&pairs[plan.place[k]], &pairs[plan.place[half - k]]);
        let high = &mut high[half - k - (half / 2 + 1)];
        power_pair(at, mirrored, plan.turns[k], shift, offset, &mut low[k], high);
    }
    let [real, imaginary] = &pairs[plan.place[half / 2]];
    for lane in 0..LANES {
        low[half / 2][lane] =
            (real[lane] * real[lane] + imaginary[lane] * imaginary[lane]).to_f32();
    }
}

/// The powers at k and N/2 - k.
#[inline(always)]
fn power_pair<T: Number>(
    at: &Pair<T>,
    mirrored: &Pair<T>,
    turn: Complex<T>,
    shift: T,
    offset: &Lanes,
    low: &mut Lanes,
    high: &mut Lanes,
) {
    for lane in 0..LANES {
        let a = [at[0][lane], at[1][lane]];
        let b = [mirrored[0][lane], mirrored[1][lane]];
        let even = [T::HALF * (a[0] + b[0]), T::HALF * (a[1] - b[1])];
        let odd = multiply([T::HALF * (a[1] + b[1]), T::HALF * (b[0] - a[0])], turn);
        let (sum, difference) = (add(even, odd), subtract(even, odd));
        let real = sum[0] - shift * T::nearest(f64::from(offset[lane]));
        low[lane] = (real * real + sum[1] * sum[1]).to_f32();
        high[lane] = (difference[0] * difference[0] + difference[1] * difference[1]).to_f32();
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::{super::spectrum::SpectrumPlan, *};

    /// Lane `lane` holds its own noise.
    fn noise(fft_len: usize) -> Vec<Pair> {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / 8_388_608.0 - 1.0
        };
        (0..fft_len / 2).map(|_| [(); 2].map(|()| [(); LANES].map(|()| random()))).collect()
    }

    #[test]
    fn every_length_agrees_with_the_plain_transform() {
        for fft_len in (4..=13).map(|power| 1 << power) {
            let plan = BatchFft::new(fft_len).unwrap();
            let plain = SpectrumPlan::new(fft_len);
            let pairs = noise(fft_len);
            let offset: Lanes = std::array::from_fn(|lane| lane as f32 * 0.01);
            let mut power = vec![[0.0; LANES]; fft_len / 2 + 1];
            plan.power(&mut pairs.clone(), &offset, &mut power);
            let mut buffers = plain.buffers();
            for lane in 0..LANES {
                let samples = pairs.iter().flat_map(|pair| [pair[0][lane], pair[1][lane]]);
                buffers.input.clear();
                buffers.input.extend(samples);
                let expected = plain.power(&mut buffers, offset[lane]);
                for (row, &expected) in power.iter().zip(expected) {
                    let difference = (row[lane].sqrt() - expected.sqrt()).abs();
                    assert!(difference < 1e-6 * fft_len as f32, "{fft_len}: {difference}");
                }
            }
        }
    }

    #[test]
    fn powers_far_below_a_tone_are_precise_in_f64() {
        let fft_len = 256;
        let plain = auscult_kernels::fourier::forward_f64(fft_len);
        // A tone at 20 of 256, under a Hann window: 1e-7 of it leaks into the last frequencies.
        let sample = |at: usize| {
            let turns = at as f64 / 255.0;
            (0.5 - 0.5 * (2.0 * PI * turns).cos()) * (2.0 * PI * 20.3 * turns).sin()
        };
        let mut input: Vec<f64> = (0..fft_len).map(sample).collect();
        let mut pairs: Vec<Pair<f64>> =
            input.as_chunks::<2>().0.iter().map(|pair| pair.map(|value| [value; LANES])).collect();
        let mut power = vec![[0.0; LANES]; fft_len / 2 + 1];
        BatchFft::new(fft_len).unwrap().power(&mut pairs, &[0.0; LANES], &mut power);
        let mut output = plain.make_output_vec();
        plain.process(&mut input, &mut output).unwrap();
        for (row, want) in power.iter().zip(&output) {
            for value in row {
                let relative = f64::from(*value) / want.norm_sqr() - 1.0;
                assert!(relative.abs() < 1e-6, "{value}: {relative}");
            }
        }
    }

    #[test]
    fn other_lengths_are_left_to_the_plain_form() {
        assert!([0, 1, 8, 1000, 1102].iter().all(|&len| BatchFft::<f32>::new(len).is_none()));
    }
}

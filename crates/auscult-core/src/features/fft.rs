//! Power spectra of sixteen real frames at once, for lengths that are powers of two.
//!
//! A real transform of N samples is a complex one of M = N/2 pairs and one more step. The complex
//! one decimates in frequency, in place, by eights (then a four or a two). Results stay where the
//! last step leaves them; `place` says where. `spectrum.rs` is the plain form for one frame.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use std::f64::consts::PI;

use multiversion::multiversion;

use super::lanes::{LANES, Lanes};

/// Real and imaginary parts of one number of each frame.
pub(super) type Pair = [Lanes; 2];

/// A planned transform.
#[derive(Debug, Clone)]
pub(super) struct BatchFft {
    stages: Vec<Stage>,
    /// Where the result of each frequency lies.
    place: Vec<usize>,
    /// e^(-2 pi i k / N) for the step from complex to real, k up to M/2.
    turns: Vec<[f32; 2]>,
}

#[derive(Debug, Clone)]
struct Stage {
    radix: usize,
    /// Turns of results 1 to radix - 1 at each position, empty where all are 1.
    turns: Vec<[[f32; 2]; 7]>,
}

impl BatchFft {
    /// Plans frames of `fft_len` samples; `None` if that is not a power of two from 16 on.
    pub(super) fn new(fft_len: usize) -> Option<Self> {
        if !fft_len.is_power_of_two() || fft_len < 16 {
            return None;
        }
        let half = fft_len / 2;
        let mut stages = Vec::new();
        let mut len = half;
        while len > 1 {
            let radix = if len >= 8 { 8 } else { len };
            let turns = |at: usize| {
                std::array::from_fn(|result| turn(at * (result + 1), len).map(|part| part as f32))
            };
            let positions = len / radix;
            let turns = if positions > 1 { (0..positions).map(turns).collect() } else { vec![] };
            stages.push(Stage { radix, turns });
            len = positions;
        }
        let place = (0..half).map(|frequency| place(frequency, half, &stages)).collect();
        let turns = (0..=half / 2).map(|k| turn(k, fft_len).map(|part| part as f32)).collect();
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
    pub(super) fn power(&self, pairs: &mut [Pair], offset: &Lanes, power: &mut [Lanes]) {
        let mut blocks = 1;
        for stage in &self.stages {
            let len = pairs.len() / blocks;
            for block in pairs.chunks_exact_mut(len) {
                stage.run(block);
            }
            blocks *= stage.radix;
        }
        powers(self, pairs, offset, power);
    }
}

/// e^(-2 pi i k / n).
fn turn(k: usize, n: usize) -> [f64; 2] {
    let angle = 2.0 * PI * k as f64 / n as f64;
    [angle.cos(), -angle.sin()]
}

/// Result p of a step fills the p-th part of its block; the next step works within the part.
fn place(frequency: usize, len: usize, stages: &[Stage]) -> usize {
    let Some((stage, rest)) = stages.split_first() else { return 0 };
    let part = len / stage.radix;
    (frequency % stage.radix) * part + place(frequency / stage.radix, part, rest)
}

impl Stage {
    fn run(&self, block: &mut [Pair]) {
        match (self.radix, self.turns.is_empty()) {
            (8, true) => eights_without_turns(block),
            (8, false) => eights(block, &self.turns),
            (4, _) => fours(block),
            _ => twos(block),
        }
    }
}

type Complex = [f32; 2];

#[inline(always)]
fn add(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
fn subtract(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline(always)]
fn multiply(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// A quarter turn back: times -i.
#[inline(always)]
fn quarter(a: Complex) -> Complex {
    [a[1], -a[0]]
}

/// The transform of eight numbers.
#[inline(always)]
fn transform_eight(x: [Complex; 8]) -> [Complex; 8] {
    const DIAGONAL: f32 = std::f32::consts::FRAC_1_SQRT_2;
    let (sum0, difference0) = (add(x[0], x[4]), subtract(x[0], x[4]));
    let (sum1, difference1) = (add(x[1], x[5]), subtract(x[1], x[5]));
    let (sum2, difference2) = (add(x[2], x[6]), quarter(subtract(x[2], x[6])));
    let (sum3, difference3) = (add(x[3], x[7]), quarter(subtract(x[3], x[7])));
    let (even0, even1) = (add(sum0, sum2), add(sum1, sum3));
    let (even2, even3) = (subtract(sum0, sum2), quarter(subtract(sum1, sum3)));
    let (odd0, odd1) = (add(difference0, difference2), add(difference1, difference3));
    let (odd2, odd3) = (subtract(difference0, difference2), subtract(difference1, difference3));
    // Eighth turns: (1 - i) / sqrt 2 and (-1 - i) / sqrt 2.
    let odd1 = [DIAGONAL * (odd1[0] + odd1[1]), DIAGONAL * (odd1[1] - odd1[0])];
    let odd3 = [DIAGONAL * (odd3[1] - odd3[0]), -DIAGONAL * (odd3[0] + odd3[1])];
    [
        add(even0, even1),
        add(odd0, odd1),
        add(even2, even3),
        add(odd2, odd3),
        subtract(even0, even1),
        subtract(odd0, odd1),
        subtract(even2, even3),
        subtract(odd2, odd3),
    ]
}

/// Eight numbers of each frame, transformed and turned.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "rows apart: the compiler sees they do not overlap")]
fn eight_rows(
    r0: &mut Pair,
    r1: &mut Pair,
    r2: &mut Pair,
    r3: &mut Pair,
    r4: &mut Pair,
    r5: &mut Pair,
    r6: &mut Pair,
    r7: &mut Pair,
    turns: Option<&[Complex; 7]>,
) {
    for lane in 0..LANES {
        let at = |row: &Pair| [row[0][lane], row[1][lane]];
        let x = [at(r0), at(r1), at(r2), at(r3), at(r4), at(r5), at(r6), at(r7)];
        let mut y = transform_eight(x);
        if let Some(turns) = turns {
            for result in 1..8 {
                y[result] = multiply(y[result], turns[result - 1]);
            }
        }
        for part in 0..2 {
            r0[part][lane] = y[0][part];
            r1[part][lane] = y[1][part];
            r2[part][lane] = y[2][part];
            r3[part][lane] = y[3][part];
            r4[part][lane] = y[4][part];
            r5[part][lane] = y[5][part];
            r6[part][lane] = y[6][part];
            r7[part][lane] = y[7][part];
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn eights(block: &mut [Pair], turns: &[[Complex; 7]]) {
    let count = turns.len();
    let (r0, rest) = block.split_at_mut(count);
    let (r1, rest) = rest.split_at_mut(count);
    let (r2, rest) = rest.split_at_mut(count);
    let (r3, rest) = rest.split_at_mut(count);
    let (r4, rest) = rest.split_at_mut(count);
    let (r5, rest) = rest.split_at_mut(count);
    let (r6, rest) = rest.split_at_mut(count);
    let r7 = &mut rest[..count];
    for at in 0..count {
        eight_rows(
            &mut r0[at],
            &mut r1[at],
            &mut r2[at],
            &mut r3[at],
            &mut r4[at],
            &mut r5[at],
            &mut r6[at],
            &mut r7[at],
            Some(&turns[at]),
        );
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn eights_without_turns(block: &mut [Pair]) {
    for rows in block.as_chunks_mut::<8>().0 {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        eight_rows(r0, r1, r2, r3, r4, r5, r6, r7, None);
    }
}

/// The last step of lengths that are not powers of eight.
fn fours(block: &mut [Pair]) {
    for [r0, r1, r2, r3] in block.as_chunks_mut::<4>().0 {
        for lane in 0..LANES {
            let at = |row: &Pair| [row[0][lane], row[1][lane]];
            let (sum0, difference0) = (add(at(r0), at(r2)), subtract(at(r0), at(r2)));
            let (sum1, difference1) = (add(at(r1), at(r3)), quarter(subtract(at(r1), at(r3))));
            let y = [
                add(sum0, sum1),
                add(difference0, difference1),
                subtract(sum0, sum1),
                subtract(difference0, difference1),
            ];
            for part in 0..2 {
                r0[part][lane] = y[0][part];
                r1[part][lane] = y[1][part];
                r2[part][lane] = y[2][part];
                r3[part][lane] = y[3][part];
            }
        }
    }
}

/// The last step of lengths that are twice a power of eight.
fn twos(block: &mut [Pair]) {
    for [r0, r1] in block.as_chunks_mut::<2>().0 {
        for part in 0..2 {
            for lane in 0..LANES {
                (r0[part][lane], r1[part][lane]) =
                    (r0[part][lane] + r1[part][lane], r0[part][lane] - r1[part][lane]);
            }
        }
    }
}

/// From the complex transform of pairs to the powers of the real one.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn powers(plan: &BatchFft, pairs: &[Pair], offset: &Lanes, power: &mut [Lanes]) {
    let half = plan.place.len();
    let quarter_len = half as f32 / 2.0;
    let [real, imaginary] = &pairs[plan.place[0]];
    for lane in 0..LANES {
        let lowest = real[lane] + imaginary[lane] + 2.0 * quarter_len * offset[lane];
        let highest = real[lane] - imaginary[lane];
        power[0][lane] = lowest * lowest;
        power[half][lane] = highest * highest;
    }
    let (low, high) = power.split_at_mut(half / 2 + 1);
    for k in 1..half / 2 {
        let shift = if k == 1 { quarter_len } else { 0.0 };
        let (at, mirrored) = (&pairs[plan.place[k]], &pairs[plan.place[half - k]]);
        let high = &mut high[half - k - (half / 2 + 1)];
        power_pair(at, mirrored, plan.turns[k], shift, offset, &mut low[k], high);
    }
    let [real, imaginary] = &pairs[plan.place[half / 2]];
    for lane in 0..LANES {
        low[half / 2][lane] = real[lane] * real[lane] + imaginary[lane] * imaginary[lane];
    }
}

/// The powers at k and N/2 - k.
#[inline(always)]
fn power_pair(
    at: &Pair,
    mirrored: &Pair,
    turn: Complex,
    shift: f32,
    offset: &Lanes,
    low: &mut Lanes,
    high: &mut Lanes,
) {
    for lane in 0..LANES {
        let a = [at[0][lane], at[1][lane]];
        let b = [mirrored[0][lane], mirrored[1][lane]];
        let even = [0.5 * (a[0] + b[0]), 0.5 * (a[1] - b[1])];
        let odd = multiply([0.5 * (a[1] + b[1]), 0.5 * (b[0] - a[0])], turn);
        let (sum, difference) = (add(even, odd), subtract(even, odd));
        let real = sum[0] - shift * offset[lane];
        low[lane] = real * real + sum[1] * sum[1];
        high[lane] = difference[0] * difference[0] + difference[1] * difference[1];
    }
}

#[cfg(test)]
mod tests {
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
    fn other_lengths_are_left_to_the_plain_form() {
        assert!([0, 1, 8, 1000, 1102].iter().all(|&len| BatchFft::new(len).is_none()));
    }
}

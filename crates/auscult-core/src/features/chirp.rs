//! The lowest lines of the spectra of sixteen real signals of any length (Bluestein's method).
//!
//! With nk = (n^2 + k^2 - (k - n)^2) / 2, line k of a transform of N numbers is, up to a turn,
//! the sum over n of x(n) c(n) times the conjugate of c(k - n), where c(n) = e^(-pi i n^2 / N): a
//! convolution, which transforms of a power of two compute. Magnitudes do not need the turn.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use auscult_kernels::fourier;
use multiversion::multiversion;

use super::{
    butterflies::{Complex, Pair, ROWS, Stage, multiply, place, stages, turn},
    lanes::{LANES, Lanes},
};

/// A planned transform of windowed signals.
#[derive(Debug, Clone)]
pub(super) struct ChirpTransform {
    stages: Vec<Stage>,
    /// The window times c(n).
    chirp: Vec<Complex>,
    /// The transform of the conjugate of c, where the forward steps leave each frequency.
    kernel: Vec<Complex>,
}

impl ChirpTransform {
    /// Plans lines 0 to `lines - 1` of signals as long as `window`, divided by that length.
    pub(super) fn new(window: &[f32], lines: usize) -> Self {
        let len = window.len();
        let size = (len + lines).next_power_of_two().max(ROWS);
        // Of n^2 only the rest after division by 2 N counts, and that is exact in integers.
        let square = |n: usize| ((n as u64).pow(2) % (2 * len as u64)) as usize;
        let c = |n: usize| turn(square(n), 2 * len);
        let weigh =
            |(n, &weight): (usize, &f32)| c(n).map(|part| (part * f64::from(weight)) as f32);
        let stages = stages(size);
        let factor = 1.0 / (size as f64 * len as f64);
        let mut kernel = vec![[0.0; 2]; size];
        for (frequency, value) in spectrum_of_chirp(c, len, lines, size).enumerate() {
            kernel[place(frequency, size, &stages)] = value.map(|part| (part * factor) as f32);
        }
        Self { stages, chirp: window.iter().enumerate().map(weigh).collect(), kernel }
    }

    /// The buffer one thread needs.
    pub(super) fn buffer(&self) -> Vec<Pair> {
        vec![[[0.0; LANES]; 2]; self.kernel.len()]
    }

    /// Fills the start of `buffer` with numbers whose magnitudes are those of the lines, of `signals`
    /// after the offsets are taken from them.
    pub(super) fn run(&self, signals: &[Lanes], offsets: &Lanes, buffer: &mut [Pair]) {
        load(signals, offsets, &self.chirp, buffer);
        convolve(&self.stages, &self.kernel, buffer);
    }
}

/// The transform of the conjugate of c, for distances k - n from `1 - len` to `lines - 1`.
fn spectrum_of_chirp(
    c: impl Fn(usize) -> [f64; 2],
    len: usize,
    lines: usize,
    size: usize,
) -> impl Iterator<Item = [f64; 2]> {
    let transform = fourier::forward_f64(size);
    let spectrum_of = |part: &dyn Fn([f64; 2]) -> f64| {
        let mut input = transform.make_input_vec();
        for (at, value) in input.iter_mut().enumerate() {
            if at < lines {
                *value = part(c(at));
            } else if size - at < len {
                *value = part(c(size - at));
            }
        }
        let mut output = transform.make_output_vec();
        let outcome = transform.process(&mut input, &mut output);
        debug_assert!(outcome.is_ok(), "buffers come from the plan: {outcome:?}");
        output
    };
    let parts = [spectrum_of(&|[real, _]| real), spectrum_of(&|[_, imaginary]| -imaginary)];
    // Of a real signal, frequencies above the middle mirror those below.
    let value = move |part: usize, frequency: usize| {
        let mirrored = || parts[part][size - frequency].conj();
        parts[part].get(frequency).copied().unwrap_or_else(mirrored)
    };
    (0..size).map(move |frequency| {
        let (real, imaginary) = (value(0, frequency), value(1, frequency));
        [real.re - imaginary.im, real.im + imaginary.re]
    })
}

/// All steps forward, times the kernel, and all steps back: part by part, so that a part stays near
/// the processor until it is done.
fn convolve(stages: &[Stage], kernel: &[Complex], block: &mut [Pair]) {
    let Some((stage, rest)) = stages.split_first() else { return };
    stage.forward(block);
    match rest {
        [] => multiply_exchanged(kernel, block),
        // The last step takes all parts at once.
        [_] => convolve(rest, kernel, block),
        _ => {
            let len = block.len() / stage.radix;
            for (part, kernel) in block.chunks_exact_mut(len).zip(kernel.chunks_exact(len)) {
                convolve(rest, kernel, part);
            }
        }
    }
    stage.backward(block);
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn load(signals: &[Lanes], offsets: &Lanes, chirp: &[Complex], buffer: &mut [Pair]) {
    let (loaded, zeros) = buffer.split_at_mut(chirp.len());
    let (rows, rest) = loaded.as_chunks_mut::<ROWS>();
    let (signals, rest_signals) = signals.as_chunks::<ROWS>();
    let (turns, rest_turns) = chirp.as_chunks::<ROWS>();
    for ((rows, signals), turns) in rows.iter_mut().zip(signals).zip(turns) {
        load_rows(signals, offsets, turns, rows);
    }
    load_rows(rest_signals, offsets, rest_turns, rest);
    zeros.fill([[0.0; LANES]; 2]);
}

#[inline(always)]
fn load_rows(signals: &[Lanes], offsets: &Lanes, turns: &[Complex], rows: &mut [Pair]) {
    for lane in 0..LANES {
        for ((row, signal), turn) in rows.iter_mut().zip(signals).zip(turns) {
            let value = signal[lane] - offsets[lane];
            row[0][lane] = value * turn[0];
            row[1][lane] = value * turn[1];
        }
    }
}

/// Products with real and imaginary parts exchanged, as the steps back want them.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn multiply_exchanged(kernel: &[Complex], block: &mut [Pair]) {
    // Every block here is a multiple of the rows: the size of the transform is, and so are the parts.
    let (rows, factors) = (block.as_chunks_mut::<ROWS>().0, kernel.as_chunks::<ROWS>().0);
    for (rows, factors) in rows.iter_mut().zip(factors) {
        for lane in 0..LANES {
            for (row, factor) in rows.iter_mut().zip(factors) {
                let [real, imaginary] = multiply([row[0][lane], row[1][lane]], *factor);
                row[0][lane] = imaginary;
                row[1][lane] = real;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_agree_with_the_plain_transform() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / 8_388_608.0 - 1.0
        };
        for (len, lines) in [(12, 6), (13, 7), (247, 118), (256, 129), (2497, 1199), (5000, 30)] {
            let window: Vec<f32> = (0..len).map(|_| 0.5 + 0.5 * random()).collect();
            let signals: Vec<Lanes> = (0..len).map(|_| [(); LANES].map(|()| random())).collect();
            let offsets: Lanes = std::array::from_fn(|lane| lane as f32 * 0.1);
            let plan = ChirpTransform::new(&window, lines);
            let mut buffer = plan.buffer();
            plan.run(&signals, &offsets, &mut buffer);
            let plain = fourier::forward_f64(len);
            let (mut input, mut output) = (plain.make_input_vec(), plain.make_output_vec());
            for lane in 0..LANES {
                for ((value, signal), weight) in input.iter_mut().zip(&signals).zip(&window) {
                    *value = f64::from((signal[lane] - offsets[lane]) * weight);
                }
                plain.process(&mut input, &mut output).unwrap();
                let largest = output.iter().map(|value| value.norm()).fold(0.0, f64::max);
                for (row, want) in buffer.iter().zip(&output[..lines]) {
                    let got = f64::from(row[0][lane].hypot(row[1][lane])) * len as f64;
                    let difference = (got - want.norm()).abs();
                    assert!(difference < 1e-6 * largest, "{len}: {difference} of {largest}");
                }
            }
        }
    }
}

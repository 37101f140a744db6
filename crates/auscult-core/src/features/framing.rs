//! Cuts a clip into frames and conditions each one.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use std::f64::consts::PI;

use auscult_kernels::{Isa, turn};
use multiversion::multiversion;

use super::{
    butterflies::Pair,
    lanes::{LANES, Lanes},
};

/// Where the first frame starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// Frames lie wholly inside the clip (Kaldi's `snip_edges`).
    Snip,
    /// The clip is padded with half a frame of zeros at both ends (librosa's `center`).
    Centred,
}

/// What happens to a frame before it is windowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conditioning {
    /// Nothing.
    Plain,
    /// Nothing, and an offset goes through the transform with the rest: for windows that are not the
    /// periodic Hann window.
    AsIs,
    /// Kaldi: the frame's mean is removed, then pre-emphasis 0.97.
    Kaldi,
}

/// The shape frames are multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Window {
    /// Symmetric Hann to the power 0.85 (Kaldi's default).
    Povey,
    /// Symmetric Hann.
    Hann,
    /// Periodic Hann (librosa).
    PeriodicHann,
}

impl Window {
    /// The `len` coefficients.
    pub(super) fn coefficients(self, len: usize) -> Vec<f32> {
        self.precise_coefficients(len).into_iter().map(|value| value as f32).collect()
    }

    /// The `len` coefficients in f64.
    pub(super) fn precise_coefficients(self, len: usize) -> Vec<f64> {
        let period = match self {
            Self::Povey | Self::Hann => len - 1,
            Self::PeriodicHann => len,
        };
        let hann = (0..len).map(|i| 0.5 - 0.5 * (2.0 * PI * i as f64 / period as f64).cos());
        match self {
            Self::Povey => hann.map(|value| value.powf(0.85)).collect(),
            Self::Hann | Self::PeriodicHann => hann.collect(),
        }
    }
}

/// The frames of a clip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Framing {
    pub(super) frame_len: usize,
    pub(super) hop: usize,
    pub(super) edges: Edges,
}

impl Framing {
    /// How many frames a clip of `samples` samples has.
    pub(super) fn frame_count(self, samples: usize) -> usize {
        match self.edges {
            Edges::Snip if samples < self.frame_len => 0,
            Edges::Snip => 1 + (samples - self.frame_len) / self.hop,
            Edges::Centred => 1 + samples / self.hop,
        }
    }

    /// The samples of [`LANES`] frames from `first` on: those of the clip where it has them all,
    /// otherwise a copy in `span` with zeros where it has none.
    pub(super) fn span<'a>(
        self,
        samples: &'a [f32],
        first: usize,
        span: &'a mut [f32],
    ) -> &'a [f32] {
        let position = first * self.hop;
        let inside = position
            .checked_sub(self.lead())
            .and_then(|start| samples.get(start..start + span.len()));
        inside.unwrap_or_else(|| {
            copy_padded(samples, position, self.lead(), span);
            span
        })
    }

    /// How many samples [`LANES`] frames have.
    pub(super) fn span_len(self) -> usize {
        (LANES - 1) * self.hop + self.frame_len
    }

    /// Zeros before the clip.
    pub(super) fn lead(self) -> usize {
        match self.edges {
            Edges::Snip => 0,
            Edges::Centred => self.frame_len / 2,
        }
    }

    /// Copies frame `index` into `frame`, with zeros where the clip has no samples.
    pub(super) fn copy_frame(self, samples: &[f32], index: usize, frame: &mut [f32]) {
        copy_padded(samples, index * self.hop, self.lead(), frame);
    }
}

/// Copies samples from `position` on, in a clip that has `lead` zeros before it and any number
/// after it.
fn copy_padded(samples: &[f32], position: usize, lead: usize, out: &mut [f32]) {
    let zeros = lead.saturating_sub(position).min(out.len());
    let start = (position + zeros).saturating_sub(lead).min(samples.len());
    let taken = (out.len() - zeros).min(samples.len() - start);
    out[..zeros].fill(0.0);
    out[zeros..zeros + taken].copy_from_slice(&samples[start..start + taken]);
    out[zeros + taken..].fill(0.0);
}

/// Kaldi's pre-emphasis coefficient.
const PRE_EMPHASIS: f32 = 0.97;

impl Conditioning {
    /// Conditions one frame in place and returns the offset that has to be put back into its
    /// spectrum.
    ///
    /// A plain frame keeps its mean, but not through the transform: in f32 a large offset would
    /// leave its rounding noise in every bin.
    pub(super) fn apply(self, frame: &mut [f32]) -> f32 {
        match self {
            Self::Plain => {
                let middle = middle(frame);
                take(middle, frame);
                middle
            }
            Self::AsIs => 0.0,
            Self::Kaldi => {
                take(mean(frame), frame);
                // Backwards, so that each sample still sees its unfiltered neighbour; the first
                // sample is its own neighbour.
                for i in (1..frame.len()).rev() {
                    frame[i] -= PRE_EMPHASIS * frame[i - 1];
                }
                frame[0] -= PRE_EMPHASIS * frame[0];
                0.0
            }
        }
    }
}

/// Conditions and windows the frames of a span like [`Conditioning::apply`], and lays them side by
/// side: `pairs[n]` are their samples 2n and 2n + 1. Returns the offsets to be put back.
///
/// The window is zero beyond the frames, and as long as `pairs`.
pub(super) fn condition_span(
    conditioning: Conditioning,
    framing: Framing,
    span: &[f32],
    window: &[f32],
    pairs: &mut [Pair],
) -> Lanes {
    let (rows, zeros) = pairs.as_flattened_mut().split_at_mut(framing.frame_len);
    zeros.fill([0.0; LANES]);
    turn(Isa::best(), span, framing.hop, rows);
    match conditioning {
        Conditioning::Plain => {
            let middles = middles(rows);
            centre(&middles, window, rows);
            middles
        }
        Conditioning::AsIs => {
            centre(&[0.0; LANES], window, rows);
            [0.0; LANES]
        }
        Conditioning::Kaldi => {
            emphasise(&means(rows), window, rows);
            [0.0; LANES]
        }
    }
}

/// Windows the frames of a span in f64, as they are, and lays them side by side: `pairs[n]` are their
/// samples 2n and 2n + 1. `rows` is scratch.
///
/// The window, `rows` and `pairs` are as long as the frames, a multiple of four.
pub(super) fn window_span(
    framing: Framing,
    span: &[f32],
    window: &[f64],
    rows: &mut [Pair],
    pairs: &mut [Pair<f64>],
) {
    let rows = rows.as_flattened_mut();
    turn(Isa::best(), span, framing.hop, rows);
    weigh(rows, window, pairs.as_flattened_mut());
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn weigh(rows: &[Lanes], window: &[f64], weighed: &mut [[f64; LANES]]) {
    // By fours: of single rows, compilers mix up sixteen at a time.
    let (rows, weights) = (rows.as_chunks::<4>().0, window.as_chunks::<4>().0);
    let weighed = weighed.as_chunks_mut::<4>().0;
    for ((weighed, four), weights) in weighed.iter_mut().zip(rows).zip(weights) {
        for lane in 0..LANES {
            weighed[0][lane] = f64::from(four[0][lane]) * weights[0];
            weighed[1][lane] = f64::from(four[1][lane]) * weights[1];
            weighed[2][lane] = f64::from(four[2][lane]) * weights[2];
            weighed[3][lane] = f64::from(four[3][lane]) * weights[3];
        }
    }
}

/// Running sums of a frame: one alone would wait for itself.
const SUMS: usize = 4;

/// The mean of every frame, summed in f64 in the order of [`mean`].
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
pub(super) fn means(rows: &[Lanes]) -> Lanes {
    let [mut a, mut b, mut c, mut d] = [[0.0_f64; LANES]; SUMS];
    let (fours, rest) = rows.as_chunks::<SUMS>();
    for four in fours {
        for lane in 0..LANES {
            a[lane] += f64::from(four[0][lane]);
            b[lane] += f64::from(four[1][lane]);
            c[lane] += f64::from(four[2][lane]);
            d[lane] += f64::from(four[3][lane]);
        }
    }
    for row in rest {
        for lane in 0..LANES {
            a[lane] += f64::from(row[lane]);
        }
    }
    let mut means = [0.0; LANES];
    for lane in 0..LANES {
        let sum = (a[lane] + b[lane]) + (c[lane] + d[lane]);
        means[lane] = (sum / rows.len() as f64) as f32;
    }
    means
}

/// Samples of which one counts for the middle.
const STEP: usize = 4;

/// About the mean of every frame, in the order of [`middle`].
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn middles(rows: &[Lanes]) -> Lanes {
    let [mut a, mut b, mut c, mut d] = [[0.0; LANES]; SUMS];
    let blocks = rows.as_chunks::<{ STEP * SUMS }>().0;
    for block in blocks {
        for lane in 0..LANES {
            a[lane] += block[0][lane];
            b[lane] += block[STEP][lane];
            c[lane] += block[2 * STEP][lane];
            d[lane] += block[3 * STEP][lane];
        }
    }
    let mut middles = [0.0; LANES];
    for lane in 0..LANES {
        let sum = (a[lane] + b[lane]) + (c[lane] + d[lane]);
        middles[lane] = sum / (SUMS * blocks.len().max(1)) as f32;
    }
    middles
}

/// Takes an offset from every sample, and windows it.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn centre(offsets: &Lanes, window: &[f32], rows: &mut [Lanes]) {
    // By fours: of single rows, compilers mix up sixteen at a time.
    let ((fours, rest), (weights, rest_weights)) = (rows.as_chunks_mut::<4>(), window.as_chunks());
    for (four, weights) in fours.iter_mut().zip(weights) {
        let four: &mut [Lanes; 4] = four;
        let weights: &[f32; 4] = weights;
        for lane in 0..LANES {
            four[0][lane] = (four[0][lane] - offsets[lane]) * weights[0];
            four[1][lane] = (four[1][lane] - offsets[lane]) * weights[1];
            four[2][lane] = (four[2][lane] - offsets[lane]) * weights[2];
            four[3][lane] = (four[3][lane] - offsets[lane]) * weights[3];
        }
    }
    let rest_weights = weights.get(fours.len()).map_or(rest_weights, <[f32; 4]>::as_slice);
    for (row, weight) in rest.iter_mut().zip(rest_weights) {
        for lane in 0..LANES {
            row[lane] = (row[lane] - offsets[lane]) * weight;
        }
    }
}

/// Takes the means and a share of the sample before it from every sample, and windows it.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn emphasise(means: &Lanes, window: &[f32], rows: &mut [Lanes]) {
    // Backwards, so that each row still sees the one before it unchanged.
    for at in (1..rows.len().min(window.len())).rev() {
        let (before, row) = rows.split_at_mut(at);
        emphasise_row(&mut row[0], &before[at - 1], means, window[at]);
    }
    // The first sample of a frame is its own neighbour.
    let first = rows[0];
    emphasise_row(&mut rows[0], &first, means, window[0]);
}

#[inline(always)]
fn emphasise_row(row: &mut Lanes, before: &Lanes, means: &Lanes, weight: f32) {
    for lane in 0..LANES {
        let (value, before) = (row[lane] - means[lane], before[lane] - means[lane]);
        row[lane] = (value - PRE_EMPHASIS * before) * weight;
    }
}

/// The mean, summed in f64 and always in the same order.
fn mean(frame: &[f32]) -> f32 {
    let mut sums = [0.0_f64; SUMS];
    let (fours, rest) = frame.as_chunks::<SUMS>();
    for four in fours {
        for (sum, &value) in sums.iter_mut().zip(four) {
            *sum += f64::from(value);
        }
    }
    for &value in rest {
        sums[0] += f64::from(value);
    }
    let [a, b, c, d] = sums;
    (((a + b) + (c + d)) / frame.len() as f64) as f32
}

/// About the mean, from a few samples: what is taken is put back, so any offset near it will do.
fn middle(frame: &[f32]) -> f32 {
    let mut sums = [0.0_f32; SUMS];
    let blocks = frame.as_chunks::<{ STEP * SUMS }>().0;
    for block in blocks {
        for (sum, samples) in sums.iter_mut().zip(block.as_chunks::<STEP>().0) {
            *sum += samples[0];
        }
    }
    let [a, b, c, d] = sums;
    ((a + b) + (c + d)) / (SUMS * blocks.len().max(1)) as f32
}

/// Subtracts an offset.
fn take(offset: f32, frame: &mut [f32]) {
    for value in frame {
        *value -= offset;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_seconds_have_the_frame_counts_of_kaldi_and_librosa() {
        let framing = |edges| Framing { frame_len: 1024, hop: 512, edges };
        assert_eq!(framing(Edges::Snip).frame_count(160_000), 311);
        assert_eq!(framing(Edges::Centred).frame_count(160_000), 313);
        assert_eq!(framing(Edges::Snip).frame_count(1_023), 0);
    }

    #[test]
    fn centred_frames_are_padded_with_zeros_at_both_ends() {
        let framing = Framing { frame_len: 4, hop: 2, edges: Edges::Centred };
        let samples = [1.0, 2.0, 3.0, 4.0, 5.0];
        let mut frame = [9.0; 4];
        let frames: Vec<_> = (0..framing.frame_count(5))
            .map(|index| {
                framing.copy_frame(&samples, index, &mut frame);
                frame
            })
            .collect();
        assert_eq!(frames, [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 0.0]]);
    }

    #[test]
    fn frames_past_the_end_of_a_short_clip_are_zero() {
        let framing = Framing { frame_len: 4, hop: 4, edges: Edges::Snip };
        let mut frame = [9.0; 4];
        framing.copy_frame(&[1.0, 2.0], 3, &mut frame);
        assert_eq!(frame, [0.0; 4]);
    }
}

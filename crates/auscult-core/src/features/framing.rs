//! Cuts a clip into frames and conditions each one.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use std::f64::consts::PI;

use multiversion::multiversion;

use super::{
    fft::Pair,
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
        let period = match self {
            Self::Povey | Self::Hann => len - 1,
            Self::PeriodicHann => len,
        };
        let hann = (0..len).map(|i| 0.5 - 0.5 * (2.0 * PI * i as f64 / period as f64).cos());
        match self {
            Self::Povey => hann.map(|value| value.powf(0.85) as f32).collect(),
            Self::Hann | Self::PeriodicHann => hann.map(|value| value as f32).collect(),
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

    /// Copies the samples of [`LANES`] frames from `first` on, after the sample before them, with
    /// zeros where the clip has none.
    pub(super) fn copy_span(self, samples: &[f32], first: usize, scale: f32, span: &mut [f32]) {
        copy_padded(samples, first * self.hop, self.lead() + 1, scale, span);
    }

    /// Zeros before the clip.
    pub(super) fn lead(self) -> usize {
        match self.edges {
            Edges::Snip => 0,
            Edges::Centred => self.frame_len / 2,
        }
    }

    /// Copies frame `index` into `frame`, with zeros where the clip has no samples.
    pub(super) fn copy_frame(self, samples: &[f32], index: usize, scale: f32, frame: &mut [f32]) {
        copy_padded(samples, index * self.hop, self.lead(), scale, frame);
    }
}

/// Copies samples from `position` on, in a clip that has `lead` zeros before it and any number
/// after it.
fn copy_padded(samples: &[f32], position: usize, lead: usize, scale: f32, out: &mut [f32]) {
    let zeros = lead.saturating_sub(position).min(out.len());
    let start = (position + zeros).saturating_sub(lead).min(samples.len());
    let taken = (out.len() - zeros).min(samples.len() - start);
    out[..zeros].fill(0.0);
    copy_scaled(&samples[start..start + taken], scale, &mut out[zeros..]);
    out[zeros + taken..].fill(0.0);
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn copy_scaled(samples: &[f32], scale: f32, out: &mut [f32]) {
    for (out, sample) in out.iter_mut().zip(samples) {
        *out = sample * scale;
    }
}

/// Kaldi's pre-emphasis coefficient.
const PRE_EMPHASIS: f32 = 0.97;

impl Conditioning {
    /// Conditions one frame in place and returns the mean that has to be put back into its
    /// spectrum.
    ///
    /// A plain frame keeps its mean, but not through the transform: in f32 a large offset would
    /// leave its rounding noise in every bin.
    pub(super) fn apply(self, frame: &mut [f32]) -> f32 {
        match self {
            Self::Plain => take_mean(frame),
            Self::Kaldi => {
                take_mean(frame);
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
/// side: `pairs[n]` are their samples 2n and 2n + 1. Returns the means to be put back.
///
/// The window is zero beyond the frames, and as long as `pairs`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
pub(super) fn condition_span(
    conditioning: Conditioning,
    framing: Framing,
    span: &[f32],
    window: &[f32],
    pairs: &mut [Pair],
) -> Lanes {
    let frame = |lane: usize| &span[1 + lane * framing.hop..];
    let means: Lanes = std::array::from_fn(|lane| mean(&frame(lane)[..framing.frame_len]));
    let strength = match conditioning {
        Conditioning::Plain => 0.0,
        Conditioning::Kaldi => PRE_EMPHASIS,
    };
    let rows = pairs.as_flattened_mut();
    turn_span(framing, &span[1..], rows);
    // Backwards, so that each row still sees the one before it as it was.
    for at in (1..rows.len().min(window.len())).rev() {
        let (before, row) = rows.split_at_mut(at);
        emphasise(&mut row[0], &before[at - 1], &means, strength, window[at]);
    }
    // The first sample of a frame is its own neighbour.
    let first = rows[0];
    emphasise(&mut rows[0], &first, &means, strength, window[0]);
    match conditioning {
        Conditioning::Plain => means,
        Conditioning::Kaldi => [0.0; LANES],
    }
}

/// Samples that are turned at once: a tile of as many of every frame.
const TILE: usize = 16;

/// One sample of each frame without the mean, less a share of the sample before it, windowed.
#[inline(always)]
fn emphasise(row: &mut Lanes, before: &Lanes, means: &Lanes, strength: f32, weight: f32) {
    for lane in 0..LANES {
        let (value, before) = (row[lane] - means[lane], before[lane] - means[lane]);
        row[lane] = (value - strength * before) * weight;
    }
}

/// Lays the samples of [`LANES`] frames side by side, zeros after them.
#[inline(always)]
fn turn_span(framing: Framing, samples: &[f32], rows: &mut [Lanes]) {
    let Framing { frame_len, hop, .. } = framing;
    // The second half of a frame is often the first half of the next one, and turned already.
    let is_halved = frame_len == 2 * hop && hop.is_multiple_of(TILE);
    let turned = if is_halved { hop } else { frame_len.next_multiple_of(TILE) };
    let (rows, rest) = rows.split_at_mut(turned);
    for (tile, rows) in rows.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
        for first in (0..LANES).step_by(4) {
            let frame = |lane| {
                let start = (first + lane) * hop + tile * TILE;
                samples[start..].first_chunk().unwrap_or(&[0.0; TILE])
            };
            turn_tile([frame(0), frame(1), frame(2), frame(3)], first, rows);
        }
    }
    let (second, zeros) = rest.split_at_mut(if is_halved { hop } else { 0 });
    for ((row, next), &last) in rows.iter().zip(second).zip(&samples[LANES * hop..]) {
        next[..LANES - 1].copy_from_slice(&row[1..]);
        next[LANES - 1] = last;
    }
    zeros.fill([0.0; LANES]);
}

/// Samples of four frames become columns from `first` on. By fours: compilers know that as a few
/// shuffles, where larger turns become one store a number.
#[inline(always)]
fn turn_tile(frames: [&[f32; TILE]; 4], first: usize, rows: &mut [Lanes; TILE]) {
    let [a, b, c, d] = frames.map(|frame| frame.as_chunks::<4>().0);
    for (at, rows) in rows.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let (a, b, c, d) = (a[at], b[at], c[at], d[at]);
        for (sample, row) in rows.iter_mut().enumerate() {
            row[first..first + 4].copy_from_slice(&[a[sample], b[sample], c[sample], d[sample]]);
        }
    }
}

/// The mean, summed in f64 and always in the same order.
#[inline(always)]
fn mean(frame: &[f32]) -> f32 {
    let mut sums = [0.0_f64; 16];
    let (chunks, rest) = frame.as_chunks::<16>();
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(value);
        }
    }
    let rest: f64 = rest.iter().map(|&value| f64::from(value)).sum();
    ((sums.iter().sum::<f64>() + rest) / frame.len() as f64) as f32
}

/// Subtracts the frame's mean and returns it.
fn take_mean(frame: &mut [f32]) -> f32 {
    let mean = mean(frame);
    for value in frame {
        *value -= mean;
    }
    mean
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
                framing.copy_frame(&samples, index, 1.0, &mut frame);
                frame
            })
            .collect();
        assert_eq!(frames, [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 0.0]]);
    }

    #[test]
    fn frames_past_the_end_of_a_short_clip_are_zero() {
        let framing = Framing { frame_len: 4, hop: 4, edges: Edges::Snip };
        let mut frame = [9.0; 4];
        framing.copy_frame(&[1.0, 2.0], 3, 1.0, &mut frame);
        assert_eq!(frame, [0.0; 4]);
    }
}

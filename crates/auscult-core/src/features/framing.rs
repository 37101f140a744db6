//! Cuts a clip into frames and conditions each one.

use std::f64::consts::PI;

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

    /// Copies frame `index` into `frame`, with zeros where the clip has no samples.
    pub(super) fn copy_frame(self, samples: &[f32], index: usize, scale: f32, frame: &mut [f32]) {
        let lead = match self.edges {
            Edges::Snip => 0,
            Edges::Centred => self.frame_len / 2,
        };
        let position = index * self.hop;
        let zeros = lead.saturating_sub(position).min(self.frame_len);
        let start = (position + zeros).saturating_sub(lead).min(samples.len());
        let taken = (self.frame_len - zeros).min(samples.len() - start);
        frame[..zeros].fill(0.0);
        for (out, sample) in frame[zeros..].iter_mut().zip(&samples[start..start + taken]) {
            *out = sample * scale;
        }
        frame[zeros + taken..].fill(0.0);
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

/// Subtracts the frame's mean and returns it.
fn take_mean(frame: &mut [f32]) -> f32 {
    let sum: f64 = frame.iter().map(|&value| f64::from(value)).sum();
    let mean = (sum / frame.len() as f64) as f32;
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

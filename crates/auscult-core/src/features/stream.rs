//! Frames of a sound without an end.

use std::fmt;

use super::{
    filter_bank::{FilterBank, FilterBankBuffers},
    framing::{Edges, Framing},
    lanes::{LANES, take_lane},
};

/// Log-mel frames of a stream: the same bits as those of a clip that holds all of it.
///
/// Frames come in batches of sixteen, half a second of sound, so that they cost what they cost in a
/// clip; [`FrameStream::finish`] gives the rest. Memory is bounded by one batch and one piece.
///
/// # Examples
///
/// ```
/// use auscult_core::{ClipSettings, features::{LogMel, LogMelSettings}};
///
/// let log_mel = LogMel::new(&LogMelSettings::default(), ClipSettings::default().check()?)?;
/// let mut stream = log_mel.stream();
/// let mut count = 0;
/// for piece in vec![0.1_f32; 160_000].chunks(777) {
///     stream.push(piece, &mut |frame| count += frame.len() / 128);
/// }
/// stream.finish(&mut |_| count += 1);
/// assert_eq!(count, 311);
/// # Ok::<(), auscult_core::Error>(())
/// ```
pub struct FrameStream {
    bank: FilterBank,
    buffers: FilterBankBuffers,
    /// Mean and divisor that standardise an encoder's input.
    scaling: Option<(f32, f32)>,
    /// Samples from the next frame's start on.
    waiting: Vec<f32>,
    frame: Vec<f32>,
    is_started: bool,
}

impl fmt::Debug for FrameStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FrameStream").field("bank", &self.bank).finish_non_exhaustive()
    }
}

impl FrameStream {
    pub(super) fn new(bank: FilterBank, scaling: Option<(f32, f32)>) -> Self {
        let (buffers, frame) = (bank.buffers(), vec![0.0; bank.bins()]);
        Self { bank, buffers, scaling, waiting: Vec::new(), frame, is_started: false }
    }

    /// Takes the next samples and calls `sink` with every frame of the batches that are full.
    pub fn push(&mut self, samples: &[f32], sink: &mut dyn FnMut(&[f32])) {
        self.start();
        self.waiting.extend_from_slice(samples);
        let Framing { frame_len, hop, .. } = self.bank.framing();
        let mut first = 0;
        while first * hop + (LANES - 1) * hop + frame_len <= self.waiting.len() {
            self.emit(first, LANES, sink);
            first += LANES;
        }
        self.waiting.drain(..first * hop);
    }

    /// Says that the sound has ended and calls `sink` with the frames that are left.
    pub fn finish(mut self, sink: &mut dyn FnMut(&[f32])) {
        self.start();
        let framing = self.framing();
        // As many zeros as there were before the sound.
        self.waiting.resize(self.waiting.len() + self.bank.framing().lead(), 0.0);
        let count = framing.frame_count(self.waiting.len());
        for first in (0..count).step_by(LANES) {
            self.emit(first, LANES.min(count - first), sink);
        }
    }

    fn start(&mut self) {
        if !self.is_started {
            self.waiting.resize(self.bank.framing().lead(), 0.0);
            self.is_started = true;
        }
    }

    /// The zeros before the sound are waiting with it.
    fn framing(&self) -> Framing {
        Framing { edges: Edges::Snip, ..self.bank.framing() }
    }

    fn emit(&mut self, first: usize, count: usize, sink: &mut dyn FnMut(&[f32])) {
        let framing = self.framing();
        let Self { bank, buffers, scaling, waiting, frame, .. } = self;
        let energies = bank.batch(framing, waiting, first, count, buffers);
        for lane in 0..count {
            take_lane(energies, lane, frame);
            if let Some((mean, divisor)) = *scaling {
                for value in frame.iter_mut() {
                    *value = (*value - mean) / divisor;
                }
            }
            sink(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{LogMel, LogMelConvention, LogMelSettings};
    use crate::{ClipSettings, FrontEnd};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_stream_has_the_frames_of_the_clip(
            convention in prop::sample::select(LogMelConvention::ALL),
            sample_rate in prop::sample::select(vec![16_000_u32, 11_025]),
            pieces in prop::collection::vec(1_usize..9000, 1..8), seed in 1_u32..1000,
        ) {
            let len = pieces.iter().sum::<usize>().max(1_700);
            let seconds = len as f64 / f64::from(sample_rate);
            let length = ClipSettings { sample_rate, seconds }.check().unwrap();
            let log_mel = LogMel::new(&LogMelSettings { convention }, length).unwrap();
            let mut state = seed;
            let samples: Vec<f32> = (0..length.samples())
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 8) as f32 / 16_777_216.0 - 0.5
                })
                .collect();
            let mut clip = Vec::new();
            log_mel
                .extractor()
                .for_each_frame(&samples, &mut |frame| clip.extend_from_slice(frame))
                .unwrap();
            let (mut streamed, mut rest) = (Vec::new(), &samples[..]);
            let mut sink = |frame: &[f32]| streamed.extend_from_slice(frame);
            let mut stream = log_mel.stream();
            for piece in pieces {
                let (now, later) = rest.split_at(piece.min(rest.len()));
                stream.push(now, &mut sink);
                rest = later;
            }
            stream.push(rest, &mut sink);
            stream.finish(&mut sink);
            // EAT's clips are padded with frames that no sound stands for.
            prop_assert!(streamed.len() <= clip.len() && !streamed.is_empty());
            if convention != LogMelConvention::EatInput {
                prop_assert_eq!(streamed.len(), clip.len());
            }
            prop_assert!(streamed[..] == clip[..streamed.len()]);
        }
    }
}

//! Frames of a sound without an end.

use std::fmt;

use super::{
    cosine::CosineTransform,
    filter_bank::{FilterBank, FilterBankBuffers},
    framing::{Edges, Framing},
    lanes::{LANES, Lanes, take_lane},
};

/// Log-mel or MFCC frames of a stream: the same bits as those of a clip that holds all of it.
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
    ending: Ending,
    /// Samples from the next frame's start on.
    waiting: Vec<f32>,
    frame: Vec<f32>,
    cepstra: Vec<Lanes>,
    is_started: bool,
}

/// What happens to log-mel energies.
pub(super) enum Ending {
    /// Nothing.
    LogMel,
    /// An encoder's input: less the mean, divided.
    Standardised { mean: f32, divisor: f32 },
    /// They become so many cepstra.
    Cepstra(CosineTransform, usize),
}

impl fmt::Debug for FrameStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FrameStream").field("bank", &self.bank).finish_non_exhaustive()
    }
}

impl FrameStream {
    pub(super) fn new(bank: FilterBank, ending: Ending) -> Self {
        let len = if let Ending::Cepstra(_, count) = &ending { *count } else { bank.bins() };
        Self {
            buffers: bank.buffers(),
            frame: vec![0.0; len],
            cepstra: vec![[0.0; LANES]; len],
            waiting: Vec::new(),
            is_started: false,
            bank,
            ending,
        }
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
        let Self { bank, buffers, ending, waiting, frame, cepstra, .. } = self;
        let mut rows: &mut [Lanes] = bank.batch(framing, waiting, first, count, buffers);
        if let Ending::Cepstra(transform, _) = ending {
            transform.apply(rows, cepstra);
            rows = cepstra;
        }
        for lane in 0..count {
            take_lane(rows, lane, frame);
            if let Ending::Standardised { mean, divisor } = *ending {
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

    use super::{
        super::{LogMel, LogMelConvention, LogMelSettings, Mfcc, MfccConvention, MfccSettings},
        FrameStream,
    };
    use crate::{ClipLength, ClipSettings, FrontEnd};

    fn noise(length: ClipLength, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0 - 0.5
        };
        (0..length.samples()).map(|_| next()).collect()
    }

    fn frames_of_clip(front_end: &dyn FrontEnd, samples: &[f32]) -> Vec<f32> {
        let mut clip = Vec::new();
        let mut sink = |frame: &[f32]| clip.extend_from_slice(frame);
        front_end.extractor().for_each_frame(samples, &mut sink).unwrap();
        clip
    }

    fn frames_of_pieces(mut stream: FrameStream, samples: &[f32], pieces: &[usize]) -> Vec<f32> {
        let (mut streamed, mut rest) = (Vec::new(), samples);
        let mut sink = |frame: &[f32]| streamed.extend_from_slice(frame);
        for &piece in pieces {
            let (now, later) = rest.split_at(piece.min(rest.len()));
            stream.push(now, &mut sink);
            rest = later;
        }
        stream.push(rest, &mut sink);
        stream.finish(&mut sink);
        streamed
    }

    fn length(sample_rate: u32, pieces: &[usize]) -> ClipLength {
        let len = pieces.iter().sum::<usize>().max(1_700);
        let seconds = len as f64 / f64::from(sample_rate);
        ClipSettings { sample_rate, seconds }.check().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_stream_has_the_frames_of_the_clip(
            convention in prop::sample::select(LogMelConvention::ALL),
            sample_rate in prop::sample::select(vec![16_000_u32, 11_025]),
            pieces in prop::collection::vec(1_usize..9000, 1..8), seed in 1_u32..1000,
        ) {
            let length = length(sample_rate, &pieces);
            let log_mel = LogMel::new(&LogMelSettings { convention }, length).unwrap();
            let samples = noise(length, seed);
            let clip = frames_of_clip(&log_mel, &samples);
            let streamed = frames_of_pieces(log_mel.stream(), &samples, &pieces);
            // EAT's clips are padded with frames that no sound stands for.
            prop_assert!(streamed.len() <= clip.len() && !streamed.is_empty());
            if convention != LogMelConvention::EatInput {
                prop_assert_eq!(streamed.len(), clip.len());
            }
            prop_assert!(streamed[..] == clip[..streamed.len()]);
        }

        #[test]
        fn a_stream_has_the_cepstra_of_the_clip(
            convention in prop::sample::select(MfccConvention::ALL),
            coefficients in 1_usize..=128,
            pieces in prop::collection::vec(1_usize..9000, 1..8), seed in 1_u32..1000,
        ) {
            let length = length(16_000, &pieces);
            let mfcc = Mfcc::new(&MfccSettings { convention, coefficients }, length).unwrap();
            let Ok(stream) = mfcc.stream() else {
                prop_assert_eq!(convention, MfccConvention::Librosa);
                return Ok(());
            };
            let samples = noise(length, seed);
            let streamed = frames_of_pieces(stream, &samples, &pieces);
            prop_assert!(streamed == frames_of_clip(&mfcc, &samples));
        }
    }
}

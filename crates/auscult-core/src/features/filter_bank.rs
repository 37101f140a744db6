//! Log-compressed mel filter bank energies, in every convention the field uses.

use multiversion::multiversion;

use super::{
    axis::Level,
    butterflies::Pair,
    fft::BatchFft,
    framing::{Conditioning, Edges, Framing, Window, condition_span, window_span},
    lanes::{LANES, Lanes, take_lane},
    logarithm::compress,
    mel::{MelFilters, MelScale},
    spectrum::{SpectrumBuffers, SpectrumPlan},
};
use crate::{ClipLength, Error, Result};

/// How energies are compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Compression {
    /// ln(max(energy, f32 epsilon)): Kaldi.
    NaturalLog,
    /// 10 log10(energy + f64 epsilon): the DCASE baselines.
    Decibels,
    /// 10 log10(max(energy, 1e-10)); the caller clips it at 80 dB below the loudest value.
    FlooredDecibels,
    /// ln(energy + 1e-10).
    RaisedNaturalLog,
}

/// What [`Compression::RaisedNaturalLog`] adds.
const RAISE: f32 = 1e-10;

impl Compression {
    pub(super) fn level(self) -> Level {
        match self {
            Self::NaturalLog | Self::RaisedNaturalLog => Level::NaturalLogPower,
            Self::Decibels | Self::FlooredDecibels => Level::Decibels,
        }
    }

    fn apply(self, energies: &mut [Lanes]) {
        const DECIBELS: f32 = 10.0 * std::f32::consts::LOG10_E;
        // The offset is far below f32 resolution of any audible energy.
        let offset = f64::EPSILON as f32;
        match self {
            Self::NaturalLog => compress(energies, 0.0, f32::EPSILON, 1.0),
            Self::Decibels => compress(energies, offset, offset, DECIBELS),
            Self::FlooredDecibels => compress(energies, 0.0, 1e-10, DECIBELS),
            Self::RaisedNaturalLog => compress(energies, RAISE, RAISE, 1.0),
        }
    }
}

/// Everything that defines a filter bank front end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe {
    pub(super) frame_ms: f64,
    pub(super) hop_ms: f64,
    pub(super) edges: Edges,
    /// Factor on samples in [-1, 1).
    pub(super) scale: f32,
    pub(super) conditioning: Conditioning,
    pub(super) precision: Precision,
    pub(super) window: Window,
    pub(super) mel_scale: MelScale,
    pub(super) mel_bins: usize,
    pub(super) low_hertz: f64,
    /// Or half the sample rate, where that is lower.
    pub(super) high_hertz: f64,
    pub(super) compression: Compression,
}

/// Kaldi expects samples in the range of 16-bit integers.
pub(super) const INT16_SCALE: f32 = 32_768.0;

/// Log-mel and MFCC look no higher than this.
const HIGHEST_HERTZ: f64 = 8000.0;

impl Recipe {
    /// Kaldi's filter bank, 64 ms frames every 32 ms, 128 bins from 0 Hz.
    pub(super) const KALDI: Self = Self {
        frame_ms: 64.0,
        hop_ms: 32.0,
        edges: Edges::Snip,
        scale: 1.0,
        conditioning: Conditioning::Kaldi,
        precision: Precision::Single,
        window: Window::Povey,
        mel_scale: MelScale::Kaldi,
        mel_bins: 128,
        low_hertz: 0.0,
        high_hertz: HIGHEST_HERTZ,
        compression: Compression::NaturalLog,
    };

    /// librosa's mel spectrogram as the DCASE baselines use it.
    pub(super) const DCASE: Self = Self {
        edges: Edges::Centred,
        conditioning: Conditioning::Plain,
        window: Window::PeriodicHann,
        mel_scale: MelScale::Slaney,
        compression: Compression::Decibels,
        ..Self::KALDI
    };
}

/// What frames are windowed and transformed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    Single,
    /// What a loud tone leaks into quiet bins is above the rounding: in f64 where f32 would not do
    /// ([`MOST_ABOVE`]). Frames are taken as they are ([`Conditioning::AsIs`]), and are a power of two
    /// long.
    Double,
}

/// How far the mean power of a frame's frequencies may be above its quietest filter for f32 to do.
///
/// If a transform of 256 numbers in f32 leaves 1.5e-7 of the root mean square as error in every
/// frequency (an estimate, not a bound), the logarithm of a filter is off by 2.1e-7 times the root of
/// this ratio, 7e-6; a test holds tones beside noise to 1e-5. No frame of 77 recordings of machines
/// was beyond it, pure tones are.
const MOST_ABOVE: f32 = 1000.0;

/// A [`Recipe`] planned for one clip length.
#[derive(Debug, Clone)]
pub(super) struct FilterBank {
    recipe: Recipe,
    framing: Framing,
    frame_count: usize,
    clip_len: usize,
    /// With the factor on samples in it; zero beyond the frame.
    window: Vec<f32>,
    spectrum: Spectrum,
    filters: MelFilters,
}

/// How power spectra are computed.
#[derive(Debug, Clone)]
enum Spectrum {
    /// Frames side by side.
    Batch(BatchFft),
    /// Frames side by side; and in f64, with their window, where f32 will not do.
    Precise(BatchFft, BatchFft<f64>, Vec<f64>),
    /// One frame after the other: any length, and the plain form the other is tested against.
    Single(SpectrumPlan),
}

impl Spectrum {
    fn new(recipe: &Recipe, fft_len: usize) -> Self {
        let planned = match recipe.precision {
            Precision::Single => BatchFft::new(fft_len).map(Self::Batch),
            Precision::Double => {
                BatchFft::new(fft_len).zip(BatchFft::new(fft_len)).map(|(single, double)| {
                    Self::Precise(single, double, recipe.window.precise_coefficients(fft_len))
                })
            }
        };
        planned.unwrap_or_else(|| Self::Single(SpectrumPlan::new(fft_len)))
    }

    fn fft_len(&self) -> usize {
        match self {
            Self::Batch(plan) | Self::Precise(plan, ..) => plan.fft_len(),
            Self::Single(plan) => plan.fft_len(),
        }
    }
}

/// The buffers one thread needs.
#[derive(Debug)]
pub(super) struct FilterBankBuffers {
    /// The samples of a batch of frames.
    span: Vec<f32>,
    pairs: Vec<Pair>,
    precise: Vec<Pair<f64>>,
    single: SpectrumBuffers,
    power: Vec<Lanes>,
    energies: Vec<Lanes>,
    /// Those that are computed again.
    again: Vec<Lanes>,
}

impl FilterBank {
    pub(super) fn new(recipe: Recipe, length: ClipLength) -> Result<Self> {
        let rate = f64::from(length.sample_rate());
        let samples = |milliseconds: f64| (milliseconds * rate / 1000.0).round() as usize;
        let framing = Framing {
            frame_len: samples(recipe.frame_ms),
            hop: samples(recipe.hop_ms),
            edges: recipe.edges,
        };
        let frame_count = framing.frame_count(length.samples());
        if frame_count == 0 {
            return Err(Error::setting(
                "clip length",
                format!("at least one frame of {} ms", recipe.frame_ms),
                format!("{} samples at {rate} Hz", length.samples()),
            ));
        }
        let fft_len = match recipe.conditioning {
            Conditioning::Plain | Conditioning::AsIs => framing.frame_len,
            Conditioning::Kaldi => framing.frame_len.next_power_of_two(),
        };
        let mut window = recipe.window.coefficients(framing.frame_len);
        for weight in &mut window {
            *weight *= recipe.scale;
        }
        window.resize(fft_len, 0.0);
        let high_hertz = recipe.high_hertz.min(rate / 2.0);
        Ok(Self {
            recipe,
            framing,
            frame_count,
            clip_len: length.samples(),
            window,
            spectrum: Spectrum::new(&recipe, fft_len),
            filters: MelFilters::new(
                recipe.mel_scale,
                recipe.mel_bins,
                recipe.low_hertz,
                high_hertz,
                fft_len,
                length.sample_rate(),
            ),
        })
    }

    pub(super) fn bins(&self) -> usize {
        self.recipe.mel_bins
    }

    pub(super) fn frame_count(&self) -> usize {
        self.frame_count
    }

    pub(super) fn edges(&self) -> &[f64] {
        self.filters.edges()
    }

    pub(super) fn buffers(&self) -> FilterBankBuffers {
        let fft_len = self.spectrum.fft_len();
        let pairs = fft_len.div_ceil(2);
        let precise = if matches!(self.spectrum, Spectrum::Precise(..)) { pairs } else { 0 };
        let single = match &self.spectrum {
            Spectrum::Single(plan) => plan.buffers(),
            Spectrum::Batch(_) | Spectrum::Precise(..) => SpectrumBuffers::default(),
        };
        FilterBankBuffers {
            span: vec![0.0; self.framing.span_len()],
            pairs: vec![[[0.0; LANES]; 2]; pairs],
            precise: vec![[[0.0; LANES]; 2]; precise],
            single,
            power: vec![[0.0; LANES]; fft_len / 2 + 1],
            energies: vec![[0.0; LANES]; self.bins()],
            again: vec![[0.0; LANES]; if precise > 0 { self.bins() } else { 0 }],
        }
    }

    /// Calls `sink` with the compressed energies (bins x lanes) of up to [`LANES`] frames at a
    /// time and how many they are.
    pub(super) fn for_each_batch(
        &self,
        samples: &[f32],
        buffers: &mut FilterBankBuffers,
        sink: &mut dyn FnMut(&mut [Lanes], usize),
    ) {
        let samples = &samples[..samples.len().min(self.clip_len)];
        for first in (0..self.frame_count).step_by(LANES) {
            let count = LANES.min(self.frame_count - first);
            self.batch_power(samples, first, count, buffers);
            let FilterBankBuffers { power, energies, .. } = &mut *buffers;
            self.filters.apply(power, energies);
            if let Spectrum::Precise(_, plan, window) = &self.spectrum {
                self.make_precise(samples, first, plan, window, buffers);
            }
            self.recipe.compression.apply(&mut buffers.energies);
            sink(&mut buffers.energies, count);
        }
    }

    /// Computes the energies of frames again, in f64, where rounding could be seen. Each frame on its
    /// own: its energies do not depend on what stands beside it.
    fn make_precise(
        &self,
        samples: &[f32],
        first: usize,
        plan: &BatchFft<f64>,
        window: &[f64],
        buffers: &mut FilterBankBuffers,
    ) {
        let FilterBankBuffers { span, pairs, precise, power, energies, again, .. } = buffers;
        let doubtful = doubtful(power, energies);
        if doubtful == [false; LANES] {
            return;
        }
        let span = self.framing.span(samples, first, span);
        window_span(self.framing, span, window, pairs, precise);
        plan.power(precise, &[0.0; LANES], power);
        self.filters.apply(power, again);
        for (energies, again) in energies.iter_mut().zip(again) {
            for lane in (0..LANES).filter(|&lane| doubtful[lane]) {
                energies[lane] = again[lane];
            }
        }
    }

    /// Calls `sink` with the compressed energies of each frame, written into `frame`.
    pub(super) fn for_each_frame(
        &self,
        samples: &[f32],
        buffers: &mut FilterBankBuffers,
        frame: &mut [f32],
        sink: &mut dyn FnMut(&[f32]),
    ) {
        self.for_each_batch(samples, buffers, &mut |energies, count| {
            for lane in 0..count {
                take_lane(energies, lane, frame);
                sink(frame);
            }
        });
    }

    /// Power spectra of the frames from `first` on.
    fn batch_power(
        &self,
        samples: &[f32],
        first: usize,
        count: usize,
        buffers: &mut FilterBankBuffers,
    ) {
        let Recipe { scale, conditioning, .. } = self.recipe;
        let framing = self.framing;
        let FilterBankBuffers { span, pairs, single, power, .. } = buffers;
        match &self.spectrum {
            Spectrum::Batch(plan) | Spectrum::Precise(plan, ..) => {
                let span = framing.span(samples, first, span);
                let means = condition_span(conditioning, framing, span, &self.window, pairs);
                plan.power(pairs, &means.map(|mean| mean * scale), power);
            }
            Spectrum::Single(plan) => {
                for lane in 0..count {
                    let (frame, beyond) = single.input.split_at_mut(framing.frame_len);
                    framing.copy_frame(samples, first + lane, frame);
                    let offset = conditioning.apply(frame) * scale;
                    for (value, weight) in frame.iter_mut().zip(&self.window) {
                        *value *= weight;
                    }
                    beyond.fill(0.0);
                    for (row, value) in power.iter_mut().zip(plan.power(single, offset)) {
                        row[lane] = *value;
                    }
                }
            }
        }
    }
}

/// Which frames have a filter so far below the mean of their powers that f32 will not do. What counts
/// of a filter is [`Compression::RaisedNaturalLog`]'s.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn doubtful(power: &[Lanes], energies: &[Lanes]) -> [bool; LANES] {
    let (mut sums, mut least) = ([[0.0; LANES]; 4], [f32::INFINITY; LANES]);
    for rows in power.as_chunks::<4>().0 {
        for lane in 0..LANES {
            sums[0][lane] += rows[0][lane];
            sums[1][lane] += rows[1][lane];
            sums[2][lane] += rows[2][lane];
            sums[3][lane] += rows[3][lane];
        }
    }
    for row in energies {
        for lane in 0..LANES {
            least[lane] = if row[lane] < least[lane] { row[lane] } else { least[lane] };
        }
    }
    // Without the last frequency, one of 129.
    let most = MOST_ABOVE * power.len() as f32;
    let mut found = [false; LANES];
    for lane in 0..LANES {
        let sum = (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
        // NaN is doubtful, too.
        let is_precise = sum <= most * (least[lane] + RAISE);
        found[lane] = !is_precise;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClipSettings;

    /// All frames of a clip.
    fn frames(bank: &FilterBank, samples: &[f32]) -> Vec<f32> {
        let (mut frames, mut frame) = (Vec::new(), vec![0.0; bank.bins()]);
        let mut sink = |frame: &[f32]| frames.extend_from_slice(frame);
        bank.for_each_frame(samples, &mut bank.buffers(), &mut frame, &mut sink);
        frames
    }

    /// A tone beside noise of some loudness: quiet filters of a pure tone need f64.
    fn tone(noise: f32) -> Vec<f32> {
        let mut state = 1_u32;
        let sample = |at: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let random = (state >> 8) as f32 / 8_388_608.0 - 1.0;
            0.7 * (at as f32 * 0.4).sin() + noise * random
        };
        (0..20_000).map(sample).collect()
    }

    #[test]
    fn frames_are_as_precise_as_in_f64() {
        let length = ClipSettings { sample_rate: 16_000, seconds: 1.25 }.check().unwrap();
        let recipe = Recipe {
            frame_ms: 16.0,
            hop_ms: 4.0,
            edges: Edges::Snip,
            conditioning: Conditioning::AsIs,
            precision: Precision::Double,
            window: Window::Hann,
            mel_scale: MelScale::Htk,
            mel_bins: 16,
            low_hertz: 30.0,
            compression: Compression::RaisedNaturalLog,
            ..Recipe::KALDI
        };
        let bank = FilterBank::new(recipe, length).unwrap();
        let single = Recipe { precision: Precision::Single, ..recipe };
        let single = FilterBank::new(single, length).unwrap();
        let plan = auscult_kernels::fourier::forward_f64(256);
        let window = Window::Hann.precise_coefficients(256);
        let mut needs_double = false;
        for noise in [0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0] {
            let samples = tone(noise);
            let (got, in_single) = (frames(&bank, &samples), frames(&single, &samples));
            let mut output = plan.make_output_vec();
            for (frame, (got, in_single)) in got.chunks(16).zip(in_single.chunks(16)).enumerate() {
                let samples = samples[frame * 64..].iter().zip(&window);
                let mut input: Vec<f64> = samples.map(|(&x, w)| f64::from(x) * w).collect();
                plan.process(&mut input, &mut output).unwrap();
                let power: Vec<Lanes> =
                    output.iter().map(|value| [value.norm_sqr() as f32; LANES]).collect();
                let mut want = vec![[0.0; LANES]; 16];
                bank.filters.apply(&power, &mut want);
                for ((got, in_single), want) in got.iter().zip(in_single).zip(&want) {
                    let want = (f64::from(want[0]) + 1e-10).ln();
                    let error = (f64::from(*got) - want).abs();
                    assert!(error < 1e-5, "{noise} {frame}: {got} {want}");
                    needs_double |= (f64::from(*in_single) - want).abs() > 1e-3;
                }
            }
        }
        assert!(needs_double, "f32 alone would have done");
    }

    #[test]
    fn frames_side_by_side_equal_frames_one_by_one() {
        let encoder = Recipe { frame_ms: 25.0, hop_ms: 10.0, ..Recipe::KALDI };
        let mut state = 1_u32;
        let samples: Vec<f32> = (0..30_000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 16_777_216.0 - 0.3
            })
            .collect();
        // 22050 Hz has frames of 551 samples, an odd number.
        for (recipe, sample_rate) in
            [(Recipe::KALDI, 16_000), (Recipe::DCASE, 16_000), (encoder, 22_050)]
        {
            let length = ClipSettings { sample_rate, seconds: 1.7 }.check().unwrap();
            let batch = FilterBank::new(recipe, length).unwrap();
            let Spectrum::Batch(plan) = &batch.spectrum else { panic!("{sample_rate}") };
            let single = Spectrum::Single(SpectrumPlan::new(plan.fft_len()));
            let plain = FilterBank { spectrum: single, ..batch.clone() };
            for len in [samples.len(), 20_000, 100, 0] {
                let (fast, plain) =
                    (frames(&batch, &samples[..len]), frames(&plain, &samples[..len]));
                assert_eq!(fast.len(), plain.len());
                for (fast, plain) in fast.iter().zip(&plain) {
                    // The lowest bins hold little but rounding noise.
                    assert!((fast - plain).abs() < 5e-4, "{fast} {plain}");
                }
            }
        }
    }
}

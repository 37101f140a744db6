//! The modulation spectrum: how the loudness of each frequency band beats in time.
//!
//! A vibration analyst calls it an envelope spectrum; this one has sixteen carriers at once. The blade
//! rate of a fan, the ball-pass rate of a bearing and the stroke of a slider stand in it as lines.

use std::ops::Range;

use auscult_kernels::{Isa, turn};
use multiversion::multiversion;
use serde::{Deserialize, Serialize};

use super::{
    Axis, Extractor, FrontEnd, FrontEndIdentity,
    butterflies::Pair,
    chirp::ChirpTransform,
    filter_bank::{Compression, FilterBank, FilterBankBuffers, Precision, Recipe},
    framing::{Conditioning, Edges, Window, means},
    identity_of,
    lanes::{LANES, Lanes},
    mel::MelScale,
};
use crate::{BandSettings, ClipLength, Error, Result, pooling::View};

/// Samples of a frame, at any sample rate.
const FRAME: usize = 256;

/// Samples from one frame to the next: 250 frames a second at 16 kHz.
const HOP: usize = 64;

/// Carriers: one a lane of the second transform.
const CARRIERS: usize = LANES;

/// The lowest modulation rate, in hertz: slower changes are the clip's own trend.
const LOWEST_RATE: f64 = 0.5;

/// Settings of the modulation front end: it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModulationSettings {}

/// The modulation front end: 16 carriers with one value for each hertz of modulation rate, one view.
///
/// 1. Power spectra of frames of 256 samples every 64, under a symmetric Hann window.
/// 2. Sixteen triangular bands from 30 Hz to half the sample rate, evenly spaced on the HTK mel scale,
///    with weight 1 at their peaks (the carriers); the natural logarithm of their power + 1e-10.
/// 3. Of each carrier over the clip: its mean subtracted, a symmetric Hann window, the magnitudes of
///    the Fourier transform divided by the number of frames.
/// 4. Mean magnitudes in bins of 1 Hz, from 0.5 Hz to 0.48 of the frame rate in whole hertz: 120 Hz at
///    16 kHz, 360 Hz at 48 kHz. Lines are df = frame rate / frames apart; the bin from `e` on holds
///    lines ceil(e / df) up to, without, ceil((e + 1) / df). The last bin, half a hertz wide, ends
///    before floor(top / df). Each bin has one line at least.
///
/// So there are as many bins as whole hertz below 0.48 of the frame rate. The vector has all bins of
/// the first carrier, then all of the second. From 142 kHz on the lowest carriers may lie between two
/// frequencies of the spectrum, and their values are 0. An extractor keeps 0.8 MB for ten seconds at
/// 16 kHz, and in proportion for longer clips and higher rates.
///
/// # Examples
///
/// ```
/// use auscult_core::{ClipSettings, FrontEnd, features::{Modulation, ModulationSettings}};
///
/// let length = ClipSettings::default().check()?;
/// let front_end = Modulation::new(&ModulationSettings::default(), length)?;
/// let axis = front_end.axis();
/// assert_eq!(axis.len(), 16 * 120);
/// // The 23 Hz bin of the lowest carrier.
/// assert_eq!(axis.rates(22..23), Some(22.5..23.5));
/// assert_eq!(axis.hertz(22..23).map(|hertz| hertz.start), Some(30.0));
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Modulation {
    settings: ModulationSettings,
    bank: FilterBank,
    transform: ChirpTransform,
    /// The lines of each bin.
    bins: Vec<Range<usize>>,
    axis: Axis,
}

impl Modulation {
    /// Plans the front end for clips of one length.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if clips are shorter than one second: their lines are too far apart.
    pub fn new(settings: &ModulationSettings, length: ClipLength) -> Result<Self> {
        let rate = length.sample_rate();
        if length.samples() < rate as usize {
            let allowed = "at least 1 second for the front end modulation";
            let seconds = length.samples() as f64 / f64::from(rate);
            return Err(Error::setting("clip length", allowed, format!("{seconds} seconds")));
        }
        let bank = FilterBank::new(recipe(rate), length)?;
        let bins = bins(bank.frame_count(), rate);
        let lines = bins.last().map_or(0, |bin| bin.end);
        let window = Window::Hann.coefficients(bank.frame_count());
        let top = top_rate(rate);
        let edge = |bin: usize| if bin == top { top as f64 } else { LOWEST_RATE + bin as f64 };
        let rates = (0..=top).map(edge).collect();
        Ok(Self {
            settings: *settings,
            axis: Axis::modulation(bank.edges().to_vec(), rates),
            transform: ChirpTransform::new(&window, lines),
            bins,
            bank,
        })
    }
}

/// Steps 1 and 2.
fn recipe(sample_rate: u32) -> Recipe {
    let milliseconds = |samples: usize| samples as f64 * 1000.0 / f64::from(sample_rate);
    Recipe {
        frame_ms: milliseconds(FRAME),
        hop_ms: milliseconds(HOP),
        edges: Edges::Snip,
        scale: 1.0,
        conditioning: Conditioning::AsIs,
        precision: Precision::Double,
        window: Window::Hann,
        mel_scale: MelScale::Htk,
        mel_bins: CARRIERS,
        low_hertz: 30.0,
        high_hertz: f64::from(sample_rate) / 2.0,
        compression: Compression::RaisedNaturalLog,
    }
}

/// 0.48 of the frame rate in whole hertz: where the bins end, and how many they are.
fn top_rate(sample_rate: u32) -> usize {
    sample_rate as usize * 48 / (100 * HOP)
}

/// The lines of each bin.
fn bins(frames: usize, sample_rate: u32) -> Vec<Range<usize>> {
    let top = top_rate(sample_rate);
    // In fractions, since no edge may depend on rounding: rate / df = rate * frames / frame rate.
    let scaled = |half_hertz: usize| half_hertz as u64 * frames as u64 * HOP as u64;
    let scale = 2 * u64::from(sample_rate);
    let line_from = |half_hertz: usize| scaled(half_hertz).div_ceil(scale) as usize;
    let bin = |bin: usize| {
        let start = line_from(2 * bin + 1);
        let end =
            if bin + 1 < top { line_from(2 * bin + 3) } else { (scaled(2 * top) / scale) as usize };
        start..end.max(start + 1)
    };
    (0..top).map(bin).collect()
}

impl FrontEnd for Modulation {
    fn identity(&self) -> FrontEndIdentity {
        identity_of("modulation", &self.settings)
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean]
    }

    fn default_bands(&self) -> BandSettings {
        // Bands of one carrier or four detect less.
        BandSettings::Whole
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        let frames = self.bank.frame_count().next_multiple_of(LANES);
        Box::new(ModulationExtractor {
            buffers: self.bank.buffers(),
            envelopes: vec![[0.0; CARRIERS]; frames],
            lines: self.transform.buffer(),
            values: vec![0.0; self.axis.len()],
            front_end: self.clone(),
        })
    }
}

struct ModulationExtractor {
    front_end: Modulation,
    buffers: FilterBankBuffers,
    /// The carriers at each frame, and unused rows up to a whole batch.
    envelopes: Vec<Lanes>,
    lines: Vec<Pair>,
    values: Vec<f32>,
}

impl Extractor for ModulationExtractor {
    /// One frame: the spectrum of the whole clip.
    fn for_each_frame(&mut self, samples: &[f32], sink: &mut dyn FnMut(&[f32])) -> Result<()> {
        let Self { front_end, buffers, envelopes, lines, values } = self;
        let Modulation { bank, transform, bins, .. } = front_end;
        let mut batches = envelopes.as_chunks_mut::<LANES>().0.iter_mut();
        bank.for_each_batch(samples, buffers, &mut |energies, _| {
            if let Some(rows) = batches.next() {
                turn(Isa::best(), energies.as_flattened(), LANES, rows);
            }
        });
        let envelopes = &envelopes[..bank.frame_count()];
        transform.run(envelopes, &means(envelopes), lines);
        bin_means(bins, lines, values);
        sink(values);
        Ok(())
    }
}

/// The mean magnitude of the lines of each bin, carrier by carrier.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn bin_means(bins: &[Range<usize>], lines: &[Pair], values: &mut [f32]) {
    for (at, bin) in bins.iter().enumerate() {
        let mut sums = [0.0; CARRIERS];
        for [real, imaginary] in &lines[bin.clone()] {
            for lane in 0..CARRIERS {
                let power = real[lane] * real[lane] + imaginary[lane] * imaginary[lane];
                sums[lane] += power.sqrt();
            }
        }
        for (carrier, sum) in sums.iter().enumerate() {
            values[carrier * bins.len() + at] = sum / bin.len() as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::{ClipSettings, ClipVectors, features::FrontEndSettings};

    fn front_end(sample_rate: u32, seconds: f64) -> Modulation {
        let length = ClipSettings { sample_rate, seconds }.check().unwrap();
        Modulation::new(&ModulationSettings::default(), length).unwrap()
    }

    fn spectrum(front_end: &Modulation, samples: &[f32]) -> Vec<f32> {
        let mut vectors = ClipVectors::for_front_end(front_end);
        front_end.extractor().extract_into(samples, &mut vectors).unwrap();
        vectors.view(View::Mean).unwrap().to_vec()
    }

    /// Numbers from -1 to 1.
    fn random() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / 8_388_608.0 - 1.0
        }
    }

    /// Steady noise, and in the middle of a band louder noise that beats `beat` times a second.
    fn beating_noise(sample_rate: u32, seconds: f64, band: &Range<f64>, beat: f64) -> Vec<f32> {
        let mut random = random();
        let tones: Vec<(f64, f64)> = (0..60)
            .map(|_| {
                let share = 0.5 + 0.15 * random();
                (band.start + share * (band.end - band.start), random() * TAU)
            })
            .collect();
        let sample = |at: usize| {
            let time = at as f64 / f64::from(sample_rate);
            let noise: f64 =
                tones.iter().map(|(hertz, phase)| (TAU * hertz * time + phase).sin()).sum();
            let gain = 1.0 + 0.95 * (TAU * beat * time).sin();
            (0.005 * gain * noise + 0.03 * random()) as f32
        };
        (0..(seconds * f64::from(sample_rate)) as usize).map(sample).collect()
    }

    fn largest(values: &[f32]) -> usize {
        (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap()
    }

    #[test]
    fn a_beat_stands_in_its_carrier_at_its_rate() {
        // A fan at 16 kHz; a bearing at 48 kHz, whose beat is faster than 16 kHz could show.
        for (sample_rate, carrier, beat) in [(16_000, 9, 23.0), (48_000, 14, 300.0)] {
            let front_end = front_end(sample_rate, 4.0);
            let (axis, bins) = (front_end.axis(), front_end.bins.len());
            let band = axis.hertz(carrier * bins..(carrier + 1) * bins).unwrap();
            let samples = beating_noise(sample_rate, 4.0, &band, beat);
            let at = largest(&spectrum(&front_end, &samples));
            assert_eq!(axis.hertz(at..at + 1), Some(band), "{sample_rate} Hz");
            assert_eq!(axis.rates(at..at + 1), Some(beat - 0.5..beat + 0.5), "{sample_rate} Hz");
        }
    }

    #[test]
    fn sound_that_does_not_change_has_no_modulation() {
        for value in [0.0, 0.25, -1.0, 1e-9] {
            let front_end = front_end(16_000, 1.5);
            let got = spectrum(&front_end, &vec![value; 24_000]);
            assert_eq!(got, vec![0.0; 16 * 120], "{value}");
        }
        assert_eq!(spectrum(&front_end(16_000, 1.5), &[]), vec![0.0; 16 * 120]);
    }

    #[test]
    fn clips_are_padded_or_cut_to_their_length() {
        let front_end = front_end(16_000, 1.5);
        let mut random = random();
        let long: Vec<f32> = (0..30_000).map(|_| random() as f32).collect();
        assert_eq!(spectrum(&front_end, &long), spectrum(&front_end, &long[..24_000]));
        let mut padded = long[..20_000].to_vec();
        padded.resize(24_000, 0.0);
        assert_eq!(spectrum(&front_end, &long[..20_000]), spectrum(&front_end, &padded));
    }

    #[test]
    fn bins_are_one_hertz_wide_and_within_the_spectrum() {
        // 2497 frames at 250 a second: 9.988 lines a hertz.
        let ten_seconds = bins(2497, 16_000);
        assert_eq!(ten_seconds.len(), 120);
        assert_eq!(
            [&ten_seconds[0], &ten_seconds[118], &ten_seconds[119]],
            [&(5..15), &(1184..1194), &(1194..1198)]
        );
        for sample_rate in [1_000, 1_001, 8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 384_000] {
            for samples in [sample_rate, sample_rate * 5 / 4, 3 * sample_rate] {
                let frames = 1 + (samples as usize - FRAME) / HOP;
                let bins = bins(frames, sample_rate);
                assert_eq!(bins.len(), (0.48 * f64::from(sample_rate) / 64.0).floor() as usize);
                assert!(bins.iter().all(|bin| !bin.is_empty() && bin.end <= frames / 2 + 1));
                assert!(bins.is_sorted_by_key(|bin| bin.start), "{sample_rate} {samples}");
            }
        }
    }

    #[test]
    fn every_sample_rate_has_finite_values() {
        let mut random = random();
        let samples: Vec<f32> = (0..384_000).map(|_| random() as f32).collect();
        for sample_rate in [1_000, 4_000, 44_100, 141_000, 142_000, 384_000] {
            let front_end = front_end(sample_rate, 1.0);
            let values = spectrum(&front_end, &samples);
            assert!(values.iter().all(|value| value.is_finite()), "{sample_rate}");
            let lowest = &values[..front_end.bins.len()];
            // From 142 kHz on the lowest carrier lies between two frequencies.
            assert_eq!(lowest.iter().all(|&value| value == 0.0), sample_rate >= 142_000);
        }
    }

    #[test]
    fn clips_shorter_than_a_second_are_refused() {
        let length = ClipSettings { sample_rate: 16_000, seconds: 0.75 }.check().unwrap();
        let error = FrontEndSettings::named("modulation", None).unwrap().build(length).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Setting { .. }), "{text}");
        assert!(text.contains("0.75 seconds") && text.contains("at least 1 second"), "{text}");
    }

    #[test]
    fn a_convention_is_refused() {
        let error = FrontEndSettings::named("modulation", Some("htk")).unwrap_err();
        assert!(error.to_string().contains("convention"), "{error}");
        assert!(error.to_string().contains("htk"), "{error}");
    }
}

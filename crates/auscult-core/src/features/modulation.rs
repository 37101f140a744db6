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
    filter_bank::{Compression, FilterBank, FilterBankBuffers, Recipe},
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
/// the first carrier, then all of the second. Above 130 kHz the lowest carriers lie between two
/// frequencies of the spectrum, and their values are 0.
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
    /// [`Error::Setting`] if clips are shorter than one second: they have no line a hertz.
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
    // Lines of a hertz, as a fraction: its edges must not depend on rounding.
    let line = |half_hertz: usize| (half_hertz * frames * HOP, 2 * sample_rate as usize);
    let line_from = |half_hertz| {
        let (numerator, denominator) = line(half_hertz);
        numerator.div_ceil(denominator)
    };
    let bin = |bin: usize| {
        let start = line_from(2 * bin + 1);
        let end = if bin + 1 < top {
            line_from(2 * bin + 3)
        } else {
            let (numerator, denominator) = line(2 * top);
            numerator / denominator
        };
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

//! 1. Input quality: what the samples say about the recording, apart from the machine.
//!
//! Nothing here changes a score. A remark says what to look at before a verdict is believed:
//! gain, cable, sample rate.

mod recording;
mod remarks;
mod spectrum;

use std::{fmt, sync::Arc};

use auscult_kernels::fourier::{self, Complex32, RealToComplex};
use serde::Serialize;

pub use self::{
    recording::{Coding, RecordingKind, ReferenceRecording, UsualRecording},
    remarks::Remark,
    spectrum::{Standout, standout, third_octaves},
};

/// What was measured on one clip. Levels are never below -200 dBFS.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClipQuality {
    /// Length of the sound, before silence fills a clip up.
    pub seconds: f64,
    /// Root mean square without the offset; a full-scale square wave is 0 dBFS.
    pub level_dbfs: f64,
    /// Largest absolute value.
    pub peak_dbfs: f64,
    /// Share of the samples at full scale, 0 to 1.
    pub clipped_share: f64,
    /// Mean of the samples (DC); full scale is 1.
    pub offset: f64,
    /// Stretches in which the signal stands still.
    pub dropouts: usize,
    /// Their length together.
    pub dropout_seconds: f64,
    /// Lines at multiples of a mains frequency, the stronger of 50 and 60 Hz; `None` without such
    /// lines, or in a clip shorter than half a second.
    pub hum: Option<Hum>,
    /// Where the spectrum ends as if cut off, if that is well below half the sample rate.
    pub bandwidth_hertz: Option<f64>,
    /// Whether the clip is long enough for hum, bandwidth and levels in bands: half a second.
    #[serde(skip)]
    pub has_spectrum: bool,
}

/// Narrow lines at multiples of a mains frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hum {
    /// 50 or 60.
    pub mains_hertz: f64,
    /// How many of the first eight multiples stand out.
    pub lines: usize,
    /// Share of the energy in them, 0 to 1.
    pub share: f64,
}

/// Samples this close to full scale count as clipped.
const FULL_SCALE: f32 = 32_767.0 / 32_768.0;

/// Machines are never still for so long, not to the last bit.
const DROPOUT_SECONDS: f64 = 0.01;

/// Below the last bit of 16-bit sound, above rounding.
const STANDS_STILL: f32 = 1.0 / 1_048_576.0;

/// Ten times the last bit of 16-bit sound.
const QUIET_DBFS: f64 = -70.0;

/// Measures clips of one sample rate without allocating; one a thread.
///
/// # Examples
///
/// ```
/// let mut meter = auscult_core::quality::QualityMeter::new(16_000);
/// let tone: Vec<f32> = (0..160_000).map(|i| (i as f32 * 0.3).sin() * 0.5).collect();
/// let quality = meter.measure(&tone).expect("samples are finite");
/// assert_eq!(quality.level_dbfs.round(), -9.0);
/// assert_eq!(quality.remarks().count(), 0);
/// ```
pub struct QualityMeter {
    sample_rate: f64,
    transform: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    input: Vec<f32>,
    output: Vec<Complex32>,
    scratch: Vec<Complex32>,
    power: Vec<f64>,
    edges: Vec<f64>,
    levels: Vec<f32>,
}

/// Half a second or more, so that mains lines stand apart from their neighbours.
const SHORTEST_FRAME_SECONDS: f64 = 0.5;

/// Enough for an average spectrum; more would cost as much as the front end.
const FRAMES: usize = 8;

impl QualityMeter {
    /// A meter for sound at `sample_rate` Hz.
    pub fn new(sample_rate: u32) -> Self {
        let edges = spectrum::third_octaves(sample_rate);
        let sample_rate = f64::from(sample_rate);
        let frame_len = ((SHORTEST_FRAME_SECONDS * sample_rate) as usize).next_power_of_two();
        let transform = fourier::forward(frame_len);
        let turn = std::f64::consts::TAU / frame_len as f64;
        Self {
            sample_rate,
            window: (0..frame_len)
                .map(|index| (0.5 - 0.5 * (turn * index as f64).cos()) as f32)
                .collect(),
            input: transform.make_input_vec(),
            output: transform.make_output_vec(),
            scratch: transform.make_scratch_vec(),
            power: vec![0.0; frame_len / 2 + 1],
            levels: Vec::with_capacity(edges.len()),
            edges,
            transform,
        }
    }

    /// Measures a clip before padding; `None` if it is empty or not finite.
    pub fn measure(&mut self, samples: &[f32]) -> Option<ClipQuality> {
        self.levels.clear();
        let levels = Levels::of(samples)?;
        let (dropouts, still) = if levels.dbfs() < QUIET_DBFS {
            (0, 0)
        } else {
            stillness(samples, (DROPOUT_SECONDS * self.sample_rate).ceil() as usize)
        };
        let frames = self.average_power(samples, levels.offset as f32);
        let has_spectrum = frames > 0;
        if has_spectrum {
            let hertz_per_bin = self.hertz_per_bin();
            let (power, edges) = (&self.power, &self.edges);
            spectrum::band_levels(power, hertz_per_bin, frames, edges, &mut self.levels);
        }
        Some(ClipQuality {
            seconds: samples.len() as f64 / self.sample_rate,
            level_dbfs: levels.dbfs(),
            peak_dbfs: decibels(f64::from(levels.peak).powi(2)),
            clipped_share: levels.clipped as f64 / samples.len() as f64,
            offset: levels.offset,
            dropouts,
            dropout_seconds: still as f64 / self.sample_rate,
            hum: if has_spectrum { self.hum() } else { None },
            bandwidth_hertz: if has_spectrum { self.cut_off() } else { None },
            has_spectrum,
        })
    }

    /// The levels of the clip that was measured last in the bands of [`third_octaves`], in dBFS; empty if it was
    /// shorter than half a second.
    pub fn spectrum_dbfs(&self) -> &[f32] {
        &self.levels
    }

    /// The summed power spectra of a few frames, spread over the clip, and how many they are: none if it is
    /// shorter than one.
    fn average_power(&mut self, samples: &[f32], offset: f32) -> usize {
        let frame_len = self.window.len();
        let frames = FRAMES.min(samples.len() / frame_len);
        self.power.fill(0.0);
        for frame in 0..frames {
            let start = (samples.len() - frame_len) * frame / (frames - 1).max(1);
            let windowed = samples[start..start + frame_len].iter().zip(&self.window);
            for (input, (sample, window)) in self.input.iter_mut().zip(windowed) {
                *input = (sample - offset) * window;
            }
            let Self { transform, input, output, scratch, .. } = self;
            let outcome = transform.process_with_scratch(input, output, scratch);
            debug_assert!(outcome.is_ok(), "buffers come from the plan: {outcome:?}");
            for (power, value) in self.power.iter_mut().zip(&self.output) {
                *power += f64::from(value.norm_sqr());
            }
        }
        frames
    }

    fn hertz_per_bin(&self) -> f64 {
        self.sample_rate / self.window.len() as f64
    }

    /// The stronger of 50 and 60 Hz hum, if one is there.
    fn hum(&self) -> Option<Hum> {
        let total: f64 = self.power.iter().sum();
        let of = |mains_hertz: f64| {
            let lines = (1..=8).filter_map(|multiple| {
                self.line(
                    (f64::from(multiple) * mains_hertz / self.hertz_per_bin()).round() as usize
                )
            });
            let (count, energy) =
                lines.fold((0, 0.0), |(count, sum), energy| (count + 1, sum + energy));
            Hum { mains_hertz, lines: count, share: energy / total.max(f64::MIN_POSITIVE) }
        };
        [of(50.0), of(60.0)]
            .into_iter()
            .filter(|hum| hum.lines > 0)
            .max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// Energy of a line around `bin` above what is beside it; `None` unless it stands out by 10 dB.
    fn line(&self, bin: usize) -> Option<f64> {
        const HALF: usize = 2; // the main lobe of the window
        const BESIDE: std::ops::RangeInclusive<usize> = 4..=10;
        let lobe = self.power.get(bin.checked_sub(HALF)?..=bin + HALF)?;
        let mut beside = [0.0; 14];
        let around = BESIDE.flat_map(|step| [bin.checked_sub(step), Some(bin + step)]);
        for (value, index) in beside.iter_mut().zip(around) {
            *value = *self.power.get(index?)?;
        }
        beside.sort_by(f64::total_cmp);
        let background = beside[beside.len() / 2];
        let highest = lobe.iter().copied().fold(0.0, f64::max);
        let energy = lobe.iter().sum::<f64>() - background * lobe.len() as f64;
        (highest > 10.0 * background).then_some(energy)
    }

    /// Where the spectrum falls by 30 dB within a sixty-fourth of its range and stays there.
    fn cut_off(&self) -> Option<f64> {
        const BANDS: usize = 64;
        const FALL: f64 = 1_000.0;
        // Below an eighth a fall is a rumbling machine; above nine tenths it is any resampler.
        const WHERE: std::ops::Range<usize> = BANDS / 8..BANDS * 9 / 10;
        let mut bands = [0.0_f64; BANDS];
        for (band, power) in bands.iter_mut().enumerate() {
            let edge = |band: usize| band * (self.power.len() - 1) / BANDS;
            let bins = &self.power[edge(band)..edge(band + 1).max(edge(band) + 1)];
            *power = bins.iter().sum::<f64>() / bins.len() as f64;
        }
        let last = WHERE.rev().find(|&last| {
            let below = bands[last - 2..=last].iter().copied().fold(f64::INFINITY, f64::min);
            // The band of the fall itself may be half full.
            let above = bands[last + 2..].iter().copied().fold(0.0, f64::max);
            below > 0.0 && below >= FALL * above
        })?;
        Some((last + 1) as f64 / BANDS as f64 * self.sample_rate / 2.0)
    }
}

impl fmt::Debug for QualityMeter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("QualityMeter")
            .field("sample_rate", &self.sample_rate)
            .finish_non_exhaustive()
    }
}

/// What one pass over the samples gives.
struct Levels {
    offset: f64,
    variance: f64,
    peak: f32,
    clipped: usize,
}

/// Samples that are measured side by side.
const LANES: usize = 16;

impl Levels {
    /// `None` if there are no samples or some are not finite.
    fn of(samples: &[f32]) -> Option<Self> {
        let (mut sum, mut squares) = (0.0, 0.0);
        let (mut peaks, mut clipped) = ([0.0_f32; LANES], [0_u32; LANES]);
        // Short sums in f32 keep their digits, and sixteen side by side vectorise.
        for block in samples.chunks(512) {
            let (mut sums, mut block_squares) = ([0.0_f32; LANES], [0.0_f32; LANES]);
            let mut add = |values: &[f32; LANES]| {
                for lane in 0..LANES {
                    let (value, size) = (values[lane], values[lane].abs());
                    sums[lane] += value;
                    block_squares[lane] += value * value;
                    peaks[lane] = if size > peaks[lane] { size } else { peaks[lane] };
                    clipped[lane] += u32::from(size >= FULL_SCALE);
                }
            };
            let (whole, rest) = block.as_chunks::<LANES>();
            whole.iter().for_each(&mut add);
            let mut last = [0.0; LANES];
            last[..rest.len()].copy_from_slice(rest);
            add(&last);
            sum += sums.iter().map(|&value| f64::from(value)).sum::<f64>();
            squares += block_squares.iter().map(|&value| f64::from(value)).sum::<f64>();
        }
        let peak = peaks.into_iter().fold(0.0, f32::max);
        let clipped = clipped.into_iter().map(|count| count as usize).sum();
        let offset = sum / samples.len() as f64;
        let variance = (squares / samples.len() as f64 - offset * offset).max(0.0);
        (offset.is_finite() && variance.is_finite()).then_some(Self {
            offset,
            variance,
            peak,
            clipped,
        })
    }

    fn dbfs(&self) -> f64 {
        decibels(self.variance)
    }
}

fn decibels(power: f64) -> f64 {
    10.0 * power.max(1e-20).log10()
}

/// How often, and for how many samples together, the signal stands still for `shortest` samples or
/// more. Flat tops of overdriven sound do not count.
fn stillness(samples: &[f32], shortest: usize) -> (usize, usize) {
    let stands = |index: usize| {
        let (a, b) = (samples[index], samples[index + 1]);
        (a - b).abs() < STANDS_STILL && a.abs() < FULL_SCALE
    };
    let (mut count, mut total) = (0, 0);
    let (step, mut probe) = ((shortest / 2).max(1), 0);
    // A stretch of `shortest` samples holds a probe and the sample after it.
    while probe + 1 < samples.len() {
        if !stands(probe) {
            probe += step;
            continue;
        }
        let start = (0..probe).rev().take_while(|&index| stands(index)).last().unwrap_or(probe);
        let end =
            (probe..samples.len() - 1).find(|&index| !stands(index)).unwrap_or(samples.len() - 1);
        let len = end + 1 - start;
        if len >= shortest {
            count += 1;
            total += len;
        }
        probe = end + 1;
    }
    (count, total)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{remarks::loudness, *};
    use crate::Provenance;

    const RATE: u32 = 16_000;

    /// White noise in -1..1, the same every time.
    fn noise(len: usize) -> Vec<f32> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..len).map(|_| next()).collect()
    }

    fn scaled(samples: &[f32], gain: f32) -> Vec<f32> {
        samples.iter().map(|sample| sample * gain).collect()
    }

    fn measure(samples: &[f32]) -> ClipQuality {
        QualityMeter::new(RATE).measure(samples).unwrap()
    }

    fn remarks(samples: &[f32]) -> Vec<&'static str> {
        measure(samples).remarks().map(Remark::name).collect()
    }

    /// What a recorder keeps.
    fn in_16_bits(samples: &[f32]) -> Vec<f32> {
        samples.iter().map(|sample| (sample * 32_768.0).round() / 32_768.0).collect()
    }

    #[test]
    fn plain_noise_has_its_level_and_no_remark() {
        let quality = measure(&scaled(&noise(160_000), 0.1));
        // Uniform noise has a variance of a third.
        assert!((quality.level_dbfs - (-20.0 - 10.0 * 3.0_f64.log10())).abs() < 0.05);
        assert!((quality.peak_dbfs + 20.0).abs() < 0.01);
        assert_eq!(quality.remarks().count(), 0, "{quality:?}");
    }

    #[test]
    fn each_defect_is_remarked_on_and_alone() {
        let clean = scaled(&noise(160_000), 0.1);
        let clipped: Vec<f32> = clean.iter().map(|s| (s * 11.0).clamp(-1.0, 1.0)).collect();
        assert_eq!(remarks(&clipped), ["clipped"]);
        let shifted: Vec<f32> = clean.iter().map(|s| s + 0.05).collect();
        assert_eq!(remarks(&shifted), ["offset"]);
        assert!((measure(&shifted).offset - 0.05).abs() < 1e-3);
        assert_eq!(remarks(&in_16_bits(&scaled(&clean, 1e-3))), ["quiet"]);
        let mut holes = clean.clone();
        holes[1_000..1_400].fill(0.0);
        holes[50_000..52_000].fill(0.03);
        assert_eq!(remarks(&holes), ["dropouts"]);
        assert_eq!(measure(&holes).dropout_seconds, 2_400.0 / 16_000.0);
    }

    #[test]
    fn mains_hum_is_told_from_other_tones_and_from_the_other_mains() {
        let hum = |mains: f64| -> Vec<f32> {
            let tone = |time: f64, multiple: f64| {
                (std::f64::consts::TAU * mains * multiple * time).sin() / multiple
            };
            let at = |index: usize| {
                let time = index as f64 / 16_000.0;
                (0.1 * (tone(time, 1.0) + tone(time, 2.0) + tone(time, 3.0))) as f32
            };
            noise(160_000).iter().enumerate().map(|(i, s)| 0.02 * s + at(i)).collect()
        };
        for mains in [50.0, 60.0] {
            assert_eq!(remarks(&hum(mains)), ["mains hum"]);
            assert_eq!(measure(&hum(mains)).hum.unwrap().mains_hertz, mains);
        }
        assert!(remarks(&hum(55.0)).is_empty(), "{:?}", measure(&hum(55.0)));
        assert!(remarks(&hum(43.0)).is_empty(), "{:?}", measure(&hum(43.0)));
    }

    #[test]
    fn upsampled_sound_is_recognised_and_a_soft_slope_is_not() {
        // Every second sample, then a long linear-phase interpolation: nothing above 4 kHz.
        let few = noise(80_000);
        let half = 32_i32;
        let weight = |offset: f64| {
            let window = 0.5 + 0.5 * (std::f64::consts::PI * offset / f64::from(half)).cos();
            let x = std::f64::consts::PI * offset;
            if offset == 0.0 { 1.0 } else { window * x.sin() / x }
        };
        let upsampled: Vec<f32> = (0..160_000_usize)
            .map(|index| {
                let nearest = i32::try_from(index / 2).unwrap();
                let part = if index % 2 == 0 { 0.0 } else { 0.5 };
                let taps = (nearest - half + 1..=nearest + half).filter_map(|tap| {
                    let sample = few.get(usize::try_from(tap).ok()?)?;
                    Some(f64::from(*sample) * weight(f64::from(tap - nearest) - part))
                });
                (0.1 * taps.sum::<f64>()) as f32
            })
            .collect();
        let quality = measure(&in_16_bits(&upsampled));
        assert_eq!(quality.remarks().map(Remark::name).collect::<Vec<_>>(), ["narrow band"]);
        assert!((quality.bandwidth_hertz.unwrap() - 4_000.0).abs() <= 250.0, "{quality:?}");

        let mut state = 0.0;
        let soft: Vec<f32> = noise(160_000)
            .iter()
            .map(|sample| {
                state += 0.05 * (0.5 * sample - state);
                state
            })
            .collect();
        assert_eq!(measure(&in_16_bits(&soft)).bandwidth_hertz, None);
    }

    #[test]
    fn loudness_is_remarked_on_far_outside_the_references_only() {
        let remark = |level: f64| loudness(level, [-30.0, -25.0].into_iter());
        assert_eq!(remark(-27.0), None);
        assert_eq!(remark(-16.0), None);
        assert_eq!(remark(-5.0), Some(Remark::Loudness(20.0)));
        assert_eq!(remark(-50.0), Some(Remark::Loudness(-20.0)));
        assert_eq!(loudness(0.0, std::iter::empty()), None);
        // A machine that never varies by more than half a decibel is louder by four.
        let steady = |level| loudness(level, (0..8).map(|take| -30.0 + 0.07 * f64::from(take)));
        assert_eq!(steady(-27.0), None);
        assert!(matches!(steady(-25.5), Some(Remark::Loudness(4.0..4.1))));
        let varied = |level| loudness(level, (0..8).map(|take| -30.0 + f64::from(take)));
        assert_eq!((varied(-17.0), varied(-15.0)), (None, Some(Remark::Loudness(8.0))));
        assert!(remark(-5.0).unwrap().to_string().contains("20 dB louder than the loudest"));
        assert!(remark(-50.0).unwrap().to_string().contains("20 dB quieter than the quietest"));
    }

    #[test]
    fn a_clip_that_silence_fills_up_is_short() {
        let quality = measure(&scaled(&noise(16_000), 0.5));
        assert_eq!(quality.shortness(1.0), None);
        assert_eq!(quality.shortness(1.04), None, "a recorder that cut a little early");
        assert_eq!(quality.shortness(1.5), Some(Remark::Short(1.0, 1.5)));
    }

    #[test]
    fn levels_in_bands_add_up_to_the_level_and_a_tone_is_in_its_band() {
        let mut meter = QualityMeter::new(RATE);
        let tone = |hertz: f64| -> Vec<f32> {
            let turn = std::f64::consts::TAU * hertz / f64::from(RATE);
            (0..160_000).map(|index| (0.1 * (turn * f64::from(index)).sin()) as f32).collect()
        };
        for hertz in [100.0, 1_000.0, 5_000.0] {
            let quality = meter.measure(&tone(hertz)).unwrap();
            let edges = third_octaves(RATE);
            let band = edges.iter().rposition(|&edge| edge <= hertz).unwrap();
            let level = f64::from(meter.spectrum_dbfs()[band]);
            assert!((level - quality.level_dbfs).abs() < 0.1, "{hertz}: {level} {quality:?}");
            let far = meter.spectrum_dbfs()[if band > 13 { 3 } else { 22 }];
            assert!(far < -60.0, "{hertz}: {far}");
        }
        let quality = meter.measure(&scaled(&noise(160_000), 0.1)).unwrap();
        let power: f64 =
            meter.spectrum_dbfs().iter().map(|&db| 10_f64.powf(f64::from(db) / 10.0)).sum();
        assert!((10.0 * power.log10() - quality.level_dbfs).abs() < 0.3, "{power} {quality:?}");
        meter.measure(&noise(100)).unwrap();
        assert!(meter.spectrum_dbfs().is_empty(), "too short");
    }

    /// A reference of this kind with this bandwidth.
    fn reference(codec: &str, bits: Option<u32>, bandwidth_hertz: Option<f64>) -> Provenance {
        let kind = Some(RecordingKind { codec: codec.to_owned(), bits, sample_rate: RATE });
        let recording = ReferenceRecording { kind, bandwidth_hertz, ..Default::default() };
        Provenance { recording: Some(recording), ..Provenance::of("a.wav") }
    }

    #[test]
    fn sound_stored_in_another_way_is_remarked_on() {
        let quality = measure(&scaled(&noise(16_000), 0.1));
        let remarks = |references: &[Provenance], codec: &str, bits| -> Vec<String> {
            let kind = RecordingKind { codec: codec.to_owned(), bits, sample_rate: RATE };
            let usual = UsualRecording::of(references, 1.0);
            usual.remarks(&quality, Some(&kind)).map(|remark| remark.to_string()).collect()
        };
        let wav = [reference("pcm_s16le", Some(16), None)];
        assert!(remarks(&wav, "pcm_s24le", Some(24)).is_empty());
        assert!(remarks(&wav, "flac", Some(16)).is_empty());
        assert!(remarks(&[], "mp3", None).is_empty(), "nothing is known");
        let found = remarks(&wav, "mp3", None);
        assert!(found[0].starts_with("coding: MP3, and the references are lossless"), "{found:?}");
        let found = remarks(&wav, "pcm_u8", Some(8));
        assert!(found[0].starts_with("coding: 8-bit sound, and the references"), "{found:?}");
        let mp3 = [reference("mp3", None, None)];
        let found = remarks(&mp3, "flac", Some(16));
        assert!(found[0].starts_with("coding: lossless, and the references are MP3"), "{found:?}");
    }

    #[test]
    fn a_bandwidth_that_the_references_have_is_not_remarkable() {
        let usual = |bandwidths: &[Option<f64>]| {
            let references: Vec<Provenance> =
                bandwidths.iter().map(|&hertz| reference("flac", None, hertz)).collect();
            UsualRecording::of(&references, 1.0)
        };
        let names = |usual: &UsualRecording, bandwidth_hertz| -> Vec<&'static str> {
            let wide = measure(&scaled(&noise(16_000), 0.1));
            let quality = ClipQuality { bandwidth_hertz, ..wide };
            usual.remarks(&quality, None).map(Remark::name).collect()
        };
        let narrow = usual(&[Some(4_000.0), Some(4_125.0)]);
        assert!(names(&narrow, Some(4_000.0)).is_empty());
        assert_eq!(names(&narrow, Some(2_000.0)), ["narrow band"]);
        assert_eq!(names(&narrow, None), ["wider band"]);
        let mixed = usual(&[Some(4_000.0), None]);
        assert!(names(&mixed, None).is_empty() && names(&mixed, Some(4_000.0)).is_empty());
        assert_eq!(names(&usual(&[None]), Some(4_000.0)), ["narrow band"]);
    }

    #[test]
    fn what_cannot_be_measured_is_not() {
        let mut meter = QualityMeter::new(RATE);
        assert_eq!(meter.measure(&[]), None);
        assert_eq!(meter.measure(&[0.0, f32::NAN]), None);
        let short = meter.measure(&[0.5; 100]).unwrap();
        assert_eq!((short.hum, short.bandwidth_hertz, short.offset), (None, None, 0.5));
        assert_eq!(meter.measure(&vec![0.0; 16_000]).unwrap().level_dbfs, -200.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn stretches_are_counted_whatever_their_place(
            starts in prop::collection::btree_set(0_usize..40, 0..6),
            len in 1_usize..300,
        ) {
            let mut samples = scaled(&noise(16_000), 0.5);
            for start in &starts {
                samples[start * 400 + 7..start * 400 + 7 + len].fill(0.25);
            }
            let expected = if len >= 160 { (starts.len(), starts.len() * len) } else { (0, 0) };
            prop_assert_eq!(stillness(&samples, 160), expected);
        }

        #[test]
        fn no_samples_break_the_meter(len in 0_usize..20_000, seed in any::<u32>()) {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f32::from_bits(state)
            };
            let mut samples: Vec<f32> = (0..len).map(|_| next()).collect();
            let measured = QualityMeter::new(RATE).measure(&samples);
            prop_assert!(measured.is_none() || samples.iter().all(|sample| sample.is_finite()));
            for sample in &mut samples {
                *sample = sample.clamp(-1e9, 1e9);
            }
            if let Some(quality) = QualityMeter::new(RATE).measure(&samples) {
                prop_assert!(quality.level_dbfs >= -200.0);
                prop_assert!(quality.remarks().all(|remark| !remark.to_string().is_empty()));
            }
        }
    }
}

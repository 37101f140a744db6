//! Levels in third-octave bands: what every front end can be compared by.

use std::{fmt, ops::Range};

use crate::explain::HertzText;

/// The centre of one band, from which the others are a third of an octave apart.
const MIDDLE_HERTZ: f64 = 1000.0;

/// The lowest band is around 25 Hz.
const LOWEST_BAND: i32 = -16;

/// Bands are never quieter than this: differences below it are those of empty bits.
const FLOOR_DBFS: f64 = -120.0;

/// The edges of third-octave bands from 22 Hz to half the sample rate, in hertz.
///
/// ```
/// let edges = auscult_core::quality::third_octaves(16_000);
/// assert_eq!(edges.len(), 27);
/// assert_eq!(edges[16].round(), 891.0);
/// assert_eq!(edges[26], 8000.0);
/// ```
pub fn third_octaves(sample_rate: u32) -> Vec<f64> {
    let highest = f64::from(sample_rate) / 2.0;
    let edge = |band: i32| MIDDLE_HERTZ * 2.0_f64.powf((2.0 * f64::from(band) - 1.0) / 6.0);
    let below = (LOWEST_BAND..).map(edge).take_while(|&edge| edge < highest);
    below.chain([highest]).collect()
}

/// The levels of bands between `edges`, from the summed power of `frames` Hann-windowed frames.
pub(super) fn band_levels(
    power: &[f64],
    hertz_per_bin: f64,
    frames: usize,
    edges: &[f64],
    levels: &mut Vec<f32>,
) {
    let frame_len = 2.0 * (power.len() - 1) as f64;
    // A window of Hann keeps three eighths of the power; the other half of the spectrum mirrors this one.
    let scale = 2.0 / (0.375 * frame_len * frame_len * frames.max(1) as f64);
    levels.clear();
    levels.extend(edges.windows(2).map(|edges| {
        let bin = |edge: f64| ((edge / hertz_per_bin).round() as usize).min(power.len());
        let bins = bin(edges[0])..bin(edges[1]).max(bin(edges[0]) + 1).min(power.len());
        let sum: f64 = power[bins].iter().sum();
        (10.0 * (sum * scale).log10()).max(FLOOR_DBFS) as f32
    }));
}

/// What stands out in a difference of spectra.
#[derive(Debug, Clone, PartialEq)]
pub struct Standout {
    /// Where, in hertz.
    pub hertz: Range<f64>,
    /// Decibels more, or less if negative.
    pub decibels: f64,
}

/// Neighbouring bands belong together if they differ by at least this share of the largest difference.
const TOGETHER: f64 = 0.6;

/// The bands around the largest difference in relation to how much bands differ anyway, in dB; `edges` are theirs.
/// `None` if no band differs by `least` dB.
///
/// ```
/// use auscult_core::quality::standout;
///
/// let edges = [100.0, 200.0, 400.0, 800.0, 1600.0];
/// let found = standout(&edges, &[14.0, 1.0, 12.0, 9.0], &[12.0, 0.5, 0.5, 0.5], 1.0).expect("12 dB");
/// assert_eq!((found.hertz, found.decibels), (400.0..1600.0, 12.0));
/// assert_eq!(standout(&edges, &[0.5, 0.1, 0.0, 0.0], &[], 1.0), None);
/// ```
pub fn standout(edges: &[f64], differences: &[f32], usual: &[f32], least: f64) -> Option<Standout> {
    let size = |index: &usize| differences[*index].abs();
    // A decibel more or less is always there.
    let weight = |index: &usize| size(index) / (1.0 + usual.get(*index).copied().unwrap_or(0.0));
    let is_notable = |index: &usize| f64::from(size(index)) >= least && size(index).is_finite();
    let notable = (0..differences.len()).filter(is_notable);
    let most = notable.max_by(|a, b| weight(a).total_cmp(&weight(b)))?;
    let decibels = f64::from(differences[most]);
    let belongs = |index: &usize| f64::from(differences[*index]) / decibels >= TOGETHER;
    let first = (0..most).rev().take_while(belongs).last().unwrap_or(most);
    let last = (most + 1..differences.len()).take_while(belongs).last().unwrap_or(most);
    Some(Standout { hertz: *edges.get(first)?..*edges.get(last + 1)?, decibels })
}

impl fmt::Display for Standout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:+.0} dB at {}", self.decibels, HertzText(&self.hertz))
    }
}

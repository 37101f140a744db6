//! 1. Pseudo-anomalies: normal clips, changed as a fault might change them.
//!
//! A [`Change`] is a pure function of the samples and its numbers. Strengths are relative to the
//! clip itself, so that they mean the same on every machine; they are moderate on purpose: what
//! every candidate finds, and what none can find, ranks nothing.

use std::f64::consts::TAU;

use auscult_core::random::Random;
use serde::{Deserialize, Serialize};

use crate::tuning::spectrum::Spectrum;

/// The kinds of pseudo-anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// A band of another normal clip in place of this clip's.
    BandMix,
    /// Highs against lows by a few decibels an octave.
    Tilt,
    /// A tone that was not there.
    Peak,
    /// A resonance: one narrow band louder.
    Resonance,
    /// Everything a few hertz higher or lower.
    Shift,
    /// The clip backwards; front ends that pool over time cannot hear it.
    Reversal,
    /// Quieter at regular intervals.
    Gating,
    /// Clips of other machines, if there are any.
    Outlier,
}

impl Kind {
    /// The kinds that are made from normal clips.
    pub const MADE: [Self; 7] = [
        Self::BandMix,
        Self::Tilt,
        Self::Peak,
        Self::Resonance,
        Self::Shift,
        Self::Reversal,
        Self::Gating,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::BandMix => "band-mix",
            Self::Tilt => "tilt",
            Self::Peak => "peak",
            Self::Resonance => "resonance",
            Self::Shift => "shift",
            Self::Reversal => "reversal",
            Self::Gating => "gating",
            Self::Outlier => "outlier",
        }
    }
}

/// One change of a clip, with every number it needs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The band of another clip, louder by this many decibels.
    BandMix {
        /// Lower edge of the band.
        low_hertz: f64,
        /// Upper edge of the band.
        high_hertz: f64,
        /// Gain of the other clip's band.
        decibels: f64,
    },
    /// Gain that grows by this many decibels an octave, 0 at 1 kHz, 18 at most.
    Tilt {
        /// Positive makes the clip brighter.
        decibels_per_octave: f64,
    },
    /// A sine this many decibels above the third of an octave around it.
    Peak {
        /// Its frequency.
        hertz: f64,
        /// Its level over that of the third of an octave.
        decibels: f64,
    },
    /// A bump in the spectrum, a sixth of an octave wide.
    Resonance {
        /// Its centre.
        hertz: f64,
        /// Its height.
        decibels: f64,
    },
    /// Single-sideband frequency shift.
    Shift {
        /// Positive is up.
        hertz: f64,
    },
    /// Backwards.
    Reversal,
    /// Attenuation for a third of each period.
    Gating {
        /// Periods a second.
        hertz: f64,
        /// Attenuation, positive.
        decibels: f64,
    },
}

/// Each kind has this many strengths; clips go through them in turn.
pub const STRENGTHS: usize = 3;

/// Frequencies are drawn from here up to 0.4 times the sample rate.
const LOWEST_HERTZ: f64 = 150.0;

impl Change {
    /// The change of a kind that clip `clip` gets; `None` for outliers, which are not made.
    ///
    /// The same numbers give the same change.
    pub fn draw(kind: Kind, clip: usize, sample_rate: u32, seed: u64) -> Option<Self> {
        let mut random = Random::of(seed, &[kind as u64, clip as u64]);
        let pick = |strengths: [f64; STRENGTHS]| strengths[clip % STRENGTHS];
        let highest = (0.4 * f64::from(sample_rate)).max(2.0 * LOWEST_HERTZ);
        Some(match kind {
            Kind::BandMix => {
                let low_hertz = random.octaves(LOWEST_HERTZ, highest / 2.0);
                let decibels = pick([0.0, 3.0, 6.0]);
                Self::BandMix { low_hertz, high_hertz: 2.0 * low_hertz, decibels }
            }
            Kind::Tilt => Self::Tilt { decibels_per_octave: random.sign() * pick([0.5, 1.0, 2.0]) },
            Kind::Peak => Self::Peak {
                hertz: random.octaves(LOWEST_HERTZ, highest),
                decibels: pick([-6.0, 0.0, 6.0]),
            },
            Kind::Resonance => Self::Resonance {
                hertz: random.octaves(LOWEST_HERTZ, highest),
                decibels: pick([4.0, 8.0, 12.0]),
            },
            Kind::Shift => Self::Shift { hertz: random.sign() * pick([15.0, 30.0, 60.0]) },
            Kind::Reversal => Self::Reversal,
            Kind::Gating => {
                Self::Gating { hertz: random.between(0.7, 3.0), decibels: pick([3.0, 6.0, 12.0]) }
            }
            Kind::Outlier => return None,
        })
    }

    /// The changed clip, as long as `samples`. `other` is another normal clip; with none, a band
    /// mix amplifies the clip's own band.
    pub fn apply(self, samples: &[f32], other: Option<&[f32]>, sample_rate: u32) -> Vec<f32> {
        if samples.is_empty() {
            return Vec::new();
        }
        let spectrum = || Spectrum::of(samples, sample_rate);
        match self {
            Self::BandMix { low_hertz, high_hertz, decibels } => {
                let mut mixed = spectrum();
                let other = other.map(|other| same_length(other, samples.len()));
                let other = other.map_or_else(spectrum, |other| Spectrum::of(&other, sample_rate));
                mixed.replace_band(&other, low_hertz..high_hertz, amplitude(decibels));
                mixed.into_samples()
            }
            Self::Tilt { decibels_per_octave } => scaled(spectrum(), |hertz| {
                // 1 Hz stands for all below: 0 Hz has no octave.
                let octaves = (hertz.max(1.0) / 1_000.0).log2();
                (decibels_per_octave * octaves).clamp(-18.0, 18.0)
            }),
            Self::Peak { hertz, decibels } => add_tone(samples, &spectrum(), hertz, decibels),
            Self::Resonance { hertz, decibels } => scaled(spectrum(), |at| {
                // Half the height a twelfth of an octave away.
                let twelfths = 12.0 * (at.max(1.0) / hertz).log2();
                decibels * (-twelfths * twelfths * std::f64::consts::LN_2).exp()
            }),
            Self::Shift { hertz } => {
                let mut shifted = spectrum();
                shifted.shift(hertz);
                shifted.into_samples()
            }
            Self::Reversal => samples.iter().rev().copied().collect(),
            Self::Gating { hertz, decibels } => gate(samples, sample_rate, hertz, decibels),
        }
    }
}

fn amplitude(decibels: f64) -> f64 {
    10_f64.powf(decibels / 20.0)
}

/// The clip with a gain in decibels for each frequency.
fn scaled(mut spectrum: Spectrum, decibels: impl Fn(f64) -> f64) -> Vec<f32> {
    spectrum.scale(|hertz| amplitude(decibels(hertz)));
    spectrum.into_samples()
}

/// Repeats or cuts a clip.
fn same_length(samples: &[f32], len: usize) -> Vec<f32> {
    match samples {
        [] => vec![0.0; len],
        _ => samples.iter().copied().cycle().take(len).collect(),
    }
}

fn add_tone(samples: &[f32], spectrum: &Spectrum, hertz: f64, decibels: f64) -> Vec<f32> {
    let sixth = 2_f64.powf(1.0 / 6.0);
    let around = hertz / sixth..(hertz * sixth).min(spectrum.nyquist());
    let peak = spectrum.band_level(around) * amplitude(decibels) * std::f64::consts::SQRT_2;
    let step = TAU * hertz / (2.0 * spectrum.nyquist());
    let tone = |index: usize| (peak * (step * index as f64).sin()) as f32;
    samples.iter().enumerate().map(|(index, sample)| sample + tone(index)).collect()
}

/// Quieter for a third of each period, with edges of a twentieth of it.
fn gate(samples: &[f32], sample_rate: u32, hertz: f64, decibels: f64) -> Vec<f32> {
    const SHARE: f64 = 1.0 / 3.0;
    const EDGE: f64 = 0.05;
    let floor = amplitude(-decibels);
    let gain = |index: usize| {
        let phase = (index as f64 * hertz / f64::from(sample_rate)).fract();
        // 1 inside the gate, 0 outside.
        let depth = (phase / EDGE).min((SHARE - phase) / EDGE).clamp(0.0, 1.0);
        (1.0 + depth * (floor - 1.0)) as f32
    };
    samples.iter().enumerate().map(|(index, sample)| sample * gain(index)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RATE: u32 = 16_000;

    fn noise(len: usize, seed: u64) -> Vec<f32> {
        let mut random = Random::of(seed, &[]);
        (0..len).map(|_| random.between(-0.2, 0.2) as f32).collect()
    }

    fn level(samples: &[f32]) -> f64 {
        samples.iter().map(|&sample| f64::from(sample).powi(2)).sum::<f64>().sqrt()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn changed_clips_keep_their_length_and_are_finite_and_depend_on_the_seed_alone(
            len in 1_usize..3_000, seed in 0_u64..1_000, clip in 0_usize..9,
        ) {
            let (samples, other) = (noise(len, seed), noise(len / 2 + 1, seed + 1));
            for kind in Kind::MADE {
                let changed = || {
                    let change = Change::draw(kind, clip, RATE, seed).unwrap();
                    change.apply(&samples, Some(&other), RATE)
                };
                prop_assert_eq!(changed().len(), len);
                prop_assert!(changed().iter().all(|sample| sample.is_finite()), "{:?}", kind);
                prop_assert_eq!(changed(), changed());
            }
        }
    }

    #[test]
    fn every_kind_changes_the_clip_but_not_beyond_recognition() {
        let (samples, other) = (noise(16_000, 1), noise(16_000, 2));
        for kind in Kind::MADE {
            for clip in 0..STRENGTHS {
                let change = Change::draw(kind, clip, RATE, 1).unwrap();
                let changed = change.apply(&samples, Some(&other), RATE);
                assert_ne!(changed, samples, "{kind:?}");
                let ratio = level(&changed) / level(&samples);
                assert!((0.5..2.0).contains(&ratio), "{change:?} changes the level by {ratio}");
            }
        }
    }

    #[test]
    fn a_peak_stands_over_its_third_of_an_octave_as_told() {
        let samples = noise(16_000, 3);
        let change = Change::Peak { hertz: 1_000.0, decibels: 6.0 };
        let third = |samples: &[f32]| Spectrum::of(samples, RATE).band_level(891.0..1_122.0);
        let ratio = third(&change.apply(&samples, None, RATE)) / third(&samples);
        // The band and a tone of twice its amplitude: sqrt(1 + 4).
        assert!((ratio - 5_f64.sqrt()).abs() < 0.2, "{ratio}");
    }

    #[test]
    fn outliers_are_given_not_made_and_empty_clips_stay_empty() {
        assert_eq!(Change::draw(Kind::Outlier, 0, RATE, 1), None);
        assert_eq!(Change::Reversal.apply(&[], None, RATE), Vec::<f32>::new());
    }
}

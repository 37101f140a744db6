//! How much louder or quieter a clip is than another one, third octave by third octave.
//!
//! It needs nothing but sound, so every verdict has it, whatever the front end behind it.

use std::{cmp::Ordering, ops::Range};

use auscult::{ClipRecord, record::SpectrumDifference};
use auscult_page::significant;

use crate::{spectrum::Transform, text::hertz};

/// The average level of a clip in each third octave.
#[derive(Debug, Clone, PartialEq)]
pub struct ThirdOctaves {
    /// Hertz and decibels, ascending.
    bands: Vec<(Range<f64>, f64)>,
}

/// The levels of a clip over those of its closest normal clip.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Difference {
    bands: Vec<Band>,
}

/// A third octave of a difference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Band {
    pub(crate) hertz: Range<f64>,
    pub(crate) decibels: f64,
    /// The lowest and the highest of normal clips, over the closest one too, where they are known.
    pub(crate) normal: Option<(f64, f64)>,
}

/// The lowest and highest levels of normal clips in each third octave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NormalRange(Vec<(f64, f64)>);

impl NormalRange {
    /// The range of some clips; `None` without any.
    pub(crate) fn of<'a>(clips: impl IntoIterator<Item = &'a ThirdOctaves>) -> Option<Self> {
        let mut clips = clips.into_iter();
        let mut range: Vec<(f64, f64)> =
            clips.next()?.bands.iter().map(|(_, level)| (*level, *level)).collect();
        for clip in clips {
            for ((low, high), (_, level)) in range.iter_mut().zip(&clip.bands) {
                (*low, *high) = (low.min(*level), high.max(*level));
            }
        }
        Some(Self(range))
    }
}

impl Band {
    /// How far it is beyond what normal clips have; all of it where they are not known.
    fn beyond_normal(&self) -> f64 {
        let (low, high) = self.normal.unwrap_or((0.0, 0.0));
        self.decibels - self.decibels.clamp(low.min(high), high.max(low))
    }

    fn is_notable(&self) -> bool {
        let beyond = if self.normal.is_some() { BEYOND_NORMAL } else { 0.0 };
        self.decibels.abs() >= NOTABLE_DECIBELS && self.beyond_normal().abs() >= beyond
    }
}

/// Neighbouring third octaves that differ alike.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) hertz: Range<f64>,
    /// The largest difference among them.
    pub(crate) decibels: f64,
}

/// Long enough that a third octave at 50 Hz has bins of its own.
const WINDOW_SECONDS: f64 = 0.25;

/// Below this there is no sound of a machine, and no microphone.
const LOWEST_HERTZ: f64 = 22.0;

/// Levels below this are silence: a difference between silences says nothing.
const SILENCE: f64 = -120.0;

/// Differences from here on are worth a word.
pub(crate) const NOTABLE_DECIBELS: f64 = 3.0;

/// Where the range of normal clips is known, differences this far beyond it.
const BEYOND_NORMAL: f64 = 1.5;

/// The most parts a sentence names.
const MOST_PARTS: usize = 3;

impl ThirdOctaves {
    /// Of mono samples; those that are not finite count as 0.
    pub fn of(samples: &[f32], sample_rate: u32) -> Self {
        let rate = f64::from(sample_rate.max(1));
        let window_len = ((rate * WINDOW_SECONDS) as usize).next_power_of_two().clamp(64, 65_536);
        let mut transform = Transform::new(window_len);
        let hop = window_len / 2;
        let frames = samples.len().saturating_sub(window_len) / hop + 1;
        let mut powers = vec![0.0_f64; window_len / 2 + 1];
        for frame in 0..frames {
            let start = (frame * hop).min(samples.len());
            for (sum, power) in powers.iter_mut().zip(transform.powers(&samples[start..])) {
                *sum += f64::from(power) / frames as f64;
            }
        }
        let hertz_per_bin = rate / window_len as f64;
        let bin = |hertz: f64| ((hertz / hertz_per_bin).round() as usize).min(powers.len());
        let bands = third_octaves(rate / 2.0).filter_map(|band| {
            let bins =
                powers.get(bin(band.start)..bin(band.end)).filter(|bins| !bins.is_empty())?;
            let power: f64 = bins.iter().sum();
            Some((band, (10.0 * power.max(1e-20).log10()).max(SILENCE)))
        });
        Self { bands: bands.collect() }
    }

    /// Each third octave with its average level in dB, ascending.
    pub fn bands(&self) -> impl Iterator<Item = (&Range<f64>, f64)> {
        self.bands.iter().map(|(hertz, level)| (hertz, *level))
    }

    /// Which of two clips this one is closer to; a clip is closer than none.
    pub(crate) fn closer(&self, a: Option<&Self>, b: Option<&Self>) -> Ordering {
        let distance = |other: Option<&Self>| {
            let pairs = other.map(|other| self.bands.iter().zip(&other.bands));
            pairs.map_or(f64::INFINITY, |pairs| pairs.map(|((_, a), (_, b))| (a - b).powi(2)).sum())
        };
        distance(a).total_cmp(&distance(b))
    }

    /// This clip's levels over those of its closest normal clip, beside the range of normal clips.
    pub(crate) fn against(&self, closest: &Self, normal: Option<&NormalRange>) -> Difference {
        let mut bands = Vec::with_capacity(self.bands.len());
        for (index, ((hertz, level), (_, closest))) in
            self.bands.iter().zip(&closest.bands).enumerate()
        {
            let normal = normal.and_then(|normal| normal.0.get(index));
            bands.push(Band {
                hertz: hertz.clone(),
                decibels: level - closest,
                normal: normal.map(|(low, high)| (low - closest, high - closest)),
            });
        }
        Difference { bands }
    }
}

/// Third octaves around 1 kHz up to a frequency; the last one may be cut.
fn third_octaves(highest: f64) -> impl Iterator<Item = Range<f64>> {
    let edge = |step: i32| 1000.0 * 2_f64.powf((f64::from(step) - 0.5) / 3.0);
    let steps = (-20..).map(move |step| edge(step)..edge(step + 1).min(highest));
    steps
        .skip_while(|band| band.start < LOWEST_HERTZ)
        .take_while(move |band| band.start < highest * 0.95)
}

impl Difference {
    /// What a record says of the spectrum; `None` if it says nothing.
    pub(crate) fn of_record(record: &ClipRecord) -> Option<Self> {
        let SpectrumDifference { hertz, decibels, .. } = record.difference.as_ref()?;
        let band = |(edges, decibels): (&[f64], &f32)| Band {
            hertz: edges[0]..edges[1],
            decibels: f64::from(*decibels),
            normal: None,
        };
        Some(Self { bands: hertz.windows(2).zip(decibels).map(band).collect() })
    }

    /// Third octaves, ascending.
    pub(crate) fn bands(&self) -> &[Band] {
        &self.bands
    }

    /// The parts that differ most, the furthest first; empty if none is worth a word.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let notable = || self.bands.iter().filter(|band| band.is_notable());
        let largest = notable().map(|band| band.decibels.abs()).fold(0.0, f64::max);
        let mut parts: Vec<Part> = Vec::new();
        for Band { hertz, decibels, .. } in
            notable().filter(|band| band.decibels.abs() >= largest / 2.0)
        {
            match parts.last_mut() {
                Some(last) if last.hertz.end == hertz.start && last.decibels * decibels > 0.0 => {
                    last.hertz.end = hertz.end;
                    if decibels.abs() > last.decibels.abs() {
                        last.decibels = *decibels;
                    }
                }
                _ => parts.push(Part { hertz: hertz.clone(), decibels: *decibels }),
            }
        }
        parts.sort_by(|a, b| b.decibels.abs().total_cmp(&a.decibels.abs()));
        parts.truncate(MOST_PARTS);
        parts
    }

    /// How alike two differences are, -1 to 1; `None` if one of them has nothing worth a word.
    pub(crate) fn likeness(&self, other: &Self) -> Option<f64> {
        // What normal clips do not do counts; the rest is the weather.
        let heard = |band: &Band| if band.is_notable() { band.beyond_normal() } else { 0.0 };
        let pairs = || self.bands.iter().zip(&other.bands).map(|(a, b)| (heard(a), heard(b)));
        let product = |of: &dyn Fn((f64, f64)) -> f64| pairs().map(of).sum::<f64>();
        let lengths = (product(&|(a, _)| a * a) * product(&|(_, b)| b * b)).sqrt();
        (lengths > 0.0).then(|| product(&|(a, b)| a * b) / lengths)
    }
}

impl Part {
    /// `+15 dB at 292-456 Hz`.
    pub(crate) fn describe(&self) -> String {
        format!("{} at {}", signed_decibels(self.decibels), hertz(&self.hertz))
    }
}

/// `+15 dB`: whole decibels from 10 on, a tenth below.
pub(crate) fn signed_decibels(decibels: f64) -> String {
    let size = decibels.abs();
    let size = if size >= 9.95 { format!("{size:.0}") } else { format!("{size:.1}") };
    let sign = match decibels {
        _ if size == "0.0" => "",
        below if below < 0.0 => "\u{2212}",
        _ => "+",
    };
    if decibels.is_finite() { format!("{sign}{size} dB") } else { significant(decibels, 3) }
}

#[cfg(test)]
mod tests {
    use auscult::random::Random;

    use super::*;

    /// A tone in a little noise, the same for every tone.
    fn tone(hertz: f32, level: f32) -> Vec<f32> {
        let step = std::f32::consts::TAU * hertz / 16_000.0;
        let mut random = Random::of(1, &[]);
        (0..32_000).map(|at| (at as f32 * step).sin() * level + random.symmetric(0.02)).collect()
    }

    fn difference(a: &[f32], b: &[f32]) -> Difference {
        ThirdOctaves::of(a, 16_000).against(&ThirdOctaves::of(b, 16_000), None)
    }

    #[test]
    fn a_louder_tone_is_named_by_its_third_octave_and_its_decibels() {
        let louder = difference(&tone(2_000.0, 0.4), &tone(2_000.0, 0.1));
        let parts = louder.parts();
        assert_eq!(parts.len(), 1);
        assert!((parts[0].decibels - 12.04).abs() < 0.1, "{parts:?}");
        assert!(parts[0].hertz.contains(&2_000.0), "{parts:?}");
        assert_eq!(parts[0].describe(), "+12 dB at 1.78\u{2013}2.24 kHz");
        assert_eq!(difference(&tone(500.0, 0.1), &tone(500.0, 0.1)).parts(), []);
    }

    #[test]
    fn a_gain_is_one_part_over_the_whole_range() {
        let quieter: Vec<f32> = tone(400.0, 0.2).iter().map(|sample| sample * 0.25).collect();
        let parts = difference(&quieter, &tone(400.0, 0.2)).parts();
        assert_eq!(parts.len(), 1, "{parts:?}");
        assert!(parts[0].hertz.start < 30.0 && parts[0].hertz.end > 7_000.0, "{parts:?}");
        assert!((parts[0].decibels + 12.04).abs() < 0.1);
    }

    #[test]
    fn what_normal_clips_do_is_not_worth_a_word() {
        let [loud, usual, quiet] =
            [0.4, 0.2, 0.1].map(|level| ThirdOctaves::of(&tone(500.0, level), 16_000));
        let range = NormalRange::of([&loud, &quiet]).unwrap();
        assert_eq!(usual.against(&quiet, Some(&range)).parts(), []);
        assert_eq!(usual.against(&quiet, None).parts().len(), 1);
        let louder = ThirdOctaves::of(&tone(500.0, 0.9), 16_000);
        assert_eq!(louder.against(&quiet, Some(&range)).parts().len(), 1);
        assert_eq!(NormalRange::of([]), None);
    }

    #[test]
    fn alike_is_the_same_place_whatever_the_strength() {
        let [a, b, c] = [(1_000.0, 0.2), (1_000.0, 0.4), (4_000.0, 0.4)]
            .map(|(hertz, level)| difference(&tone(hertz, level), &tone(1_000.0, 0.0)));
        assert!(a.likeness(&b).unwrap() > 0.9);
        assert!(a.likeness(&c).unwrap() < 0.3);
        assert_eq!(a.likeness(&Difference::default()), None);
    }

    #[test]
    fn silence_and_nonsense_have_finite_differences() {
        for samples in [vec![], vec![0.5], vec![0.0; 9_000], vec![f32::NAN, f32::INFINITY, 1e30]] {
            for rate in [0, 1, 40, 8_000, 384_000] {
                let octaves = ThirdOctaves::of(&samples, rate);
                let other = ThirdOctaves::of(&[0.1; 500], rate);
                let range = NormalRange::of([&other]);
                let difference = octaves.against(&other, range.as_ref());
                assert!(difference.bands().iter().all(|band| band.decibels.is_finite()));
                let _ = (difference.parts(), difference.likeness(&difference));
            }
        }
    }

    #[test]
    fn decibels_have_a_sign_and_no_false_digits() {
        let shown = [12.4, -3.04, 0.01, -9.96].map(signed_decibels);
        assert_eq!(shown, ["+12 dB", "\u{2212}3.0 dB", "0.0 dB", "\u{2212}10 dB"]);
    }
}

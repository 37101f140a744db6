//! Whether the gain or the place of the microphone has changed: the last clips together, against all references.
//!
//! One clip against its closest reference says too little: with a real pump bands differ by several decibels from clip to clip, and
//! a quarter of the volume was never recognised. The mean of three clips against the mean of the references was recognised in
//! 23 of 24 clips, and none of 104 clips of real faults (MIMII, pump and 16 machines at -6 dB) was taken for it; both by a form of this
//! rule in numpy, not by this code.

use std::collections::VecDeque;

use auscult::{ClipRecord, Machine};

use super::health::SensorFault;

/// Clips that are looked at together.
const TOGETHER: usize = 3;

/// How far all of the spectrum must have moved before the gain has changed, or its high end before the microphone has moved, in dB.
const LARGE: f64 = 6.0;

/// How far bands may be from what all of them do, beyond what clips differ by chance, in dB.
const EVEN: f64 = 1.5;

/// Bands below this hold nothing but the noise of the converter, whatever the gain is, in dBFS.
const EMPTY: f64 = -100.0;

/// Bands that say something, at the least.
const FEWEST: usize = 6;

/// What the references of a model sound like on the whole, and the last clips.
#[derive(Debug)]
pub(super) struct Microphone {
    model: i64,
    /// Per band: mean and deviation of the references, in dB.
    usual: Vec<(f64, f64)>,
    /// How far references are from that themselves, once a clip has told the edges of bands.
    own: Option<Own>,
    recent: VecDeque<Vec<f32>>,
    /// What the last clip was judged to be.
    last: Option<SensorFault>,
}

impl Microphone {
    pub(super) fn new(model: i64, machine: &Machine) -> Self {
        let spectra: Vec<&[f32]> = spectra(machine).collect();
        let bands = spectra.first().map_or(0, |spectrum| spectrum.len());
        let usual = (0..bands).map(|band| {
            let levels = spectra.iter().filter_map(|it| it.get(band)).map(|&it| f64::from(it));
            mean_and_deviation(levels)
        });
        let recent = VecDeque::with_capacity(TOGETHER);
        Self { model, usual: usual.collect(), own: None, recent, last: None }
    }

    /// Whether it was made for this model.
    pub(super) fn is_of(&self, model: i64) -> bool {
        self.model == model
    }

    /// Hears a clip, and says what it and those before it tell about the microphone.
    pub(super) fn hear(&mut self, record: &ClipRecord, machine: &Machine) -> Option<SensorFault> {
        let difference = record.difference.as_ref()?;
        let reference = spectrum_of(machine, difference.reference)?;
        self.own.get_or_insert_with(|| Own::of(machine, &self.usual, &difference.hertz));
        let clip = difference.decibels.iter().zip(reference).map(|(more, level)| more + level);
        if self.recent.len() == TOGETHER {
            self.recent.pop_front();
        }
        self.recent.push_back(clip.collect());
        self.judge_newest(&difference.hertz)
    }

    /// Judges the newest clip: alone, together with those before it, or as they were judged if that is not contradicted.
    fn judge_newest(&mut self, hertz: &[f64]) -> Option<SensorFault> {
        let newest = self.recent.len() - 1;
        // A gain is the same in all bands, which one clip can show; one clip of a machine that knocks may slope by chance.
        let alone = self.judge(newest, hertz).filter(|fault| matches!(fault, SensorFault::Gain(_)));
        let together = || (newest + 1 == TOGETHER).then(|| self.judge(0, hertz)).flatten();
        let judged = alone.or_else(together).or(self.last)?;
        // The clips before it may speak of a gain that has just ended; of a place, one clip says too little either way.
        let first = if matches!(judged, SensorFault::Gain(_)) { newest } else { 0 };
        let shift = middle(self.bands(first, hertz).iter().map(|band| band.decibels))?;
        self.last = Some(judged).filter(|fault| fault.agrees_with(shift));
        self.last
    }

    /// Judges the clips from `first` on together.
    fn judge(&self, first: usize, hertz: &[f64]) -> Option<SensorFault> {
        let bands = self.bands(first, hertz);
        let own = self.own.unwrap_or_default();
        let fault = || common_gain(&bands, own).or_else(|| even_loss(&bands, own));
        (bands.len() >= FEWEST).then(fault)?
    }

    /// How the clips from `first` on differ from the references on average.
    fn bands(&self, first: usize, hertz: &[f64]) -> Vec<Band> {
        let count = (self.recent.len() - first) as f64;
        let level = |band: usize| {
            let levels = self.recent.range(first..).filter_map(|clip| clip.get(band));
            levels.map(|&level| f64::from(level)).sum::<f64>() / count
        };
        bands_beside(&self.usual, hertz, level, count)
    }
}

/// How far references are from what they are on average. A machine that knocks now and then has clips with a knock and clips
/// without, and what one of them does is not the microphone's.
#[derive(Debug, Clone, Copy, Default)]
struct Own {
    /// The lowest and highest gain of one, in dB.
    gains: (f64, f64),
    /// The most that one lost at the high end, in dB.
    high: f64,
}

impl Own {
    fn of(machine: &Machine, usual: &[(f64, f64)], hertz: &[f64]) -> Self {
        let mut own = Self::default();
        for spectrum in spectra(machine) {
            let level = |band: usize| spectrum.get(band).map_or(EMPTY, |&level| f64::from(level));
            let bands = bands_beside(usual, hertz, level, 1.0);
            let gain = middle(bands.iter().map(|band| band.decibels)).unwrap_or(0.0);
            own.gains = (own.gains.0.min(gain), own.gains.1.max(gain));
            own.high = own.high.min(line(&bands).map_or(0.0, |(_, _, high)| high));
        }
        own
    }
}

/// The bands of a sound, the mean of `count` clips, beside what they usually are.
fn bands_beside(
    usual: &[(f64, f64)],
    hertz: &[f64],
    level: impl Fn(usize) -> f64,
    count: f64,
) -> Vec<Band> {
    let bands = usual.iter().zip(hertz.windows(2)).enumerate();
    bands
        .filter_map(|(band, (&(usual, deviation), edges))| {
            let level = level(band);
            (usual > EMPTY && level > EMPTY).then(|| Band {
                octave: (edges[0].max(1.0) * edges[1]).log2() / 2.0,
                decibels: level - usual,
                allowed: EVEN + deviation / count.sqrt(),
            })
        })
        .collect()
}

impl SensorFault {
    /// Whether a clip whose bands have moved by this much in the middle, in dB, may have this fault.
    fn agrees_with(self, shift: f64) -> bool {
        match self {
            Self::Gain(gain) => shift * gain.signum() >= LARGE / 2.0,
            Self::Moved(..) => shift <= -EVEN,
            _ => false,
        }
    }
}

/// How much louder a band is than it usually is, and how far that may be off by chance.
#[derive(Debug, Clone, Copy)]
struct Band {
    octave: f64,
    decibels: f64,
    allowed: f64,
}

/// The gain that all bands share, if there is one, and it is far from those of all references.
fn common_gain(bands: &[Band], own: Own) -> Option<SensorFault> {
    let gain = middle(bands.iter().map(|band| band.decibels))?;
    let is_large = gain <= own.gains.0 - LARGE || gain >= own.gains.1 + LARGE;
    (is_large && follow(bands, |_| gain)).then_some(SensorFault::Gain(gain))
}

/// What distance or a turned microphone does: the whole spectrum is quieter, by a straight line over the octaves, and most at high
/// frequencies.
///
/// Only losses count, and only even ones: faults of machines make something louder, or take something away in places, and must not
/// be taken for the microphone's. (Any loss that grows with frequency would also find a cloth over the microphone; it was tried,
/// and took 3 of 80 clips of real faults for one.)
fn even_loss(bands: &[Band], own: Own) -> Option<SensorFault> {
    let (slope, low, high) = line(bands)?;
    let start = low - slope * bands.first()?.octave;
    let is_loss = slope < 0.0 && low <= EVEN && high <= own.high - LARGE;
    (is_loss && follow(bands, |octave| start + slope * octave))
        .then_some(SensorFault::Moved(low, high))
}

/// The straight line over the octaves that bands lie along: its slope, and where it begins and ends, in dB.
fn line(bands: &[Band]) -> Option<(f64, f64, f64)> {
    let pairs = bands.iter().enumerate().flat_map(|(at, low)| {
        let slope = move |high: &Band| (high.decibels - low.decibels) / (high.octave - low.octave);
        bands[at + 1..].iter().map(slope)
    });
    // Medians: a few bands may hold something else.
    let slope = middle(pairs)?;
    let start = middle(bands.iter().map(|band| band.decibels - slope * band.octave))?;
    let at = |band: &Band| start + slope * band.octave;
    Some((slope, at(bands.first()?), at(bands.last()?)))
}

/// Whether nine of ten bands are where they are expected.
fn follow(bands: &[Band], expected: impl Fn(f64) -> f64) -> bool {
    let near = |band: &&Band| (band.decibels - expected(band.octave)).abs() <= band.allowed;
    bands.iter().filter(near).count() * 10 >= bands.len() * 9
}

fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn mean_and_deviation(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / count).sqrt())
}

fn spectra(machine: &Machine) -> impl Iterator<Item = &[f32]> {
    let count = machine.model().references().provenance().len();
    (0..count).filter_map(|index| spectrum_of(machine, index))
}

/// The levels of a reference; models of before these were kept have none.
fn spectrum_of(machine: &Machine, reference: usize) -> Option<&[f32]> {
    let provenance = machine.model().references().provenance().get(reference)?;
    let levels = provenance.recording.as_ref()?.spectrum_dbfs.as_slice();
    (!levels.is_empty()).then_some(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen third octaves from 100 Hz on; clips differ by a few decibels.
    fn microphone() -> (Microphone, Vec<f64>) {
        let hertz = (0..=16).map(|band| 100.0 * 2.0_f64.powf(f64::from(band) / 3.0)).collect();
        let usual = vec![(-40.0, 2.0); 16];
        (Microphone { model: 1, usual, own: None, recent: VecDeque::new(), last: None }, hertz)
    }

    /// Three clips that differ from the references by `decibels`, and from each other.
    fn after(decibels: impl Fn(usize) -> f64) -> Option<SensorFault> {
        let (mut microphone, hertz) = microphone();
        for clip in 0..TOGETHER {
            let level = |band: usize| -40.0 + decibels(band) + [3.0, -2.5, 0.5][(clip + band) % 3];
            microphone.recent.push_back((0..16).map(|band| level(band) as f32).collect());
        }
        microphone.judge(0, &hertz)
    }

    #[test]
    fn what_references_do_is_not_the_microphone() {
        let (mut microphone, hertz) = microphone();
        microphone.own = Some(Own { gains: (-9.0, 4.0), high: -5.0 });
        let mut judge = |low: f32, high: f32| {
            let level = |band: u8| -40.0 + low + (high - low) * f32::from(band) / 15.0;
            microphone.recent = [(0..16).map(level).collect()].into();
            microphone.judge(0, &hertz).is_some()
        };
        let like_references = [(-10.0, -10.0), (-14.0, -14.0), (9.0, 9.0), (0.0, -10.0)];
        assert_eq!(like_references.map(|(low, high)| judge(low, high)), [false; 4]);
        let unlike_them = [(-16.0, -16.0), (11.0, 11.0), (0.0, -12.0)];
        assert_eq!(unlike_them.map(|(low, high)| judge(low, high)), [true; 3]);
    }

    #[test]
    fn a_gain_is_common_to_all_bands_and_large() {
        let Some(SensorFault::Gain(gain)) = after(|_| -12.0) else {
            panic!("a quarter of the volume")
        };
        assert!((gain + 12.0).abs() < 0.5, "{gain}");
        assert_eq!(after(|_| 4.0), None, "not large");
        assert_eq!(after(|band| if band < 8 { 12.0 } else { 0.0 }), None, "half of the bands");
    }

    #[test]
    fn a_loss_that_grows_with_frequency_is_a_moved_microphone_and_a_hiss_is_not() {
        let tilted = |low: f64, step: f64| move |band: usize| low + step * band as f64;
        let Some(SensorFault::Moved(low, high)) = after(tilted(-3.0, -0.8)) else {
            panic!("further away")
        };
        assert!((low + 3.0).abs() < 1.0 && (high + 15.0).abs() < 1.0, "{low} {high}");
        // Louder towards high frequencies, or one end louder and one quieter, is the machine's own.
        assert_eq!(after(tilted(0.0, 0.9)), None);
        assert_eq!(after(tilted(8.0, -1.2)), None);
        assert_eq!(after(tilted(0.0, -0.2)), None, "not by much");
        let hissing =
            |band: usize| if (9..12).contains(&band) { 6.0 } else { -3.0 - 0.8 * band as f64 };
        assert_eq!(after(hissing), None, "quieter, and three bands hiss");
    }

    /// What each of these clips is judged to be; they differ from the references and from each other.
    fn one_by_one(decibels: &[f64]) -> Vec<bool> {
        let (mut microphone, hertz) = microphone();
        let mut judge = |(clip, decibels): (usize, &f64)| {
            // Every second clip is too uneven to be recognised alone.
            let noise = if clip % 2 == 0 { 0.5 } else { 6.0 };
            let level =
                |band: usize| -40.0 + decibels + noise * [1.0, -1.0, 0.2][(clip + band) % 3];
            if microphone.recent.len() == TOGETHER {
                microphone.recent.pop_front();
            }
            microphone.recent.push_back((0..16).map(|band| level(band) as f32).collect());
            microphone.judge_newest(&hertz).is_some()
        };
        decibels.iter().enumerate().map(&mut judge).collect()
    }

    #[test]
    fn a_changed_gain_does_not_come_and_go() {
        let heard = one_by_one(&[0.0, 0.0, -12.0, -12.0, -12.0, -12.0, 0.0, 0.0]);
        assert_eq!(heard, [false, false, true, true, true, true, false, false]);
        assert_eq!(one_by_one(&[0.0, 2.0, -2.0, 0.0]), [false; 4]);
    }

    #[test]
    fn a_place_takes_three_clips_and_one_odd_clip_does_not_end_it() {
        let (mut microphone, hertz) = microphone();
        let mut judge = |step: f64| {
            if microphone.recent.len() == TOGETHER {
                microphone.recent.pop_front();
            }
            let level = |band: usize| (-40.0 - 3.0 * step.signum() - step * band as f64) as f32;
            microphone.recent.push_back((0..16).map(level).collect());
            microphone.judge_newest(&hertz).is_some()
        };
        assert_eq!([0.8, 0.8, 0.8].map(&mut judge), [false, false, true], "after three clips");
        assert!(judge(-0.1), "one clip that is a little louder");
        assert!(judge(0.8));
        assert!(![-0.1, -0.1, -0.1].map(judge)[2], "it is back in its place");
    }

    #[test]
    fn empty_bands_say_nothing() {
        let (mut microphone, hertz) = microphone();
        microphone.usual[6..].fill((-110.0, 0.0));
        let level = |band: usize| if band < 6 { -52.0 } else { -110.0 };
        microphone.recent.push_back((0..16).map(level).collect());
        assert!(matches!(microphone.judge(0, &hertz), Some(SensorFault::Gain(_))));
        microphone.usual[5] = (-110.0, 0.0);
        assert_eq!(microphone.judge(0, &hertz), None, "five bands are too few");
    }
}

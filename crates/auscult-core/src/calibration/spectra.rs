//! Whether the spectrum of a whole run can be that of a further visit.
//!
//! A score says how far a clip is from normal and not which way, so that a run that is far but no further than the oddest visit
//! is nothing special to it. The mean spectrum of a run says which way: most of the evidence that a microphone was moved is that
//! all bands go where no visit went. This is Dempster's test for means with more values than samples (1958, 1960): the squared
//! distance of the run from the mean of the visits, over their total variance, follows Fisher's F distribution. Its degrees of
//! freedom say how many directions visits vary in; the estimate here is never more than there are visits less one,
//! which is less than the truth with few of them, and so is what is called changed.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Levels below this are silence, in dBFS: how far below is rounding and no sound.
const SILENCE_DBFS: f32 = -120.0;

/// How mean spectra of visits to a healthy machine differ.
///
/// # Examples
///
/// ```
/// use auscult_core::calibration::NormalSpectra;
///
/// // Four visits of two clips, three bands.
/// let clips = [[0.0_f32, 1.0, 0.5], [1.0, 0.0, 0.0], [0.5, 0.5, 1.0], [0.0, 0.0, 0.2]];
/// let visits = ["a", "b", "c", "d"].into_iter().zip(&clips);
/// let clips = visits.flat_map(|(visit, levels)| [(visit, &levels[..]), (visit, &levels[..])]);
/// let normal = NormalSpectra::of(clips).expect("four visits");
/// assert!(normal.p_value(&[vec![0.4, 0.4, 0.4]]).unwrap() > 0.5);
/// assert!(normal.p_value(&[vec![9.0, 9.0, 9.0]]).unwrap() < 0.01);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NormalSpectra {
    /// The mean spectrum of each visit, in dB.
    visits: Vec<Vec<f64>>,
    /// Variance of clips around the mean of their visit, summed over bands.
    within: f64,
    /// How many clips a visit has: the harmonic mean.
    visit_size: f64,
}

impl NormalSpectra {
    /// Learns from clips with the visit they are from; `None` unless there are two visits that differ, and all
    /// spectra have as many bands.
    pub fn of<'a>(clips: impl IntoIterator<Item = (&'a str, &'a [f32])>) -> Option<Self> {
        let mut groups: BTreeMap<&str, Vec<&[f32]>> = BTreeMap::new();
        for (visit, levels) in clips {
            groups.entry(visit).or_default().push(levels);
        }
        let visits = groups.values().map(|clips| mean(clips)).collect::<Option<Vec<_>>>()?;
        let bands = visits.first()?.len();
        if visits.len() < 2 || visits.iter().any(|visit| visit.len() != bands) {
            return None;
        }
        let (mut squares, mut freedom, mut inverse_sizes) = (0.0, 0, 0.0);
        for (visit, clips) in visits.iter().zip(groups.values()) {
            squares += clips.iter().map(|clip| distance(&levels(clip), visit)).sum::<f64>();
            freedom += clips.len() - 1;
            inverse_sizes += 1.0 / clips.len() as f64;
        }
        let within = squares / freedom.max(1) as f64;
        let visit_size = visits.len() as f64 / inverse_sizes;
        let normal = Self { visits, within, visit_size };
        (normal.variation().0 > 0.0).then_some(normal)
    }

    /// How probable it is that the mean spectrum of a further visit is as far away as that of these clips; `None`
    /// without clips, or if they have other bands.
    pub fn p_value<L: AsRef<[f32]>>(&self, run: &[L]) -> Option<f64> {
        let clips: Vec<&[f32]> = run.iter().map(AsRef::as_ref).collect();
        let (found, centre) = (mean(&clips)?, self.centre());
        if found.len() != centre.len() {
            return None;
        }
        let (visits, (total, directions)) = (self.visits.len() as f64, self.variation());
        // A run smaller than the visits has a mean that is known less well than theirs.
        let smaller = (1.0 / run.len() as f64 - 1.0 / self.visit_size).max(0.0);
        let expected = total * (1.0 + 1.0 / visits) + self.within * smaller;
        let distribution = FisherSnedecor::new(directions, (visits - 1.0) * directions).ok()?;
        let ratio = distance(&found, &centre) / expected;
        ratio.is_finite().then(|| distribution.sf(ratio))
    }

    fn centre(&self) -> Vec<f64> {
        let count = self.visits.len() as f64;
        let band = |band| self.visits.iter().map(|visit| visit[band]).sum::<f64>() / count;
        (0..self.visits[0].len()).map(band).collect()
    }

    /// The total variance of visits, and in how many directions they vary: the squared trace of their
    /// covariance over the trace of its square.
    fn variation(&self) -> (f64, f64) {
        let centre = self.centre();
        let off = |visit: &[f64]| -> Vec<f64> {
            visit.iter().zip(&centre).map(|(level, centre)| level - centre).collect()
        };
        let off: Vec<Vec<f64>> = self.visits.iter().map(|visit| off(visit)).collect();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let trace: f64 = off.iter().map(|visit| product(visit, visit)).sum();
        let pairs = off.iter().flat_map(|a| off.iter().map(move |b| product(a, b).powi(2)));
        let squares: f64 = pairs.sum();
        let directions = if squares > 0.0 { (trace * trace / squares).max(1.0) } else { 1.0 };
        (trace / (self.visits.len() - 1) as f64, directions)
    }
}

/// Levels that can be calculated with.
fn levels(clip: &[f32]) -> Vec<f64> {
    clip.iter().map(|level| f64::from(level.max(SILENCE_DBFS))).collect()
}

/// The mean of spectra; `None` if there is none, or their lengths differ.
fn mean(clips: &[&[f32]]) -> Option<Vec<f64>> {
    let bands = clips.first()?.len();
    if bands == 0 || clips.iter().any(|clip| clip.len() != bands) {
        return None;
    }
    let mut sums = vec![0.0; bands];
    for clip in clips {
        sums.iter_mut().zip(levels(clip)).for_each(|(sum, level)| *sum += level);
    }
    Some(sums.into_iter().map(|sum| sum / clips.len() as f64).collect())
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const BANDS: usize = 25;

    fn normal(random: &mut Random) -> f32 {
        ((0..12).map(|_| random.share()).sum::<f64>() - 6.0) as f32
    }

    /// Clips of a visit that has another gain, tilt and noise in its bands, and clips a noise of their own.
    fn visit(random: &mut Random, clips: usize, shift: f32) -> Vec<Vec<f32>> {
        let (gain, tilt) = (normal(random), normal(random));
        let own: Vec<f32> = (0..BANDS)
            .map(|band| shift + gain + tilt * (band as f32 / 12.0 - 1.0) + 0.5 * normal(random))
            .collect();
        let clip = |random: &mut Random| own.iter().map(|level| level + normal(random)).collect();
        (0..clips).map(|_| clip(random)).collect()
    }

    fn learnt(random: &mut Random, visits: usize, clips: usize) -> NormalSpectra {
        let visits: Vec<(String, Vec<Vec<f32>>)> =
            (0..visits).map(|name| (name.to_string(), visit(random, clips, 0.0))).collect();
        let clips = visits
            .iter()
            .flat_map(|(name, clips)| clips.iter().map(move |clip| (name.as_str(), &clip[..])));
        NormalSpectra::of(clips).unwrap()
    }

    #[test]
    fn normal_visits_keep_the_level_and_shifted_ones_are_found() {
        let mut random = Random::of(7, &[]);
        for (visits, found) in [(2, 0), (3, 60), (5, 320), (10, 380)] {
            let (mut false_changes, mut true_changes) = (0, 0);
            for _ in 0..400 {
                let normal = learnt(&mut random, visits, 8);
                for clips in [5, 30] {
                    let p_value = normal.p_value(&visit(&mut random, clips, 0.0)).unwrap();
                    false_changes += usize::from(p_value <= 0.05);
                }
                let p_value = normal.p_value(&visit(&mut random, 8, 8.0)).unwrap();
                true_changes += usize::from(p_value <= 0.05);
            }
            // 40 of 800 are allowed on average; 65 would be four deviations more.
            assert!(false_changes < 65, "{visits} visits: {false_changes} of 800");
            assert!(true_changes >= found, "{visits} visits: {true_changes} of 400");
        }
    }

    #[test]
    fn what_cannot_be_compared_is_not() {
        let levels: [&[f32]; 3] = [&[1.0, 2.0], &[2.0, 3.0], &[1.0]];
        assert_eq!(NormalSpectra::of([("a", levels[0]), ("a", levels[1])]), None, "one visit");
        assert_eq!(NormalSpectra::of([("a", levels[0]), ("b", levels[0])]), None, "the same");
        assert_eq!(NormalSpectra::of([("a", levels[0]), ("b", levels[2])]), None, "other bands");
        let normal = NormalSpectra::of([("a", levels[0]), ("b", levels[1])]).unwrap();
        assert_eq!(normal.p_value(&[levels[2]]), None);
        assert_eq!(normal.p_value::<&[f32]>(&[]), None);
        let silent = normal.p_value(&[[f32::NEG_INFINITY; 2]]).unwrap();
        assert!(silent < 0.05, "{silent}");
    }
}

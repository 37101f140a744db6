//! How much normal clips resemble those around them, and how often a rule then raises an alarm.
//!
//! Clips of one hour share what comes and goes, clips of one day its weather and its load. On a bad hour many clips in a row are
//! anomalous, and a rule that counts them would raise far more alarms than if they erred independently.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use crate::random::Random;

/// Where the variance of normal scores comes from, once they are made normally distributed; the rest is each clip's own.
///
/// # Examples
///
/// ```
/// use auscult_core::alarm::Dependence;
///
/// // Visits that differ, and clips that do not.
/// let visit = |visit: u32| (0..20).map(|clip| f64::from(visit) + 1e-3 * f64::from(clip)).collect();
/// let recordings: Vec<Vec<f64>> = (0..10).map(visit).collect();
/// assert!(Dependence::of(&recordings).is_some_and(|found| found.day > 0.8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Dependence {
    /// The share that all clips of a visit, or a day, have in common.
    pub day: f64,
    /// The share that clips have in common with those just before them.
    pub near: f64,
    /// How much of that is left from one clip to the next.
    pub memory: f64,
}

/// Pairs of clips further apart say nothing more about what is near.
const MOST_LAGS: usize = 15;

/// Fewer pairs of neighbours cannot show how alike they are.
const FEWEST_PAIRS: usize = 30;

/// Something is always a clip's own.
const MOST_SHARED: f64 = 0.95;

/// How sure it is that days have no more in common than is assumed: a few visits may happen to resemble each other.
const SURE: f64 = 0.8;

/// What may be left from one clip to the next.
const MEMORIES: [f64; 8] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.985];

impl Dependence {
    /// Of clips that err on their own.
    pub const INDEPENDENT: Self = Self { day: 0.0, near: 0.0, memory: 0.5 };

    /// Measured on left-out scores, recording by recording, in order; `None` if too few of them follow each other.
    pub fn of(recordings: &[Vec<f64>]) -> Option<Self> {
        let normal = normalised(recordings);
        // For each lag the mean product of clips that far apart, and how many pairs there are.
        let lag = |lag: usize| {
            let pairs = normal.iter().flat_map(|scores| scores.iter().zip(scores.iter().skip(lag)));
            let (count, sum) =
                pairs.fold((0_usize, 0.0), |(count, sum), (a, b)| (count + 1, sum + a * b));
            (count > 0).then(|| (count as f64, sum / count as f64))
        };
        let lags: Vec<(f64, f64)> = (1..=MOST_LAGS).map_while(lag).collect();
        if lags.first().is_none_or(|(pairs, _)| *pairs < FEWEST_PAIRS as f64) {
            return None;
        }
        let fits = MEMORIES.map(|memory| fit(&lags, memory));
        let best = fits.into_iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
        let visits = normal.iter().filter(|scores| scores.len() > 1).count();
        best.map(|(_, dependence)| dependence.allowing_for_chance(visits))
    }

    /// With as much in common within a day as it may have where so few visits showed what was measured.
    fn allowing_for_chance(self, visits: usize) -> Self {
        let freedom = visits.saturating_sub(1).max(1) as f64;
        let least = ChiSquared::new(freedom).map_or(freedom, |known| known.inverse_cdf(1.0 - SURE));
        let day = (self.day * freedom / least).min((MOST_SHARED - self.near).max(self.day));
        Self { day, ..self }
    }
}

/// Least squares of day + near * memory^lag, neither below nothing; with the error that is left.
fn fit(lags: &[(f64, f64)], memory: f64) -> (f64, Dependence) {
    let (mut weight, mut x, mut xx, mut y, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let mut power = 1.0;
    for &(pairs, product) in lags {
        power *= memory;
        weight += pairs;
        x += pairs * power;
        xx += pairs * power * power;
        y += pairs * product;
        xy += pairs * power * product;
    }
    let determinant = weight * xx - x * x;
    let (mut day, mut near) = if determinant > 1e-9 * weight * xx {
        ((xx * y - x * xy) / determinant, (weight * xy - x * y) / determinant)
    } else {
        (y / weight, 0.0)
    };
    if near < 0.0 {
        (day, near) = (y / weight, 0.0);
    } else if day < 0.0 {
        (day, near) = (0.0, xy / xx);
    }
    let (day, near) = (day.max(0.0), near.max(0.0));
    let scale = (MOST_SHARED / (day + near).max(1e-9)).min(1.0);
    let dependence = Dependence { day: day * scale, near: near * scale, memory };
    let mut power = 1.0;
    let error = lags.iter().map(|&(pairs, product)| {
        power *= memory;
        pairs * (product - dependence.day - dependence.near * power).powi(2)
    });
    (error.sum(), dependence)
}

/// The scores by their ranks among all of them, as standard normal values.
fn normalised(recordings: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut sorted: Vec<f64> = recordings.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let normal = Normal::standard();
    let value = |score: &f64| {
        let below = sorted.partition_point(|other| other < score);
        let not_above = sorted.partition_point(|other| other <= score);
        // The middle of equal ones.
        let rank = f64::midpoint(below as f64, not_above as f64);
        normal.inverse_cdf(rank.clamp(0.5, sorted.len() as f64 - 0.5) / sorted.len() as f64)
    };
    recordings.iter().map(|scores| scores.iter().map(value).collect()).collect()
}

/// Normal sound of many days, as scores that are standard normal and depend on each other: of each clip that may be anomalous its
/// place and its score.
#[derive(Debug)]
pub(super) struct SimulatedSound {
    clips: usize,
    highest: Vec<(u32, f32)>,
}

impl SimulatedSound {
    /// The same for every caller: what is chosen with it must not change from one day to the next. Clips that are not anomalous
    /// at `largest_rate` are not kept.
    pub(super) fn new(
        dependence: Dependence,
        clips_a_day: usize,
        clips: usize,
        largest_rate: f64,
    ) -> Self {
        let threshold = threshold_of(largest_rate);
        let mut highest = Vec::with_capacity((1.1 * largest_rate * clips as f64) as usize);
        let mut place = 0;
        simulate(dependence, clips_a_day, clips, |score| {
            if score > threshold {
                highest.push((place, score));
            }
            place += 1;
        });
        Self { clips, highest }
    }

    /// How many clips there are.
    pub(super) fn clips(&self) -> usize {
        self.clips
    }

    /// Alarms that `raise` of `window` clips raise and `clear` normal ones in a row end, with this share of clips anomalous, at most
    /// the largest rate; counted up to one more than `most`.
    pub(super) fn alarms(
        &self,
        (raise, window, clear): (usize, usize, usize),
        rate: f64,
        most: usize,
    ) -> usize {
        let threshold = threshold_of(rate);
        let mask = if window >= 64 { u64::MAX } else { (1 << window) - 1 };
        let (mut last, mut is_raised, mut alarms, mut previous) = (0_u64, false, 0_usize, 0_u32);
        for &(place, score) in &self.highest {
            if score <= threshold {
                continue;
            }
            // All clips in between are normal.
            let step = place - previous;
            previous = place;
            if is_raised && step as usize > clear {
                (is_raised, last) = (false, 0);
            }
            last = (last.checked_shl(step).unwrap_or(0) | 1) & mask;
            if !is_raised && last.count_ones() as usize >= raise {
                is_raised = true;
                alarms += 1;
                if alarms > most {
                    break;
                }
            }
        }
        alarms
    }
}

/// The score above which this share of standard normal ones is.
fn threshold_of(rate: f64) -> f32 {
    Normal::standard().inverse_cdf(1.0 - rate) as f32
}

/// Gives the score of every clip, in order.
fn simulate(dependence: Dependence, clips_a_day: usize, clips: usize, mut give: impl FnMut(f32)) {
    let mut random = Random::of(17, &[]);
    let Dependence { day, near, memory } = dependence;
    let (of_day, of_near) = (day.sqrt(), near.sqrt());
    let own = (1.0 - day - near).max(0.0).sqrt();
    let fresh = (1.0 - memory * memory).sqrt();
    let (mut today, mut now) = (0.0, 0.0);
    for clip in 0..clips {
        if clip % clips_a_day.max(1) == 0 {
            (today, now) = normal_pair(&mut random);
        }
        let (step, noise) = normal_pair(&mut random);
        now = memory * now + fresh * step;
        give((of_day * today + of_near * now + own * noise) as f32);
    }
}

/// Two independent standard normal values (Box and Muller).
fn normal_pair(random: &mut Random) -> (f64, f64) {
    let radius = (-2.0 * (1.0 - random.share()).ln()).sqrt();
    let (sine, cosine) = (std::f64::consts::TAU * random.share()).sin_cos();
    (radius * cosine, radius * sine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alarm::{AlarmSettings, alarms_per_clip};

    const INDEPENDENT: Dependence = Dependence::INDEPENDENT;

    fn scores(dependence: Dependence, clips_a_day: usize, clips: usize) -> Vec<f32> {
        let mut scores = Vec::with_capacity(clips);
        simulate(dependence, clips_a_day, clips, |score| scores.push(score));
        scores
    }

    /// As [`SimulatedSound::alarms`], clip by clip.
    fn alarms_clip_by_clip(
        scores: &[f32],
        (raise, window, clear): (usize, usize, usize),
        rate: f64,
    ) -> usize {
        let (threshold, mask) = (threshold_of(rate), (1 << window) - 1);
        let (mut last, mut normals, mut is_raised, mut alarms) = (0_u64, 0_usize, false, 0);
        for &score in scores {
            let is_anomalous = score > threshold;
            last = ((last << 1) | u64::from(is_anomalous)) & mask;
            normals = if is_anomalous { 0 } else { normals + 1 };
            if is_raised {
                if normals >= clear {
                    (is_raised, last) = (false, 0);
                }
            } else if is_anomalous && last.count_ones() as usize >= raise {
                is_raised = true;
                alarms += 1;
            }
        }
        alarms
    }

    #[test]
    fn looking_at_anomalous_clips_only_counts_the_same_alarms() {
        for (day, near, memory) in [(0.0, 0.0, 0.5), (0.1, 0.3, 0.97), (0.4, 0.3, 0.9)] {
            let dependence = Dependence { day, near, memory };
            let scores = scores(dependence, 300, 100_000);
            let sound = SimulatedSound::new(dependence, 300, 100_000, 0.2);
            for rule in [(1, 1, 1), (2, 3, 5), (3, 5, 5), (9, 12, 2), (56, 60, 5), (56, 60, 70)] {
                for rate in [0.2, 0.05, 0.003] {
                    let expected = alarms_clip_by_clip(&scores, rule, rate);
                    let found = sound.alarms(rule, rate, usize::MAX - 1);
                    assert_eq!(found, expected, "{dependence:?} {rule:?} {rate}");
                    let most = expected / 2;
                    assert_eq!(sound.alarms(rule, rate, most), expected.min(most + 1));
                }
            }
        }
    }

    #[test]
    fn what_was_simulated_is_measured() {
        for (day, near, memory) in
            [(0.0, 0.0, 0.5), (0.3, 0.0, 0.5), (0.1, 0.3, 0.97), (0.0, 0.5, 0.8)]
        {
            let sound = scores(Dependence { day, near, memory }, 30, 30 * 2_000);
            let scores: Vec<f64> = sound.iter().map(|score| f64::from(*score).exp()).collect();
            let recordings: Vec<Vec<f64>> = scores.chunks(30).map(<[f64]>::to_vec).collect();
            let found = Dependence::of(&recordings).unwrap();
            // What is near and hardly forgotten is not told from what a day has in common.
            assert!((found.day + found.near - day - near).abs() < 0.05, "{found:?}");
            if near == 0.5 {
                assert!((found.near - near).abs() < 0.05 && found.memory == memory, "{found:?}");
            }
        }
    }

    #[test]
    fn independent_clips_raise_what_the_chain_says() {
        let sound = SimulatedSound::new(INDEPENDENT, 1_440, 2_000_000, 0.2);
        for (raise, window, rate) in [(1, 1, 0.001), (2, 3, 0.01), (3, 5, 0.05)] {
            let rules = AlarmSettings { raise, window, clear: 5, ..AlarmSettings::default() };
            let expected = alarms_per_clip(&rules.check().unwrap(), rate) * sound.clips() as f64;
            let found = sound.alarms((raise, window, 5), rate, usize::MAX - 1) as f64;
            assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{found} {expected}");
        }
    }

    #[test]
    fn alike_clips_raise_more() {
        let alike = Dependence { day: 0.1, near: 0.3, memory: 0.97 };
        let alarms = |dependence| {
            SimulatedSound::new(dependence, 1_440, 1_000_000, 0.2).alarms(
                (3, 5, 5),
                0.02,
                1_000_000,
            )
        };
        assert!(alarms(alike) > 5 * alarms(INDEPENDENT));
    }

    #[test]
    fn few_visits_leave_room_for_days_that_differ_more() {
        let found = Dependence { day: 0.1, near: 0.3, memory: 0.5 };
        let day = |visits| found.allowing_for_chance(visits).day;
        assert!(day(2) > day(5) && day(5) > 0.2 && day(5) > day(20) && day(20) > 0.13);
        assert!(day(2) + found.near <= MOST_SHARED && day(10_000) < 0.102);
    }

    #[test]
    fn single_clips_say_nothing_about_their_neighbours() {
        let recordings: Vec<Vec<f64>> = (0..100).map(|clip| vec![f64::from(clip)]).collect();
        assert_eq!(Dependence::of(&recordings), None);
        assert_eq!(Dependence::of(&[]), None);
    }
}

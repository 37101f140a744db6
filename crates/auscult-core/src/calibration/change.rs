//! Whether a whole run of clips, or a stream of them, still sounds as the calibration says.
//!
//! Verdicts judge clips one by one. A moved microphone, another load or a repaired machine changes all
//! of them at once, and then the rate that was promised for single clips says nothing. Clips of one
//! visit resemble each other, and all p-values come from the same calibration clips, so many small
//! p-values are not many independent ones. What is counted here is therefore visits: the median log
//! score of each group that was left out is one draw from how visits of the healthy machine differ, and
//! the median log score of a run is a further draw if nothing has changed. How probable a draw so
//! high is, is an exact prediction after few draws (`gumbel.rs`): few groups, little certainty. It
//! assumes that medians of log scores follow a Gumbel distribution from visit to visit, whose right tail is heavy
//! enough for an odd visit now and then, so that one among five neither hides a change nor is one; where tails are
//! lighter, as those of normal numbers, less is called changed than is allowed. Ranks alone could not tell a
//! changed visit from a normal one before there are twenty. `results/changed.md` has what was realised.
//!
//! Where a run is no further away than the oddest visit, its spectra may still go where no visit went: `spectra.rs`.
//! [`NormalRuns::judge`] looks at a finished run, [`Drift`] at a stream, by the same p-values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Calibration, gumbel};
use crate::Basis;

/// The level of the test: of normal visits, at most this share is called changed.
pub const CHANGE_LEVEL: f64 = 0.05;

/// A clip differs if at most this share of normal clips scores as high.
const DIFFERS: f64 = 0.1;

/// More than this share of a run must differ: a machine that is faulty half of the time has not changed as a whole.
const MOST: f64 = 0.6;

/// Fewer clips are not a run: their own verdicts say it all.
const FEWEST_CLIPS: usize = 5;

/// A stream drifts when what was won by betting against it has reached this much.
const DRIFT_EVIDENCE: f64 = 100.0;

/// From the beginning of a run to that of the next one.
const RUN_EVERY_SECONDS: f64 = 86_400.0;

/// So many runs tell how runs differ; a stream may have any number, and the latest count.
const MOST_RUNS: usize = 256;

/// How runs of a healthy machine differ from each other, learnt from its calibration.
///
/// # Examples
///
/// ```
/// use auscult_core::calibration::{Calibration, CalibrationClip, NormalRuns, RunClip};
///
/// // Five visits of ten clips.
/// let clip = |index: usize| CalibrationClip {
///     score: 1.0 + 0.02 * (index / 10) as f64 + 0.01 * (index % 10) as f64,
///     group: index / 10,
///     domain: None,
/// };
/// let clips = (0..50).map(clip).collect();
/// let calibration = Calibration::of_clips(auscult_core::Basis::Visits, clips);
/// let normal = NormalRuns::of(&calibration).expect("there are visits");
/// let run = |gain: f64| {
///     let clip = |index: usize| RunClip { score: gain + 0.01 * index as f64, recording: index };
///     normal.judge(&calibration, &(0..10).map(clip).collect::<Vec<_>>())
/// };
/// assert!(!run(1.05).is_changed());
/// assert!(run(2.0).is_changed());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NormalRuns {
    basis: Basis,
    /// The median log score of each group.
    medians: Vec<f64>,
    /// Variance of the log scores of clips around the median of their group.
    within: f64,
    /// How many clips a group has: the harmonic mean, which is what variances follow.
    group_size: f64,
}

/// A scored clip of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunClip {
    /// Its score.
    pub score: f64,
    /// Which recording of the run it is from.
    pub recording: usize,
}

/// What a run as a whole says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunJudgement {
    /// Scored clips.
    pub clips: usize,
    /// Clips that score as high as at most a tenth of normal clips do.
    pub differing: usize,
    /// How probable such a run is if nothing has changed, by its scores, or by scores and spectra; `None` for too
    /// few clips.
    pub p_value: Option<f64>,
    /// The groups that the run was compared with.
    pub groups: usize,
    /// What they are.
    pub basis: Basis,
}

impl RunJudgement {
    /// With what [`NormalSpectra`](super::NormalSpectra) say of the run: the clearer of the two counts, and either has
    /// half of the level.
    #[must_use]
    pub fn and_spectra(mut self, p_value: Option<f64>) -> Self {
        if let (Some(scores), Some(spectra)) = (self.p_value, p_value) {
            self.p_value = Some((2.0 * scores.min(spectra)).min(1.0));
        }
        self
    }

    /// Whether most clips differ, and more than visits of the healthy machine do at [`CHANGE_LEVEL`].
    pub fn is_changed(&self) -> bool {
        self.is_changed_at(CHANGE_LEVEL)
    }

    /// The same at another level, such as one that several judgements share.
    pub fn is_changed_at(&self, level: f64) -> bool {
        let differ = self.differing as f64 > MOST * self.clips as f64;
        differ && self.p_value.is_some_and(|p_value| p_value <= level)
    }
}

impl NormalRuns {
    /// Learns from left-out scores; `None` with fewer than two groups, or if all groups are the same.
    pub fn of(calibration: &Calibration) -> Option<Self> {
        let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for clip in calibration.clips() {
            groups.entry(clip.group).or_default().push(logarithm(clip.score));
        }
        let count = groups.len();
        let (mut medians, mut squares, mut inverse_sizes) = (Vec::with_capacity(count), 0.0, 0.0);
        for scores in groups.values_mut() {
            let median = median(scores)?;
            squares += scores.iter().map(|score| (score - median).powi(2)).sum::<f64>();
            inverse_sizes += 1.0 / scores.len() as f64;
            medians.push(median);
        }
        let freedom = (calibration.clips().len() - count).max(1) as f64;
        let (within, group_size) = (squares / freedom, count as f64 / inverse_sizes);
        let normal = Self { basis: calibration.basis(), medians, within, group_size };
        (count >= 2 && normal.spread() > 0.0).then_some(normal)
    }

    /// How many clips a group has.
    pub fn group_size(&self) -> usize {
        self.group_size.round().max(1.0) as usize
    }

    /// Judges a finished run.
    ///
    /// Where visits were left out, the run is one visit; where files, blocks or clips were, its
    /// recordings are as independent of each other as those, which is all that such a model knows.
    pub fn judge(&self, calibration: &Calibration, run: &[RunClip]) -> RunJudgement {
        let mut units: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for clip in run {
            let unit = if self.basis == Basis::Visits { 0 } else { clip.recording };
            units.entry(unit).or_default().push(logarithm(clip.score));
        }
        let differs = |clip: &&RunClip| {
            calibration.p_value(clip.score).is_some_and(|p_value| p_value <= DIFFERS)
        };
        let mut units: Vec<Vec<f64>> = units.into_values().collect();
        RunJudgement {
            clips: run.len(),
            differing: run.iter().filter(differs).count(),
            p_value: (run.len() >= FEWEST_CLIPS).then(|| self.p_value(&mut units)).flatten(),
            groups: self.medians.len(),
            basis: self.basis,
        }
    }

    /// How probable it is that units of clips score so high in the middle if nothing has changed.
    fn p_value(&self, units: &mut [Vec<f64>]) -> Option<f64> {
        let sizes: f64 = units.iter().map(|unit| 1.0 / unit.len().max(1) as f64).sum();
        let mut medians: Vec<f64> =
            units.iter_mut().map(|unit| median(unit)).collect::<Option<_>>()?;
        let count = units.len() as f64;
        let found = median(&mut medians)?;
        // A unit smaller than the groups has a median that is known less well than theirs.
        let smaller = (inflation(count / sizes) - inflation(self.group_size)).max(0.0);
        let spread = self.spread().powi(2);
        let shrunk = (spread / (spread + self.within * smaller)).sqrt();
        let centre = mean(&self.medians);
        gumbel::exceedance(&self.medians, centre + shrunk * (found - centre), count)
    }

    /// The deviation of the groups' medians.
    fn spread(&self) -> f64 {
        let mean = mean(&self.medians);
        let squares: f64 = self.medians.iter().map(|median| (median - mean).powi(2)).sum();
        (squares / (self.medians.len().max(2) - 1) as f64).sqrt()
    }
}

/// Watches a stream of scores for a change of the whole.
///
/// A fixed number of clips is a run. Its p-value is bet against, and the gains are multiplied: while
/// nothing has changed they do not grow on average, so that it takes a hundred runs or more
/// on average until they reach that much by chance. A run that was heard joins those that the next one is
/// compared with, which makes the p-values independent of each other although all start from one calibration.
///
/// # Examples
///
/// ```
/// use auscult_core::calibration::{Calibration, CalibrationClip, Drift, NormalRuns};
///
/// let clip = |index: usize| CalibrationClip {
///     score: 1.0 + 0.02 * (index / 10) as f64 + 0.01 * (index % 10) as f64,
///     group: index / 10,
///     domain: None,
/// };
/// let clips = (0..50).map(clip).collect();
/// let calibration = Calibration::of_clips(auscult_core::Basis::Visits, clips);
/// let mut drift = Drift::new(NormalRuns::of(&calibration).expect("there are visits"), 10);
/// let (minute, day) = (60.0, 86_400.0);
/// for index in 0..10 {
///     drift.observe(minute * f64::from(index), 1.04 + 0.01 * f64::from(index));
/// }
/// assert!(!drift.is_drifting());
/// for index in 0..10 {
///     drift.observe(day + minute * f64::from(index), 4.0 + 0.01 * f64::from(index));
/// }
/// assert!(drift.is_drifting());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    normal: NormalRuns,
    clips_a_run: usize,
    /// Log scores of the run that is being heard.
    run: [Vec<f64>; 1],
    most_runs: usize,
    evidence: f64,
    /// The next run begins at this time or later.
    next_run: f64,
}

impl Drift {
    /// Watches runs of `clips_a_run` clips, at least one; [`NormalRuns::group_size`] suits most.
    ///
    /// A run begins a day after the one before, or later: clips of one day have its load and its weather in common, and counting
    /// those again and again would make a change of every warm day.
    pub fn new(normal: NormalRuns, clips_a_run: usize) -> Self {
        let most_runs = normal.medians.len().max(MOST_RUNS);
        let (clips_a_run, run) = (clips_a_run.max(1), [Vec::new()]);
        Self { normal, clips_a_run, run, most_runs, evidence: 1.0, next_run: f64::MIN }
    }

    /// Hears one more clip, at a time in seconds.
    pub fn observe(&mut self, at: f64, score: f64) {
        if self.run[0].is_empty() {
            if at < self.next_run {
                return;
            }
            self.next_run = at + RUN_EVERY_SECONDS;
        }
        self.run[0].push(logarithm(score));
        if self.run[0].len() < self.clips_a_run {
            return;
        }
        if let Some(p_value) = self.normal.p_value(&mut self.run) {
            // What was lost while all was well is forgotten: otherwise a late change would be found late.
            self.evidence = self.evidence.max(1.0) * bet(p_value);
            self.normal.medians.extend(median(&mut self.run[0]));
            if self.normal.medians.len() > self.most_runs {
                self.normal.medians.remove(0);
            }
        }
        self.run[0].clear();
    }

    /// The clock was set by this many seconds.
    pub fn shift_clock(&mut self, seconds: f64) {
        self.next_run += seconds;
    }

    /// How strongly the stream speaks against that nothing has changed: 1 or less is nothing.
    pub fn evidence(&self) -> f64 {
        self.evidence
    }

    /// Whether the evidence has reached a hundred.
    pub fn is_drifting(&self) -> bool {
        self.evidence >= DRIFT_EVIDENCE
    }

    /// Starts again, with the runs heard so far as normal ones: the change has been looked at.
    pub fn accept(&mut self) {
        self.evidence = 1.0;
    }
}

/// What is won with a stake of 1 on small p-values: the mean of k p^(k - 1) over k from 0 to 1, which is 1 on
/// average over uniform p-values.
fn bet(p_value: f64) -> f64 {
    let p_value = p_value.clamp(1e-12, 1.0);
    let logarithm = p_value.ln();
    // The limit at 1, where the expression divides by 0.
    if logarithm > -1e-4 {
        return 0.5;
    }
    (1.0 - p_value + p_value * logarithm) / (p_value * logarithm * logarithm)
}

/// How much the variance of a median of `count` normal numbers is of the variance of one: that of a mean
/// for one or two of them, and about half as much again for many.
fn inflation(count: f64) -> f64 {
    let of_many = std::f64::consts::FRAC_PI_2;
    if count <= 2.0 { 1.0 / count } else { of_many / count }
}

/// Scores differ by factors; a copy of a reference scores 0.
fn logarithm(score: f64) -> f64 {
    score.max(1e-12).ln()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Sorts the values; `None` if there are none.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 0 => Some(f64::midpoint(values[middle - 1], values[middle])),
        _ => Some(values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{calibration::CalibrationClip, random::Random};

    /// Normal numbers, as sums of twelve uniform ones.
    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.share()).sum::<f64>() - 6.0
    }

    /// Scores of visits that differ by 0.3 and whose clips differ by 0.1, on a logarithmic scale.
    fn visit(random: &mut Random, clips: usize, shift: f64) -> Vec<f64> {
        let own = shift + 0.3 * normal(random);
        (0..clips).map(|_| (own + 0.1 * normal(random)).exp()).collect()
    }

    fn calibration(random: &mut Random, basis: Basis, visits: usize, clips: usize) -> Calibration {
        let mut all = Vec::new();
        for group in 0..visits {
            let scores = visit(random, clips, 0.0);
            all.extend(scores.into_iter().map(|score| CalibrationClip {
                score,
                group,
                domain: None,
            }));
        }
        Calibration::of_clips(basis, all)
    }

    fn changed(random: &mut Random, calibration: &Calibration, clips: usize, shift: f64) -> bool {
        let scores = visit(random, clips, shift);
        let clip = |(recording, score)| RunClip { score, recording };
        let run: Vec<RunClip> = scores.into_iter().enumerate().map(clip).collect();
        NormalRuns::of(calibration).unwrap().judge(calibration, &run).is_changed()
    }

    #[test]
    fn normal_visits_are_rarely_called_changed_and_others_are_found() {
        let mut random = Random::of(7, &[]);
        for (visits, found) in [(3, 100), (5, 350), (10, 390)] {
            let (mut false_changes, mut true_changes) = (0, 0);
            for _ in 0..400 {
                let calibration = calibration(&mut random, Basis::Visits, visits, 10);
                for clips in [5, 40] {
                    false_changes += usize::from(changed(&mut random, &calibration, clips, 0.0));
                }
                true_changes += usize::from(changed(&mut random, &calibration, 20, 3.0));
            }
            // 40 of 800 are allowed on average; 65 would be four deviations more.
            assert!(false_changes < 65, "{visits} visits: {false_changes} of 800");
            assert!(true_changes > found, "{visits} visits: {true_changes} of 400");
        }
    }

    #[test]
    fn files_of_one_visit_are_compared_as_files() {
        let mut random = Random::of(3, &[]);
        // One visit: its files differ by 0.1 only, and another day is another day.
        let scores = visit(&mut random, 60, 0.0);
        let clip = |(group, score)| CalibrationClip { score, group, domain: None };
        let clips = scores.iter().copied().enumerate().map(clip).collect();
        let files = Calibration::of_clips(Basis::Files, clips);
        let run = |factor: f64| {
            let clip =
                |(recording, score): (usize, &f64)| RunClip { score: factor * score, recording };
            let run: Vec<RunClip> = scores.iter().enumerate().map(clip).collect();
            NormalRuns::of(&files).unwrap().judge(&files, &run)
        };
        assert!(!run(1.0).is_changed());
        assert!(run(1.5).is_changed(), "{:?}", run(1.5));
        assert!(!run(0.5).is_changed(), "closer to normal is not a change: {:?}", run(0.5));
        assert!(!run(1.05).is_changed(), "a real but small shift: {:?}", run(1.05));
    }

    #[test]
    fn a_minority_of_faults_is_not_a_change_of_the_whole() {
        let mut random = Random::of(5, &[]);
        let calibration = calibration(&mut random, Basis::Visits, 8, 10);
        let clip = |recording| RunClip { score: if recording < 8 { 50.0 } else { 1.0 }, recording };
        let run: Vec<RunClip> = (0..20).map(clip).collect();
        let judgement = NormalRuns::of(&calibration).unwrap().judge(&calibration, &run);
        assert_eq!((judgement.clips, judgement.differing), (20, 8));
        assert!(!judgement.is_changed());
        let half = RunJudgement { differing: 11, p_value: Some(1e-9), ..judgement };
        let most = RunJudgement { differing: 13, ..half };
        assert!(!half.is_changed() && most.is_changed());
        // Two tests share the level.
        let unsure = RunJudgement { p_value: Some(0.04), ..most };
        assert!(unsure.is_changed() && !unsure.and_spectra(Some(0.03)).is_changed());
        assert!(
            unsure.and_spectra(None).is_changed() && unsure.and_spectra(Some(0.02)).is_changed()
        );
        assert!(!half.and_spectra(Some(1e-9)).is_changed(), "most clips must differ");
    }

    #[test]
    fn too_little_is_not_judged() {
        let mut random = Random::of(1, &[]);
        assert_eq!(NormalRuns::of(&calibration(&mut random, Basis::Visits, 1, 30)), None);
        assert_eq!(NormalRuns::of(&Calibration::new(Basis::Clips, vec![1.0; 30])), None);
        assert_eq!(NormalRuns::of(&Calibration::new(Basis::Clips, vec![])), None);
        let calibration = calibration(&mut random, Basis::Visits, 5, 10);
        let runs = NormalRuns::of(&calibration).unwrap();
        assert_eq!(runs.judge(&calibration, &[]).p_value, None);
        let few = [RunClip { score: 1e9, recording: 0 }; 4];
        assert!(!runs.judge(&calibration, &few).is_changed());
    }

    #[test]
    fn bets_win_nothing_on_average() {
        let steps = 1_000_000;
        let mean =
            (0..steps).map(|step| bet((f64::from(step) + 0.5) / f64::from(steps))).sum::<f64>();
        let mean = mean / f64::from(steps);
        // Half a step in every million is where the largest gains are.
        assert!((0.9..=1.001).contains(&mean), "{mean}");
        assert!(bet(0.0).is_finite() && bet(1.0) == 0.5 && (bet(0.9999) - 0.5).abs() < 1e-3);
    }

    #[test]
    fn a_stream_drifts_when_it_does_and_seldom_else() {
        let mut random = Random::of(11, &[]);
        let (mut false_drifts, mut found) = (0, 0);
        for _ in 0..100 {
            let calibration = calibration(&mut random, Basis::Visits, 6, 10);
            let mut drift = Drift::new(NormalRuns::of(&calibration).unwrap(), 10);
            for day in 0..30 {
                // The second half of a day is like the first, and says nothing more.
                for score in visit(&mut random, 10, 0.0).repeat(2) {
                    drift.observe(f64::from(day) * RUN_EVERY_SECONDS, score);
                }
                false_drifts += usize::from(drift.is_drifting());
                if drift.is_drifting() {
                    drift.accept();
                }
            }
            for day in 30..40 {
                for score in visit(&mut random, 10, 2.0) {
                    drift.observe(f64::from(day) * RUN_EVERY_SECONDS, score);
                }
            }
            found += usize::from(drift.is_drifting());
        }
        // 3,000 normal runs: one drift in a hundred of them is allowed.
        assert!(false_drifts <= 30, "{false_drifts}");
        assert!(found > 90, "{found}");
    }
}

//! How sure a figure is: bootstrap and jackknife.

use std::cmp::Ordering;

use auscult_core::random::Random;
use rayon::prelude::*;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Domain, Error, Label, Result, ScoreSet, Scored, arithmetic_mean};

/// A range that holds the true figure in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// How intervals are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalSettings {
    /// Bootstrap samples, at least 100.
    pub samples: usize,
    /// The seed they depend on.
    pub seed: u64,
}

impl Default for IntervalSettings {
    fn default() -> Self {
        Self { samples: 1000, seed: 1 }
    }
}

impl IntervalSettings {
    /// Checks the number of samples.
    ///
    /// # Errors
    ///
    /// [`Error::Samples`] if it is out of range.
    pub fn check(self) -> Result<Self> {
        if (100..=1_000_000).contains(&self.samples) {
            return Ok(self);
        }
        Err(Error::Samples { got: self.samples })
    }
}

/// The intervals of one figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Intervals {
    /// Percentiles of figures of clips drawn with replacement, within each label and domain.
    pub bootstrap: Option<Interval>,
    /// The standard jackknife: each clip left out once.
    pub jackknife: Option<Interval>,
    /// Half the width the DCASE evaluators print as `ci95`: for N clips it is N - 1 times narrower
    /// than the jackknife. For parity with their tables only.
    pub official_half_width: Option<f64>,
}

impl Intervals {
    /// The intervals of a figure of one set.
    pub fn of(
        scores: &ScoreSet,
        figure: impl Fn(&ScoreSet) -> Option<f64> + Sync,
        settings: IntervalSettings,
    ) -> Self {
        let without = left_out(scores, &figure);
        Self {
            bootstrap: bootstrap(scores, &figure, settings),
            jackknife: figure(scores)
                .zip(without.as_deref())
                .and_then(|(value, without)| jackknife_interval(value, without)),
            official_half_width: without.as_deref().and_then(official_jackknife_half_width),
        }
    }
}

/// The standard jackknife interval of a figure from its values without each clip.
///
/// `None` for fewer than two clips.
pub fn jackknife_interval(value: f64, without: &[f64]) -> Option<Interval> {
    let half = students_t(without.len().checked_sub(1)?)? * jackknife_error(without)?;
    Some(Interval { low: value - half, high: value + half })
}

/// The standard error of a figure from its values without each clip, or each group of clips.
///
/// `None` for fewer than two.
pub fn jackknife_error(without: &[f64]) -> Option<f64> {
    let count = without.len() as f64;
    Some((squares(without)? * (count - 1.0) / count).sqrt())
}

/// The half width the DCASE evaluators print: t * sqrt(sum of squares / (N (N - 1))).
///
/// `None` for fewer than two clips.
pub fn official_jackknife_half_width(without: &[f64]) -> Option<f64> {
    let count = without.len() as f64;
    Some(
        students_t(without.len().checked_sub(1)?)?
            * (squares(without)? / (count * (count - 1.0))).sqrt(),
    )
}

/// Sum of squared differences from the mean; `None` for fewer than two values.
fn squares(values: &[f64]) -> Option<f64> {
    let mean = arithmetic_mean(values.iter().copied())?;
    (values.len() > 1).then(|| values.iter().map(|value| (value - mean).powi(2)).sum())
}

/// The two-sided 95 % point of Student's t; `None` without degrees of freedom.
pub fn students_t(degrees: usize) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, degrees as f64).ok()?.inverse_cdf(0.975))
}

/// A figure without each clip in turn; `None` if it cannot be computed without one of them.
fn left_out(
    scores: &ScoreSet,
    figure: &(impl Fn(&ScoreSet) -> Option<f64> + Sync),
) -> Option<Vec<f64>> {
    let clips = scores.clips();
    (0..clips.len())
        .into_par_iter()
        .map(|index| figure(&scores.select((0..clips.len()).filter(|&other| other != index))))
        .collect()
}

fn bootstrap(
    scores: &ScoreSet,
    figure: &(impl Fn(&ScoreSet) -> Option<f64> + Sync),
    settings: IntervalSettings,
) -> Option<Interval> {
    let strata = Strata::of(scores.clips());
    let values: Option<Vec<f64>> = (0..settings.samples)
        .into_par_iter()
        .map(|sample| {
            let mut random = Random::of(settings.seed, &[sample as u64]);
            figure(&scores.select(strata.draw(&mut random)))
        })
        .collect();
    percentiles(values?)
}

/// The 2.5 % and 97.5 % points, linear between values; `None` of nothing.
pub fn percentiles(mut values: Vec<f64>) -> Option<Interval> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |share: f64| {
        let place = share * last as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(last);
        values[below] + (values[above] - values[below]) * (place - below as f64)
    };
    Some(Interval { low: at(0.025), high: at(0.975) })
}

/// Indices of clips by label and domain: a draw keeps the number of each.
///
/// Within a stratum they stand by score, so that a draw depends on the scores and not on names or order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strata(Vec<Vec<usize>>);

impl Strata {
    /// The strata of some clips.
    pub fn of(clips: &[Scored]) -> Self {
        Self::by(clips, |index| [clips[index].score, 0.0])
    }

    /// The strata of clips that two systems have scored, in the same order.
    pub fn of_pairs(first: &[Scored], second: &[Scored]) -> Self {
        Self::by(first, |index| {
            [first[index].score, second.get(index).map_or(0.0, |clip| clip.score)]
        })
    }

    fn by(clips: &[Scored], scores: impl Fn(usize) -> [f64; 2]) -> Self {
        let domains = [None, Some(Domain::Source), Some(Domain::Target)];
        let kinds = [Label::Normal, Label::Anomaly]
            .into_iter()
            .flat_map(|label| domains.map(|domain| (label, domain)));
        let members = |(label, domain)| {
            let is_member =
                |&index: &usize| (clips[index].label, clips[index].domain) == (label, domain);
            let mut members: Vec<usize> = (0..clips.len()).filter(is_member).collect();
            members.sort_by(|&one, &other| ascending(&scores(one), &scores(other)));
            members
        };
        Self(kinds.map(members).filter(|stratum| !stratum.is_empty()).collect())
    }

    /// As many clips of each stratum as there are, with replacement.
    pub fn draw<'a>(&'a self, random: &'a mut Random) -> impl Iterator<Item = usize> + 'a {
        let places = self.0.iter().flat_map(|stratum| stratum.iter().map(move |_| stratum));
        places.map(|stratum| stratum[random.below(stratum.len())])
    }
}

fn ascending(one: &[f64], other: &[f64]) -> Ordering {
    let pairs = one.iter().zip(other);
    let first = pairs.map(|(one, other)| one.total_cmp(other)).find(|order| order.is_ne());
    first.unwrap_or_else(|| one.len().cmp(&other.len()))
}

/// Sections in the order of their scores, which is the order to draw their clips in: neither names nor the
/// order of folders then change an interval.
pub fn order_of_sections(sections: &[&ScoreSet]) -> Vec<usize> {
    let sorted = |set: &&ScoreSet| -> Vec<f64> {
        let mut scores: Vec<f64> = set.clips().iter().map(|clip| clip.score).collect();
        scores.sort_by(f64::total_cmp);
        scores
    };
    let scores: Vec<Vec<f64>> = sections.iter().map(sorted).collect();
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by(|&one, &other| ascending(&scores[one], &scores[other]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_the_order_of_clips_nor_that_of_sections_changes_a_draw() {
        let mut random = Random::of(3, &[1]);
        let clips: Vec<Scored> = set().clips().to_vec();
        let mut turned = clips.clone();
        turned.reverse();
        turned.rotate_left(random.below(60));
        let auc_of = |set: &ScoreSet| set.figures().auc;
        let bootstrap = |clips: Vec<Scored>| {
            let scores = ScoreSet::new(clips).unwrap();
            Intervals::of(&scores, auc_of, IntervalSettings::default()).bootstrap
        };
        assert_eq!(bootstrap(clips.clone()), bootstrap(turned));
        let [one, other] =
            [&clips[..40], &clips[40..]].map(|part| ScoreSet::new(part.to_vec()).unwrap());
        let of = |sets: [&ScoreSet; 2]| -> Vec<ScoreSet> {
            order_of_sections(&sets).into_iter().map(|at| sets[at].clone()).collect()
        };
        assert_eq!(of([&one, &other]), of([&other, &one]));
    }

    fn set() -> ScoreSet {
        let mut random = Random::of(7, &[0]);
        let clips = (0..80).map(|index| {
            let label = if index % 2 == 0 { Label::Normal } else { Label::Anomaly };
            let shift = if label == Label::Anomaly { 0.4 } else { 0.0 };
            Scored { score: random.share() + shift, label, domain: None }
        });
        ScoreSet::new(clips.collect()).unwrap()
    }

    #[test]
    fn intervals_hold_the_figure_and_repeat() {
        let scores = set();
        let auc = scores.figures().auc.unwrap();
        let auc_of = |set: &ScoreSet| set.figures().auc;
        let found = Intervals::of(&scores, auc_of, IntervalSettings::default());
        for interval in [found.bootstrap.unwrap(), found.jackknife.unwrap()] {
            assert!(interval.low < auc && auc < interval.high, "{interval:?}");
            assert!((0.05..0.4).contains(&(interval.high - interval.low)), "{interval:?}");
        }
        assert_eq!(found, Intervals::of(&scores, auc_of, IntervalSettings::default()));
        let other = IntervalSettings { seed: 2, ..Default::default() };
        assert_ne!(found.bootstrap, Intervals::of(&scores, auc_of, other).bootstrap);
    }

    #[test]
    fn the_official_form_lacks_the_factor_of_the_jackknife() {
        let without = [0.4, 0.5, 0.7, 0.6];
        let standard = jackknife_interval(0.55, &without).unwrap();
        let official = official_jackknife_half_width(&without).unwrap();
        let half = (standard.high - standard.low) / 2.0;
        assert!((half / official - 3.0).abs() < 1e-9, "a factor of N - 1");
        // t.ppf(0.975, 3) = 3.182446305284263
        assert!((official - 3.182_446_305_284_263 * (0.05_f64 / 12.0).sqrt()).abs() < 1e-9);
        assert_eq!(official_jackknife_half_width(&[0.5]), None);
    }

    #[test]
    fn the_jackknife_error_of_a_mean_is_the_standard_error() {
        let values = [1.0, 4.0, 2.0, 7.0];
        let without: Vec<f64> = values.iter().map(|value| (14.0 - value) / 3.0).collect();
        let variance = values.iter().map(|value| (value - 3.5_f64).powi(2)).sum::<f64>() / 3.0;
        let error = jackknife_error(&without).unwrap();
        assert!((error - (variance / 4.0).sqrt()).abs() < 1e-12);
        assert_eq!((jackknife_error(&[0.5]), jackknife_interval(0.5, &[])), (None, None));
    }

    #[test]
    fn a_figure_that_one_clip_carries_has_no_jackknife() {
        let clip = |score, label| Scored { score, label, domain: None };
        let scores =
            ScoreSet::new(vec![clip(0.0, Label::Normal), clip(1.0, Label::Anomaly)]).unwrap();
        let found = Intervals::of(&scores, |set| set.figures().auc, IntervalSettings::default());
        assert_eq!((found.jackknife, found.official_half_width), (None, None));
        assert!(found.bootstrap.is_some());
    }
}

//! Two runs, or two systems, on the same clips: is the difference more than chance?

use std::collections::BTreeMap;

use auscult_core::random::Random;
use rayon::prelude::*;
use serde::Serialize;

use super::{
    SectionResult,
    results::{measured, score_of},
};
use crate::{
    datasets::DatasetKind,
    metrics::{Interval, Label, ScoreSet, Scored, Strata, order_of_sections, percentiles},
};

/// The difference of two systems on one part of a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The data set.
    pub dataset: DatasetKind,
    /// The part of it.
    pub set: String,
    /// The first system.
    pub first: String,
    /// The second.
    pub second: String,
    /// Which score is compared.
    pub measure: &'static str,
    /// Clips both have scored, with the same label.
    pub clips: usize,
    /// Labelled clips of the first that are not among them: the second has no such clip, or another
    /// label for it.
    pub only_first: usize,
    /// The same of the second.
    pub only_second: usize,
    /// The first's score on those.
    pub first_score: f64,
    /// The second's.
    pub second_score: f64,
    /// Second minus first.
    pub difference: f64,
    /// 95 % of the differences on clips drawn with replacement, the same for both.
    pub interval: Option<Interval>,
    /// Twice the share of draws on the other side of zero: how often chance alone does this.
    pub p_value: Option<f64>,
}

/// A section's clips that both have scored, in the same order.
struct Pair {
    machine: String,
    section: String,
    first: ScoreSet,
    second: ScoreSet,
}

/// Compares a system of one run with a system of another (or of the same) on every part that both
/// have, over `samples` paired draws.
pub fn compare(
    first: (&[SectionResult], &str),
    second: (&[SectionResult], &str),
    samples: usize,
) -> Vec<Comparison> {
    let mut parts: BTreeMap<(DatasetKind, String), Vec<Pair>> = BTreeMap::new();
    for section in first.0 {
        let same = |other: &&SectionResult| {
            (other.dataset, &other.set, &other.machine, &other.section)
                == (section.dataset, &section.set, &section.machine, &section.section)
        };
        let Some(other) = second.0.iter().find(same) else { continue };
        if let Some(pair) = pair((section, first.1), (other, second.1)) {
            parts.entry((section.dataset, section.set.clone())).or_default().push(pair);
        }
    }
    let labelled = |sections: &[SectionResult], dataset: DatasetKind, set: &str| -> usize {
        let of_part = sections.iter().filter(|one| one.dataset == dataset && one.set == set);
        of_part.flat_map(|one| &one.clips).filter(|clip| clip.label.is_some()).count()
    };
    parts
        .into_iter()
        .filter_map(|((dataset, set), pairs)| {
            let machines: Vec<(&str, &str)> =
                pairs.iter().map(|pair| (&*pair.machine, &*pair.section)).collect();
            let whole = pairs
                .iter()
                .map(|pair| (0..pair.first.clips().len()).collect())
                .collect::<Vec<_>>();
            let (first_score, second_score) = scores(dataset, &machines, &pairs, &whole)?;
            let drawn = draws(dataset, &machines, &pairs, samples);
            let clips = pairs.iter().map(|pair| pair.first.clips().len()).sum();
            Some(Comparison {
                only_first: labelled(first.0, dataset, &set).saturating_sub(clips),
                only_second: labelled(second.0, dataset, &set).saturating_sub(clips),
                dataset,
                set,
                first: first.1.to_owned(),
                second: second.1.to_owned(),
                measure: measure(dataset, &machines, &pairs),
                clips,
                first_score,
                second_score,
                difference: second_score - first_score,
                p_value: p_value(&drawn),
                interval: percentiles(drawn),
            })
        })
        .collect()
}

fn pair(first: (&SectionResult, &str), second: (&SectionResult, &str)) -> Option<Pair> {
    // A normal clip and an anomaly may have the same base name (MIMII), as may clips of different
    // folders: their order distinguishes them.
    type Key = (String, Label, usize);
    let scores = |(section, system): (&SectionResult, &str)| -> Option<BTreeMap<Key, Scored>> {
        let found = section.systems.iter().find(|result| result.system == system)?;
        let mut all = BTreeMap::new();
        for (clip, &score) in section.clips.iter().zip(&found.scores) {
            let Some(label) = clip.label else { continue };
            let same =
                all.range((clip.name.clone(), label, 0)..=(clip.name.clone(), label, usize::MAX));
            let key = (clip.name.clone(), label, same.count());
            all.insert(key, Scored { score, label, domain: clip.domain });
        }
        Some(all)
    };
    let (ours, theirs) = (scores(first)?, scores(second)?);
    let both = ours.iter().filter_map(|(name, one)| Some((*one, *theirs.get(name)?)));
    let (left, right): (Vec<Scored>, Vec<Scored>) = both.unzip();
    (!left.is_empty()).then_some(())?;
    Some(Pair {
        machine: first.0.machine.clone(),
        section: first.0.section.clone(),
        first: ScoreSet::new(left).ok()?,
        second: ScoreSet::new(right).ok()?,
    })
}

fn scores(
    dataset: DatasetKind,
    machines: &[(&str, &str)],
    pairs: &[Pair],
    chosen: &[Vec<usize>],
) -> Option<(f64, f64)> {
    let of = |side: fn(&Pair) -> &ScoreSet| {
        let select = |(pair, indices): (_, &Vec<usize>)| side(pair).select(indices.iter().copied());
        let sets: Vec<ScoreSet> = pairs.iter().zip(chosen).map(select).collect();
        score_of(dataset, machines, &sets.iter().collect::<Vec<_>>())
    };
    Some((of(|pair| &pair.first)?, of(|pair| &pair.second)?))
}

/// The name of the score that stands for the data.
fn measure(dataset: DatasetKind, machines: &[(&str, &str)], pairs: &[Pair]) -> &'static str {
    let sets: Vec<&ScoreSet> = pairs.iter().map(|pair| &pair.first).collect();
    measured(dataset, machines, &sets).0
}

fn draws(
    dataset: DatasetKind,
    machines: &[(&str, &str)],
    pairs: &[Pair],
    samples: usize,
) -> Vec<f64> {
    let strata = |pair: &Pair| Strata::of_pairs(pair.first.clips(), pair.second.clips());
    let strata: Vec<Strata> = pairs.iter().map(strata).collect();
    let order = order_of_sections(&pairs.iter().map(|pair| &pair.first).collect::<Vec<_>>());
    (0..samples)
        .into_par_iter()
        .filter_map(|sample| {
            let mut random = Random::of(2, &[sample as u64]);
            let mut chosen = vec![Vec::new(); pairs.len()];
            for &at in &order {
                chosen[at] = strata[at].draw(&mut random).collect();
            }
            let (first, second) = scores(dataset, machines, pairs, &chosen)?;
            Some(second - first)
        })
        .collect()
}

fn p_value(differences: &[f64]) -> Option<f64> {
    let count = differences.len() as f64;
    let share = |side: fn(f64) -> bool| {
        // One more than seen: no number of draws shows that something never happens.
        (differences.iter().filter(|&&difference| side(difference)).count() as f64 + 1.0)
            / (count + 1.0)
    };
    (!differences.is_empty()).then(|| (2.0 * share(|d| d <= 0.0).min(share(|d| d >= 0.0))).min(1.0))
}

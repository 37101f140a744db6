//! Fitting one band: local scales, exponent, divisor and left-out scores.

use crate::{
    DensityExponent, DensityRule, ScoreOf,
    density::{LocalScales, best_exponent, nearest, round_up, within},
    groups::Groups,
    memory::BandMemory,
    pairs::{BandPairs, PairwiseDistances, RowBuffer},
    panels::Outline,
    parallel,
};

use super::{Beam, band::mean};

/// What fitting learns about one band of one view.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BandFit {
    /// Local scale of each reference.
    pub(crate) scales: Vec<f64>,
    /// The power of the scale that divides (the setting, or what `auto` found).
    pub(crate) exponent: f64,
    /// What the ratio is divided by, so that bands are comparable.
    pub(crate) divisor: f64,
    /// Median left-out score: how far apart normal clips are in this band.
    pub(crate) typical: f64,
}

/// The left-out score of each reference in one band; `None` where nothing else is in memory.
pub(super) type LeftOutBand = Vec<Option<f64>>;

impl Beam {
    /// Fits one band of one view.
    pub(super) fn fit_band(
        &self,
        band: &BandMemory,
        matrix: &[f32],
        groups: &Groups,
    ) -> (BandFit, Outline, LeftOutBand) {
        let distances = BandPairs::new(band, matrix, self.layout.axis_len());
        let neighbours = self.settings.neighbours;
        let scales = LocalScales::compute(&distances, neighbours, groups.members());
        let (exponent, divisor) = self.normalisation(&distances);
        let left_out: LeftOutBand = match self.settings.score_of {
            ScoreOf::Distance => self
                .left_out(&distances, &scales, groups, exponent)
                .into_iter()
                .map(|score| Some(score? / divisor))
                .collect(),
            // Whoever made the values left the clip out already.
            ScoreOf::Value => {
                let axis_len = self.layout.axis_len();
                let of = |index| mean(band.reference(matrix, axis_len, index).vector);
                (0..band.len()).map(|index| Some(of(index))).collect()
            }
        };
        let typical = median(left_out.iter().flatten().copied().collect());
        let fit = BandFit { scales: scales.into_whole(), exponent, divisor, typical };
        (fit, distances.into_outline(), left_out)
    }

    /// The exponent and divisor of a band, from single clips left out.
    fn normalisation(&self, distances: &BandPairs<'_>) -> (f64, f64) {
        let setting = self.settings.exponent;
        if self.settings.neighbours == 0 {
            return (0.0, 1.0);
        }
        if !setting.needs_divisor() {
            return (if let DensityExponent::Fixed(t) = setting { t } else { 1.0 }, 1.0);
        }
        let clips = Groups::clips(distances.len());
        let scales = LocalScales::compute(distances, self.settings.neighbours, clips.members());
        let exponent = match setting {
            DensityExponent::Fixed(t) => t,
            DensityExponent::Auto => best_exponent(&left_out_pairs(distances, &scales)),
        };
        let scores: Vec<f64> =
            self.left_out(distances, &scales, &clips, exponent).into_iter().flatten().collect();
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        // Identical references leave nothing to compare bands by.
        (exponent, if mean > 0.0 { mean } else { 1.0 })
    }

    /// Scores each reference against the memory without its group; the group is also gone from
    /// the local scales of the others.
    fn left_out(
        &self,
        distances: &BandPairs<'_>,
        scales: &LocalScales,
        groups: &Groups,
        exponent: f64,
    ) -> Vec<Option<f64>> {
        let members = groups.members();
        let denominators = scales.raised(exponent);
        let mut of_group = vec![Vec::new(); groups.count()];
        for (reference, &group) in members.iter().enumerate() {
            of_group[group].push(reference);
        }
        let changed = denominators.by_group(groups.count());
        let inverse = |scale: f64| match (DOWN / scale) as f32 {
            inverse if inverse >= f32::MIN_POSITIVE => inverse,
            // Numbers with fewer digits may have been rounded up.
            _ => 0.0,
        };
        let inverses: Vec<f32> = denominators.whole().iter().copied().map(inverse).collect();
        let scratch = || (RowBuffer::default(), inverses.clone(), Vec::new());
        parallel::map(distances.len(), scratch, |(buffer, memory, ratios), index| {
            let group = members[index];
            let bounds = distances.lower_bounds(index, buffer);
            let ratio = |other| distances.exact(index, other) / denominators.without(other, group);
            if self.settings.rule == DensityRule::AtNearest {
                let exact = |other| distances.exact(index, other);
                let nearest = nearest(bounds, exact, 1, |other| members[other] != group);
                return nearest.first().map(|&(_, other)| ratio(other));
            }
            // The memory as it is without the group.
            for &(reference, scale) in &changed[group] {
                memory[reference] = inverse(scale);
            }
            for &reference in &of_group[group] {
                // Nothing is below NaN.
                memory[reference] = f32::NAN;
            }
            ratios.clear();
            ratios.extend(bounds.iter().zip(&*memory).map(|(bound, inverse)| bound * inverse));
            let smallest = smallest_ratio(ratios, ratio);
            for &reference in
                changed[group].iter().map(|(reference, _)| reference).chain(&of_group[group])
            {
                memory[reference] = inverses[reference];
            }
            smallest
        })
    }
}

/// A little less than one: bounds are rounded down.
const DOWN: f64 = 1.0 - 1e-5;

/// The smallest of the ratios that have these lower bounds; NaN stands for none.
fn smallest_ratio(bounds: &[f32], ratio: impl Fn(usize) -> f64) -> Option<f64> {
    // The smallest bound comes first: what it stands for leaves little to look at.
    let mut first = None;
    within(bounds, f32::INFINITY, |at| {
        first = Some(match first {
            Some(first) if bounds[first] <= bounds[at] => first,
            _ => at,
        });
        first.map_or(f32::INFINITY, |first| bounds[first])
    });
    let first = first?;
    let mut smallest = ratio(first);
    within(bounds, round_up(smallest), |at| {
        if at != first {
            smallest = smallest.min(ratio(at));
        }
        round_up(smallest)
    });
    Some(smallest)
}

/// For each reference, the distance to its nearest other and that one's scale without it.
fn left_out_pairs(distances: &BandPairs<'_>, scales: &LocalScales) -> Vec<(f64, f64)> {
    parallel::map(distances.len(), RowBuffer::default, |buffer, index| {
        let bounds = distances.lower_bounds(index, buffer);
        let exact = |other| distances.exact(index, other);
        let nearest = nearest(bounds, exact, 1, |other| other != index);
        nearest.first().map(|&(distance, other)| (distance, scales.without(other, index)))
    })
    .into_iter()
    .flatten()
    .collect()
}

/// The middle value, 0 if there is none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        len if len.is_multiple_of(2) => f64::midpoint(values[len / 2 - 1], values[len / 2]),
        len => values[len / 2],
    }
}

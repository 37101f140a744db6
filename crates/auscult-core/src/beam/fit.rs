//! Fitting one band: local scales, exponent, divisor and left-out scores.

use multiversion::multiversion;

use crate::{
    DensityExponent, DensityRule, ScoreOf,
    density::{LocalScales, best_exponent},
    groups::Groups,
    memory::BandMemory,
    nearest::{BandPairs, Buffers, DistancesFrom, Lists, PairwiseDistances, RowBuffer, Search},
    parallel,
    scaled::ScaledMap,
};

use super::{BandRule, Beam, band::mean};

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

/// One band fitted by a part of the references.
pub(super) struct BandOfPart {
    /// The map of the part, where distances have one.
    pub(super) map: Option<ScaledMap>,
    pub(super) fit: BandFit,
    pub(super) left_out: LeftOutBand,
    /// What it says about each reference beyond the part, not yet divided by the divisor.
    pub(super) ratios: Vec<f64>,
}

impl Beam {
    /// Fits one band of one view.
    pub(super) fn fit_band(
        &self,
        band: &BandMemory,
        matrix: &[f32],
        groups: &Groups,
        rule: BandRule,
        buffers: &Buffers,
    ) -> (BandFit, LeftOutBand) {
        let distances = BandPairs::new(band, matrix, self.layout.axis_len(), buffers);
        let scales = LocalScales::compute(&distances, rule.neighbours, groups.members());
        let (exponent, divisor) = self.normalisation(&distances, rule);
        let left_out: LeftOutBand = match self.settings.score_of {
            ScoreOf::Distance => self
                .left_out(&distances, &scales, groups, exponent)
                .into_iter()
                .map(|score| Some(score? / divisor))
                .collect(),
            // Whoever made the values left the clip out already.
            ScoreOf::Value => {
                let rows = matrix.chunks_exact(self.layout.axis_len());
                rows.map(|row| Some(mean(band.values(row)))).collect()
            }
        };
        let typical = median(left_out.iter().flatten().copied().collect());
        let fit = BandFit { scales: scales.into_whole(), exponent, divisor, typical };
        (fit, left_out)
    }

    /// Fits one band of one view by single clips: its scales and exponent, and left-out scores by the
    /// map and exponent of all references.
    pub(super) fn fit_band_by_clips(
        &self,
        distances: &dyn PairwiseDistances,
        rule: BandRule,
    ) -> BandOfPart {
        let clips = Groups::clips(distances.len());
        let scales = LocalScales::compute(distances, rule.neighbours, clips.members());
        let exponent = exponent_of(rule, &scales);
        let left_out = self.left_out(distances, &scales, &clips, exponent);
        let needs_divisor = rule.neighbours > 0 && rule.exponent.needs_divisor();
        let divisor = if needs_divisor || self.divides_bands() { divisor(&left_out) } else { 1.0 };
        let left_out: LeftOutBand =
            left_out.into_iter().map(|score| Some(score? / divisor)).collect();
        let typical = median(left_out.iter().flatten().copied().collect());
        let ratios = self.ratios_beyond(distances, scales.whole(), exponent);
        let fit = BandFit { scales: scales.into_whole(), exponent, divisor, typical };
        BandOfPart { map: None, fit, left_out, ratios }
    }

    /// What a memory says about the references beyond it in one band, by its own scales and exponent,
    /// without a unit for the band.
    pub(super) fn compare_band(
        &self,
        distances: &dyn PairwiseDistances,
        rule: BandRule,
    ) -> Vec<f64> {
        let clips = Groups::clips(distances.len());
        let scales = LocalScales::compute(distances, rule.neighbours, clips.members());
        self.ratios_beyond(distances, scales.whole(), exponent_of(rule, &scales))
    }

    /// The exponent and divisor of a band, from single clips left out.
    fn normalisation(&self, distances: &dyn PairwiseDistances, rule: BandRule) -> (f64, f64) {
        if rule.neighbours == 0 {
            return (0.0, 1.0);
        }
        if !rule.exponent.needs_divisor() {
            return (if let DensityExponent::Fixed(t) = rule.exponent { t } else { 1.0 }, 1.0);
        }
        let clips = Groups::clips(distances.len());
        let scales = LocalScales::compute(distances, rule.neighbours, clips.members());
        let exponent = exponent_of(rule, &scales);
        (exponent, divisor(&self.left_out(distances, &scales, &clips, exponent)))
    }

    /// Scores each reference against the memory without its group; the group is also gone from
    /// the local scales of the others.
    fn left_out(
        &self,
        distances: &dyn PairwiseDistances,
        scales: &LocalScales,
        groups: &Groups,
        exponent: f64,
    ) -> Vec<Option<f64>> {
        let members = groups.members();
        let denominators = scales.raised(exponent);
        let of_group = Lists::new(groups.count(), members.iter().copied().zip(0..));
        let changed = denominators.by_group(groups.count());
        let inverses: Vec<f32> = denominators.whole().iter().copied().map(inverse).collect();
        let scratch = || (RowBuffer::default(), Search::default(), inverses.clone(), Vec::new());
        let pieces = parallel::map_pieces(distances.len(), scratch, |scratch, references| {
            let (buffer, search, memory, ratios) = scratch;
            let left_out = references.map(|index| {
                let group = members[index];
                let bounds = distances.lower_bounds(index, buffer);
                let exact = |other| {
                    let known = denominators.known_distance(index, other);
                    known.unwrap_or_else(|| distances.exact(index, other))
                };
                let ratio = |other| exact(other) / denominators.without(other, group);
                if self.settings.rule == DensityRule::AtNearest {
                    ratios.clear();
                    ratios.extend_from_slice(bounds);
                    for &reference in of_group.of(group) {
                        // Nothing is below NaN.
                        ratios[reference] = f32::NAN;
                    }
                    let nearest = search.smallest(ratios, &exact, 1);
                    return nearest.first().map(|&(_, other)| ratio(other));
                }
                // The memory as it is without the group.
                for &(reference, scale) in changed.of(group) {
                    memory[reference] = inverse(scale);
                }
                for &reference in of_group.of(group) {
                    memory[reference] = f32::NAN;
                }
                ratios.resize(bounds.len(), 0.0);
                multiply(bounds, memory, ratios);
                let smallest = search.smallest(ratios, &ratio, 1).first().map(|&(value, _)| value);
                for &(reference, _) in changed.of(group) {
                    memory[reference] = inverses[reference];
                }
                for &reference in of_group.of(group) {
                    memory[reference] = inverses[reference];
                }
                smallest
            });
            left_out.collect::<Vec<_>>()
        });
        pieces.concat()
    }

    /// Scores each reference beyond the memory against it, as [`super::band::FittedBand::score`] scores a
    /// clip.
    fn ratios_beyond(
        &self,
        distances: &dyn PairwiseDistances,
        scales: &[f64],
        exponent: f64,
    ) -> Vec<f64> {
        let denominators: Vec<f64> = scales.iter().map(|scale| scale.powf(exponent)).collect();
        let inverses: Vec<f32> = denominators.iter().copied().map(inverse).collect();
        let first = distances.len();
        let scratch = || (RowBuffer::default(), Search::default(), vec![0.0; first]);
        let of = |(buffer, search, ratios): &mut (_, Search, Vec<f32>), beyond: usize| {
            let index = first + beyond;
            let bounds = distances.lower_bounds(index, buffer);
            let ratio = |other| distances.exact(index, other) / denominators[other];
            let smallest = match self.settings.rule {
                DensityRule::AtNearest => search
                    .smallest(bounds, &DistancesFrom(distances, index), 1)
                    .first()
                    .map(|&(distance, other)| distance / denominators[other]),
                DensityRule::MinimumRatio => {
                    multiply(bounds, &inverses, ratios);
                    search.smallest(ratios, &ratio, 1).first().map(|&(value, _)| value)
                }
            };
            smallest.unwrap_or(f64::INFINITY)
        };
        parallel::map(distances.count_beyond(), scratch, of)
    }
}

/// The power of the local scale that divides in a band, by scales with single clips left out.
fn exponent_of(rule: BandRule, scales: &LocalScales) -> f64 {
    match rule.exponent {
        _ if rule.neighbours == 0 => 0.0,
        DensityExponent::Fixed(exponent) => exponent,
        DensityExponent::Auto => best_exponent(&scales.left_out_pairs()),
    }
}

/// The mean of left-out scores. Identical references leave nothing to compare bands by.
fn divisor(left_out: &[Option<f64>]) -> f64 {
    let scores: Vec<f64> = left_out.iter().copied().flatten().collect();
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    if mean > 0.0 { mean } else { 1.0 }
}

/// A little less than one: bounds are rounded down.
const DOWN: f64 = 1.0 - 1e-5;

/// No more than the inverse of a denominator.
pub(super) fn inverse(denominator: f64) -> f32 {
    match (DOWN / denominator) as f32 {
        inverse if inverse >= f32::MIN_POSITIVE => inverse,
        // Numbers with fewer digits may have been rounded up.
        _ => 0.0,
    }
}

/// Products place by place.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
pub(super) fn multiply(bounds: &[f32], inverses: &[f32], products: &mut [f32]) {
    for ((product, bound), inverse) in products.iter_mut().zip(bounds).zip(inverses) {
        *product = bound * inverse;
    }
}

/// The middle value, 0 if there is none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        len if len.is_multiple_of(2) => f64::midpoint(values[len / 2 - 1], values[len / 2]),
        len => values[len / 2],
    }
}

//! 7. Local density normalisation: how far a reference's own neighbours are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    names::named_choices,
    pairs::{PairwiseDistances, RowBuffer},
    parallel,
};

/// Which ratio local density normalisation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DensityRule {
    /// The smallest ratio over all references (the paper's equation 7).
    #[default]
    MinimumRatio,
    /// The ratio at the nearest reference (as the paper's appendix words it).
    AtNearest,
}

named_choices!(DensityRule, "density rule", {
    MinimumRatio => "minimum-ratio",
    AtNearest => "at-nearest",
});

/// How much of the local scale divides a distance: distance / scale^t.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DensityExponent {
    /// The same t in every band: 1 is the paper, 0 is the raw distance.
    Fixed(f64),
    /// The t of each band that explains most of the references' left-out distances.
    Auto,
}

impl Default for DensityExponent {
    fn default() -> Self {
        Self::Fixed(1.0)
    }
}

impl DensityExponent {
    pub(crate) fn check(self) -> Result<Self> {
        match self {
            Self::Fixed(t) if !(0.0..=1.0).contains(&t) => {
                Err(Error::setting("density exponent", "0 to 1, or auto", t))
            }
            _ => Ok(self),
        }
    }

    /// Bands are made comparable by their mean left-out score unless the scores are plain
    /// distances or plain ratios, which the paper averages as they are.
    pub(crate) fn needs_divisor(self) -> bool {
        match self {
            Self::Fixed(t) => t != 0.0 && t != 1.0,
            Self::Auto => true,
        }
    }
}

impl std::fmt::Display for DensityExponent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed(t) => write!(formatter, "{t}"),
            Self::Auto => formatter.write_str("auto"),
        }
    }
}

impl std::str::FromStr for DensityExponent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => match text.parse() {
                Ok(t) => Self::Fixed(t).check(),
                Err(_) => Err(Error::setting("density exponent", "0 to 1, or auto", text)),
            },
        }
    }
}

/// Duplicates would divide by zero.
pub(crate) const SMALLEST_SCALE: f64 = 1e-12;

/// Local scales of every reference, with the whole memory and with each group left out.
#[derive(Debug, Clone)]
pub(crate) struct LocalScales {
    whole: Vec<f64>,
    /// For each reference, the groups whose removal changes its scale.
    without: Vec<BTreeMap<usize, f64>>,
}

impl LocalScales {
    /// Sums of the distances to the `neighbours` nearest others. `groups` says which references
    /// leave together when one is left out.
    pub(crate) fn compute(
        distances: &dyn PairwiseDistances,
        neighbours: usize,
        groups: &[usize],
    ) -> Self {
        let rows = parallel::map(distances.len(), RowBuffer::default, |buffer, index| {
            let bounds = distances.lower_bounds(index, buffer);
            let exact = |other| distances.exact(index, other);
            let nearest = nearest(bounds, exact, neighbours, |other| other != index);
            let touched: std::collections::BTreeSet<usize> = nearest
                .iter()
                .map(|&(_, other)| groups[other])
                .filter(|&group| group != groups[index])
                .collect();
            let without = touched
                .into_iter()
                .map(|group| {
                    let keep = |other| other != index && groups[other] != group;
                    (group, scale_of(&self::nearest(bounds, exact, neighbours, keep)))
                })
                .collect();
            (scale_of(&nearest), without)
        });
        let (whole, without) = rows.into_iter().unzip();
        Self { whole, without }
    }

    /// Every scale to the power of `exponent`.
    pub(crate) fn raised(&self, exponent: f64) -> Self {
        let raise = |scale: &f64| scale.powf(exponent);
        let raise_all = |without: &BTreeMap<usize, f64>| {
            without.iter().map(|(&group, scale)| (group, raise(scale))).collect()
        };
        Self {
            whole: self.whole.iter().map(raise).collect(),
            without: self.without.iter().map(raise_all).collect(),
        }
    }

    /// The scales with every reference in memory.
    pub(crate) fn whole(&self) -> &[f64] {
        &self.whole
    }

    /// For each of `count` groups, the references whose scale its removal changes.
    pub(crate) fn by_group(&self, count: usize) -> Vec<Vec<(usize, f64)>> {
        let mut changed = vec![Vec::new(); count];
        for (reference, without) in self.without.iter().enumerate() {
            for (&group, &scale) in without {
                changed[group].push((reference, scale));
            }
        }
        changed
    }

    /// The scales with every reference in memory.
    pub(crate) fn into_whole(self) -> Vec<f64> {
        self.whole
    }

    /// The scale of `reference` in a memory without `group`.
    pub(crate) fn without(&self, reference: usize, group: usize) -> f64 {
        self.without[reference].get(&group).copied().unwrap_or(self.whole[reference])
    }
}

/// Bounds that are looked at together: if none is small enough, none is looked at again.
const TOGETHER: usize = 32;

/// Calls `found` with the places of bounds that are at most `limit`; it answers with the limit from
/// there on. NaN is never small enough.
#[expect(clippy::needless_bitwise_bool, reason = "without branches a block is one comparison")]
pub(crate) fn within(bounds: &[f32], mut limit: f32, mut found: impl FnMut(usize) -> f32) {
    let (blocks, rest) = bounds.as_chunks::<TOGETHER>();
    for (block, bounds) in blocks.iter().enumerate() {
        if bounds.iter().fold(false, |any, bound| any | (*bound <= limit)) {
            for (at, bound) in bounds.iter().enumerate() {
                if *bound <= limit {
                    limit = found(block * TOGETHER + at);
                }
            }
        }
    }
    let start = blocks.len() * TOGETHER;
    for (at, bound) in rest.iter().enumerate() {
        if *bound <= limit {
            limit = found(start + at);
        }
    }
}

/// The smallest f32 that is not below `value`.
pub(crate) fn round_up(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) < value { rounded.next_up() } else { rounded }
}

/// The `count` smallest distances among the kept references, ascending, the smaller index first
/// among equals. Only those are computed that the lower bounds allow to be among them.
pub(crate) fn nearest(
    bounds: &[f32],
    exact: impl Fn(usize) -> f64,
    count: usize,
    keep: impl Fn(usize) -> bool,
) -> Vec<(f64, usize)> {
    // There are never more than all of them, however many were asked for.
    let count = count.min(bounds.len());
    if count == 0 {
        return Vec::new();
    }
    let mut found: Vec<(f64, usize)> = Vec::with_capacity(count + 1);
    let insert = |found: &mut Vec<(f64, usize)>, next: (f64, usize)| {
        let at = found.partition_point(|earlier| *earlier < next);
        found.insert(at, next);
        found.truncate(count);
        if found.len() == count { found[count - 1].0 } else { f64::INFINITY }
    };
    // The smallest bounds come first: what they stand for leaves little to look at.
    let mut first: Vec<(f64, usize)> = Vec::with_capacity(count + 1);
    within(bounds, f32::INFINITY, |at| match keep(at) {
        true => round_up(insert(&mut first, (f64::from(bounds[at]), at))),
        false if first.len() == count => round_up(first[count - 1].0),
        false => f32::INFINITY,
    });
    let mut limit = f64::INFINITY;
    let mut seen: Vec<usize> = first.iter().map(|&(_, other)| other).collect();
    seen.sort_unstable();
    for &other in &seen {
        limit = insert(&mut found, (exact(other), other));
    }
    within(bounds, round_up(limit), |at| {
        if keep(at) && seen.binary_search(&at).is_err() {
            limit = insert(&mut found, (exact(at), at));
        }
        round_up(limit)
    });
    found
}

/// The sum of distances, never below the smallest scale; a lone reference has scale 1.
fn scale_of(nearest: &[(f64, usize)]) -> f64 {
    if nearest.is_empty() {
        return 1.0;
    }
    nearest.iter().map(|&(distance, _)| distance).sum::<f64>().max(SMALLEST_SCALE)
}

/// The exponent that removes most variance of the left-out distances: the slope of log distance
/// on log scale of the neighbour it was found at, clamped to [0, 1].
///
/// `pairs` are (left-out distance, scale of that neighbour). With nothing to learn from (fewer
/// than three pairs, or equal scales) it is 1, the paper's.
pub(crate) fn best_exponent(pairs: &[(f64, f64)]) -> f64 {
    let log = |value: f64| value.max(SMALLEST_SCALE).ln();
    let count = pairs.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| {
        pairs.iter().map(|pair| log(part(pair))).sum::<f64>() / count
    };
    let (mean_distance, mean_scale) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut covariance, mut variance) = (0.0, 0.0);
    for &(distance, scale) in pairs {
        let offset = log(scale) - mean_scale;
        covariance += offset * (log(distance) - mean_distance);
        variance += offset * offset;
    }
    if pairs.len() < 3 || variance <= f64::EPSILON * count {
        return 1.0;
    }
    (covariance / variance).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Line(Vec<f64>);

    impl PairwiseDistances for Line {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn lower_bounds<'a>(&'a self, index: usize, buffer: &'a mut RowBuffer) -> &'a [f32] {
            buffer.rows.clear();
            let bound = |other| (self.exact(index, other) as f32 * 0.75).floor();
            buffer.rows.extend((0..self.0.len()).map(bound));
            &buffer.rows
        }
        fn exact(&self, from: usize, to: usize) -> f64 {
            (self.0[to] - self.0[from]).abs()
        }
    }

    #[test]
    fn scales_are_sums_over_the_nearest_others() {
        let scales = LocalScales::compute(&Line(vec![0.0, 1.0, 3.0, 3.0]), 2, &[0, 1, 2, 3]);
        assert_eq!(scales.whole, [4.0, 3.0, 2.0, 2.0]);
        assert_eq!(scales.without(0, 1), 6.0);
        assert_eq!(scales.without(0, 0), 4.0, "a group that is not a neighbour changes nothing");
    }

    #[test]
    fn more_neighbours_than_others_means_all_others() {
        let scales = LocalScales::compute(&Line(vec![0.0, 1.0]), 9, &[0, 1]);
        assert_eq!(scales.whole, [1.0, 1.0]);
        assert_eq!(scales.without(0, 1), 1.0, "a lone reference has scale 1");
    }

    #[test]
    fn the_exponent_is_the_slope_of_the_logarithms() {
        let pairs: Vec<_> = [0.1, 0.2, 0.5, 0.9]
            .iter()
            .map(|&scale: &f64| (3.0 * scale.powf(0.4), scale))
            .collect();
        assert!((best_exponent(&pairs) - 0.4).abs() < 1e-12);
        let steep: Vec<_> = pairs.iter().map(|&(_, scale)| (scale.powi(3), scale)).collect();
        assert_eq!(best_exponent(&steep), 1.0);
        assert_eq!(best_exponent(&[(0.1, 0.2); 5]), 1.0);
    }
}

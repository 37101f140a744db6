//! 7. Local density normalisation: how far a reference's own neighbours are.

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    names::named_choices,
    nearest::{DistancesFrom, Lists, PairwiseDistances, RowBuffer, Search},
    parallel,
};

/// Which ratio local density normalisation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DensityRule {
    /// The smallest ratio over all references (the paper's equation 7).
    #[default]
    MinimumRatio,
    /// The ratio at the nearest reference (as the paper's appendix describes it).
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
    without: Lists<(usize, f64)>,
    /// For each reference, the nearest others and their distances, ascending.
    nearest: Lists<(usize, f64)>,
}

impl LocalScales {
    /// Sums of the distances to the `neighbours` nearest others. `groups` says which references
    /// leave together when one is left out.
    pub(crate) fn compute(
        distances: &dyn PairwiseDistances,
        neighbours: usize,
        groups: &[usize],
    ) -> Self {
        let pieces =
            parallel::map_pieces(distances.len(), Scratch::default, |scratch, references| {
                let mut scales = Vec::with_capacity(references.len());
                let mut without: Vec<(usize, (usize, f64))> = Vec::new();
                let mut known: Vec<(usize, (usize, f64))> = Vec::new();
                for index in references {
                    let bounds = distances.lower_bounds(index, &mut scratch.buffer);
                    let exact = DistancesFrom(distances, index);
                    // With the next one, which comes up if one of them leaves.
                    let found =
                        scratch.search.smallest(bounds, &exact, neighbours.saturating_add(1));
                    let nearest = &found[..found.len().min(neighbours)];
                    known.extend(found.iter().map(|&(distance, other)| (index, (other, distance))));
                    scales.push(scale_of(nearest.iter()));
                    let start = without.len();
                    for group in nearest.iter().map(|&(_, other)| groups[other]) {
                        let is_known =
                            without[start..].iter().any(|&(_, (known, _))| known == group);
                        if is_known || group == groups[index] {
                            continue;
                        }
                        let others = found.iter().filter(|&&(_, other)| groups[other] != group);
                        let is_all = found.len() <= neighbours;
                        let scale = if is_all || others.clone().count() >= neighbours {
                            scale_of(others.take(neighbours))
                        } else {
                            let bounds = without_group(&mut scratch.bounds, bounds, groups, group);
                            scale_of(scratch.deeper.smallest(bounds, &exact, neighbours).iter())
                        };
                        without.push((index, (group, scale)));
                    }
                }
                (scales, (without, known))
            });
        let (whole, lists): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
        let (without, known): (Vec<_>, Vec<_>) = lists.into_iter().unzip();
        let lists = |of: Vec<Vec<_>>| Lists::new(distances.len(), of.iter().flatten().copied());
        Self { whole: whole.concat(), without: lists(without), nearest: lists(known) }
    }

    /// The distance between two references if it was needed for a scale.
    pub(crate) fn known_distance(&self, from: usize, to: usize) -> Option<f64> {
        let find = |of: usize, other: usize| {
            let found = self.nearest.of(of).iter().find(|&&(known, _)| known == other);
            found.map(|&(_, distance)| distance)
        };
        find(from, to).or_else(|| find(to, from))
    }

    /// For each reference, the distance to its nearest other and that one's scale without it.
    pub(crate) fn left_out_pairs(&self) -> Vec<(f64, f64)> {
        let nearest = self.nearest.iter().enumerate();
        nearest
            .filter_map(|(index, nearest)| {
                let &(other, distance) = nearest.first()?;
                Some((distance, self.without(other, index)))
            })
            .collect()
    }

    /// Every scale to the power of `exponent`.
    pub(crate) fn raised(&self, exponent: f64) -> Self {
        let raise = |scale: f64| scale.powf(exponent);
        Self {
            whole: self.whole.iter().copied().map(raise).collect(),
            without: self.without.map(|(group, scale)| (group, raise(scale))),
            nearest: self.nearest.clone(),
        }
    }

    /// The scales with every reference in memory.
    pub(crate) fn whole(&self) -> &[f64] {
        &self.whole
    }

    /// For each of `count` groups, the references whose scale its removal changes.
    pub(crate) fn by_group(&self, count: usize) -> Lists<(usize, f64)> {
        let changed = self.without.iter().enumerate().flat_map(|(reference, without)| {
            without.iter().map(move |&(group, scale)| (group, (reference, scale)))
        });
        Lists::new(count, changed)
    }

    /// The scales with every reference in memory.
    pub(crate) fn into_whole(self) -> Vec<f64> {
        self.whole
    }

    /// The scale of `reference` in a memory without `group`.
    pub(crate) fn without(&self, reference: usize, group: usize) -> f64 {
        let changed = self.without.of(reference).iter().find(|&&(changed, _)| changed == group);
        changed.map_or(self.whole[reference], |&(_, scale)| scale)
    }
}

/// What one thread needs to look for neighbours.
#[derive(Debug, Default)]
struct Scratch {
    buffer: RowBuffer,
    search: Search,
    /// For groups whose removal needs more than the next one.
    deeper: Search,
    bounds: Vec<f32>,
}

/// The bounds of a memory without `group`.
fn without_group<'a>(
    copy: &'a mut Vec<f32>,
    bounds: &[f32],
    groups: &[usize],
    group: usize,
) -> &'a [f32] {
    let without = |(&bound, &other)| if other == group { f32::NAN } else { bound };
    copy.clear();
    copy.extend(bounds.iter().zip(groups).map(without));
    copy
}

/// The sum of distances, never below the smallest scale; a lone reference has scale 1.
fn scale_of<'a>(nearest: impl Iterator<Item = &'a (f64, usize)>) -> f64 {
    let mut distances = nearest.map(|&(distance, _)| distance).peekable();
    if distances.peek().is_none() {
        return 1.0;
    }
    distances.sum::<f64>().max(SMALLEST_SCALE)
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
        fn count_beyond(&self) -> usize {
            0
        }
        fn lower_bounds<'a>(&'a self, index: usize, buffer: &'a mut RowBuffer) -> &'a [f32] {
            buffer.rows.clear();
            let bound = |other| (self.exact(index, other) as f32 * 0.75).floor();
            buffer.rows.extend((0..self.0.len()).map(bound));
            buffer.rows[index] = f32::NAN;
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
        assert_eq!(scales.known_distance(0, 2), Some(3.0));
        assert_eq!(scales.known_distance(1, 0), Some(1.0));
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

//! Fitting one band: local scales, exponent, divisor and left-out scores.

use crate::{
    DensityExponent, DensityRule,
    density::{LocalScales, PairwiseDistances, best_exponent},
    groups::Groups,
    memory::BandMemory,
    parallel,
};

use super::Beam;

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
    ) -> (BandFit, LeftOutBand) {
        let distances = BandPairs::new(band, matrix, self.layout.axis_len());
        let neighbours = self.settings.neighbours;
        let scales = LocalScales::compute(&distances, neighbours, groups.members());
        let (exponent, divisor) = self.normalisation(&distances);
        let left_out: LeftOutBand = self
            .left_out(&distances, &scales, groups, exponent)
            .into_iter()
            .map(|score| Some(score? / divisor))
            .collect();
        let typical = median(left_out.iter().flatten().copied().collect());
        (BandFit { scales: scales.into_whole(), exponent, divisor, typical }, left_out)
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
        parallel::map(distances.len(), Vec::new, |buffer: &mut Vec<f64>, index| {
            let group = members[index];
            let row = distances.row(index, buffer);
            let others = row.iter().enumerate().filter(|&(other, _)| members[other] != group);
            let ratio =
                |(other, &distance): (usize, &f64)| distance / denominators.without(other, group);
            match self.settings.rule {
                DensityRule::MinimumRatio => others.map(ratio).reduce(f64::min),
                DensityRule::AtNearest => {
                    others.reduce(|best, next| if next.1 < best.1 { next } else { best }).map(ratio)
                }
            }
        })
    }
}

/// For each reference, the distance to its nearest other and that one's scale without it.
fn left_out_pairs(distances: &BandPairs<'_>, scales: &LocalScales) -> Vec<(f64, f64)> {
    parallel::map(distances.len(), Vec::new, |buffer: &mut Vec<f64>, index| {
        let row = distances.row(index, buffer);
        let others = row.iter().enumerate().filter(|&(other, _)| other != index);
        let nearest = others.reduce(|best, next| if next.1 < best.1 { next } else { best });
        nearest.map(|(other, &distance)| (distance, scales.without(other, index)))
    })
    .into_iter()
    .flatten()
    .collect()
}

/// Up to this many references all their distances are kept (128 MB); beyond, rows are computed
/// whenever they are asked for.
const MOST_CACHED: usize = 4096;

/// Distances among the references of one band.
struct BandPairs<'a> {
    band: &'a BandMemory,
    matrix: &'a [f32],
    axis_len: usize,
    cached: Option<Vec<f64>>,
}

impl<'a> BandPairs<'a> {
    fn new(band: &'a BandMemory, matrix: &'a [f32], axis_len: usize) -> Self {
        let mut pairs = Self { band, matrix, axis_len, cached: None };
        if band.len() <= MOST_CACHED {
            pairs.cached = Some(pairs.all());
        }
        pairs
    }

    /// Every distance once, mirrored.
    fn all(&self) -> Vec<f64> {
        let count = self.band.len();
        let triangle = parallel::map(
            count,
            || (),
            |(), index| {
                let distance = |other| self.band.distance(self.matrix, self.axis_len, index, other);
                (0..index).map(distance).collect::<Vec<f64>>()
            },
        );
        let mut all = vec![0.0; count * count];
        for (index, row) in triangle.iter().enumerate() {
            for (other, &distance) in row.iter().enumerate() {
                all[index * count + other] = distance;
                all[other * count + index] = distance;
            }
        }
        all
    }
}

impl PairwiseDistances for BandPairs<'_> {
    fn len(&self) -> usize {
        self.band.len()
    }

    fn row<'a>(&'a self, index: usize, row: &'a mut Vec<f64>) -> &'a [f64] {
        let count = self.band.len();
        if let Some(all) = &self.cached {
            return &all[index * count..(index + 1) * count];
        }
        row.clear();
        let from = self.band.reference(self.matrix, self.axis_len, index);
        row.extend(self.band.distances(self.matrix, self.axis_len, from));
        row
    }
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

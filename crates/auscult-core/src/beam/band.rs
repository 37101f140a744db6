//! Scoring one band: the reference with the smallest ratio, or the nearest one.

use std::sync::OnceLock;

use multiversion::multiversion;

use super::{
    BandFit,
    fit::{inverse, multiply},
};
use crate::{
    BandScore, DensityRule,
    distance::Scaled,
    memory::BandMemory,
    nearest::{GROUP, GroupRows, Outline, PANEL, Row, round_up},
};

/// One band of one view with what fitting learnt about it.
#[derive(Debug, Clone)]
pub(super) struct FittedBand {
    memory: BandMemory,
    /// Made before the first query: a fit that is only written to a file needs none.
    outline: OnceLock<Outline>,
    fit: BandFit,
    rule: DensityRule,
    /// Scale to the power of the exponent, one a reference.
    denominators: Vec<f64>,
    /// What a chord may grow by where the denominator is large, in panels.
    stretches: Vec<Row>,
    /// Their inverse squares, for a first guess; infinite beyond the last reference.
    weights: Vec<Row>,
    /// No more than the inverse of each denominator.
    inverses: Vec<f32>,
}

/// Bounds that are looked at together before each of them is.
const PIECE: usize = 8 * PANEL;

/// A little more than one: what is not to be missed is rounded up.
const UP: f32 = 1.0 + 1e-5;

impl FittedBand {
    pub(super) fn new(memory: BandMemory, fit: BandFit, rule: DensityRule) -> Self {
        let denominators: Vec<f64> =
            fit.scales.iter().map(|scale| scale.powf(fit.exponent)).collect();
        let metric = memory.metric();
        let stretch = |denominator: f64| match rule {
            DensityRule::MinimumRatio if denominator > 0.0 => {
                UP * (metric.chord_of(denominator) / metric.chord_of(1.0)) as f32
            }
            DensityRule::MinimumRatio => f32::INFINITY,
            DensityRule::AtNearest => 1.0,
        };
        let panels = denominators.len().div_ceil(PANEL);
        let mut stretches = vec![[0.0; PANEL]; panels];
        let mut weights = vec![[f32::INFINITY; PANEL]; panels];
        let places = stretches.as_flattened_mut().iter_mut().zip(weights.as_flattened_mut());
        for ((place, weight), &denominator) in places.zip(&denominators) {
            *place = stretch(denominator);
            *weight = 1.0 / (*place * *place);
        }
        // Times nothing it is nothing.
        let inverse = |&denominator: &f64| inverse(denominator).min(f32::MAX);
        let inverses = denominators.iter().map(inverse).collect();
        let outline = OnceLock::new();
        Self { memory, outline, fit, rule, denominators, stretches, weights, inverses }
    }

    pub(super) fn memory(&self) -> &BandMemory {
        &self.memory
    }

    pub(super) fn denominator(&self, reference: usize) -> Option<f64> {
        self.denominators.get(reference).copied()
    }

    pub(super) fn fit(&self) -> &BandFit {
        &self.fit
    }

    /// The mean value of the band itself.
    pub(super) fn level(&self, vector: &[f32]) -> f64 {
        mean(self.memory.values(vector))
    }

    /// What queries are compared with.
    pub(super) fn outline(&self, matrix: &[f32], axis_len: usize) -> &Outline {
        self.outline.get_or_init(|| self.memory.outline(matrix, axis_len))
    }

    /// The score of a vector against the references in the view's `matrix`.
    pub(super) fn score(
        &self,
        matrix: &[f32],
        axis_len: usize,
        vector: &[f32],
        buffer: &mut Vec<f32>,
    ) -> BandScore {
        let query = self.memory.query(vector, buffer);
        let exact = |reference: usize| self.memory.distance_to(matrix, axis_len, query, reference);
        let mut best = BandScore::UNSCORED;
        let outline = self.outline(matrix, axis_len);
        let mut copy = outline.copy_of(query);
        let radius = copy.radius;
        for first in (0..outline.count()).step_by(GROUP) {
            let enough = || self.limits(outline, first, &best, radius);
            let squares = outline.squares(&mut copy, first, enough);
            if first == 0 {
                // The most promising one first: it rules out most others.
                let promising = promising(&squares, &self.weights);
                if promising < self.denominators.len() {
                    self.consider(promising, exact, &mut best);
                }
            }
            let mut limits = self.limits(outline, first, &best, radius);
            for (panel, squares) in squares.iter().enumerate() {
                if are_ruled_out(squares, &limits[panel]) {
                    continue;
                }
                for (lane, square) in squares.iter().enumerate() {
                    let reference = (first + panel) * PANEL + lane;
                    // Not `<`: where nothing is known, nothing is ruled out.
                    let is_ruled_out = *square >= limits[panel][lane];
                    let is_known = reference == best.reference;
                    if !is_ruled_out && !is_known && reference < self.denominators.len() {
                        self.consider(reference, exact, &mut best);
                        if best.reference == reference {
                            limits = self.limits(outline, first, &best, radius);
                        }
                    }
                }
            }
        }
        best.value /= self.fit.divisor;
        best
    }

    /// The score of a query, given lower bounds of its distances: the same bits as [`FittedBand::score`].
    pub(super) fn score_within(
        &self,
        matrix: &[f32],
        axis_len: usize,
        query: Scaled<'_>,
        bounds: &[f32],
        ratios: &mut Vec<f32>,
    ) -> BandScore {
        let bounds = &bounds[..self.denominators.len()];
        let ratios = match self.rule {
            DensityRule::MinimumRatio => {
                ratios.resize(bounds.len(), 0.0);
                multiply(bounds, &self.inverses, ratios);
                &**ratios
            }
            DensityRule::AtNearest => bounds,
        };
        let exact = |reference: usize| self.memory.distance_to(matrix, axis_len, query, reference);
        let mut best = BandScore::UNSCORED;
        let consider = |reference: usize, best: &mut BandScore| {
            self.consider(reference, exact, best);
            round_up(self.goal(best))
        };
        // The most promising one first: it rules out most others.
        let pieces = || ratios.chunks(PIECE).zip((0..).step_by(PIECE));
        let least_of = |(piece, start): (&[f32], usize)| (smallest(piece), start);
        let less =
            |one: (f32, usize), other: (f32, usize)| if other.0 < one.0 { other } else { one };
        let (least, start) = pieces().map(least_of).reduce(less).unwrap_or_default();
        let found = ratios[start..].iter().position(|&ratio| ratio <= least);
        let promising = found.map_or(0, |at| start + at);
        let mut limit = consider(promising, &mut best);
        for (piece, start) in pieces() {
            if smallest(piece) > limit {
                continue;
            }
            for (reference, &ratio) in (start..).zip(piece) {
                if ratio <= limit && reference != promising {
                    limit = consider(reference, &mut best);
                }
            }
        }
        best.value /= self.fit.divisor;
        best
    }

    /// What a better reference is below.
    fn goal(&self, best: &BandScore) -> f64 {
        match self.rule {
            DensityRule::MinimumRatio => best.value,
            DensityRule::AtNearest => best.distance,
        }
    }

    /// Squared distances of copies from which on a reference cannot be better than `best`.
    fn limits(
        &self,
        outline: &Outline,
        first: usize,
        best: &BandScore,
        query_radius: f32,
    ) -> GroupRows {
        let metric = self.memory.metric();
        let chord = UP * metric.chord_of(self.goal(best)) as f32;
        let factor = UP + outline.error_share();
        let (stretches, radii) = (&self.stretches[first..], &outline.radii()[first..]);
        square_limits(stretches, radii, chord, query_radius, factor)
    }

    /// Takes a reference if it is better, or as good with a smaller index.
    fn consider(&self, reference: usize, exact: impl Fn(usize) -> f64, best: &mut BandScore) {
        let distance = exact(reference);
        let value = distance / self.denominators[reference];
        let (new, old) = match self.rule {
            DensityRule::MinimumRatio => (value, best.value),
            DensityRule::AtNearest => (distance, best.distance),
        };
        if new < old || (new == old && reference < best.reference) {
            let local_scale = self.fit.scales[reference];
            *best = BandScore { value, distance, local_scale, reference };
        }
    }

    /// The plain form: every reference, in order.
    #[cfg(test)]
    fn score_plainly(&self, matrix: &[f32], axis_len: usize, vector: &[f32]) -> BandScore {
        let mut buffer = Vec::new();
        let query = self.memory.query(vector, &mut buffer);
        let mut best = BandScore::UNSCORED;
        for reference in 0..self.denominators.len() {
            let exact = |index| self.memory.distance_to(matrix, axis_len, query, index);
            self.consider(reference, exact, &mut best);
        }
        best.value /= self.fit.divisor;
        best
    }
}

/// The mean of a band's values.
pub(super) fn mean(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64
}

/// (chord x stretch + radii) x factor, squared; what lies beyond the last panel is ruled out.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn square_limits(
    stretches: &[Row],
    radii: &[Row],
    chord: f32,
    query_radius: f32,
    factor: f32,
) -> GroupRows {
    let mut limits = [[0.0; PANEL]; GROUP];
    // One loop over all of them: of rows in rows the compiler makes gathers.
    let places = limits.as_flattened_mut().iter_mut();
    let known = stretches.as_flattened().iter().zip(radii.as_flattened());
    for (place, (stretch, radius)) in places.zip(known) {
        let length = (chord * stretch + radius + query_radius) * factor;
        // A square of almost nothing may have become nothing.
        let limit = length * length + f32::MIN_POSITIVE;
        // Nothing, not even infinity, is above NaN.
        *place = if limit < f32::INFINITY { limit } else { f32::NAN };
    }
    limits
}

/// The smallest of some numbers, infinity if there are none.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn smallest(values: &[f32]) -> f32 {
    let (whole, rest) = values.as_chunks::<PANEL>();
    let mut least = [f32::INFINITY; PANEL];
    for values in whole {
        for lane in 0..PANEL {
            least[lane] = if values[lane] < least[lane] { values[lane] } else { least[lane] };
        }
    }
    least.iter().chain(rest).copied().fold(f32::INFINITY, f32::min)
}

#[inline]
#[expect(clippy::needless_bitwise_bool, reason = "without branches it is one comparison")]
fn are_ruled_out(squares: &Row, limits: &Row) -> bool {
    squares.iter().zip(limits).fold(true, |all, (square, limit)| all & (square >= limit))
}

/// The place of the smallest ratio by the copies; any place if all are NaN.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn promising(squares: &GroupRows, weights: &[Row]) -> usize {
    let (mut least, mut panels) = ([f32::INFINITY; PANEL], [0_u32; PANEL]);
    for (panel, (squares, weights)) in (0..).zip(squares.iter().zip(weights)) {
        for lane in 0..PANEL {
            let ratio = squares[lane] * weights[lane];
            let is_less = ratio < least[lane];
            least[lane] = if is_less { ratio } else { least[lane] };
            panels[lane] = if is_less { panel } else { panels[lane] };
        }
    }
    let less = |best: usize, lane: usize| if least[lane] < least[best] { lane } else { best };
    let lane = (0..PANEL).reduce(less).unwrap_or(0);
    panels[lane] as usize * PANEL + lane
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Metric, testing::clustered};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn outlines_change_no_bit(
            seed in any::<u64>(), count in 1_usize..300, width in 1_usize..70,
            spread in prop::sample::select(vec![0.0_f32, 1e-6, 1e-3, 1.0, 1e18, 1e-25]),
            metric in prop::sample::select(Metric::ALL),
            rule in prop::sample::select(DensityRule::ALL),
            long in any::<bool>(),
        ) {
            // More than one chunk of positions, but not often.
            let width = if long && count < 40 { width * 30 } else { width };
            let matrix = clustered(seed, count + 2, width, spread);
            let (matrix, queries) = matrix.split_at(count * width);
            let memory = BandMemory::new(matrix, width, 0..width, metric, None);
            let scales = (0..count).map(|at| 1e-3 + (at * 7 % 11) as f64).collect();
            let fit = BandFit { scales, exponent: 0.5, divisor: 1.5, typical: 1.0 };
            let band = FittedBand::new(memory, fit, rule);
            for query in queries.chunks(width).chain(matrix.chunks(width).take(3)) {
                prop_assert_eq!(
                    band.score(matrix, width, query, &mut Vec::new()),
                    band.score_plainly(matrix, width, query)
                );
            }
        }
    }
}

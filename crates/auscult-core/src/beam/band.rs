//! Scoring one band: the reference with the smallest ratio, or the nearest one.

use super::BandFit;
use crate::{
    BandScore, DensityRule,
    memory::BandMemory,
    panels::{GROUP, GroupRows, PANEL, Row},
};

/// One band of one view with what fitting learnt about it.
#[derive(Debug, Clone)]
pub(super) struct FittedBand {
    memory: BandMemory,
    fit: BandFit,
    rule: DensityRule,
    /// Scale to the power of the exponent, one a reference.
    denominators: Vec<f64>,
    /// What a chord may grow by where the denominator is large, in panels.
    stretches: Vec<Row>,
}

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
        let mut stretches = vec![[0.0; PANEL]; denominators.len().div_ceil(PANEL)];
        for (place, &denominator) in stretches.as_flattened_mut().iter_mut().zip(&denominators) {
            *place = stretch(denominator);
        }
        Self { memory, fit, rule, denominators, stretches }
    }

    pub(super) fn fit(&self) -> &BandFit {
        &self.fit
    }

    /// The score of a vector against the references in the view's `matrix`.
    pub(super) fn score(&self, matrix: &[f32], axis_len: usize, vector: &[f32]) -> BandScore {
        let query = self.memory.query(vector);
        let exact = |reference: usize| self.memory.distance_to(matrix, axis_len, query, reference);
        let outline = self.memory.outline();
        let mut best = BandScore::UNSCORED;
        let radius = outline.query_radius(query);
        for first in (0..outline.count()).step_by(GROUP) {
            let limits = |best: &BandScore| self.limits(first, best, radius);
            let squares = outline.squares(query, first, &limits(&best));
            let count = (self.denominators.len() - first * PANEL).min(GROUP * PANEL);
            let squares = &squares.as_flattened()[..count];
            // The most promising one first: it rules out most others.
            let promising = self.promising(first, squares);
            self.consider(first * PANEL + promising, exact, &mut best);
            let mut limit = limits(&best);
            for (at, square) in squares.iter().enumerate() {
                // Not `<`: where nothing is known, nothing is ruled out.
                let is_ruled_out = *square >= limit.as_flattened()[at];
                if !is_ruled_out && at != promising {
                    self.consider(first * PANEL + at, exact, &mut best);
                    limit = limits(&best);
                }
            }
        }
        best.value /= self.fit.divisor;
        best
    }

    /// Squared distances of copies from which on a reference cannot be better than `best`.
    fn limits(&self, first: usize, best: &BandScore, query_radius: f32) -> GroupRows {
        let outline = self.memory.outline();
        let metric = self.memory.metric();
        let goal = match self.rule {
            DensityRule::MinimumRatio => best.value,
            DensityRule::AtNearest => best.distance,
        };
        let chord = UP * metric.chord_of(goal) as f32;
        let factor = UP + outline.error_share();
        let mut limits = [[f32::INFINITY; PANEL]; GROUP];
        let panels = self.stretches[first..].iter().zip(&outline.radii()[first..]);
        for (limits, (stretches, radii)) in limits.iter_mut().zip(panels) {
            for lane in 0..PANEL {
                let length = (chord * stretches[lane] + radii[lane] + query_radius) * factor;
                // A square of almost nothing may have become nothing.
                limits[lane] = length * length + f32::MIN_POSITIVE;
            }
        }
        limits
    }

    /// The place of the smallest ratio by the copies.
    fn promising(&self, first: usize, squares: &[f32]) -> usize {
        let stretches = self.stretches[first..].as_flattened();
        let mut best = (0, f32::INFINITY);
        for (at, (square, stretch)) in squares.iter().zip(stretches).enumerate() {
            let ratio = square / (stretch * stretch);
            if ratio < best.1 {
                best = (at, ratio);
            }
        }
        best.0
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
        let query = self.memory.query(vector);
        let mut best = BandScore::UNSCORED;
        for reference in 0..self.denominators.len() {
            let exact = |index| self.memory.distance_to(matrix, axis_len, query, index);
            self.consider(reference, exact, &mut best);
        }
        best.value /= self.fit.divisor;
        best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{BandLayout, Metric, testing::clustered};

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
            let layout = BandLayout::new(width, width, width).unwrap();
            let memory = BandMemory::for_layout(matrix, &layout, metric).remove(0);
            let scales = (0..count).map(|at| 1e-3 + (at * 7 % 11) as f64).collect();
            let fit = BandFit { scales, exponent: 0.5, divisor: 1.5, typical: 1.0 };
            let band = FittedBand::new(memory, fit, rule);
            for query in queries.chunks(width).chain(matrix.chunks(width).take(3)) {
                prop_assert_eq!(
                    band.score(matrix, width, query),
                    band.score_plainly(matrix, width, query)
                );
            }
        }
    }
}

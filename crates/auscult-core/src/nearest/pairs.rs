//! Lower bounds of all distances among the references of one band, and exact ones on demand.
//!
//! Fitting asks for every distance but decides by few: the bounds say which. They come from
//! products of the centred copies, |a - b|^2 = |a|^2 + |b|^2 - 2 ab, panel by panel.

use std::ops::Range;

use auscult_kernels::{Isa, turn};
use multiversion::multiversion;

use super::{
    copies::{Copies, PANEL, ROUNDING, Row},
    panels::{Numbers, Panel},
    products::Products,
    search::Values,
    spare::{Buffers, Lent},
};
use crate::{Metric, memory::BandMemory, parallel};

/// Distances among some references, and from others to them.
pub(crate) trait PairwiseDistances: Sync {
    /// How many references there are; from here on are those that are only compared with them.
    fn len(&self) -> usize;

    /// How many are only compared with them.
    fn count_beyond(&self) -> usize;

    /// No distance from reference `index` to one that others are compared with is below its place in the
    /// row; its own place holds NaN.
    fn lower_bounds<'a>(&'a self, index: usize, buffer: &'a mut RowBuffer) -> &'a [f32];

    /// The distance between two references.
    fn exact(&self, from: usize, to: usize) -> f64;

    /// The distances from a reference to two others, in less time than one after the other.
    fn exact_both(&self, from: usize, to: [usize; 2]) -> [f64; 2] {
        to.map(|to| self.exact(from, to))
    }
}

/// The distances from one reference.
pub(crate) struct DistancesFrom<'a, D: ?Sized>(pub(crate) &'a D, pub(crate) usize);

impl<D: PairwiseDistances + ?Sized> Values for DistancesFrom<'_, D> {
    fn value(&self, place: usize) -> f64 {
        self.0.exact(self.1, place)
    }

    fn both(&self, places: [usize; 2]) -> [f64; 2] {
        self.0.exact_both(self.1, places)
    }
}

/// Rows of one panel, kept from one question to the next.
#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    panel: Option<usize>,
    pub(crate) rows: Vec<f32>,
    /// What a part of the references has of a row.
    part: Vec<f32>,
}

/// Up to this many references all bounds are kept (64 MB); beyond, they are computed whenever
/// they are asked for, so that memory grows with the references and not with their square.
const MOST_KEPT: usize = 4096;

/// Bands that are fitted at the same time: together they keep no more bounds than the largest one.
pub(crate) fn bands_at_once(references: usize) -> usize {
    (MOST_KEPT / references.max(1)).pow(2).max(1)
}

/// Bounds of narrower bands are computed again sooner than they are fetched from memory ...
const NARROW: usize = 256;

/// ... unless they are so few that they stay in a near cache.
const MOST_KEPT_NARROW: usize = 1024;

/// Panels whose bounds are computed together, by one thread: they read a chunk of the others from
/// a near cache.
const BLOCK: usize = 8;

/// Distances among the references of one band.
#[derive(Debug)]
pub(crate) struct BandPairs<'a> {
    band: &'a BandMemory,
    matrix: &'a [f32],
    axis_len: usize,
    metric: Metric,
    panels: Vec<Panel<'a>>,
    /// Of every reference.
    factors: Vec<Row>,
    squares: Vec<Row>,
    radii: Vec<Row>,
    kept: Option<Lent<'a, f32>>,
}

impl<'a> BandPairs<'a> {
    pub(crate) fn new(
        band: &'a BandMemory,
        matrix: &'a [f32],
        axis_len: usize,
        buffers: &'a Buffers,
    ) -> Self {
        Self::of(band, matrix, axis_len, Numbers::fastest(band.width()), buffers)
    }

    /// Distances that are asked for by many parts of the references, in as many bands as `bands`.
    pub(crate) fn shared(
        band: &'a BandMemory,
        matrix: &'a [f32],
        axis_len: usize,
        bands: usize,
        buffers: &'a Buffers,
    ) -> Self {
        let mut pairs = Self::new(band, matrix, axis_len, buffers);
        if pairs.kept.is_none() && band.len().pow(2) * bands <= MOST_KEPT.pow(2) {
            pairs.kept = Some(pairs.all_bounds(buffers.bounds.lend()));
        }
        pairs
    }

    fn of(
        band: &'a BandMemory,
        matrix: &'a [f32],
        axis_len: usize,
        numbers: Numbers,
        buffers: &'a Buffers,
    ) -> Self {
        let mut pairs = Self::without_bounds(band, matrix, axis_len, numbers, buffers);
        let is_narrow = band.width() < NARROW;
        if band.row_count() <= if is_narrow { MOST_KEPT_NARROW } else { MOST_KEPT } {
            pairs.kept = Some(pairs.all_bounds(buffers.bounds.lend()));
        }
        pairs
    }

    /// The references alone: nothing is known yet of how far they are from each other.
    pub(super) fn without_bounds(
        band: &'a BandMemory,
        matrix: &'a [f32],
        axis_len: usize,
        numbers: Numbers,
        buffers: &'a Buffers,
    ) -> Self {
        let keep = |copies: &Copies<'_>| Panel::new(copies, numbers, buffers);
        let panels = band.map_panels(matrix, axis_len, &buffers.rows, keep);
        let factors = panels.iter().map(|panel| panel.factors).collect();
        let squares = panels.iter().map(|panel| panel.squares).collect();
        let radii = panels.iter().map(|panel| panel.radii).collect();
        let metric = band.metric();
        Self { band, matrix, axis_len, metric, panels, factors, squares, radii, kept: None }
    }

    /// Every bound once, mirrored; none between two that are only compared with the memory.
    fn all_bounds(&self, mut all: Lent<'a, f32>) -> Lent<'a, f32> {
        let (stride, memory) = (self.stride(), self.memory_panels());
        if all.capacity() < stride * stride {
            // Memory of zeros is not written twice.
            *all = vec![0.0; stride * stride];
        }
        all.resize(stride * stride, 0.0);
        let rows = &mut all[..memory * PANEL * stride];
        let blocks = rows.chunks_mut(BLOCK * PANEL * stride).enumerate().collect();
        parallel::for_each(blocks, |(block, rows): (usize, &mut [f32])| {
            // Panels before these see them in their own rows.
            self.fill(block * BLOCK, |panel| panel - panel % 2, self.panels.len(), rows);
        });
        self.mirror(&mut all);
        all
    }

    /// Copies what is right of the diagonal to the left of it: first between neighbouring panels, then between pairs
    /// of them, and so on, so that threads read rows that nobody writes.
    fn mirror(&self, all: &mut [f32]) {
        let (stride, memory) = (self.stride(), self.memory_panels());
        let panel_len = PANEL * stride;
        let halves = std::iter::successors(Some(1), |half| Some(2 * half));
        for half in halves.take_while(|&half| half < self.panels.len()) {
            let pairs = all.chunks_mut(2 * half * panel_len).enumerate();
            let below = pairs.flat_map(|(pair, rows)| {
                let first = 2 * half * pair;
                let (above, below) = rows.split_at_mut(rows.len().min(half * panel_len));
                let (above, panels) = (&*above, first + half..);
                panels
                    .zip(below.chunks_exact_mut(panel_len))
                    .map(move |(panel, rows)| (first, above, panel, rows))
            });
            parallel::for_each(below.collect(), |(first, above, panel, rows)| {
                let mut turned = [[0.0; PANEL]; PANEL];
                for (other, above) in (first..memory).zip(above.chunks_exact(panel_len)) {
                    turn(Isa::best(), &above[panel * PANEL..], stride, &mut turned);
                    for (turned, row) in turned.iter().zip(rows.chunks_exact_mut(stride)) {
                        row[other * PANEL..][..PANEL].copy_from_slice(turned);
                    }
                }
            });
        }
    }

    /// Places in a row of bounds: one a reference, and some to fill the last panel.
    pub(super) fn stride(&self) -> usize {
        self.panels.len() * PANEL
    }

    /// Panels that hold the memory, and perhaps the first of those that are compared with it.
    pub(super) fn memory_panels(&self) -> usize {
        self.band.len().div_ceil(PANEL)
    }

    /// Bounds from the references of some panels, from `first` on, to those of the panels from `start`
    /// of theirs on, up to `end`.
    fn fill(&self, first: usize, start: impl Fn(usize) -> usize, end: usize, rows: &mut [f32]) {
        let stride = self.stride();
        let from = &self.panels[first..first + rows.len() / (PANEL * stride)];
        self.bounds_from(from, |panel| start(first + panel), end, rows);
        for (index, row) in (first * PANEL..).zip(rows.chunks_exact_mut(stride)) {
            row[index] = f32::NAN;
        }
    }

    /// Bounds from the copies in `from` to the references of the panels from `start` of theirs on, up
    /// to `end`.
    pub(super) fn bounds_from(
        &self,
        from: &[Panel<'_>],
        start: impl Fn(usize) -> usize,
        end: usize,
        rows: &mut [f32],
    ) {
        let stride = self.stride();
        let mut products = [[[0.0; PANEL]; 2]; PANEL];
        // In chunks of the width, so that a chunk of all panels stays in a near cache.
        for chunk in 0..self.panels.first().map_or(0, Panel::chunks) {
            for ((at, panel), rows) in
                from.iter().enumerate().zip(rows.chunks_exact_mut(PANEL * stride))
            {
                for other in (start(at)..end).step_by(2) {
                    // A last one without company is multiplied twice.
                    let others = [other, (other + 1).min(end - 1)].map(|at| &self.panels[at]);
                    panel.multiply(others, chunk, &mut products);
                    put(&products, chunk == 0, other * PANEL, stride, rows);
                }
            }
        }
        let share = self.product_error();
        for ((at, panel), rows) in
            from.iter().enumerate().zip(rows.chunks_exact_mut(PANEL * stride))
        {
            let start = start(at);
            let to = Others {
                factors: self.factors[start..end].as_flattened(),
                squares: self.squares[start..end].as_flattened(),
                radii: self.radii[start..end].as_flattened(),
            };
            for (lane, row) in rows.chunks_exact_mut(stride).enumerate() {
                let from = (panel.factors[lane], panel.squares[lane], panel.radii[lane]);
                bound(self.metric, from, to, share, &mut row[start * PANEL..]);
            }
        }
    }

    /// By how much a sum of products may be wrong, as a share of the mean of the squares.
    fn product_error(&self) -> f32 {
        let additions = self.panels.first().map_or(0, Panel::additions);
        // Twice what it takes, with room for the rounding of the squares and of the bound itself.
        2.0 * ROUNDING * (additions + 16) as f32
    }
}

/// What is known of the references that one is compared with.
#[derive(Clone, Copy)]
struct Others<'a> {
    factors: &'a [f32],
    squares: &'a [f32],
    radii: &'a [f32],
}

/// Writes the first products of a sum to the rows of their panel, from `column` on, or adds further ones.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn put(products: &Products, is_first: bool, column: usize, stride: usize, rows: &mut [f32]) {
    for (products, row) in products.iter().zip(rows.chunks_exact_mut(stride)) {
        // The last panel may be alone.
        for (products, sums) in products.iter().zip(row[column..].as_chunks_mut().0) {
            let before = if is_first { [0.0; PANEL] } else { *sums };
            *sums = std::array::from_fn(|lane| before[lane] + products[lane]);
        }
    }
}

/// Turns the products of one reference with others into lower bounds of distances, given the
/// factors, squares and radii of both.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn bound(
    metric: Metric,
    (from_factor, from_square, from_radius): (f32, f32, f32),
    others: Others<'_>,
    share: f32,
    products: &mut [f32],
) {
    let scale = match metric {
        Metric::Cosine => 0.25 * DOWN,
        Metric::UnitEuclidean | Metric::Euclidean | Metric::SquaredEuclidean | Metric::Scaled => {
            DOWN
        }
    };
    let is_squared = matches!(metric, Metric::Cosine | Metric::SquaredEuclidean | Metric::Scaled);
    let most = if metric == Metric::Cosine { 1.0 } else { f32::INFINITY };
    let Others { factors, squares, radii } = others;
    let twice = 2.0 * from_factor;
    for (((product, factor), square), radius) in
        products.iter_mut().zip(factors).zip(squares).zip(radii)
    {
        let sum = from_square + square;
        let least = (sum - twice * factor * *product) - share * sum;
        // NaN and negative mean: nothing is known.
        let least = if least > 0.0 { least } else { 0.0 };
        let chord = least.sqrt() - (from_radius + radius);
        let chord = if chord > 0.0 { chord } else { 0.0 };
        let bound = scale * if is_squared { chord * chord } else { chord };
        let bound = if bound < most { bound } else { most };
        // Numbers with fewer digits may have been rounded up.
        *product = if bound >= f32::MIN_POSITIVE { bound } else { 0.0 };
    }
}

/// A little less than one: bounds are rounded down.
const DOWN: f32 = 1.0 - 1e-5;

impl PairwiseDistances for BandPairs<'_> {
    fn len(&self) -> usize {
        self.band.len()
    }

    fn count_beyond(&self) -> usize {
        self.band.row_count() - self.band.len()
    }

    fn lower_bounds<'a>(&'a self, index: usize, buffer: &'a mut RowBuffer) -> &'a [f32] {
        let (count, stride) = (self.band.len(), self.stride());
        if let Some(all) = &self.kept {
            return &all[index * stride..][..count];
        }
        let panel = index / PANEL;
        if buffer.panel != Some(panel) {
            buffer.rows.resize(PANEL * stride, 0.0);
            self.fill(panel, |_| 0, self.memory_panels(), &mut buffer.rows);
            buffer.panel = Some(panel);
        }
        &buffer.rows[(index % PANEL) * stride..][..count]
    }

    fn exact(&self, from: usize, to: usize) -> f64 {
        self.band.distance(self.matrix, self.axis_len, from, to)
    }

    fn exact_both(&self, from: usize, to: [usize; 2]) -> [f64; 2] {
        self.band.distances(self.matrix, self.axis_len, from, to)
    }
}

/// Distances within a part of the references, where they do not depend on the part.
#[derive(Debug)]
pub(crate) struct PartOfPairs<'a> {
    whole: &'a BandPairs<'a>,
    /// Where each is in the whole: the memory, then those that are compared with it.
    places: &'a [usize],
    /// Of the memory, what is side by side in the whole.
    runs: Vec<Range<usize>>,
    len: usize,
}

impl<'a> PartOfPairs<'a> {
    /// The first `len` of `places` are the memory, in ascending order.
    pub(crate) fn new(whole: &'a BandPairs<'a>, places: &'a [usize], len: usize) -> Self {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for &place in &places[..len] {
            match runs.last_mut() {
                Some(run) if run.end == place => run.end += 1,
                _ => runs.push(place..place + 1),
            }
        }
        Self { whole, places, runs, len }
    }
}

impl PairwiseDistances for PartOfPairs<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn count_beyond(&self) -> usize {
        self.places.len() - self.len
    }

    fn lower_bounds<'a>(&'a self, index: usize, buffer: &'a mut RowBuffer) -> &'a [f32] {
        let mut part = std::mem::take(&mut buffer.part);
        part.clear();
        let row = self.whole.lower_bounds(self.places[index], buffer);
        for run in &self.runs {
            part.extend_from_slice(&row[run.clone()]);
        }
        buffer.part = part;
        &buffer.part
    }

    fn exact(&self, from: usize, to: usize) -> f64 {
        self.whole.exact(self.places[from], self.places[to])
    }

    fn exact_both(&self, from: usize, to: [usize; 2]) -> [f64; 2] {
        self.whole.exact_both(self.places[from], to.map(|to| self.places[to]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::clustered;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn bounds_are_below_the_distances_and_near_them(
            seed in any::<u64>(), count in 1_usize..60, width in 1_usize..70,
            spread in prop::sample::select(vec![0.0_f32, 1e-6, 1e-3, 1.0, 1e18, 1e-25]),
            metric in prop::sample::select(Metric::ALL),
            long in any::<bool>(), is_kept in any::<bool>(), is_integer in any::<bool>(),
        ) {
            let width = if long { width * 10 } else { width };
            let matrix = clustered(seed, count, width, spread);
            let memory = BandMemory::new(&matrix, width, 0..width, metric, None);
            let numbers = if is_integer { Numbers::Integer } else { Numbers::Float };
            let buffers = Buffers::default();
            let mut pairs = BandPairs::of(&memory, &matrix, width, numbers, &buffers);
            if !is_kept {
                pairs.kept = None;
            }
            let mut buffer = RowBuffer::default();
            for from in 0..count {
                let bounds = pairs.lower_bounds(from, &mut buffer).to_vec();
                prop_assert_eq!(bounds.len(), count);
                prop_assert!(bounds[from].is_nan());
                for (to, &bound) in bounds.iter().enumerate().filter(|&(to, _)| to != from) {
                    let exact = pairs.exact(from, to);
                    prop_assert!(f64::from(bound) <= exact, "{} {} {}", metric, bound, exact);
                    // Where references are well apart, the bound says so; zero vectors have none.
                    let is_zero = from % 9 == 7 || to % 9 == 7;
                    if spread == 1.0 && exact > 0.05 && !is_zero {
                        prop_assert!(f64::from(bound) > 0.9 * exact, "{} {}", bound, exact);
                    }
                }
            }
        }
    }
}

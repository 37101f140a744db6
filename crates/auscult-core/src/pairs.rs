//! Lower bounds of all distances among the references of one band, and exact ones on demand.
//!
//! Fitting asks for every distance but decides by few: the bounds say which. They come from
//! products of the centred copies, |a - b|^2 = |a|^2 + |b|^2 - 2 ab, panel by panel.

use multiversion::{multiversion, target::target_cfg_f};

use crate::{
    Metric,
    memory::BandMemory,
    panels::{Outline, PANEL, Panels, ROUNDING, Row},
    parallel,
};

/// Distances among some references.
pub(crate) trait PairwiseDistances: Sync {
    /// How many references there are.
    fn len(&self) -> usize;

    /// No distance from reference `index` is below its place in the row.
    fn lower_bounds<'a>(&'a self, index: usize, buffer: &'a mut RowBuffer) -> &'a [f32];

    /// The distance between two references.
    fn exact(&self, from: usize, to: usize) -> f64;
}

/// Rows of one panel, kept from one question to the next.
#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    panel: Option<usize>,
    pub(crate) rows: Vec<f32>,
    products: Vec<Row>,
}

/// Up to this many references all bounds are kept (64 MB); beyond, they are computed whenever
/// they are asked for, so that memory grows with the references and not with their square.
const MOST_KEPT: usize = 4096;

/// Distances among the references of one band.
#[derive(Debug)]
pub(crate) struct BandPairs<'a> {
    band: &'a BandMemory,
    matrix: &'a [f32],
    axis_len: usize,
    metric: Metric,
    panels: Panels,
    kept: Option<Vec<f32>>,
}

impl<'a> BandPairs<'a> {
    pub(crate) fn new(band: &'a BandMemory, matrix: &'a [f32], axis_len: usize) -> Self {
        let panels = band.panels(matrix, axis_len);
        let metric = band.metric();
        let mut pairs = Self { band, matrix, axis_len, metric, panels, kept: None };
        if band.len() <= MOST_KEPT {
            pairs.kept = Some(pairs.all_bounds());
        }
        pairs
    }

    /// What is left to compare queries with.
    pub(crate) fn into_outline(self) -> Outline {
        Outline::of(self.panels)
    }

    /// Every bound once, mirrored.
    fn all_bounds(&self) -> Vec<f32> {
        let count = self.band.len();
        let strips = parallel::map(self.panels.count(), RowBuffer::default, |buffer, panel| {
            // Panels before this one see it in their own strips.
            self.strip(panel, panel, buffer);
            std::mem::take(&mut buffer.rows)
        });
        let mut all = vec![0.0; count * count];
        for (panel, strip) in strips.iter().enumerate() {
            let start = panel * PANEL;
            let width = count - start;
            for (index, row) in (start..).zip(strip.chunks_exact(width)) {
                all[index * count + start..(index + 1) * count].copy_from_slice(row);
            }
            for (at, other) in (start..count).enumerate().skip(PANEL) {
                let mirrored = strip.iter().skip(at).step_by(width);
                for (place, &bound) in all[other * count + start..].iter_mut().zip(mirrored) {
                    *place = bound;
                }
            }
        }
        all
    }

    /// Bounds from the references of one panel to those of the panels from `first` on.
    fn strip(&self, panel: usize, first: usize, buffer: &mut RowBuffer) {
        let (count, width) = (self.band.len(), self.panels.width());
        let columns = count - first * PANEL;
        let rows = PANEL.min(count - panel * PANEL);
        buffer.rows.clear();
        buffer.rows.resize(rows * columns, 0.0);
        buffer.products.clear();
        buffer.products.resize((self.panels.count() - first) * PANEL, [0.0; PANEL]);
        // In chunks of the width, so that a chunk of all panels stays in a near cache.
        for start in (0..width).step_by(CHUNK) {
            let range = start..width.min(start + CHUNK);
            let left = &self.panels.panel(panel)[range.clone()];
            for (other, products) in
                buffer.products.as_chunks_mut::<PANEL>().0.iter_mut().enumerate()
            {
                multiply(left, &self.panels.panel(first + other)[range.clone()], products);
            }
        }
        let share = self.product_error();
        for (other, products) in buffer.products.as_chunks_mut::<PANEL>().0.iter_mut().enumerate() {
            let from = (&self.panels.squares()[panel], &self.panels.radii()[panel]);
            let to = (&self.panels.squares()[first + other], &self.panels.radii()[first + other]);
            bound(self.metric, from, to, share, products);
            let start = other * PANEL;
            let taken = PANEL.min(columns - start);
            for (row, bounds) in products.iter().enumerate().take(rows) {
                let out = &mut buffer.rows[row * columns + start..][..taken];
                out.copy_from_slice(&bounds[..taken]);
            }
        }
    }

    /// By how much a sum of products may be wrong, as a share of the mean of the squares.
    fn product_error(&self) -> f32 {
        let chunks = self.panels.width().div_ceil(CHUNK);
        // Twice what it takes, with room for the rounding of the squares and of the bound itself.
        2.0 * ROUNDING * (CHUNK.min(self.panels.width()) + chunks + 16) as f32
    }
}

/// Turns the products of two panels into lower bounds of distances, given the squares and radii of
/// both.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn bound(
    metric: Metric,
    (from_squares, from_radii): (&Row, &Row),
    (squares, radii): (&Row, &Row),
    share: f32,
    products: &mut [Row; PANEL],
) {
    let scale = match metric {
        Metric::Cosine => 0.25 * DOWN,
        Metric::UnitEuclidean | Metric::Euclidean | Metric::SquaredEuclidean => DOWN,
    };
    let is_squared = matches!(metric, Metric::Cosine | Metric::SquaredEuclidean);
    let most = if metric == Metric::Cosine { 1.0 } else { f32::INFINITY };
    for (row, products) in products.iter_mut().enumerate() {
        for lane in 0..PANEL {
            let sum = from_squares[row] + squares[lane];
            let least = (sum - 2.0 * products[lane]) - share * sum;
            // NaN and negative mean: nothing is known.
            let least = if least > 0.0 { least } else { 0.0 };
            let chord = least.sqrt() - (from_radii[row] + radii[lane]);
            let chord = if chord > 0.0 { chord } else { 0.0 };
            let bound = scale * if is_squared { chord * chord } else { chord };
            let bound = if bound < most { bound } else { most };
            // Numbers with fewer digits may have been rounded up.
            products[lane] = if bound >= f32::MIN_POSITIVE { bound } else { 0.0 };
        }
    }
}

/// A little less than one: bounds are rounded down.
const DOWN: f32 = 1.0 - 1e-5;

impl PairwiseDistances for BandPairs<'_> {
    fn len(&self) -> usize {
        self.band.len()
    }

    fn lower_bounds<'a>(&'a self, index: usize, buffer: &'a mut RowBuffer) -> &'a [f32] {
        let count = self.band.len();
        if let Some(all) = &self.kept {
            return &all[index * count..(index + 1) * count];
        }
        let panel = index / PANEL;
        if buffer.panel != Some(panel) {
            self.strip(panel, 0, buffer);
            buffer.panel = Some(panel);
        }
        &buffer.rows[(index % PANEL) * count..][..count]
    }

    fn exact(&self, from: usize, to: usize) -> f64 {
        self.band.distance(self.matrix, self.axis_len, from, to)
    }
}

/// Positions that are multiplied before the sums are put aside: a chunk of two panels fits the
/// nearest cache, and short sums round less.
const CHUNK: usize = 256;

/// Adds all products between two panels: `$sum` are the sums of as many rows as there are
/// registers for. Named one by one, so that the compiler keeps them there.
macro_rules! multiply_rows {
    ($left:ident, $right:ident, $products:ident, $plus_product:expr, $count:literal,
     $($row:literal $sum:ident),+) => {
        for (group, products) in $products.as_chunks_mut::<$count>().0.iter_mut().enumerate() {
            $(let mut $sum = [0.0_f32; PANEL];)+
            for (left, right) in $left.iter().zip($right) {
                let factors = &left.as_chunks::<$count>().0[group];
                for lane in 0..PANEL {
                    $($sum[lane] = $plus_product($sum[lane], factors[$row], right[lane]);)+
                }
            }
            for (product, sum) in products.iter_mut().zip([$($sum),+]) {
                for lane in 0..PANEL {
                    product[lane] += sum[lane];
                }
            }
        }
    };
}

/// Adds all products between two panels.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn multiply(left: &[Row], right: &[Row], products: &mut [Row; PANEL]) {
    // Without the instruction a fused product is a slow function call.
    let is_fused = target_cfg_f!(target_feature = "fma");
    let plus_product =
        |sum: f32, a: f32, b: f32| if is_fused { a.mul_add(b, sum) } else { sum + a * b };
    if target_cfg_f!(target_feature = "avx512f") {
        multiply_rows!(
            left, right, products, plus_product, 16,
            0 s0, 1 s1, 2 s2, 3 s3, 4 s4, 5 s5, 6 s6, 7 s7,
            8 s8, 9 s9, 10 s10, 11 s11, 12 s12, 13 s13, 14 s14, 15 s15
        );
    } else {
        multiply_rows!(left, right, products, plus_product, 4, 0 s0, 1 s1, 2 s2, 3 s3);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{BandLayout, testing::clustered};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn bounds_are_below_the_distances_and_near_them(
            seed in any::<u64>(), count in 1_usize..60, width in 1_usize..70,
            spread in prop::sample::select(vec![0.0_f32, 1e-6, 1e-3, 1.0, 1e18, 1e-25]),
            metric in prop::sample::select(Metric::ALL),
            long in any::<bool>(), is_kept in any::<bool>(),
        ) {
            let width = if long { width * 10 } else { width };
            let matrix = clustered(seed, count, width, spread);
            let layout = BandLayout::new(width, width, width).unwrap();
            let memory = BandMemory::for_layout(&matrix, &layout, metric).remove(0);
            let mut pairs = BandPairs::new(&memory, &matrix, width);
            if !is_kept {
                pairs.kept = None;
            }
            let mut buffer = RowBuffer::default();
            for from in 0..count {
                let bounds = pairs.lower_bounds(from, &mut buffer).to_vec();
                prop_assert_eq!(bounds.len(), count);
                for (to, &bound) in bounds.iter().enumerate() {
                    let exact = pairs.exact(from, to);
                    prop_assert!(f64::from(bound) <= exact, "{} {} {}", metric, bound, exact);
                    // Where references are well apart, the bound says so; zero vectors have none.
                    let is_zero = from % 9 == 7 || to % 9 == 7;
                    if spread == 1.0 && exact > 1e-3 && !is_zero {
                        prop_assert!(f64::from(bound) > 0.9 * exact, "{} {}", bound, exact);
                    }
                }
            }
        }
    }
}

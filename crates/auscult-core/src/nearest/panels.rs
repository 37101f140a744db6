//! Copies whose products with each other bound the distances among references.

use auscult_kernels::{Isa, PANEL_LIMIT, PANEL_PAIRS, PairLane, has_fast_pairs, multiply_panels};
use multiversion::multiversion;

use super::{
    copies::{Copies, Line, PANEL, ROUNDING, Row},
    products::{Products, multiply},
    spare::{Buffers, Lent},
};

/// What the numbers of a copy are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// f32: close to the truth.
    Float,
    /// Twelve bits: half as many instructions where the processor multiplies them in pairs.
    Integer,
}

/// Bands from this many positions on gain by integers: with fewer, other work weighs more.
const WIDE: usize = 64;

impl Numbers {
    /// The faster ones for bands of `width` positions on this machine.
    pub(crate) fn fastest(width: usize) -> Self {
        if width >= WIDE && has_fast_pairs() { Self::Integer } else { Self::Float }
    }
}

/// Sixteen copies side by side.
#[derive(Debug)]
pub(crate) struct Panel<'a> {
    rows: Rows<'a>,
    /// What each copy's numbers are multiplied with.
    pub(crate) factors: Row,
    /// Squared length of each copy.
    pub(crate) squares: Row,
    /// How far each copy is from the truth at most; infinite where it says nothing.
    pub(crate) radii: Row,
}

#[derive(Debug)]
enum Rows<'a> {
    /// One a position.
    Float(Lent<'a, Line<f32>>),
    /// One a pair of positions.
    Integer(Lent<'a, PairLane>),
}

/// Positions of f32 that are multiplied before the sums are put aside: a chunk of all panels of a
/// few hundred references stays in the second cache, and short sums round less.
const CHUNK: usize = 256;

impl<'a> Panel<'a> {
    pub(crate) fn new(copies: &Copies<'_>, numbers: Numbers, buffers: &'a Buffers) -> Self {
        match numbers {
            Numbers::Float => {
                let mut rows = buffers.rows.lend();
                rows.extend_from_slice(copies.rows());
                let (squares, radii) = (copies.squares, copies.radii);
                Self { rows: Rows::Float(rows), factors: [1.0; PANEL], squares, radii }
            }
            Numbers::Integer => Self::of_integers(copies, buffers.pairs.lend()),
        }
    }

    fn of_integers(copies: &Copies<'_>, mut rows: Lent<'a, PairLane>) -> Self {
        let (largest, width) = (copies.largest, copies.rows().len());
        let factors = largest.map(|largest| largest / f32::from(PANEL_LIMIT));
        let inverses = largest.map(|largest| f32::from(PANEL_LIMIT) / largest);
        let (mut squares, mut errors) = ([0.0; PANEL], [0.0; PANEL]);
        rows.reserve_exact(width.div_ceil(2));
        round(copies, &inverses, &factors, &mut rows, &mut squares, &mut errors);
        // Where nothing is known, the copy says nothing.
        let (nothing, rows) = ([f32::INFINITY; PANEL], Rows::Integer(rows));
        let mut panel = Self { rows, factors, squares: [0.0; PANEL], radii: nothing };
        for lane in 0..PANEL {
            let factor = f64::from(factors[lane]);
            panel.squares[lane] = (squares[lane] * factor * factor) as f32;
            // The sum of errors was rounded once a position, each error with its number.
            let error = errors[lane].sqrt() * (1.0 + 2.0 * ROUNDING * (width + 2) as f32);
            let rounding = 2.0 * ROUNDING * panel.squares[lane].sqrt() * 1.001;
            // Squares of smaller errors would be lost; nothing real is that quiet or that loud.
            if (1e-12..1e12).contains(&largest[lane]) {
                panel.radii[lane] = copies.radii[lane] + error + rounding;
            }
        }
        panel
    }

    /// Chunks a product is computed in.
    pub(crate) fn chunks(&self) -> usize {
        match &self.rows {
            Rows::Float(rows) => rows.len().div_ceil(CHUNK),
            Rows::Integer(rows) => rows.len().div_ceil(PANEL_PAIRS),
        }
    }

    /// The most additions of f32 in one product.
    pub(crate) fn additions(&self) -> usize {
        match &self.rows {
            Rows::Float(rows) => CHUNK.min(rows.len()) + self.chunks(),
            Rows::Integer(_) => self.chunks(),
        }
    }

    /// Products of a chunk of these copies with those of two others, of the same numbers.
    pub(crate) fn multiply(&self, others: [&Panel<'_>; 2], chunk: usize, products: &mut Products) {
        fn part<T>(rows: &[T], size: usize, chunk: usize) -> &[T] {
            &rows[chunk * size..rows.len().min((chunk + 1) * size)]
        }
        match [&self.rows, &others[0].rows, &others[1].rows] {
            [Rows::Float(rows), Rows::Float(first), Rows::Float(second)] => {
                let part = |rows| part(rows, CHUNK, chunk);
                multiply(part(rows), [first, second].map(|rows| part(rows)), products);
            }
            [Rows::Integer(rows), Rows::Integer(first), Rows::Integer(second)] => {
                let part = |rows| part(rows, PANEL_PAIRS, chunk);
                let others = [first, second].map(|rows| part(rows));
                multiply_panels(Isa::best(), part(rows), others, products);
            }
            _ => debug_assert!(false, "panels of one band have the same numbers"),
        }
    }
}

/// Rounds to integers in pairs of positions; also sums their squares, and the squared errors.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2", "x86_64+avx2"))]
fn round(
    copies: &Copies<'_>,
    inverses: &Row,
    factors: &Row,
    rows: &mut Vec<PairLane>,
    squares: &mut [f64; PANEL],
    errors: &mut Row,
) {
    /// Adding it leaves the nearest integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // Few enough squares to be added in f32.
    for pairs in copies.pairs().chunks(16) {
        let mut sums = [0.0_f32; PANEL];
        rows.extend(pairs.iter().map(|[Line(left), Line(right)]| {
            let mut lanes = [0; PANEL];
            for lane in 0..PANEL {
                let [a, b] = [left[lane], right[lane]].map(|value| value * inverses[lane] + ROUND);
                let difference = left[lane] - (a - ROUND) * factors[lane];
                errors[lane] += difference * difference;
                let difference = right[lane] - (b - ROUND) * factors[lane];
                errors[lane] += difference * difference;
                let square = (a - ROUND) * (a - ROUND) + (b - ROUND) * (b - ROUND);
                sums[lane] += square;
                lanes[lane] = (a.to_bits() & 0xFFFF) | b.to_bits() << 16;
            }
            PairLane(lanes)
        }));
        for (square, &sum) in squares.iter_mut().zip(&sums) {
            *square += f64::from(sum);
        }
    }
}

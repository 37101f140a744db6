//! Centred copies of references, from which fast kernels bound distances.
//!
//! References are scaled by the metric's factor, and a common centre is taken away: cosine
//! distances of one machine's clips are tiny differences of long vectors, and around the centre the
//! differences are all that is left. A copy is rounded, but how far it is from the truth is known
//! (its radius), so a distance that is too long by the copy is too long. What may be short enough
//! is computed exactly, in f64, from the references themselves: results have the same bits as
//! without the copies.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use std::ops::Range;

use auscult_kernels::{Isa, turn};
use multiversion::multiversion;

use super::spare::{Lent, Spare};
use crate::{distance::Scaled, parallel};

/// References side by side.
pub(crate) const PANEL: usize = 16;

/// One number of each reference of a panel.
pub(crate) type Row = [f32; PANEL];

/// A row that fills one line of the cache: a vector load that touches two lines takes twice as long.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Line<T>(pub(crate) [T; PANEL]);

/// Half the spacing of f32 at 1.
pub(crate) const ROUNDING: f32 = f32::EPSILON / 2.0;

/// Squares of longer vectors may overflow in f32; their copies say nothing.
const LONGEST_SQUARED: f64 = 1e30;

/// What is taken away from every copy.
#[derive(Debug, Clone)]
pub(crate) struct Centre {
    values: Vec<f32>,
    length: f64,
}

/// References that set the centre; any centre is right, a middle one makes short copies.
const CENTRE_OF: usize = 64;

impl Centre {
    pub(crate) fn new<'a>(
        width: usize,
        count: usize,
        reference: &impl Fn(usize) -> Scaled<'a>,
    ) -> Self {
        let step = count.div_ceil(CENTRE_OF).max(1);
        let mut sums = vec![0.0_f64; width];
        for index in (0..count).step_by(step) {
            let Scaled { vector, factor } = reference(index);
            add_scaled(vector, factor, &mut sums);
        }
        let share = 1.0 / count.div_ceil(step).max(1) as f64;
        let values: Vec<f32> = sums.iter().map(|sum| (sum * share) as f32).collect();
        let length = values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        Self { values, length }
    }

    /// Length of every copy.
    pub(crate) fn width(&self) -> usize {
        self.values.len()
    }

    /// Writes the scaled vector without the centre, rounded to f32, from position `start` on.
    pub(crate) fn copy(&self, from: Scaled<'_>, start: usize, copy: &mut [f32]) -> CopyFacts {
        let end = start + copy.len();
        let (vector, centre) = (&from.vector[start..end], &self.values[start..end]);
        let square = copy_centred(vector, from.factor, centre, copy);
        // A zero vector is not where its copy is: its distances are set, not measured.
        CopyFacts { square: if from.factor == 0.0 { f64::INFINITY } else { square } }
    }

    /// How far a copy is from the truth at most; infinite where it says nothing.
    pub(crate) fn radius(&self, facts: CopyFacts) -> f32 {
        // Squares may have been added in f32, a few dozen at a time.
        let length = 1.0001 * facts.square.sqrt();
        // Each number was rounded by no more than its share; rounding in f64 is far below the rest.
        let rounding = 1.001 * f64::from(ROUNDING) * length;
        let slack = 1e-13 * (length + 2.0 * self.length) + 1e-42;
        if facts.square < LONGEST_SQUARED {
            (rounding + slack) as f32 * 1.001
        } else {
            f32::INFINITY
        }
    }
}

/// What is known about a copy, or about a part of one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CopyFacts {
    /// Squared length.
    square: f64,
}

impl CopyFacts {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { square: self.square + other.square }
    }
}

/// The copies of up to sixteen references side by side; reuse it from panel to panel.
#[derive(Debug)]
pub(crate) struct Copies<'a> {
    /// One a position, and zeros up to a multiple of [`TILE`].
    rows: Lent<'a, Line<f32>>,
    width: usize,
    /// Squared length of each copy.
    pub(crate) squares: Row,
    /// The largest magnitude in each copy.
    pub(crate) largest: Row,
    /// How far each copy is from the truth at most; infinite where it says nothing.
    pub(crate) radii: Row,
}

/// Maps the copies of every panel of `count` references.
pub(crate) fn map_panels<'a, T: Send>(
    width: usize,
    count: usize,
    spare: &Spare<Line<f32>>,
    reference: impl Fn(usize) -> Scaled<'a> + Sync + Send,
    work: impl Fn(&Copies<'_>) -> T + Sync + Send,
) -> Vec<T> {
    let centre = Centre::new(width, count, &reference);
    parallel::map(
        count.div_ceil(PANEL),
        || Copies::new(spare),
        |copies, panel| {
            let first = panel * PANEL;
            copies.set(&centre, first..count.min(first + PANEL), &reference);
            work(copies)
        },
    )
}

impl<'buffers> Copies<'buffers> {
    /// No copies yet.
    pub(crate) fn new(spare: &'buffers Spare<Line<f32>>) -> Self {
        let nothing = [0.0; PANEL];
        let (squares, largest, radii) = (nothing, nothing, nothing);
        Self { rows: spare.lend(), width: 0, squares, largest, radii }
    }

    /// Copies the references of one panel.
    pub(crate) fn set<'a>(
        &mut self,
        centre: &Centre,
        references: Range<usize>,
        reference: &impl Fn(usize) -> Scaled<'a>,
    ) {
        self.width = centre.width();
        self.rows.resize(self.width.next_multiple_of(TILE), Line([0.0; PANEL]));
        let (count, first) = (references.len(), references.start);
        let from: [Scaled<'_>; PANEL] =
            std::array::from_fn(|lane| match reference(first + lane.min(count - 1)) {
                found if lane < count => found,
                // Beyond the last one there is nothing.
                Scaled { vector, .. } => Scaled { vector, factor: 0.0 },
            });
        self.largest = [0.0; PANEL];
        let mut squares = [0.0; PANEL];
        copy_side_by_side(&from, &centre.values, &mut self.rows, &mut self.largest, &mut squares);
        for lane in 0..PANEL {
            // A zero vector is not where its copy is: its distances are set, not measured.
            let is_there = from[lane].factor != 0.0 && SQUARABLE.contains(&self.largest[lane]);
            let facts = CopyFacts { square: if is_there { squares[lane] } else { f64::INFINITY } };
            self.squares[lane] = facts.square as f32;
            self.radii[lane] = centre.radius(facts);
        }
    }

    /// The numbers of each position side by side.
    pub(crate) fn rows(&self) -> &[Line<f32>] {
        &self.rows[..self.width]
    }

    /// The numbers of each pair of positions; beside the last one of an odd number are zeros.
    #[inline(always)]
    pub(crate) fn pairs(&self) -> &[[Line<f32>; 2]] {
        self.rows[..self.width.next_multiple_of(2)].as_chunks().0
    }
}

/// Largest magnitudes whose squares neither vanish nor overflow in f32; other copies say nothing.
const SQUARABLE: Range<f32> = 1e-15..1e15;

/// Positions that are copied and turned together: they stay in the nearest cache.
const TILE: usize = 64;

/// Writes every scaled vector without the centre, rounded to f32; finds the largest magnitudes and
/// the squared lengths.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn copy_side_by_side(
    from: &[Scaled<'_>; PANEL],
    centre: &[f32],
    rows: &mut [Line<f32>],
    largest: &mut Row,
    squares: &mut [f64; PANEL],
) {
    let (mut tile, mut turned) = ([[0.0_f32; TILE]; PANEL], [[0.0; PANEL]; TILE]);
    for (number, rows) in rows.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
        let start = number * TILE;
        let end = centre.len().min(start + TILE);
        for (tile, &Scaled { vector, factor }) in tile.iter_mut().zip(from) {
            tile[end - start..].fill(0.0);
            for ((copy, &value), &centre) in
                tile.iter_mut().zip(&vector[start..end]).zip(&centre[start..end])
            {
                *copy = (f64::from(value) * factor - f64::from(centre)) as f32;
            }
        }
        turn(Isa::best(), tile.as_flattened(), TILE, &mut turned);
        // Few enough to be added in f32.
        let mut sums = [0.0_f32; PANEL];
        for (Line(row), turned) in rows.iter_mut().zip(&turned) {
            for lane in 0..PANEL {
                let magnitude = turned[lane].abs();
                largest[lane] = if magnitude > largest[lane] { magnitude } else { largest[lane] };
                sums[lane] += turned[lane] * turned[lane];
            }
            *row = *turned;
        }
        for (square, &sum) in squares.iter_mut().zip(&sums) {
            *square += f64::from(sum);
        }
    }
}

/// Adds a vector times its factor.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
pub(crate) fn add_scaled(vector: &[f32], factor: f64, sums: &mut [f64]) {
    for (sum, &value) in sums.iter_mut().zip(vector) {
        *sum += f64::from(value) * factor;
    }
}

/// Returns the squared length of the copy.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn copy_centred(vector: &[f32], factor: f64, centre: &[f32], copy: &mut [f32]) -> f64 {
    for ((copy, &value), &centre) in copy.iter_mut().zip(vector).zip(centre) {
        *copy = (f64::from(value) * factor - f64::from(centre)) as f32;
    }
    let (chunks, rest) = copy.as_chunks::<8>();
    let mut squares = [0.0_f64; 8];
    for chunk in chunks {
        for at in 0..8 {
            squares[at] += f64::from(chunk[at]) * f64::from(chunk[at]);
        }
    }
    let rest: f64 = rest.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    squares.iter().sum::<f64>() + rest
}

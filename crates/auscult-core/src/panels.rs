//! Copies of a band that fast kernels can bound distances with.
//!
//! References stand in panels of sixteen side by side, scaled by the metric's factor and with a
//! common centre taken away: cosine distances of one machine's clips are tiny differences of long
//! vectors, and around the centre the differences are all that is left. A copy is rounded, but how
//! far it is from the truth is known (its radius), so a distance that is too long by the copy is
//! too long. What may be short enough is computed exactly, in f64, from the references themselves:
//! results have the same bits as without the copies.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use std::ops::Range;

use multiversion::{multiversion, target::target_cfg_f};

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
struct Centre {
    values: Vec<f32>,
    length: f64,
}

/// A centred copy of one band in f32.
#[derive(Debug, Clone)]
pub(crate) struct Panels {
    width: usize,
    centre: Centre,
    /// One a panel, each with one row a position.
    rows: Vec<Vec<Line<f32>>>,
    /// Squared length of each copy.
    squares: Vec<Row>,
    /// How far each copy is from the truth at most; infinite where it says nothing.
    radii: Vec<Row>,
}

/// References that set the centre; any centre is right, a middle one makes short copies.
const CENTRE_OF: usize = 64;

impl Centre {
    fn new<'a>(width: usize, count: usize, reference: &impl Fn(usize) -> Scaled<'a>) -> Self {
        let step = count.div_ceil(CENTRE_OF).max(1);
        let mut sums = vec![0.0_f64; width];
        for index in (0..count).step_by(step) {
            let Scaled { vector, factor } = reference(index);
            for (sum, &value) in sums.iter_mut().zip(vector) {
                *sum += f64::from(value) * factor;
            }
        }
        let share = 1.0 / count.div_ceil(step).max(1) as f64;
        let values: Vec<f32> = sums.iter().map(|sum| (sum * share) as f32).collect();
        let length = values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        Self { values, length }
    }
}

impl Panels {
    /// The copy of `count` references.
    pub(crate) fn new<'a>(
        width: usize,
        count: usize,
        reference: impl Fn(usize) -> Scaled<'a> + Sync + Send,
    ) -> Self {
        let centre = Centre::new(width, count, &reference);
        let panels = parallel::map(
            count.div_ceil(PANEL),
            || (),
            |(), panel| {
                let first = panel * PANEL;
                centre.copy_panel(first..count.min(first + PANEL), &reference)
            },
        );
        let (rows, (squares, radii)) = panels.into_iter().unzip();
        Self { width, centre, rows, squares, radii }
    }

    pub(crate) fn count(&self) -> usize {
        self.squares.len()
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn panel(&self, index: usize) -> &[Line<f32>] {
        &self.rows[index]
    }

    pub(crate) fn squares(&self) -> &[Row] {
        &self.squares
    }

    pub(crate) fn radii(&self) -> &[Row] {
        &self.radii
    }
}

/// What is known about a copy, or about a part of one.
#[derive(Debug, Clone, Copy, Default)]
struct CopyFacts {
    /// Squared length.
    square: f64,
}

impl CopyFacts {
    fn plus(self, other: Self) -> Self {
        Self { square: self.square + other.square }
    }

    /// Each number was rounded by no more than its share; rounding in f64 is far below the rest.
    fn radius(self, centre_length: f64) -> f32 {
        let length = self.square.sqrt();
        let rounding = 1.001 * f64::from(ROUNDING) * length;
        let slack = 1e-13 * (length + 2.0 * centre_length) + 1e-42;
        if self.square < LONGEST_SQUARED {
            (rounding + slack) as f32 * 1.001
        } else {
            f32::INFINITY
        }
    }
}

impl Centre {
    /// The copies of up to sixteen references, their squared lengths and radii. Tile by tile, so that what is turned stays in the nearest cache.
    fn copy_panel<'a>(
        &self,
        references: Range<usize>,
        reference: &impl Fn(usize) -> Scaled<'a>,
    ) -> (Vec<Line<f32>>, (Row, Row)) {
        let width = self.values.len();
        let mut rows = Vec::with_capacity(width);
        let mut tile = [[0.0; TILE]; PANEL];
        let mut facts = [CopyFacts::default(); PANEL];
        for start in (0..width).step_by(TILE) {
            let len = TILE.min(width - start);
            for ((index, tile), facts) in references.clone().zip(&mut tile).zip(&mut facts) {
                *facts = facts.plus(self.copy(reference(index), start, &mut tile[..len]));
            }
            rows.extend(turned(&tile)[..len].iter().copied().map(Line));
        }
        let (mut squares, mut radii) = ([0.0; PANEL], [f32::INFINITY; PANEL]);
        for (lane, facts) in facts.iter().enumerate().take(references.len()) {
            squares[lane] = facts.square as f32;
            radii[lane] = facts.radius(self.length);
        }
        (rows, (squares, radii))
    }

    /// Writes the scaled vector without the centre, rounded to f32, from position `start` on.
    fn copy(&self, from: Scaled<'_>, start: usize, copy: &mut [f32]) -> CopyFacts {
        let end = start + copy.len();
        let (vector, centre) = (&from.vector[start..end], &self.values[start..end]);
        let square = copy_centred(vector, from.factor, centre, copy);
        // A zero vector is not where its copy is: its distances are set, not measured.
        CopyFacts { square: if from.factor == 0.0 { f64::INFINITY } else { square } }
    }
}

/// Positions that are turned together.
const TILE: usize = 64;

/// The numbers of one position side by side, four by four: compilers make shuffles of that.
fn turned(tile: &[[f32; TILE]; PANEL]) -> [Row; TILE] {
    let mut rows = [[0.0; PANEL]; TILE];
    for (block, lanes) in tile.as_chunks::<4>().0.iter().enumerate() {
        let [a, b, c, d] = lanes.each_ref().map(|lane| lane.as_chunks::<4>().0);
        for (at, rows) in rows.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let (a, b, c, d) = (a[at], b[at], c[at], d[at]);
            for (position, row) in rows.iter_mut().enumerate() {
                let four = [a[position], b[position], c[position], d[position]];
                row.as_chunks_mut::<4>().0[block] = four;
            }
        }
    }
    rows
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

/// A copy in half the memory, for comparing one query with all references.
///
/// Numbers are the upper halves of f32 (bfloat16), rounded to nearest.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    width: usize,
    centre: Centre,
    /// Panels x pairs of positions, the first of a pair in the lower half.
    rows: Vec<Line<u32>>,
    radii: Vec<Row>,
}

/// Positions of a query that are compared before it is asked whether that is enough.
const CHUNK: usize = 512;

/// Panels that share the work of preparing a query's chunk.
pub(crate) const GROUP: usize = 8;

/// One number for each reference of up to [`GROUP`] panels.
pub(crate) type GroupRows = [Row; GROUP];

impl Outline {
    /// The copy of a copy.
    pub(crate) fn of(panels: Panels) -> Self {
        let Panels { width, centre, rows, radii, .. } = panels;
        // A panel is gone as soon as its outline is made: both of all would take half as much again.
        let panels = parallel::map_items(rows, |rows| shorten(&rows));
        let (rows, errors): (Vec<_>, Vec<Row>) = panels.into_iter().unzip();
        let mut outline = Self { width, centre, rows: rows.concat(), radii };
        for (radii, errors) in outline.radii.iter_mut().zip(errors) {
            for (radius, error) in radii.iter_mut().zip(errors) {
                // The sum was rounded once a position.
                *radius += error.sqrt() * (1.0 + 2.0 * ROUNDING * (width + 2) as f32);
            }
        }
        outline
    }

    /// How many panels there are.
    pub(crate) fn count(&self) -> usize {
        self.radii.len()
    }

    /// How far each copy is from the truth at most.
    pub(crate) fn radii(&self) -> &[Row] {
        &self.radii
    }

    /// By how much rounding may change a distance, as a share of it.
    pub(crate) fn error_share(&self) -> f32 {
        (self.width + 16) as f32 * ROUNDING
    }

    /// How far a query's own copy is from it at most.
    pub(crate) fn query_radius(&self, query: Scaled<'_>) -> f32 {
        let (mut buffer, mut facts) = ([0.0; CHUNK], CopyFacts::default());
        for start in (0..self.width).step_by(CHUNK) {
            let buffer = &mut buffer[..CHUNK.min(self.width - start)];
            facts = facts.plus(self.centre.copy(query, start, buffer));
        }
        facts.radius(self.centre.length)
    }

    /// Squared distances of the copies in the panels from `first` on. A panel whose every sum has
    /// passed `enough` may be left unfinished.
    pub(crate) fn squares(&self, query: Scaled<'_>, first: usize, enough: &GroupRows) -> GroupRows {
        let count = GROUP.min(self.count() - first);
        let (mut buffer, mut squares) = ([0.0; CHUNK], [[0.0; PANEL]; GROUP]);
        let mut is_open = [true; GROUP];
        for start in (0..self.width).step_by(CHUNK) {
            let len = CHUNK.min(self.width - start);
            self.centre.copy(query, start, &mut buffer[..len]);
            // The position beside the last one is zero in all copies.
            buffer[len..].fill(0.0);
            let buffer = &buffer.as_chunks::<2>().0[..len.div_ceil(2)];
            for panel in 0..count {
                if is_open[panel] {
                    let at = (first + panel) * self.width.div_ceil(2) + start / 2;
                    let rows = &self.rows[at..at + buffer.len()];
                    add_squares(buffer, rows, &mut squares[panel]);
                    let passed = |(square, enough): (&f32, &f32)| square >= enough;
                    is_open[panel] = !squares[panel].iter().zip(&enough[panel]).all(passed);
                }
            }
        }
        squares
    }
}

/// Rounds to the upper half of f32; also returns the squared errors.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn shorten(rows: &[Line<f32>]) -> (Vec<Line<u32>>, Row) {
    #[inline(always)]
    fn shorten_one(value: f32, error: &mut f32) -> u32 {
        // Half a step up, then cut off.
        let bits = value.to_bits().wrapping_add(0x8000) & 0xFFFF_0000;
        let difference = value - f32::from_bits(bits);
        *error += difference * difference;
        bits
    }
    let mut short = Vec::with_capacity(rows.len().div_ceil(2));
    let mut errors = [0.0; PANEL];
    for rows in rows.chunks(2) {
        let zeros = Line([0.0; PANEL]);
        let (Line(left), Line(right)) = (&rows[0], rows.get(1).unwrap_or(&zeros));
        let mut pair = [0; PANEL];
        for lane in 0..PANEL {
            let low = shorten_one(left[lane], &mut errors[lane]) >> 16;
            pair[lane] = low | shorten_one(right[lane], &mut errors[lane]);
        }
        short.push(Line(pair));
    }
    (short, errors)
}

/// Adds the squared differences between a query and the copies of a panel.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn add_squares(query: &[[f32; 2]], rows: &[Line<u32>], squares: &mut Row) {
    // Without the instruction a fused product is a slow function call.
    let is_fused = target_cfg_f!(target_feature = "fma");
    let plus_square = |sum: f32, difference: f32| {
        if is_fused { difference.mul_add(difference, sum) } else { sum + difference * difference }
    };
    // Four sums: one alone would wait for itself.
    let [mut a, mut b, mut c, mut d] = [[0.0; PANEL]; 4];
    let (queries, query_rest) = query.as_chunks::<2>();
    let (twos, rest) = rows.as_chunks::<2>();
    for (query, rows) in queries.iter().zip(twos) {
        for lane in 0..PANEL {
            let [first, second] = [rows[0].0[lane], rows[1].0[lane]];
            a[lane] = plus_square(a[lane], query[0][0] - f32::from_bits(first << 16));
            b[lane] = plus_square(b[lane], query[0][1] - f32::from_bits(first & 0xFFFF_0000));
            c[lane] = plus_square(c[lane], query[1][0] - f32::from_bits(second << 16));
            d[lane] = plus_square(d[lane], query[1][1] - f32::from_bits(second & 0xFFFF_0000));
        }
    }
    for (query, Line(row)) in query_rest.iter().zip(rest) {
        for lane in 0..PANEL {
            a[lane] = plus_square(a[lane], query[0] - f32::from_bits(row[lane] << 16));
            b[lane] = plus_square(b[lane], query[1] - f32::from_bits(row[lane] & 0xFFFF_0000));
        }
    }
    for lane in 0..PANEL {
        squares[lane] += (a[lane] + b[lane]) + (c[lane] + d[lane]);
    }
}

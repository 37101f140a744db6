//! Copies of a band that fast kernels can bound distances with.
//!
//! References stand in panels of sixteen side by side, scaled by the metric's factor and with a
//! common centre taken away: cosine distances of one machine's clips are tiny differences of long
//! vectors, and around the centre the differences are all that is left. A copy is rounded, but how
//! far it is from the truth is known (its radius), so a distance that is too long by the copy is
//! too long. What may be short enough is computed exactly, in f64, from the references themselves:
//! results have the same bits as without the copies.

use multiversion::multiversion;

use crate::distance::Scaled;

/// References side by side.
pub(crate) const PANEL: usize = 16;

/// One number of each reference of a panel.
pub(crate) type Row = [f32; PANEL];

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
    /// Panels x width.
    rows: Vec<Row>,
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
        reference: impl Fn(usize) -> Scaled<'a>,
    ) -> Self {
        let panels = count.div_ceil(PANEL);
        let mut copy = Self {
            width,
            centre: Centre::new(width, count, &reference),
            rows: vec![[0.0; PANEL]; panels * width],
            squares: vec![[0.0; PANEL]; panels],
            radii: vec![[f32::INFINITY; PANEL]; panels],
        };
        let mut values = vec![0.0; width];
        for index in 0..count {
            let (panel, lane) = (index / PANEL, index % PANEL);
            let facts = copy.centre.copy(reference(index), 0, &mut values);
            let rows = &mut copy.rows[panel * width..(panel + 1) * width];
            for (row, &value) in rows.iter_mut().zip(&values) {
                row[lane] = value;
            }
            copy.squares[panel][lane] = facts.square as f32;
            copy.radii[panel][lane] = facts.radius();
        }
        copy
    }

    pub(crate) fn count(&self) -> usize {
        self.squares.len()
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn panel(&self, index: usize) -> &[Row] {
        &self.rows[index * self.width..(index + 1) * self.width]
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
    square: f64,
    squared_error: f64,
    /// What rounding in f64 may have added.
    slack: f64,
}

impl CopyFacts {
    fn plus(self, other: Self) -> Self {
        Self {
            square: self.square + other.square,
            squared_error: self.squared_error + other.squared_error,
            slack: self.slack + other.slack,
        }
    }

    fn radius(self) -> f32 {
        let radius = (self.squared_error.sqrt() + self.slack) * 1.000_001;
        if self.square < LONGEST_SQUARED { radius as f32 } else { f32::INFINITY }
    }
}

impl Centre {
    /// Writes the scaled vector without the centre, rounded to f32, from position `start` on.
    fn copy(&self, from: Scaled<'_>, start: usize, copy: &mut [f32]) -> CopyFacts {
        let end = start + copy.len();
        let (vector, centre) = (&from.vector[start..end], &self.values[start..end]);
        let (square, squared_error) = copy_centred(vector, from.factor, centre, copy);
        // A zero vector is not where its copy is: its distances are set, not measured.
        let square = if from.factor == 0.0 { f64::INFINITY } else { square };
        CopyFacts { square, squared_error, slack: 1e-13 * (square.sqrt() + 2.0 * self.length) }
    }
}

/// Returns the squared lengths of the copy and of its error.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn copy_centred(vector: &[f32], factor: f64, centre: &[f32], copy: &mut [f32]) -> (f64, f64) {
    let (mut squares, mut errors) = ([0.0_f64; 8], [0.0_f64; 8]);
    let round = |value: f32, centre: f32| {
        let centred = f64::from(value) * factor - f64::from(centre);
        (centred as f32, centred)
    };
    let (vectors, vector_rest) = vector.as_chunks::<8>();
    let (centres, centre_rest) = centre.as_chunks::<8>();
    let (copies, copy_rest) = copy.as_chunks_mut::<8>();
    for ((vector, centre), copy) in vectors.iter().zip(centres).zip(copies) {
        for at in 0..8 {
            let (rounded, exact) = round(vector[at], centre[at]);
            copy[at] = rounded;
            squares[at] += exact * exact;
            errors[at] += (exact - f64::from(rounded)) * (exact - f64::from(rounded));
        }
    }
    for ((&value, &centre), copy) in vector_rest.iter().zip(centre_rest).zip(copy_rest) {
        let (rounded, exact) = round(value, centre);
        *copy = rounded;
        squares[0] += exact * exact;
        errors[0] += (exact - f64::from(rounded)) * (exact - f64::from(rounded));
    }
    (squares.iter().sum(), errors.iter().sum())
}

/// A copy in half the memory, for comparing one query with all references.
///
/// Numbers are the upper halves of f32 (bfloat16), rounded to nearest.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    width: usize,
    centre: Centre,
    /// Panels x width.
    rows: Vec<[u16; PANEL]>,
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
        let Panels { width, centre, rows: exact, mut radii, .. } = panels;
        let mut rows = vec![[0_u16; PANEL]; exact.len()];
        for (panel, radii) in radii.iter_mut().enumerate() {
            let range = panel * width..(panel + 1) * width;
            let errors = shorten(&exact[range.clone()], &mut rows[range]);
            for (radius, error) in radii.iter_mut().zip(errors) {
                // The sum was rounded once a position.
                *radius += error.sqrt() * (1.0 + 2.0 * ROUNDING * (width + 2) as f32);
            }
        }
        Self { width, centre, rows, radii }
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
        facts.radius()
    }

    /// Squared distances of the copies in the panels from `first` on. A panel whose every sum has
    /// passed `enough` may be left unfinished.
    pub(crate) fn squares(&self, query: Scaled<'_>, first: usize, enough: &GroupRows) -> GroupRows {
        let count = GROUP.min(self.count() - first);
        let (mut buffer, mut squares) = ([0.0; CHUNK], [[0.0; PANEL]; GROUP]);
        let mut is_open = [true; GROUP];
        for start in (0..self.width).step_by(CHUNK) {
            let buffer = &mut buffer[..CHUNK.min(self.width - start)];
            self.centre.copy(query, start, buffer);
            for panel in 0..count {
                if is_open[panel] {
                    let at = (first + panel) * self.width + start;
                    add_squares(buffer, &self.rows[at..at + buffer.len()], &mut squares[panel]);
                    let passed = |(square, enough): (&f32, &f32)| square >= enough;
                    is_open[panel] = !squares[panel].iter().zip(&enough[panel]).all(passed);
                }
            }
        }
        squares
    }
}

/// Rounds to the upper half of f32 and returns the squared errors.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn shorten(rows: &[Row], short: &mut [[u16; PANEL]]) -> Row {
    let mut errors = [0.0; PANEL];
    for (row, short) in rows.iter().zip(short) {
        for lane in 0..PANEL {
            // Half a step up, then cut off.
            let bits = row[lane].to_bits().wrapping_add(0x8000) >> 16;
            short[lane] = bits as u16;
            let error = row[lane] - f32::from_bits(bits << 16);
            errors[lane] += error * error;
        }
    }
    errors
}

/// Adds the squared differences between a query and the copies of a panel.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2", "x86_64+avx2"))]
fn add_squares(query: &[f32], rows: &[[u16; PANEL]], squares: &mut Row) {
    #[inline(always)]
    fn add(query: f32, row: &[u16; PANEL], sums: &mut Row) {
        for lane in 0..PANEL {
            let difference = query - f32::from_bits(u32::from(row[lane]) << 16);
            sums[lane] += difference * difference;
        }
    }
    // Four sums: one alone would wait for itself.
    let [mut a, mut b, mut c, mut d] = [[0.0; PANEL]; 4];
    let (queries, query_rest) = query.as_chunks::<4>();
    let (fours, rest) = rows.as_chunks::<4>();
    for (query, rows) in queries.iter().zip(fours) {
        add(query[0], &rows[0], &mut a);
        add(query[1], &rows[1], &mut b);
        add(query[2], &rows[2], &mut c);
        add(query[3], &rows[3], &mut d);
    }
    for (&query, row) in query_rest.iter().zip(rest) {
        add(query, row, &mut a);
    }
    for lane in 0..PANEL {
        squares[lane] += (a[lane] + b[lane]) + (c[lane] + d[lane]);
    }
}

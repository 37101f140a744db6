//! Copies in half the memory, for comparing one query with all references.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use multiversion::{multiversion, target::target_cfg_f};

use super::{
    copies::{Centre, Copies, CopyFacts, Line, PANEL, ROUNDING, Row},
    spare::Spare,
};
use crate::distance::Scaled;

/// Copies of all references of one band.
///
/// Numbers are the upper halves of f32 (bfloat16), rounded to nearest.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    centre: Centre,
    /// Some panels in one piece of memory, each with a row a pair of positions, the first of a pair
    /// in the lower half.
    blocks: Vec<Vec<Line<u32>>>,
    panels_a_block: usize,
    radii: Vec<Row>,
}

/// Rows that lie in one piece of memory at least, 32 kB: panels of narrow bands are read one after
/// the other.
const BLOCK: usize = 512;

/// Positions of a query that are compared before it is asked whether that is enough.
const CHUNK: usize = 512;

/// Pairs of positions that are compared at once; panels are filled up with zeros.
const AT_ONCE: usize = 2;

/// Panels that share the work of preparing a query's chunk.
pub(crate) const GROUP: usize = 8;

/// One number for each reference of up to [`GROUP`] panels.
pub(crate) type GroupRows = [Row; GROUP];

impl Outline {
    /// The outline of `count` references. On one thread: whoever scores first makes it while others
    /// wait, and a thread that waits for its own part must not begin to score.
    pub(crate) fn of<'a>(
        width: usize,
        count: usize,
        reference: impl Fn(usize) -> Scaled<'a>,
    ) -> Self {
        let centre = Centre::new(width, count, &reference);
        let (panels, pairs) = (count.div_ceil(PANEL), pairs_of(width));
        let panels_a_block = (BLOCK / pairs.max(1)).max(1);
        let (spare, mut blocks) = (Spare::default(), Vec::new());
        let (mut copies, mut radii) = (Copies::new(&spare), Vec::with_capacity(panels));
        for first in (0..panels).step_by(panels_a_block) {
            let panels = first..panels.min(first + panels_a_block);
            let mut rows = Vec::with_capacity(panels.len() * pairs);
            for panel in panels {
                let first = panel * PANEL;
                copies.set(&centre, first..count.min(first + PANEL), &reference);
                let errors = shorten(&copies, &mut rows);
                rows.resize(rows.len().next_multiple_of(AT_ONCE), Line([0; PANEL]));
                radii.push(std::array::from_fn(|lane| {
                    // The sum was rounded once a position.
                    let error: f32 = errors[lane];
                    let rounding = 1.0 + 2.0 * ROUNDING * (width + 2) as f32;
                    copies.radii[lane] + error.sqrt() * rounding
                }));
            }
            blocks.push(rows);
        }
        Self { centre, blocks, panels_a_block, radii }
    }

    /// How many panels there are.
    pub(crate) fn count(&self) -> usize {
        self.radii.len()
    }

    fn panel(&self, index: usize) -> &[Line<u32>] {
        let start = index % self.panels_a_block * pairs_of(self.centre.width());
        &self.blocks[index / self.panels_a_block][start..]
    }

    /// How far each copy is from the truth at most.
    pub(crate) fn radii(&self) -> &[Row] {
        &self.radii
    }

    /// By how much rounding may change a distance, as a share of it.
    pub(crate) fn error_share(&self) -> f32 {
        (self.centre.width() + 16) as f32 * ROUNDING
    }

    /// A query's own copy.
    pub(crate) fn copy_of<'a>(&'a self, query: Scaled<'a>) -> QueryCopy<'a> {
        let (centre, values) = (&self.centre, [0.0; CHUNK]);
        let mut copy = QueryCopy { query, centre, radius: f32::INFINITY, start: 0, values };
        // From the end, so that the first chunk is there when it is asked for.
        let starts = (0..centre.width()).step_by(CHUNK).rev();
        let facts = starts.fold(CopyFacts::default(), |facts, start| facts.plus(copy.set(start)));
        copy.radius = centre.radius(facts);
        copy
    }

    /// Squared distances of the copies in the panels from `first` on. A panel whose every sum has
    /// passed what is `enough` may be left unfinished; that is not asked of bands of one chunk.
    pub(crate) fn squares(
        &self,
        query: &mut QueryCopy<'_>,
        first: usize,
        enough: impl FnOnce() -> GroupRows,
    ) -> GroupRows {
        let count = GROUP.min(self.count() - first);
        let mut squares = [[0.0; PANEL]; GROUP];
        let mut panels: [&[Line<u32>]; GROUP] =
            std::array::from_fn(|at| if at < count { self.panel(first + at) } else { &[] });
        let width = self.centre.width();
        let enough = if width > CHUNK { Some(enough()) } else { None };
        for start in (0..width).step_by(CHUNK) {
            add_squares(query.chunk(start), &panels, &mut squares);
            let Some(enough) = &enough else { break };
            for ((rows, squares), enough) in panels.iter_mut().zip(&squares).zip(enough) {
                let passed = |(square, enough): (&f32, &f32)| square >= enough;
                let is_done = squares.iter().zip(enough).all(passed);
                *rows = if is_done { &[] } else { rows.get(CHUNK / 2..).unwrap_or_default() };
            }
        }
        squares
    }
}

/// Rows of a panel.
fn pairs_of(width: usize) -> usize {
    width.div_ceil(2).next_multiple_of(AT_ONCE)
}

/// A query scaled and centred as the references are, chunk by chunk.
#[derive(Debug)]
pub(crate) struct QueryCopy<'a> {
    query: Scaled<'a>,
    centre: &'a Centre,
    /// How far it is from the query at most.
    pub(crate) radius: f32,
    start: usize,
    values: [f32; CHUNK],
}

impl QueryCopy<'_> {
    fn set(&mut self, start: usize) -> CopyFacts {
        let len = CHUNK.min(self.centre.width() - start);
        self.start = start;
        // Positions beyond the last one are zero in all copies.
        self.values[len..].fill(0.0);
        self.centre.copy(self.query, start, &mut self.values[..len])
    }

    /// The pairs of positions from `start` on.
    fn chunk(&mut self, start: usize) -> &[[[f32; 2]; AT_ONCE]] {
        if start != self.start {
            self.set(start);
        }
        let pairs = pairs_of(CHUNK.min(self.centre.width() - start));
        &self.values.as_chunks().0.as_chunks().0[..pairs / AT_ONCE]
    }
}

/// Rounds to the upper half of f32, in pairs of positions; returns the squared errors.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn shorten(copies: &Copies<'_>, rows: &mut Vec<Line<u32>>) -> Row {
    #[inline(always)]
    fn shorten_one(value: f32, error: &mut f32) -> u32 {
        // Half a step up, then cut off.
        let bits = value.to_bits().wrapping_add(0x8000) & 0xFFFF_0000;
        let difference = value - f32::from_bits(bits);
        *error += difference * difference;
        bits
    }
    let mut errors = [0.0; PANEL];
    rows.extend(copies.pairs().iter().map(|[Line(left), Line(right)]| {
        let mut pair = [0; PANEL];
        for lane in 0..PANEL {
            let low = shorten_one(left[lane], &mut errors[lane]) >> 16;
            pair[lane] = low | shorten_one(right[lane], &mut errors[lane]);
        }
        Line(pair)
    }));
    errors
}

/// Adds the squared differences between a query and the copies of some panels.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn add_squares(
    query: &[[[f32; 2]; AT_ONCE]],
    panels: &[&[Line<u32>]; GROUP],
    squares: &mut GroupRows,
) {
    // Without the instruction a fused product is a slow function call.
    let is_fused = target_cfg_f!(target_feature = "fma");
    let plus_square = |sum: f32, difference: f32| {
        if is_fused { difference.mul_add(difference, sum) } else { sum + difference * difference }
    };
    for (rows, squares) in panels.iter().zip(squares) {
        // Four sums: one alone would wait for itself.
        let [mut a, mut b, mut c, mut d] = [[0.0; PANEL]; 4];
        for (query, rows) in query.iter().zip(rows.as_chunks::<AT_ONCE>().0) {
            for lane in 0..PANEL {
                let [first, second] = [rows[0].0[lane], rows[1].0[lane]];
                a[lane] = plus_square(a[lane], query[0][0] - f32::from_bits(first << 16));
                b[lane] = plus_square(b[lane], query[0][1] - f32::from_bits(first & 0xFFFF_0000));
                c[lane] = plus_square(c[lane], query[1][0] - f32::from_bits(second << 16));
                d[lane] = plus_square(d[lane], query[1][1] - f32::from_bits(second & 0xFFFF_0000));
            }
        }
        for lane in 0..PANEL {
            squares[lane] += (a[lane] + b[lane]) + (c[lane] + d[lane]);
        }
    }
}

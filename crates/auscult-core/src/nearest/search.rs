//! Finds the smallest of many values by their lower bounds, computing few of them.

use multiversion::multiversion;

/// Places whose bounds are looked at side by side: a lane is every sixteenth of them.
const LANES: usize = 16;

/// Bounds that share one set of lanes.
const BLOCK: usize = 32 * LANES;

/// What is searched for the smallest.
pub(crate) trait Values {
    /// The value of a place.
    fn value(&self, place: usize) -> f64;

    /// Those of two places, where that takes less time.
    fn both(&self, places: [usize; 2]) -> [f64; 2] {
        places.map(|place| self.value(place))
    }
}

impl<F: Fn(usize) -> f64> Values for F {
    fn value(&self, place: usize) -> f64 {
        self(place)
    }
}

/// What is smallest in each lane of one block, and in which row of it. A lane without numbers
/// has infinity.
#[derive(Debug, Clone, Copy)]
struct Minima {
    bounds: [f32; LANES],
    rows: [u32; LANES],
}

/// A search and its buffers, kept from one question to the next.
#[derive(Debug, Default)]
pub(crate) struct Search {
    blocks: Vec<Minima>,
    first: Vec<(f32, usize)>,
    found: Vec<(f64, usize)>,
}

impl Search {
    /// The `count` smallest values, ascending, the smaller place first among equals. Only those are
    /// computed that their lower bounds allow to be among them; what has NaN as bound is not there.
    pub(crate) fn smallest(
        &mut self,
        bounds: &[f32],
        values: &impl Values,
        count: usize,
    ) -> &[(f64, usize)] {
        self.found.clear();
        if count == 0 {
            return &self.found;
        }
        self.blocks.clear();
        self.blocks.extend(bounds.chunks(BLOCK).map(minima));
        self.choose_first(count);
        // The smallest bounds come first: what they stand for leaves little to look at.
        let mut limit = f64::INFINITY;
        let mut keep = |value, place| limit = insert(&mut self.found, (value, place), count);
        let (pairs, rest) = self.first.as_chunks();
        for &[(_, one), (_, other)] in pairs {
            let [first, second] = values.both([one, other]);
            keep(first, one);
            keep(second, other);
        }
        for &(_, place) in rest {
            keep(values.value(place), place);
        }
        let mut rounded = round_up(limit);
        for (number, minima) in self.blocks.iter().enumerate() {
            let (start, end) = (number * BLOCK, bounds.len().min((number + 1) * BLOCK));
            for (lane, &least) in minima.bounds.iter().enumerate() {
                if least > rounded {
                    continue;
                }
                for place in (start + lane..end).step_by(LANES) {
                    let is_new = || self.first.iter().all(|&(_, first)| first != place);
                    if bounds[place] <= rounded && is_new() {
                        let next = (values.value(place), place);
                        rounded = round_up(insert(&mut self.found, next, count));
                    }
                }
            }
        }
        &self.found
    }

    /// The places of the smallest minima, no more than `count`.
    fn choose_first(&mut self, count: usize) {
        self.first.clear();
        let mut limit = f32::INFINITY;
        for (number, minima) in self.blocks.iter().enumerate() {
            for (lane, (&bound, &row)) in minima.bounds.iter().zip(&minima.rows).enumerate() {
                if bound < limit {
                    let place = number * BLOCK + row as usize * LANES + lane;
                    limit = insert(&mut self.first, (bound, place), count);
                }
            }
        }
    }
}

/// Keeps the `count` smallest, in order; returns what the next one must not be above.
fn insert<T: Copy + PartialOrd + From<f32>>(
    found: &mut Vec<(T, usize)>,
    next: (T, usize),
    count: usize,
) -> T {
    if found.len() == count {
        if found[count - 1] < next {
            return found[count - 1].0;
        }
        found.pop();
    }
    let at = found.iter().rposition(|earlier| *earlier < next).map_or(0, |before| before + 1);
    found.insert(at, next);
    if found.len() == count { found[count - 1].0 } else { T::from(f32::INFINITY) }
}

/// The smallest f32 that is not below `value`.
pub(crate) fn round_up(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) < value { rounded.next_up() } else { rounded }
}

/// The smallest bounds of one block; NaN is never smaller.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn minima(bounds: &[f32]) -> Minima {
    let (mut least, mut rows) = ([f32::INFINITY; LANES], [0_u32; LANES]);
    let (whole, rest) = bounds.as_chunks::<LANES>();
    for (row, bounds) in (0..).zip(whole) {
        for lane in 0..LANES {
            let is_less = bounds[lane] < least[lane];
            least[lane] = if is_less { bounds[lane] } else { least[lane] };
            rows[lane] = if is_less { row } else { rows[lane] };
        }
    }
    for (lane, &bound) in rest.iter().enumerate() {
        if bound < least[lane] {
            (least[lane], rows[lane]) = (bound, whole.len() as u32);
        }
    }
    Minima { bounds: least, rows }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_what_sorting_finds(
            values in prop::collection::vec((0_u8..40, 0_u8..5), 0..1300), count in 0_usize..20,
        ) {
            // Equal values are likely; some are not there, some bounds say nothing.
            let bound = |&(value, kind): &(u8, u8)| match kind {
                0 => f32::NAN,
                1 => 0.0,
                2 => f32::from(value),
                _ => f32::from(value) * 0.75,
            };
            let bounds: Vec<f32> = values.iter().map(bound).collect();
            let value = |place: usize| f64::from(values[place].0);
            let there = (0..values.len()).filter(|&place| !bounds[place].is_nan());
            let mut sorted: Vec<_> = there.map(|place| (value(place), place)).collect();
            sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
            sorted.truncate(count);
            let mut search = Search::default();
            prop_assert_eq!(search.smallest(&bounds, &value, count), sorted.as_slice());
        }
    }

    #[test]
    fn infinite_bounds_are_bounds() {
        let bounds = [f32::INFINITY, f32::NAN, f32::INFINITY];
        let mut search = Search::default();
        assert_eq!(search.smallest(&bounds, &|place| 1e300 * place as f64, 1), [(0.0, 0)]);
    }
}

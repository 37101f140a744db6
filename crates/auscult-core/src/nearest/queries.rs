//! Lower bounds of the distances from many queries to the references of one band.
//!
//! One query alone has to read every reference (`outline`). Many read them together, panel by panel, as the references
//! do among themselves (`pairs`).

use super::{
    copies::{Centre, Copies, PANEL},
    pairs::BandPairs,
    panels::{Numbers, Panel},
    spare::Buffers,
};
use crate::{distance::Scaled, memory::BandMemory};

/// The references of one band, and what queries have to be made like.
#[derive(Debug)]
pub(crate) struct QueryBounds<'a> {
    references: BandPairs<'a>,
    centre: Centre,
    numbers: Numbers,
    buffers: &'a Buffers,
}

impl<'a> QueryBounds<'a> {
    pub(crate) fn new(
        band: &'a BandMemory,
        matrix: &'a [f32],
        axis_len: usize,
        buffers: &'a Buffers,
    ) -> Self {
        Self::of(band, matrix, axis_len, Numbers::fastest(band.width()), buffers)
    }

    fn of(
        band: &'a BandMemory,
        matrix: &'a [f32],
        axis_len: usize,
        numbers: Numbers,
        buffers: &'a Buffers,
    ) -> Self {
        let centre = band.centre(matrix, axis_len);
        let references = BandPairs::without_bounds(band, matrix, axis_len, numbers, buffers);
        Self { references, centre, numbers, buffers }
    }

    /// Places in a row of bounds: one a reference, and some more that mean nothing.
    pub(crate) fn stride(&self) -> usize {
        self.references.stride()
    }

    /// Writes a row for each query: no distance to a reference is below its place in it.
    pub(crate) fn write(&self, queries: &[Scaled<'_>], rows: &mut Vec<f32>) {
        let mut copies = Copies::new(&self.buffers.rows);
        let panels: Vec<Panel<'_>> = (0..queries.len())
            .step_by(PANEL)
            .map(|first| {
                let places = first..queries.len().min(first + PANEL);
                copies.set(&self.centre, places, &|at: usize| queries[at]);
                Panel::new(&copies, self.numbers, self.buffers)
            })
            .collect();
        rows.resize(panels.len() * PANEL * self.stride(), 0.0);
        let end = self.references.memory_panels();
        self.references.bounds_from(&panels, |_| 0, end, rows);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Metric, testing::clustered};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn bounds_are_below_the_distances_and_near_them(
            seed in any::<u64>(), count in 1_usize..60, asked in 1_usize..40, width in 1_usize..70,
            spread in prop::sample::select(vec![0.0_f32, 1e-6, 1e-3, 1.0, 1e18, 1e-25]),
            metric in prop::sample::select(Metric::ALL),
            long in any::<bool>(), is_integer in any::<bool>(),
        ) {
            let width = if long { width * 10 } else { width };
            let all = clustered(seed, count + asked, width, spread);
            let (matrix, queries) = all.split_at(count * width);
            let memory = BandMemory::new(matrix, width, 0..width, metric, None);
            let mut mapped = vec![Vec::new(); asked];
            let queries: Vec<Scaled<'_>> = queries
                .chunks(width)
                .zip(&mut mapped)
                .map(|(query, buffer)| memory.query(query, buffer))
                .collect();
            let numbers = if is_integer { Numbers::Integer } else { Numbers::Float };
            let (buffers, mut rows) = (Buffers::default(), Vec::new());
            let bounds = QueryBounds::of(&memory, matrix, width, numbers, &buffers);
            bounds.write(&queries, &mut rows);
            for (query, row) in queries.iter().zip(rows.chunks(bounds.stride())) {
                for (to, &bound) in row[..count].iter().enumerate() {
                    let exact = memory.distance_to(matrix, width, *query, to);
                    prop_assert!(f64::from(bound) <= exact, "{} {} {}", metric, bound, exact);
                    let is_zero = query.vector.iter().all(|&value| value == 0.0) || to % 9 == 7;
                    // One reference alone is the centre of all, and so may be one of a single position: its copy is zero and
                    // says nothing.
                    if spread == 1.0 && exact > 0.05 && !is_zero && count > 1 && width > 1 {
                        prop_assert!(f64::from(bound) > 0.9 * exact, "{} {}", bound, exact);
                    }
                }
            }
        }
    }
}

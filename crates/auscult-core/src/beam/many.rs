//! Scoring many clips together: large bands are compared panel by panel, as references are among themselves.

use super::{FittedBand, FittedBeam, FittedView, ScoreOf};
use crate::{
    ClipScore, Error, Result, View,
    distance::Scaled,
    nearest::{Buffers, PANEL, QueryBounds},
    parallel,
};

/// Clips that read the references together, on one thread, where there are enough of them for all threads.
const BLOCK: usize = 64;

/// Bands with this many values in memory are compared in panels; for fewer, making the panels weighs more.
const MANY: usize = 1 << 14;

/// Buffers of one thread.
#[derive(Debug, Default)]
struct Scratch {
    query: Vec<f32>,
    rows: Vec<f32>,
    ratios: Vec<f32>,
}

impl FittedBeam {
    /// Up to this many clips [`FittedBeam::score_many`] scores one after the other, on the thread that calls it: copies
    /// of the references would not be worth making, nor would another thread be there in time.
    pub const FEW: usize = PANEL;

    /// Scores the rows of matrices (clips x axis), one for each view: the same bits as [`FittedBeam::score_into`] of one
    /// clip after the other, in less time where bands are large.
    ///
    /// # Errors
    ///
    /// [`Error::VectorLength`] or [`Error::Views`] if the matrices are not like those of the references.
    ///
    /// # Examples
    ///
    /// ```
    /// use auscult_core::{BandSettings, BeamSettings, ClipVectors, Provenance, References, View};
    ///
    /// let matrix = vec![1.0, 0.0, 0.9, 0.1, 0.8, 0.1];
    /// let provenance = (0..3).map(|index| Provenance::of(index.to_string())).collect();
    /// let references = References::from_matrices(2, vec![(View::Mean, matrix)], provenance)?;
    /// let settings = BeamSettings::new(BandSettings::Whole, vec![View::Mean]);
    /// let fitted = settings.check(2)?.fit(references)?;
    /// let scores = fitted.score_many(&[(View::Mean, &[0.0, 1.0, 1.0, 0.0])])?;
    /// let alone = fitted.score(&ClipVectors::from_views(vec![(View::Mean, vec![0.0, 1.0])])?)?;
    /// assert_eq!(scores[0], alone);
    /// assert_eq!(scores[1].value, 0.0);
    /// # Ok::<(), auscult_core::Error>(())
    /// ```
    pub fn score_many(&self, matrices: &[(View, &[f32])]) -> Result<Vec<ClipScore>> {
        let axis_len = self.references.axis_len();
        let views = self.matrices_of(matrices)?;
        let count = views.first().map_or(0, |matrix| matrix.len() / axis_len);
        let buffers = Buffers::default();
        let bounds = || -> Vec<Vec<Option<QueryBounds<'_>>>> {
            self.views.iter().map(|fitted| self.bounds_of(fitted, count, &buffers)).collect()
        };
        if count <= Self::FEW {
            return Ok(self.score_block(&views, &bounds(), &mut Scratch::default()));
        }
        let block_len = if count < 8 * BLOCK { PANEL } else { BLOCK };
        parallel::within(|| {
            let bounds = bounds();
            let score = |scratch: &mut Scratch, block: usize| {
                let end = count.min((block + 1) * block_len);
                let places = block * block_len * axis_len..end * axis_len;
                let rows: Vec<&[f32]> =
                    views.iter().map(|matrix| &matrix[places.clone()]).collect();
                self.score_block(&rows, &bounds, scratch)
            };
            let blocks = parallel::map(count.div_ceil(block_len), Scratch::default, score);
            Ok(blocks.into_iter().flatten().collect())
        })
    }

    /// The matrices in the order of the detector's views.
    fn matrices_of<'a>(&self, matrices: &[(View, &'a [f32])]) -> Result<Vec<&'a [f32]>> {
        let (needed, got) = (self.views.len(), matrices.len());
        let of_view = |fitted: &FittedView| {
            let found = matrices.iter().find(|(view, _)| *view == fitted.view);
            found.map(|(_, matrix)| *matrix).ok_or(Error::Views { needed, got })
        };
        let views: Vec<&[f32]> = self.views.iter().map(of_view).collect::<Result<_>>()?;
        let axis_len = self.references.axis_len();
        let first = views.first().map_or(0, |matrix| matrix.len());
        let expected = first.next_multiple_of(axis_len);
        match views.iter().find(|matrix| matrix.len() != expected) {
            Some(matrix) => {
                Err(Error::VectorLength { what: "a matrix of clips", got: matrix.len(), expected })
            }
            None => Ok(views),
        }
    }

    /// What each band compares many clips by; `None` where one after the other is as good.
    fn bounds_of<'a>(
        &'a self,
        fitted: &'a FittedView,
        count: usize,
        buffers: &'a Buffers,
    ) -> Vec<Option<QueryBounds<'a>>> {
        let axis_len = self.references.axis_len();
        let matrix = self.references.matrix(fitted.view).unwrap_or_default();
        let is_compared = self.beam.settings.score_of == ScoreOf::Distance;
        let bounds = |band: &'a FittedBand| {
            let memory = band.memory();
            // Queries of the scaled distance would have to be mapped and kept.
            let is_worth_it =
                is_compared && memory.map().is_none() && memory.len() * memory.width() >= MANY;
            if count > Self::FEW && is_worth_it {
                return Some(QueryBounds::new(memory, matrix, axis_len, buffers));
            }
            if is_compared {
                band.outline(matrix, axis_len);
            }
            None
        };
        fitted.bands.iter().map(bounds).collect()
    }

    /// Scores some clips, given their rows in each view.
    fn score_block(
        &self,
        rows: &[&[f32]],
        bounds: &[Vec<Option<QueryBounds<'_>>>],
        scratch: &mut Scratch,
    ) -> Vec<ClipScore> {
        let axis_len = self.references.axis_len();
        let count = rows.first().map_or(0, |rows| rows.len() / axis_len);
        let mut scores = vec![self.empty_score(); count];
        for (at, (fitted, rows)) in self.views.iter().zip(rows).enumerate() {
            let matrix = self.references.matrix(fitted.view).unwrap_or_default();
            for (number, band) in fitted.bands.iter().enumerate() {
                let places = scores.iter_mut().map(|score| &mut score.views[at].bands[number]);
                let Some(bounds) = &bounds[at][number] else {
                    for (out, row) in places.zip(rows.chunks_exact(axis_len)) {
                        *out = band.score(matrix, axis_len, row, &mut scratch.query);
                        if self.beam.settings.score_of == ScoreOf::Value {
                            out.value = band.level(row);
                        }
                    }
                    continue;
                };
                let query = |row| band.memory().plain_query(row);
                let queries: Vec<Scaled<'_>> = rows.chunks_exact(axis_len).map(query).collect();
                bounds.write(&queries, &mut scratch.rows);
                let rows = scratch.rows.chunks_exact(bounds.stride());
                for ((out, &query), row) in places.zip(&queries).zip(rows) {
                    *out = band.score_within(matrix, axis_len, query, row, &mut scratch.ratios);
                }
            }
        }
        for score in &mut scores {
            self.combine_bands(score);
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        BandSettings, BeamSettings, ClipVectors, DensityRule, Metric, Provenance, References,
        testing::clustered,
    };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn many_together_have_the_bits_of_one_after_the_other(
            seed in any::<u64>(), count in 20_usize..110, asked in 1_usize..150,
            width in prop::sample::select(vec![20_usize, 256, 300, 700]), bands in 1_usize..3,
            spread in prop::sample::select(vec![0.0_f32, 1e-6, 1e-3, 1.0, 1e18, 1e-25]),
            metric in prop::sample::select(Metric::ALL),
            rule in prop::sample::select(DensityRule::ALL),
            neighbours in 0_usize..3,
        ) {
            let axis_len = width * bands;
            let all = clustered(seed, count + asked, axis_len, spread);
            let (matrix, asked) = all.split_at(count * axis_len);
            // Some clips are references.
            let queries = [asked, &matrix[..axis_len * count.min(3)]].concat();
            let provenance = (0..count).map(|at| Provenance::of(at.to_string())).collect();
            let mean: Vec<f32> = matrix.iter().map(|value| value * 0.5).collect();
            let matrices = vec![(View::Mean, mean), (View::Max, matrix.to_vec())];
            let references = References::from_matrices(axis_len, matrices, provenance).unwrap();
            let layout = BandSettings::Windows { width, stride: width };
            let settings = BeamSettings {
                metric, neighbours, rule, ..BeamSettings::new(layout, vec![View::Mean, View::Max])
            };
            let fitted = settings.check(axis_len).unwrap().fit(references).unwrap();
            let views = [(View::Mean, &*queries), (View::Max, &*queries)];
            let found = fitted.score_many(&views).unwrap();
            prop_assert_eq!(found.len(), queries.len() / axis_len);
            for (row, found) in queries.chunks(axis_len).zip(&found) {
                let views = vec![(View::Mean, row.to_vec()), (View::Max, row.to_vec())];
                let alone = fitted.score(&ClipVectors::from_views(views).unwrap()).unwrap();
                let numbers = |score: &ClipScore| format!("{} {:?}", score.value, score.views);
                // As texts: NaN is what it is.
                prop_assert_eq!(numbers(found), numbers(&alone));
            }
        }
    }

    #[test]
    fn matrices_that_do_not_fit_are_refused() {
        let matrix = clustered(1, 4, 3, 1.0);
        let provenance = (0..4).map(|at| Provenance::of(at.to_string())).collect();
        let references =
            References::from_matrices(3, vec![(View::Mean, matrix)], provenance).unwrap();
        let settings = BeamSettings::new(BandSettings::Whole, vec![View::Mean]);
        let fitted = settings.check(3).unwrap().fit(references).unwrap();
        assert!(fitted.score_many(&[(View::Mean, &[])]).unwrap().is_empty());
        let short = fitted.score_many(&[(View::Mean, &[1.0; 4])]).unwrap_err();
        assert_eq!(short, Error::VectorLength { what: "a matrix of clips", got: 4, expected: 6 });
        let other = fitted.score_many(&[(View::Max, &[1.0; 3])]).unwrap_err();
        assert_eq!(other, Error::Views { needed: 1, got: 1 });
    }
}

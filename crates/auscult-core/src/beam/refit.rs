//! Fitting where a memory without some references is another memory: its maps, exponents and
//! standardisation follow from what is left.
//!
//! Left-out scores then come from fits of their own, one a group, or one a tenth of the groups where
//! there are many.

use super::{
    Beam, FittedBeam, FittedView, Standardisation, Standardise, band::FittedBand, fit::median,
};
use crate::{
    ClipScore, References, Result,
    groups::{Groups, MOST_FOLDS},
    nearest::Buffers,
    parallel,
};

/// With fewer references, a half of them has no neighbours to measure by.
const FEWEST_FOR_HALVES: usize = 4;

impl Beam {
    /// Fits everything, left-out scores by fits without the group.
    pub(super) fn fit_with_refits(
        &self,
        references: References,
        groups: &Groups,
    ) -> Result<FittedBeam> {
        let mut left_out = vec![None; references.len()];
        let bands = self.layout.bands().len();
        let mut of_band =
            vec![vec![Vec::with_capacity(references.len()); bands]; self.settings.views.len()];
        for fold in groups.folds(MOST_FOLDS) {
            if fold.remaining.is_empty() {
                continue;
            }
            let memory = self.fit_standardised(references.select(&fold.remaining))?;
            for (&index, score) in fold.out.iter().zip(memory.scores_of(&references, &fold.out)?) {
                left_out[index] = Some(score.value);
                for (bands, view) in of_band.iter_mut().zip(&score.views) {
                    for (scores, band) in bands.iter_mut().zip(&view.bands) {
                        scores.push(band.value);
                    }
                }
            }
        }
        let mut fitted = self.fit_standardised(references)?;
        for (view, bands) in fitted.views.iter_mut().zip(of_band) {
            for (band, scores) in view.bands.iter_mut().zip(bands) {
                if !scores.is_empty() {
                    band.set_typical(median(scores));
                }
            }
        }
        Ok(FittedBeam { left_out, ..fitted })
    }

    /// Fits maps, scales, exponents, divisors and the standardisation of members.
    pub(super) fn fit_standardised(&self, references: References) -> Result<FittedBeam> {
        let (views, left_out) = self.fit_bands(&references, |memory, matrix, band, buffers| {
            self.fit_band_by_clips(memory, matrix, self.rule_of(band), buffers)
        })?;
        let scores = |member: usize| -> Vec<f64> {
            let score = |index| self.member_left_out(&left_out, index, member);
            (0..references.len()).filter_map(score).collect()
        };
        let how = self.settings.ensemble.as_ref().map(|ensemble| ensemble.standardise);
        let elsewhere = match how {
            Some(Standardise::OtherVisits) => self.scores_elsewhere(&references, &views)?,
            _ => vec![Vec::new(); self.members.len()],
        };
        let standardise = |(member, elsewhere): (usize, Vec<f64>)| match how {
            Some(Standardise::OtherVisits) => {
                Standardisation::of_visits(&scores(member), &elsewhere)
            }
            _ => Standardisation::of_left_out(scores(member).into_iter()),
        };
        let standardisation = elsewhere.into_iter().enumerate().map(standardise).collect();
        let left_out = vec![None; references.len()];
        Ok(FittedBeam { beam: self.clone(), references, views, left_out, standardisation })
    }

    /// By member, the scores of references against a memory of only the other visits, or of the
    /// other half where there are no visits, in the bands' own units.
    fn scores_elsewhere(
        &self,
        references: &References,
        views: &[FittedView],
    ) -> Result<Vec<Vec<f64>>> {
        let mut of_member = vec![Vec::with_capacity(references.len()); self.members.len()];
        if references.len() < FEWEST_FOR_HALVES {
            return Ok(of_member);
        }
        for fold in Groups::visits_or_halves(references.provenance()).folds(MOST_FOLDS) {
            let memory = self.fit_to_compare(references.select(&fold.remaining), views)?;
            for score in memory.scores_of(references, &fold.out)? {
                let scores = memory.member_scores(&score);
                of_member.iter_mut().zip(scores).for_each(|(all, score)| all.push(score));
            }
        }
        Ok(of_member)
    }

    /// Fits what a clip is compared with, in the units of the bands of `like`.
    fn fit_to_compare(&self, references: References, like: &[FittedView]) -> Result<FittedBeam> {
        let buffers = Buffers::default();
        let views =
            self.prepare(&references)?.into_iter().zip(like).map(|((view, memories), like)| {
                let matrix = references.matrix(view).unwrap_or_default();
                let fits = parallel::map(
                    memories.len(),
                    || (),
                    |(), band| {
                        let (rule, divisor) = (self.rule_of(band), like.bands[band].fit().divisor);
                        self.fit_band_to_compare(&memories[band], matrix, rule, divisor, &buffers)
                    },
                );
                let bands = memories.into_iter().zip(fits);
                let bands =
                    bands.map(|(memory, fit)| FittedBand::new(memory, fit, self.settings.rule));
                FittedView { view, bands: bands.collect() }
            });
        let views = views.collect();
        let left_out = vec![None; references.len()];
        let plain = vec![Standardisation::PLAIN; self.members.len()];
        Ok(FittedBeam { beam: self.clone(), references, views, left_out, standardisation: plain })
    }
}

impl FittedBeam {
    /// Scores the references at `indices` of another set.
    fn scores_of(&self, references: &References, indices: &[usize]) -> Result<Vec<ClipScore>> {
        let clips: Vec<_> = indices.iter().filter_map(|&index| references.clip(index)).collect();
        // Made once, before threads ask for it at the same time.
        drop(self.new_score());
        let score = |(): &mut (), at: usize| self.score(&clips[at]);
        parallel::map(clips.len(), || (), score).into_iter().collect()
    }
}

//! 4. The candidates in order, and which of them cannot be told from the best.

use serde::Serialize;

use crate::{
    metrics::{jackknife_error, students_t},
    tuning::Evaluation,
};

/// AUCs closer than this are the same: pseudo-anomalies are not faults, and a hundredth on them
/// is no reason to change a setting.
pub const SMALLEST_DIFFERENCE: f64 = 0.01;

/// One candidate's place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    /// How it did.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// Standard error of its mean AUC.
    pub error: f64,
    /// How much lower its mean AUC is than that of the best.
    pub behind: f64,
    /// Standard error of that difference: both met the same clips.
    pub behind_error: f64,
    /// Whether chance, or a difference too small to matter, explains that it is not the best.
    pub like_the_best: bool,
}

/// Every candidate, the best first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// The candidates.
    pub candidates: Vec<Ranked>,
    /// Index of the recommended one.
    recommended: usize,
}

impl Ranking {
    /// Ranks results of one study. Equal AUCs are ordered by simplicity, then by name.
    ///
    /// Recommended is the plainest among those like the best (presets before all others), and the best of
    /// several such; never one that a preset is clearly better than, and the default preset unless one is clearly better than that.
    pub fn of(mut evaluations: Vec<Evaluation>) -> Self {
        evaluations.sort_by(|left, right| {
            let simplicity = left.candidate.changes.cmp(&right.candidate.changes);
            let names = || left.candidate.key().cmp(&right.candidate.key());
            right.mean_auc.total_cmp(&left.mean_auc).then(simplicity).then_with(names)
        });
        let best = evaluations.first().cloned();
        let candidates: Vec<Ranked> =
            evaluations.into_iter().map(|evaluation| compare(evaluation, best.as_ref())).collect();
        let like_the_best =
            candidates.iter().enumerate().filter(|(_, ranked)| ranked.like_the_best);
        let simplest = like_the_best.min_by_key(|(_, ranked)| ranked.evaluation.candidate.changes);
        let recommended = simplest.map_or(0, |(index, _)| index);
        // Close to the best is not yet close to a preset between the two.
        let chosen = candidates.get(recommended).map(|ranked| ranked.evaluation.clone());
        let is_better = |ranked: &Ranked| {
            let beside = chosen.clone().map(|chosen| compare(chosen, Some(&ranked.evaluation)));
            ranked.evaluation.candidate.preset.is_some()
                && beside.is_some_and(|beside| !beside.like_the_best)
        };
        let recommended = candidates.iter().position(is_better).unwrap_or(recommended);
        // The default stays unless something is clearly better than it.
        let is_like_default = |(_, ranked): &(usize, &Ranked)| {
            let chosen = candidates.get(recommended).map(|chosen| &chosen.evaluation);
            ranked.evaluation.candidate.is_default()
                && compare(ranked.evaluation.clone(), chosen).like_the_best
        };
        let default = candidates.iter().enumerate().find(is_like_default);
        let recommended = default.map_or(recommended, |(index, _)| index);
        Self { candidates, recommended }
    }

    /// The candidate to use; `None` if there is none at all.
    pub fn recommended(&self) -> Option<&Ranked> {
        self.candidates.get(self.recommended)
    }

    /// The default preset, if it was tried.
    pub fn default_candidate(&self) -> Option<&Ranked> {
        self.candidates.iter().find(|ranked| ranked.evaluation.candidate.is_default())
    }

    /// How many candidates cannot be told from the best, itself included.
    pub fn like_the_best(&self) -> usize {
        self.candidates.iter().filter(|ranked| ranked.like_the_best).count()
    }
}

fn compare(evaluation: Evaluation, best: Option<&Evaluation>) -> Ranked {
    let (behind, behind_error) = best.map_or((0.0, 0.0), |best| {
        let pairs = best.without.iter().zip(&evaluation.without);
        let differences: Vec<f64> = pairs.map(|(best, this)| best - this).collect();
        (best.mean_auc - evaluation.mean_auc, jackknife_error(&differences).unwrap_or(0.0))
    });
    let degrees = evaluation.without.len().saturating_sub(1);
    let chance = students_t(degrees.max(1)).unwrap_or(f64::INFINITY) * behind_error;
    let like_the_best = behind <= chance.max(SMALLEST_DIFFERENCE);
    Ranked { error: evaluation.error(), evaluation, behind, behind_error, like_the_best }
}

#[cfg(test)]
mod tests {
    use auscult_core::ClipSettings;

    use super::*;
    use crate::{
        FrontEnds, Preset,
        tuning::{grid, presets},
    };

    /// Results of the default preset and some others with these AUCs without each group.
    fn ranking(without: &[&[f64]]) -> Ranking {
        let length = ClipSettings::default().check().unwrap();
        let mut candidates = presets(&[Preset::default()], &FrontEnds::standard(), length).unwrap();
        candidates.extend(grid(length, &[]).unwrap());
        let evaluations = without.iter().zip(candidates).map(|(without, candidate)| Evaluation {
            candidate,
            mean_auc: without.iter().sum::<f64>() / without.len() as f64,
            kinds: Vec::new(),
            without: without.to_vec(),
        });
        Ranking::of(evaluations.collect())
    }

    #[test]
    fn what_is_better_on_every_group_is_recommended() {
        let ranking = ranking(&[&[0.70, 0.71, 0.70, 0.71], &[0.80, 0.81, 0.80, 0.81]]);
        assert!(!ranking.candidates[1].like_the_best);
        assert_eq!(ranking.recommended(), Some(&ranking.candidates[0]));
        assert_eq!(ranking.like_the_best(), 1);
    }

    #[test]
    fn the_preset_stays_when_groups_disagree_or_the_difference_is_small() {
        for other in [[0.90, 0.50, 0.85, 0.65], [0.705, 0.709, 0.705, 0.709]] {
            let ranking = ranking(&[&[0.70, 0.70, 0.70, 0.70], &other]);
            assert!(!ranking.candidates[0].evaluation.candidate.is_default());
            assert_eq!(ranking.recommended(), ranking.default_candidate());
        }
    }

    #[test]
    fn a_setting_that_a_preset_is_clearly_better_than_is_not_recommended() {
        // The preset is a little behind the best and clearly ahead of what is noisier but like it.
        let preset = [0.86, 0.86, 0.86, 0.86];
        let ranking = ranking(&[&preset, &[0.90, 0.89, 0.90, 0.89], &[0.5, 0.99, 0.7, 0.9]]);
        let chosen = ranking.recommended().unwrap();
        assert!(chosen.evaluation.mean_auc >= 0.86, "{chosen:?}");
    }

    #[test]
    fn nothing_tried_recommends_nothing() {
        assert_eq!(ranking(&[]).recommended(), None);
    }
}

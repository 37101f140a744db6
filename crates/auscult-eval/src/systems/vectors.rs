//! Back ends that model one vector a clip.

use auscult_core::{Error as CoreError, View};
use rayon::prelude::*;

use super::{SectionVectors, SystemScores, SystemSettings};
use crate::Result;

/// Learns vectors.
pub(super) trait VectorModel: Sync {
    /// What scores a vector.
    type Fitted: Fn(&[f64]) -> f64 + Sync;

    /// Learns the rows.
    fn fit(&self, rows: &[Vec<f64>], system: &SystemSettings) -> Self::Fitted;
}

/// Left-out scores are made by leaving out every tenth clip.
const FOLDS: usize = 10;

pub(super) fn score<M: VectorModel>(
    system: &SystemSettings,
    section: SectionVectors<'_>,
    model: &M,
) -> Result<SystemScores> {
    let view = system.views.as_ref().and_then(|views| views.first()).copied().unwrap_or(View::Mean);
    let missing = || CoreError::Views { needed: 1, got: 0 };
    let widen = |vector: &[f32]| vector.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
    let matrix = section.train.matrix(view).ok_or_else(missing)?;
    let train: Vec<Vec<f64>> = matrix.chunks_exact(section.train.axis_len()).map(widen).collect();
    let test: std::result::Result<Vec<Vec<f64>>, CoreError> =
        section.test.iter().map(|clip| Ok(widen(clip.view(view).ok_or_else(missing)?))).collect();
    let fitted = model.fit(&train, system);
    let test = test?.par_iter().map(|row| fitted(row)).collect();
    Ok(SystemScores { test, left_out: left_out(system, &train, model) })
}

fn left_out<M: VectorModel>(system: &SystemSettings, train: &[Vec<f64>], model: &M) -> Vec<f64> {
    if train.len() < 2 {
        return Vec::new();
    }
    let folds = FOLDS.min(train.len());
    let of_fold: Vec<Vec<(usize, f64)>> = (0..folds)
        .into_par_iter()
        .map(|fold| {
            let kept: Vec<Vec<f64>> = train
                .iter()
                .enumerate()
                .filter(|(index, _)| index % folds != fold)
                .map(|(_, row)| row.clone())
                .collect();
            let fitted = model.fit(&kept, system);
            let out = (fold..train.len()).step_by(folds);
            out.map(|index| (index, fitted(&train[index]))).collect()
        })
        .collect();
    let mut scores: Vec<(usize, f64)> = of_fold.into_iter().flatten().collect();
    scores.sort_by_key(|(index, _)| *index);
    scores.into_iter().map(|(_, score)| score).collect()
}

//! The three scores of each clip and what lies between them.

use auscult_core::{
    BandSettings, BeamSettings, ClipVectors, Control, FittedBeam, Metric, Provenance, References,
    View, distance::pairwise,
};
use rayon::prelude::*;
use serde::Serialize;

use crate::Result;

/// The scores of one test clip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClipDiagnostics {
    /// Distance to the nearest reference, whole vector (the paper's `S_glob`).
    pub global: f64,
    /// Mean over bands of the distance to that same reference (`S_uni`).
    pub uniform: f64,
    /// Mean over bands of the distance to each band's nearest reference (`S_sub`).
    pub sub_band: f64,
    /// What tying the bands costs: `uniform - sub_band` (P).
    pub penalty: f64,
    /// What weighting by energy changes: `2 (uniform - global)` (B).
    pub deviation: f64,
    /// B by the paper's formula; the same only for disjoint bands that cover the axis.
    pub deviation_by_formula: f64,
    /// The sum of the bands' energy couplings (rho).
    pub coupling: f64,
    /// The nearest reference, the first among equals.
    pub nearest: usize,
}

/// Computes the scores of plain rows of one view against others; `neighbours` of local scales, 0 compares plain
/// distances, as the theorem does.
///
/// # Errors
///
/// If there are no references, rows differ in length, or the bands do not fit the axis.
pub fn diagnose(
    references: &[&[f32]],
    clips: &[&[f32]],
    bands: BandSettings,
    neighbours: usize,
) -> Result<Vec<ClipDiagnostics>> {
    let view = View::Mean;
    let vectors = |row: &&[f32]| ClipVectors::from_views(vec![(view, row.to_vec())]);
    let mut known = References::new(&[view], references.first().map_or(0, |row| row.len()));
    for row in references {
        known.push(&vectors(row)?, Provenance::of("reference"))?;
    }
    let clips: Vec<ClipVectors> =
        clips.iter().map(vectors).collect::<std::result::Result<_, _>>()?;
    let control = Control::default();
    let diagnosis = Diagnosis::new(&known, &clips, view, neighbours, &control)?;
    let found = match &diagnosis {
        Some(diagnosis) => diagnosis.of_bands(bands, &control)?,
        None => None,
    };
    // Nobody stops it: nothing is missing but references.
    found.ok_or(crate::Error::Core(auscult_core::Error::NoReferences))
}

/// One view of a section, compared as a whole: what every band size starts from.
///
/// Nearest references are found by the detector itself, so that what is explained here is what is scored.
#[derive(Debug)]
pub struct Diagnosis<'a> {
    clips: &'a [ClipVectors],
    view: View,
    neighbours: usize,
    whole: FittedBeam,
    /// The nearest reference of each clip on the whole axis, and its score.
    nearest: Vec<(usize, f64)>,
}

impl<'a> Diagnosis<'a> {
    /// Compares the clips with the references on the whole axis of one view; `neighbours` of local scales, 0
    /// compares plain distances, as the theorem does. `None` if it was stopped, or there is no such view.
    ///
    /// # Errors
    ///
    /// If the vectors are not of one front end.
    pub fn new(
        references: &References,
        clips: &'a [ClipVectors],
        view: View,
        neighbours: usize,
        control: &Control,
    ) -> Result<Option<Self>> {
        let Some(matrix) = references.matrix(view).filter(|matrix| !matrix.is_empty()) else {
            return Ok(None);
        };
        let provenance = references.provenance().to_vec();
        let matrices = vec![(view, matrix.to_vec())];
        let alone = References::from_matrices(references.axis_len(), matrices, provenance)?;
        let whole = fit(alone, view, BandSettings::Whole, neighbours)?;
        let Some(scores) = scores(&whole, clips, view, control)? else { return Ok(None) };
        let nearest = scores.iter().map(|bands| bands[0]).collect();
        Ok(Some(Self { clips, view, neighbours, whole, nearest }))
    }

    /// The scores of every clip with these bands; `None` if it was stopped.
    ///
    /// # Errors
    ///
    /// If the bands do not fit the axis.
    pub fn of_bands(
        &self,
        bands: BandSettings,
        control: &Control,
    ) -> Result<Option<Vec<ClipDiagnostics>>> {
        if control.is_cancelled() {
            return Ok(None);
        }
        let fitted = fit(self.whole.references().clone(), self.view, bands, self.neighbours)?;
        let Some(scores) = scores(&fitted, self.clips, self.view, control)? else {
            return Ok(None);
        };
        let clips = self.clips.par_iter().zip(&scores).zip(&self.nearest);
        let found: Result<Vec<ClipDiagnostics>> = clips
            .map(|((clip, bands), &(nearest, global))| {
                self.one_clip(clip, &fitted, bands, nearest, global)
            })
            .collect();
        found.map(Some)
    }

    fn one_clip(
        &self,
        clip: &ClipVectors,
        fitted: &FittedBeam,
        scores: &[(usize, f64)],
        nearest: usize,
        global: f64,
    ) -> Result<ClipDiagnostics> {
        let clip = clip.view(self.view).unwrap_or_default();
        let reference = fitted.references().vector(self.view, nearest).unwrap_or_default();
        let bands = fitted.beam().layout().bands();
        let count = bands.len() as f64;
        let energy = norm(clip) * norm(reference);
        let (mut uniform, mut coupled, mut plain, mut coupling) = (0.0, 0.0, 0.0, 0.0);
        for (at, band) in bands.iter().enumerate() {
            let [clip, reference] = [clip, reference].map(|vector| &vector[band.clone()]);
            let distance = pairwise(Metric::Cosine, clip, reference, band.len())?[0];
            uniform += distance / fitted.denominator(self.view, at, nearest).unwrap_or(1.0);
            let cosine = 1.0 - 2.0 * distance;
            let weight = if energy > 0.0 { norm(clip) * norm(reference) / energy } else { 0.0 };
            coupling += weight;
            coupled += weight * cosine;
            plain += cosine / count;
        }
        let uniform = uniform / count;
        let sub_band = scores.iter().map(|(_, score)| score).sum::<f64>() / count;
        Ok(ClipDiagnostics {
            global,
            uniform,
            sub_band,
            penalty: uniform - sub_band,
            deviation: 2.0 * (uniform - global),
            deviation_by_formula: coupled - plain,
            coupling,
            nearest,
        })
    }
}

fn fit(
    references: References,
    view: View,
    bands: BandSettings,
    neighbours: usize,
) -> Result<FittedBeam> {
    let axis_len = references.axis_len();
    let settings = BeamSettings { neighbours, ..BeamSettings::new(bands, vec![view]) };
    Ok(settings.check(axis_len)?.fit(references)?)
}

/// Reference and score of each band, clip by clip; `None` if it was stopped.
#[expect(clippy::type_complexity, reason = "a list of lists of pairs")]
fn scores(
    fitted: &FittedBeam,
    clips: &[ClipVectors],
    view: View,
    control: &Control,
) -> Result<Option<Vec<Vec<(usize, f64)>>>> {
    let of_clip = |clip: &ClipVectors| {
        if control.is_cancelled() {
            return Ok(None);
        }
        let score = fitted.score(clip)?;
        let bands =
            score.views.iter().filter(|found| found.view == view).flat_map(|found| &found.bands);
        Ok(Some(bands.map(|band| (band.reference, band.value)).collect()))
    };
    clips.par_iter().map(of_clip).collect()
}

fn norm(vector: &[f32]) -> f64 {
    vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt()
}

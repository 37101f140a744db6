//! The three scores of each clip and what lies between them.

use std::ops::Range;

use auscult_core::BandSettings;
use rayon::prelude::*;
use serde::Serialize;

use crate::Result;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiagnosticsSettings {
    /// The bands.
    pub bands: BandSettings,
    /// Neighbours in local scales; 0 compares plain distances, as the theorem does.
    pub neighbours: usize,
}

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

/// Computes the scores of every test clip.
///
/// # Errors
///
/// If the bands do not fit the axis.
pub fn diagnose(
    references: &[&[f32]],
    clips: &[&[f32]],
    settings: DiagnosticsSettings,
) -> Result<Vec<ClipDiagnostics>> {
    let axis_len = references.first().map_or(0, |reference| reference.len());
    let layout = settings.bands.layout(axis_len)?;
    let whole = BandBank::new(references, 0..axis_len, settings.neighbours);
    let bands: Vec<BandBank> = layout
        .bands()
        .iter()
        .map(|band| BandBank::new(references, band.clone(), settings.neighbours))
        .collect();
    Ok(clips.par_iter().map(|clip| one_clip(clip, &whole, &bands)).collect())
}

fn one_clip(clip: &[f32], whole: &BandBank, bands: &[BandBank]) -> ClipDiagnostics {
    let (query, norm) = whole.units.query(clip);
    let (nearest, global) = whole.smallest(&query, norm);
    let count = bands.len() as f64;
    let (mut uniform, mut sub_band, mut coupled, mut plain, mut coupling) =
        (0.0, 0.0, 0.0, 0.0, 0.0);
    let energy = norm * whole.units.norms[nearest];
    for band in bands {
        let (query, band_norm) = band.units.query(clip);
        sub_band += band.smallest(&query, band_norm).1;
        uniform += band.score(&query, band_norm, nearest);
        let cosine = 1.0 - 2.0 * band.units.distance(&query, band_norm, nearest);
        let weight =
            if energy > 0.0 { band_norm * band.units.norms[nearest] / energy } else { 0.0 };
        coupling += weight;
        coupled += weight * cosine;
        plain += cosine / count;
    }
    let (uniform, sub_band) = (uniform / count, sub_band / count);
    ClipDiagnostics {
        global,
        uniform,
        sub_band,
        penalty: uniform - sub_band,
        deviation: 2.0 * (uniform - global),
        deviation_by_formula: coupled - plain,
        coupling,
        nearest,
    }
}

/// One band of all references, with local scales.
struct BandBank {
    units: Units,
    /// One a reference; all 1 without local density normalisation.
    scales: Vec<f64>,
}

impl BandBank {
    fn new(references: &[&[f32]], band: Range<usize>, neighbours: usize) -> Self {
        let units = Units::new(references, band);
        let count = units.norms.len();
        let scale = |index: usize| {
            let row = units.row(index).to_vec();
            let mut others: Vec<f64> = (0..count)
                .filter(|&other| other != index)
                .map(|other| units.distance(&row, units.norms[index], other))
                .collect();
            others.sort_by(f64::total_cmp);
            let nearest = &others[..neighbours.min(others.len())];
            if nearest.is_empty() { 1.0 } else { nearest.iter().sum::<f64>().max(SMALLEST_SCALE) }
        };
        let scales = match neighbours {
            0 => vec![1.0; count],
            _ => (0..count).into_par_iter().map(scale).collect(),
        };
        Self { units, scales }
    }

    fn score(&self, query: &[f64], norm: f64, reference: usize) -> f64 {
        self.units.distance(query, norm, reference) / self.scales[reference]
    }

    /// The first reference with the smallest score, and that score.
    fn smallest(&self, query: &[f64], norm: f64) -> (usize, f64) {
        let mut best = (0, f64::INFINITY);
        for reference in 0..self.scales.len() {
            let score = self.score(query, norm, reference);
            if score < best.1 {
                best = (reference, score);
            }
        }
        best
    }
}

/// As in the core: duplicates must not divide by zero.
const SMALLEST_SCALE: f64 = 1e-12;

/// One band of vectors, scaled to length 1, and their lengths.
struct Units {
    band: Range<usize>,
    rows: Vec<f64>,
    norms: Vec<f64>,
}

impl Units {
    fn new(vectors: &[&[f32]], band: Range<usize>) -> Self {
        let mut units = Self { band, rows: Vec::new(), norms: Vec::with_capacity(vectors.len()) };
        for vector in vectors {
            let (row, norm) = units.query(vector);
            units.rows.extend(row);
            units.norms.push(norm);
        }
        units
    }

    /// The band of a vector with length 1 (a zero vector stays), and its length.
    fn query(&self, vector: &[f32]) -> (Vec<f64>, f64) {
        let values = vector[self.band.clone()].iter().map(|&value| f64::from(value));
        let norm = values.clone().map(|value| value * value).sum::<f64>().sqrt();
        let factor = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        (values.map(|value| value * factor).collect(), norm)
    }

    fn row(&self, index: usize) -> &[f64] {
        let width = self.band.len();
        &self.rows[index * width..(index + 1) * width]
    }

    /// (1 - cos) / 2 in the chord form; a zero vector is 0.5 from everything.
    fn distance(&self, query: &[f64], norm: f64, index: usize) -> f64 {
        if norm == 0.0 || self.norms[index] == 0.0 {
            return 0.5;
        }
        let row = self.row(index);
        let mut sums = [0.0; 4];
        let (a, b) = (query.chunks_exact(4), row.chunks_exact(4));
        let tail: f64 =
            a.remainder().iter().zip(b.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
        for (a, b) in a.zip(b) {
            for lane in 0..4 {
                sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
            }
        }
        ((sums.iter().sum::<f64>() + tail) / 4.0).min(1.0)
    }
}

//! Variances, gaps and the conditions of the appendix.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ClipDiagnostics;
use crate::metrics::{Domain, Label};

/// How clips are put into operating regimes (the paper's G).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regimes {
    /// All clips are in one.
    One,
    /// By thirds of the energy coupling, and by domain.
    CouplingAndDomain,
}

/// Everything the appendix derives from the scores of one section.
///
/// Variances are those of normal clips in the population form. `None` where a ratio has no
/// denominator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "names are the quantities of the appendix spelled out")]
pub struct Summary {
    pub bands: usize,
    pub variance_global: f64,
    pub variance_uniform: f64,
    pub variance_sub_band: f64,
    pub variance_ratio_sub_uniform: Option<f64>,
    pub variance_ratio_uniform_global: Option<f64>,
    pub variance_ratio_sub_global: Option<f64>,
    pub gap_global: f64,
    pub gap_uniform: f64,
    pub gap_sub_band: f64,
    pub gap_penalty: f64,
    pub gap_deviation: f64,
    pub mean_gap_ratio: Option<f64>,
    pub d_prime_global: Option<f64>,
    pub d_prime_uniform: Option<f64>,
    pub d_prime_sub_band: Option<f64>,
    pub d_prime_ratio: Option<f64>,
    /// Mean coupling (rho) of normal clips; at most 1 for disjoint bands.
    pub mean_coupling: f64,
    /// The paper's g0.
    pub within_ratio: Option<f64>,
    /// The paper's gamma.
    pub between_ratio: Option<f64>,
    /// The paper's lambda.
    pub covariance_ratio: Option<f64>,
    /// The paper's p0.
    pub penalty_ratio: Option<f64>,
    /// The paper's `C_var`.
    pub variance_bound: Option<f64>,
    /// Regimes that normal clips are in.
    pub regimes: usize,
    /// Proposition 1: the variance of `sub_band` is within the bound.
    pub proposition_holds: Option<bool>,
    /// The square root of the bound (eta).
    pub eta: Option<f64>,
    /// Theorem 1: the gap shrinks by no more than eta.
    pub theorem_condition: Option<bool>,
    /// The same with the measured variance ratio in place of the bound.
    pub measured_condition: Option<bool>,
    /// Whether bands have the larger d'.
    pub d_prime_improves: Option<bool>,
    /// Theorem 1: where its condition holds, d' does not fall.
    pub theorem_consistent: Option<bool>,
}

/// Summarises the clips of a section; `None` without both classes.
pub fn summarise(
    clips: &[ClipDiagnostics],
    labels: &[Label],
    domains: &[Option<Domain>],
    bands: usize,
    regimes: Regimes,
) -> Option<Summary> {
    let of_label = |label: Label| -> Vec<usize> {
        (0..clips.len()).filter(|&index| labels[index] == label).collect()
    };
    let (normal, anomalous) = (of_label(Label::Normal), of_label(Label::Anomaly));
    if normal.is_empty() || anomalous.is_empty() {
        return None;
    }
    let pick = |indices: &[usize], part: fn(&ClipDiagnostics) -> f64| -> Vec<f64> {
        indices.iter().map(|&index| part(&clips[index])).collect()
    };
    let gap = |part| mean(&pick(&anomalous, part)) - mean(&pick(&normal, part));
    let [global, uniform, sub_band, penalty] = [
        (|clip| clip.global) as fn(&ClipDiagnostics) -> f64,
        |clip| clip.uniform,
        |clip| clip.sub_band,
        |clip| clip.penalty,
    ]
    .map(|part| pick(&normal, part));
    let [variance_global, variance_uniform, variance_sub_band] =
        [&global, &uniform, &sub_band].map(|values| variance(values));
    let ratio = |part: f64, whole: f64| (whole != 0.0).then(|| part / whole);
    let all = regime_of(clips, domains, regimes);
    let of_normal: Vec<usize> = normal.iter().map(|&index| all[index]).collect();
    let within_global = within(&global, &of_normal);
    let within_uniform = within(&uniform, &of_normal);
    let within_ratio = ratio(within_global, within_uniform).filter(|_| within_global > 0.0);
    let between_ratio = ratio(between(&uniform, &of_normal), within_uniform);
    let covariance_ratio =
        ratio(-2.0 * covariance(&sub_band, &penalty), variance_global).map(|value| value.max(0.0));
    let penalty_ratio = ratio(variance(&penalty), variance_global);
    let variance_bound =
        Some((1.0 + between_ratio?) / within_ratio? + covariance_ratio? - penalty_ratio?);
    let eta = variance_bound.filter(|bound| *bound >= 0.0).map(f64::sqrt);
    let gap_global = gap(|clip| clip.global);
    let gap_sub_band = gap(|clip| clip.sub_band);
    let variance_ratio_sub_global = ratio(variance_sub_band, variance_global);
    let d_prime = |gap: f64, variance: f64| (variance > 0.0).then(|| gap / variance.sqrt());
    let d_prime_global = d_prime(gap_global, variance_global);
    let d_prime_sub_band = d_prime(gap_sub_band, variance_sub_band);
    let both = d_prime_global.zip(d_prime_sub_band);
    // One band over the whole axis is global matching, up to rounding.
    let d_prime_improves = both.map(|(global, sub)| sub > global + 1e-9 * global.abs());
    let gap_is_positive = gap_global > 0.0;
    let theorem_condition = eta.map(|eta| gap_is_positive && gap_sub_band >= eta * gap_global);
    Some(Summary {
        bands,
        variance_global,
        variance_uniform,
        variance_sub_band,
        variance_ratio_sub_uniform: ratio(variance_sub_band, variance_uniform),
        variance_ratio_uniform_global: ratio(variance_uniform, variance_global),
        variance_ratio_sub_global,
        gap_global,
        gap_uniform: gap(|clip| clip.uniform),
        gap_sub_band,
        gap_penalty: gap(|clip| clip.penalty),
        gap_deviation: gap(|clip| clip.deviation),
        mean_gap_ratio: ratio(gap_sub_band, gap_global),
        d_prime_global,
        d_prime_uniform: d_prime(gap(|clip| clip.uniform), variance_uniform),
        d_prime_sub_band,
        d_prime_ratio: d_prime_global
            .zip(d_prime_sub_band)
            .and_then(|(global, sub)| ratio(sub, global)),
        mean_coupling: mean(&pick(&normal, |clip| clip.coupling)),
        within_ratio,
        between_ratio,
        covariance_ratio,
        penalty_ratio,
        variance_bound,
        regimes: of_normal.iter().collect::<std::collections::BTreeSet<_>>().len(),
        proposition_holds: variance_bound
            .map(|bound| variance_sub_band <= bound * variance_global * (1.0 + 1e-9)),
        eta,
        theorem_condition,
        measured_condition: variance_ratio_sub_global
            .map(|ratio| gap_is_positive && gap_sub_band >= ratio.sqrt() * gap_global),
        d_prime_improves,
        theorem_consistent: theorem_condition
            .zip(both)
            .map(|(condition, (global, sub))| !condition || sub >= global),
    })
}

/// Sensitivity with the scores of two views fused by their mean (DMM), as in the right panel of the
/// paper's Figure 2. No part of the theorem.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BothViews {
    /// d' of global matching on each view.
    pub d_prime_global: Option<f64>,
    /// d' of bands on each view.
    pub d_prime_sub_band: Option<f64>,
}

impl BothViews {
    /// Fuses the scores of the same clips in two views; `None` without both classes.
    pub fn of(
        first: &[ClipDiagnostics],
        second: &[ClipDiagnostics],
        labels: &[Label],
    ) -> Option<Self> {
        let d_prime = |part: fn(&ClipDiagnostics) -> f64| {
            let fused = |wanted: Label| -> Vec<f64> {
                let clips = first.iter().zip(second).zip(labels);
                clips
                    .filter(|(_, label)| **label == wanted)
                    .map(|((a, b), _)| f64::midpoint(part(a), part(b)))
                    .collect()
            };
            let (normal, anomalous) = (fused(Label::Normal), fused(Label::Anomaly));
            let both = !normal.is_empty() && !anomalous.is_empty();
            both.then(|| (mean(&anomalous) - mean(&normal), variance(&normal)))
        };
        let of = |(gap, variance): (f64, f64)| (variance > 0.0).then(|| gap / variance.sqrt());
        Some(Self {
            d_prime_global: of(d_prime(|clip| clip.global)?),
            d_prime_sub_band: of(d_prime(|clip| clip.sub_band)?),
        })
    }
}

/// The regime of every clip: thirds of the coupling over all clips, and three more for the target.
fn regime_of(
    clips: &[ClipDiagnostics],
    domains: &[Option<Domain>],
    regimes: Regimes,
) -> Vec<usize> {
    if regimes == Regimes::One {
        return vec![0; clips.len()];
    }
    let mut sorted: Vec<f64> = clips.iter().map(|clip| clip.coupling).collect();
    sorted.sort_by(f64::total_cmp);
    let edges = [1.0 / 3.0, 2.0 / 3.0].map(|share| quantile(&sorted, share));
    let third = |coupling: f64| edges.iter().filter(|&&edge| coupling >= edge).count();
    clips
        .iter()
        .zip(domains)
        .map(|(clip, domain)| {
            third(clip.coupling) + 3 * usize::from(*domain == Some(Domain::Target))
        })
        .collect()
}

/// Linear between the sorted values.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    covariance(values, values)
}

fn covariance(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>() / a.len() as f64
}

fn by_regime(values: &[f64], regimes: &[usize]) -> BTreeMap<usize, Vec<f64>> {
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (&value, &regime) in values.iter().zip(regimes) {
        groups.entry(regime).or_default().push(value);
    }
    groups
}

/// Mean of the variances within regimes.
fn within(values: &[f64], regimes: &[usize]) -> f64 {
    let groups = by_regime(values, regimes);
    groups.values().map(|group| group.len() as f64 * variance(group)).sum::<f64>()
        / values.len() as f64
}

/// Variance of the means of regimes.
fn between(values: &[f64], regimes: &[usize]) -> f64 {
    let overall = mean(values);
    let groups = by_regime(values, regimes);
    groups.values().map(|group| group.len() as f64 * (mean(group) - overall).powi(2)).sum::<f64>()
        / values.len() as f64
}

#[cfg(test)]
mod tests {
    use auscult_core::BandSettings;

    use super::*;
    use crate::diagnostics;

    fn diagnose(
        references: &[Vec<f32>],
        clips: &[Vec<f32>],
        width: usize,
        neighbours: usize,
    ) -> Vec<ClipDiagnostics> {
        let references: Vec<&[f32]> = references.iter().map(Vec::as_slice).collect();
        let clips: Vec<&[f32]> = clips.iter().map(Vec::as_slice).collect();
        let bands = BandSettings::touching(width);
        diagnostics::diagnose(&references, &clips, bands, neighbours).unwrap()
    }

    #[test]
    fn one_band_over_the_whole_axis_improves_nothing_and_contradicts_nothing() {
        let row = |seed: f32| -> Vec<f32> {
            (0..12).map(|at| (seed * (at as f32 + 1.0)).sin() + 2.0).collect()
        };
        let rows: Vec<Vec<f32>> = (0..16).map(|at| row(0.1 + 0.37 * at as f32)).collect();
        let clips = diagnose(&rows[..8], &rows[8..], 12, 0);
        let mut labels = [Label::Normal; 8];
        labels[5..].fill(Label::Anomaly);
        let found = summarise(&clips, &labels, &[None; 8], 1, Regimes::One).unwrap();
        assert!((found.d_prime_ratio.unwrap() - 1.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.d_prime_improves, Some(false));
        assert_ne!(found.theorem_consistent, Some(false));
    }

    #[test]
    fn views_are_fused_clip_by_clip() {
        let vector = |seed: f32| -> Vec<f32> {
            (0..12).map(|at| (seed * (at as f32 + 1.0)).sin() + 2.0).collect()
        };
        let rows = |from: f32| -> Vec<Vec<f32>> {
            (0..8).map(|at| vector(from + 0.37 * at as f32)).collect()
        };
        let scores =
            |references: &[Vec<f32>], clips: &[Vec<f32>]| diagnose(references, clips, 4, 1);
        let labels: Vec<Label> =
            (0..8).map(|at| if at < 5 { Label::Normal } else { Label::Anomaly }).collect();
        let (mean_view, max_view) =
            (scores(&rows(0.1), &rows(0.2)), scores(&rows(1.1), &rows(1.3)));
        // A view with itself is that view.
        let alone = summarise(&mean_view, &labels, &[None; 8], 3, Regimes::One).unwrap();
        let both = BothViews::of(&mean_view, &mean_view, &labels).unwrap();
        assert_eq!(both.d_prime_sub_band, alone.d_prime_sub_band);
        assert_eq!(both.d_prime_global, alone.d_prime_global);
        // Two views: the mean of both scores of each clip.
        let fused: Vec<ClipDiagnostics> = mean_view
            .iter()
            .zip(&max_view)
            .map(|(a, b)| ClipDiagnostics {
                sub_band: f64::midpoint(a.sub_band, b.sub_band),
                ..a.clone()
            })
            .collect();
        let wanted = summarise(&fused, &labels, &[None; 8], 3, Regimes::One).unwrap();
        let both = BothViews::of(&mean_view, &max_view, &labels).unwrap();
        assert_eq!(both.d_prime_sub_band, wanted.d_prime_sub_band);
        assert_ne!(both.d_prime_sub_band, alone.d_prime_sub_band);
        assert_eq!(BothViews::of(&mean_view, &max_view, &[Label::Normal; 8]), None);
    }
}

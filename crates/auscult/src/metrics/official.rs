//! One number for many machines: the official score of each DCASE year, and what peers report.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Figures, ScoreSet, arithmetic_mean, harmonic_mean};

/// The figures of one section (machine id) of one machine type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SectionFigures {
    /// The machine type.
    pub machine: String,
    /// The section or machine id; empty if there is one only.
    pub section: String,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The score of every convention that the data allow; `None` where a figure is missing.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct OfficialScores {
    /// DCASE 2020 as most papers have it: the mean of AUC and pAUC over all machine ids, each id
    /// counted once. Also what the paper reports for MIMII and DCASE 2020.
    pub dcase2020: Option<f64>,
    /// DCASE 2020 by machine type first, then over types (`ASDKit`, RMIS).
    pub dcase2020_by_type: Option<f64>,
    /// DCASE 2020 with all ids of a type in one set, mean AUC over types (`GenRep`'s script).
    pub dcase2020_ids_pooled_auc: Option<f64>,
    /// DCASE 2021: harmonic mean of AUC and pAUC of each section and domain, anomalies of the
    /// same domain only.
    pub dcase2021: Option<f64>,
    /// DCASE 2022: harmonic mean over sections of source AUC, target AUC (each against all
    /// anomalies) and mixed pAUC.
    pub dcase2022: Option<f64>,
    /// The same score, the same definition.
    pub dcase2023: Option<f64>,
    /// The same score, the same definition.
    pub dcase2024: Option<f64>,
    /// The same score, the same definition.
    pub dcase2025: Option<f64>,
    /// The same score, the same definition.
    pub dcase2026: Option<f64>,
    /// As `dcase2022` with anomalies of the same domain only, which some papers report instead.
    pub since_2022_same_domain: Option<f64>,
    /// Mean AUC over sections: MIMII's own figure.
    pub mean_auc: Option<f64>,
}

impl OfficialScores {
    /// The scores of sections; `sets` are their clips in the same order, for the pooled form.
    pub fn of(sections: &[SectionFigures], sets: &[&ScoreSet]) -> Self {
        let since_2022 =
            over(sections, |f| vec![f.auc_source, f.auc_target, f.pauc], harmonic_mean);
        Self {
            dcase2020: over(sections, |f| vec![f.auc, f.pauc], arithmetic_mean),
            dcase2020_by_type: by_type(sections),
            dcase2020_ids_pooled_auc: ids_pooled(sections, sets),
            dcase2021: over(
                sections,
                |f| {
                    vec![
                        f.auc_source_same_domain,
                        f.pauc_source_same_domain,
                        f.auc_target_same_domain,
                        f.pauc_target_same_domain,
                    ]
                },
                harmonic_mean,
            ),
            dcase2022: since_2022,
            dcase2023: since_2022,
            dcase2024: since_2022,
            dcase2025: since_2022,
            dcase2026: since_2022,
            since_2022_same_domain: over(
                sections,
                |f| vec![f.auc_source_same_domain, f.auc_target_same_domain, f.pauc],
                harmonic_mean,
            ),
            mean_auc: over(sections, |f| vec![f.auc], arithmetic_mean),
        }
    }
}

/// A mean over the wanted figures of all sections; `None` if one is missing.
fn over(
    sections: &[SectionFigures],
    wanted: impl Fn(&Figures) -> Vec<Option<f64>>,
    mean: impl Fn(Vec<f64>) -> Option<f64>,
) -> Option<f64> {
    let values: Option<Vec<f64>> =
        sections.iter().flat_map(|section| wanted(&section.figures)).collect();
    mean(values?)
}

fn by_type(sections: &[SectionFigures]) -> Option<f64> {
    let mut types: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for section in sections {
        let values = types.entry(&section.machine).or_default();
        values.extend([section.figures.auc?, section.figures.pauc?]);
    }
    arithmetic_mean(types.into_values().filter_map(arithmetic_mean))
}

fn ids_pooled(sections: &[SectionFigures], sets: &[&ScoreSet]) -> Option<f64> {
    let mut types: BTreeMap<&str, ScoreSet> = BTreeMap::new();
    for (section, set) in sections.iter().zip(sets) {
        let pooled = types.entry(&section.machine).or_default();
        *pooled = std::mem::take(pooled).joined(set);
    }
    let aucs: Option<Vec<f64>> = types.values().map(|set| set.figures().auc).collect();
    arithmetic_mean(aucs?)
}

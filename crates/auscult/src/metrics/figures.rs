//! The figures of one set of scores.

use serde::Serialize;

use super::{
    Domain, FALSE_POSITIVE_SHARE, Label, ScoreSet, auc, partial_auc, partial_auc_dcase2020,
    separation,
};

/// Areas, gap and sensitivity of one set of scores; `None` where a side of a comparison is empty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Normal clips.
    pub normal: usize,
    /// Anomalies.
    pub anomalous: usize,
    /// AUC of all normal clips against all anomalies.
    pub auc: Option<f64>,
    /// Partial AUC of the same, up to 10 % false positives, standardised.
    pub pauc: Option<f64>,
    /// Normal clips of the source domain against all anomalies.
    pub auc_source: Option<f64>,
    /// Normal clips of the target domain against all anomalies.
    pub auc_target: Option<f64>,
    /// As `auc_source`, up to 10 % false positives.
    pub pauc_source: Option<f64>,
    /// As `auc_target`, up to 10 % false positives.
    pub pauc_target: Option<f64>,
    /// Normal clips and anomalies of the source domain.
    pub auc_source_same_domain: Option<f64>,
    /// Normal clips and anomalies of the target domain.
    pub auc_target_same_domain: Option<f64>,
    /// As `auc_source_same_domain`, up to 10 % false positives.
    pub pauc_source_same_domain: Option<f64>,
    /// As `auc_target_same_domain`, up to 10 % false positives.
    pub pauc_target_same_domain: Option<f64>,
    /// Partial AUC as the description of DCASE 2020 writes it: not standardised.
    pub pauc_dcase2020_formula: Option<f64>,
    /// Mean anomalous minus mean normal score.
    pub mean_gap: Option<f64>,
    /// The gap in standard deviations of the normal scores.
    pub d_prime: Option<f64>,
}

impl ScoreSet {
    /// The figures of this set.
    pub fn figures(&self) -> Figures {
        let normal = self.scores(Label::Normal, None);
        let anomalous = self.scores(Label::Anomaly, None);
        let normal_of = |domain| self.scores(Label::Normal, Some(domain));
        let anomalous_of = |domain| self.scores(Label::Anomaly, Some(domain));
        let partial = |normal: &[f64], anomalous: &[f64]| {
            partial_auc(normal, anomalous, FALSE_POSITIVE_SHARE)
        };
        let [source, target] = Domain::ALL.map(normal_of);
        let [source_anomalies, target_anomalies] = Domain::ALL.map(anomalous_of);
        let separation = separation(&normal, &anomalous);
        Figures {
            normal: normal.len(),
            anomalous: anomalous.len(),
            auc: auc(&normal, &anomalous),
            pauc: partial(&normal, &anomalous),
            auc_source: auc(&source, &anomalous),
            auc_target: auc(&target, &anomalous),
            pauc_source: partial(&source, &anomalous),
            pauc_target: partial(&target, &anomalous),
            auc_source_same_domain: auc(&source, &source_anomalies),
            auc_target_same_domain: auc(&target, &target_anomalies),
            pauc_source_same_domain: partial(&source, &source_anomalies),
            pauc_target_same_domain: partial(&target, &target_anomalies),
            pauc_dcase2020_formula: partial_auc_dcase2020(
                &normal,
                &anomalous,
                FALSE_POSITIVE_SHARE,
            ),
            mean_gap: separation.map(|separation| separation.mean_gap),
            d_prime: separation.and_then(|separation| separation.d_prime),
        }
    }
}

impl Figures {
    /// The same figures under the names `ASDKit` uses.
    pub fn asdkit_names(&self) -> AsdkitNames {
        AsdkitNames {
            s_auc: self.auc_source_same_domain,
            t_auc: self.auc_target_same_domain,
            smix_auc: self.auc_source,
            tmix_auc: self.auc_target,
            mix_auc: self.auc,
            s_pauc: self.pauc_source_same_domain,
            t_pauc: self.pauc_target_same_domain,
            mix_pauc: self.pauc,
        }
    }
}

/// Figures under the names of `ASDKit`, to compare with its tables.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are another program's; see Figures::asdkit_names")]
pub struct AsdkitNames {
    pub s_auc: Option<f64>,
    pub t_auc: Option<f64>,
    pub smix_auc: Option<f64>,
    pub tmix_auc: Option<f64>,
    pub mix_auc: Option<f64>,
    pub s_pauc: Option<f64>,
    pub t_pauc: Option<f64>,
    pub mix_pauc: Option<f64>,
}

//! From scores and labels to figures with intervals.
//!
//! Names say which clips are compared. Without anything else all normal clips stand against all
//! anomalies; `_source` and `_target` are the normal clips of one domain against the anomalies of
//! both (DCASE since 2022); `_same_domain` keeps both to the domain (DCASE 2021 and some papers).

mod decisions;
mod error;
mod figures;
mod intervals;
mod means;
mod official;
mod report;
mod roc;
mod scores_file;
mod separation;

pub use self::{
    decisions::{DecisionFigures, Decisions, F1OverThresholds, f1_over_thresholds},
    error::{Error, Result},
    figures::{AsdkitNames, Figures},
    intervals::{
        Interval, IntervalSettings, Intervals, Strata, jackknife_error, jackknife_interval,
        official_jackknife_half_width, order_of_sections, percentiles, students_t,
    },
    means::{arithmetic_mean, harmonic_mean},
    official::{OfficialScores, SectionFigures},
    report::{MetricsReport, ReportSettings, mean_over_sections},
    roc::{auc, auc_without_groups, partial_auc, partial_auc_dcase2020},
    scores_file::{ScoredClip, read_scores},
    separation::{Separation, separation},
};

pub use auscult_audio::Label;
use serde::{Deserialize, Serialize};

/// The share of false positives up to which DCASE integrates the ROC curve (its p).
pub const FALSE_POSITIVE_SHARE: f64 = 0.1;

/// The side of a domain shift a clip is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// Where most references come from.
    Source,
    /// Where few do.
    Target,
}

impl Domain {
    /// Both, the source first.
    pub const ALL: [Self; 2] = [Self::Source, Self::Target];

    /// Reads `source`, `target`, `0` or `1`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "source" | "0" => Some(Self::Source),
            "target" | "1" => Some(Self::Target),
            _ => None,
        }
    }

    /// `source` or `target`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Target => "target",
        }
    }
}

/// The score of a clip with what it is known to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Larger is further from normal.
    pub score: f64,
    /// What the clip is.
    pub label: Label,
    /// Its domain, if it has one.
    pub domain: Option<Domain>,
}

/// Scores that can be compared with each other: finite, of one machine or taken as such.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreSet(Vec<Scored>);

impl ScoreSet {
    /// Checks that every score is finite.
    ///
    /// # Errors
    ///
    /// [`Error::ScoreNotFinite`] with the first that is not.
    pub fn new(clips: Vec<Scored>) -> Result<Self> {
        match clips.iter().enumerate().find(|(_, clip)| !clip.score.is_finite()) {
            Some((index, clip)) => {
                Err(Error::ScoreNotFinite { clip: format!("clip {index}"), score: clip.score })
            }
            None => Ok(Self(clips)),
        }
    }

    /// The clips.
    pub fn clips(&self) -> &[Scored] {
        &self.0
    }

    /// The scores of the clips of a label, of all domains or of one.
    pub fn scores(&self, label: Label, domain: Option<Domain>) -> Vec<f64> {
        let wanted =
            |clip: &&Scored| clip.label == label && (domain.is_none() || clip.domain == domain);
        self.0.iter().filter(wanted).map(|clip| clip.score).collect()
    }

    /// Whether every clip has a domain.
    pub fn has_domains(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|clip| clip.domain.is_some())
    }

    /// This set and another as one.
    #[must_use]
    pub fn joined(mut self, other: &Self) -> Self {
        self.0.extend_from_slice(&other.0);
        self
    }

    /// The clips at these indices, in this order, each as often as it is named; indices beyond the
    /// last clip are left out.
    #[must_use]
    pub fn select(&self, indices: impl IntoIterator<Item = usize>) -> Self {
        Self(indices.into_iter().filter_map(|index| self.0.get(index).copied()).collect())
    }
}

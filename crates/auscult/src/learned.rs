//! What a machine was learnt from, and what was left out.

use std::{collections::BTreeSet, fmt};

use auscult_autoencoder::FittedAutoencoder;
use auscult_core::{ClipCondition, Model, alarm::BudgetPlan, record::clip_name};
use serde::Serialize;

use crate::QualitySummary;

/// What a machine was learnt from, and what was left out.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    /// Recordings that were read.
    pub files: usize,
    /// Clips in memory.
    pub references: usize,
    /// The visits they come from.
    pub visits: BTreeSet<String>,
    /// Recordings and clips that were not learnt from, each with its reason.
    pub left_out: Vec<LeftOut>,
    /// Input quality of the clips.
    pub quality: Option<QualitySummary>,
    /// How the alarm budget is kept, if one was given.
    pub budget: Option<BudgetPlan>,
    /// Why the threshold of a trained network may mislead.
    pub doubt: Option<TrainingDoubt>,
}

impl Learned {
    /// What a model file tells: left-out clips are not in it.
    pub(crate) fn of_model(model: &Model) -> Self {
        let provenance = model.references().provenance();
        Self {
            files: provenance.iter().map(|from| &from.source).collect::<BTreeSet<_>>().len(),
            references: provenance.len(),
            visits: provenance.iter().filter_map(|from| from.visit.clone()).collect(),
            ..Self::default()
        }
    }

    /// Recordings and clips that should have been usable and were not.
    pub fn failures(&self) -> usize {
        self.left_out.iter().filter(|left_out| left_out.reason.is_failure()).count()
    }

    /// Clips that were there already.
    pub fn copies(&self) -> usize {
        let is_copy = |one: &&LeftOut| matches!(one.reason, LeftOutReason::Copy { .. });
        self.left_out.iter().filter(is_copy).count()
    }
}

/// A recording or clip that was not learnt from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// The recording.
    pub path: String,
    /// Where the clip starts in it; `None` for a whole recording.
    pub start_seconds: Option<f64>,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why something was not learnt from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum LeftOutReason {
    /// Not the sound of a machine.
    Unusable {
        /// What it is.
        condition: ClipCondition,
    },
    /// The front end cannot compute with it.
    NoFeatures {
        /// What went wrong.
        reason: String,
    },
    /// The same sound as a clip that is there already.
    Copy {
        /// That clip.
        of: String,
    },
    /// The recording, or the rest of it, cannot be read.
    Unreadable {
        /// What went wrong; names the recording.
        reason: String,
    },
    /// A manifest keeps it for testing.
    ForTesting,
    /// It is labelled as anomalous.
    Anomalous,
    /// Its label is not known.
    UnknownLabel {
        /// The label.
        label: String,
    },
    /// It lies outside the folders that are called normal.
    Unlabelled,
}

impl LeftOutReason {
    /// One word for counts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unusable { .. } => "unusable",
            Self::NoFeatures { .. } => "no-features",
            Self::Copy { .. } => "copy",
            Self::Unreadable { .. } => "unreadable",
            Self::ForTesting => "for-testing",
            Self::Anomalous => "anomalous",
            Self::UnknownLabel { .. } => "unknown-label",
            Self::Unlabelled => "unlabelled",
        }
    }

    /// Whether it should have been usable: labels and copies are choices, the rest are failures.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Copy { .. } | Self::ForTesting | Self::Anomalous | Self::Unlabelled)
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = clip_name(&self.path, self.start_seconds.unwrap_or_default());
        match &self.reason {
            LeftOutReason::Unusable { condition } => {
                write!(formatter, "skipped {name}: {condition}")
            }
            LeftOutReason::NoFeatures { reason } => write!(formatter, "skipped {name}: {reason}"),
            LeftOutReason::Unreadable { reason } => write!(formatter, "skipped {reason}"),
            LeftOutReason::Copy { of } if *of == name => {
                write!(formatter, "left out {name}: it is already there")
            }
            LeftOutReason::Copy { of } => {
                write!(formatter, "left out {name}: it is the same sound as {of}")
            }
            LeftOutReason::ForTesting => write!(formatter, "left out {name}: kept for testing"),
            LeftOutReason::Anomalous => {
                write!(formatter, "left out {name}: labelled as anomalous")
            }
            LeftOutReason::Unlabelled => {
                write!(formatter, "left out {name}: not in a folder called normal")
            }
            LeftOutReason::UnknownLabel { label } => write!(
                formatter,
                "skipped {name}: the label {label:?} is not known; label it normal or anomaly"
            ),
        }
    }
}

/// Why the threshold of a trained network may mislead.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum TrainingDoubt {
    /// This share of the clips the network was trained on is above it.
    Tight(f64),
    /// Clips a network never heard score this many times as high as those it was trained on.
    Loose(f64),
}

impl TrainingDoubt {
    pub(crate) fn of(fitted: &FittedAutoencoder) -> Option<Self> {
        if fitted.is_tight() {
            return Some(Self::Tight(fitted.training_above));
        }
        fitted.is_loose().then_some(Self::Loose(fitted.left_out_ratio))
    }
}

impl fmt::Display for TrainingDoubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tight(share) => write!(
                formatter,
                "the threshold is tight: {:.0} % of the clips the model's own network was trained on are above it, \
                 because short trainings end differently by chance; train for more epochs",
                100.0 * share
            ),
            Self::Loose(ratio) => write!(
                formatter,
                "the threshold is loose: clips a network never heard score {ratio:.1} times as high as those the \
                 model's own was trained on; give more recordings or visits, or train for more epochs"
            ),
        }
    }
}

impl Learned {
    /// Counts what a model holds.
    pub(crate) fn count(&mut self, model: &Model) {
        let Self { references, visits, .. } = Self::of_model(model);
        self.references = references;
        self.visits = visits;
    }
}

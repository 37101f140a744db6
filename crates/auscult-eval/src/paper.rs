//! What a protocol says of the paper's own tables: rows it cites, and what the data and the windows are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{datasets::DatasetKind, systems::SystemSettings};

/// A row that the paper has from elsewhere or that nothing here runs: its numbers are cited, not measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CitedRow {
    /// The name in tables.
    pub name: String,
    /// The heading it stands under.
    #[serde(default)]
    pub group: String,
    /// Whose numbers these are.
    pub source: String,
    /// Scores in % by part of a data set, such as `"dcase2023/dev" = 63.5`.
    pub scores: BTreeMap<String, f64>,
    /// Their standard deviations over trials, where they were given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deviations: BTreeMap<String, f64>,
}

/// The clips the paper says a section has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperCounts {
    /// Of which data set.
    pub dataset: DatasetKind,
    /// Training or test clips.
    pub split: SplitName,
    /// Whether these are the most a section has, and not what each has.
    #[serde(default)]
    pub at_most: bool,
    /// Clips by domain and label; none for what the data set does not have.
    #[serde(flatten)]
    pub clips: ClipCounts,
}

/// Clips by domain and label.
///
/// In data sets without domains `source_normal` and `source_anomalous` are all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "names are the columns")]
pub struct ClipCounts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_normal: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_anomalous: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_normal: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_anomalous: Option<usize>,
}

impl ClipCounts {
    /// In the order of the columns.
    pub fn columns(self) -> [Option<usize>; 4] {
        [self.source_normal, self.source_anomalous, self.target_normal, self.target_anomalous]
    }
}

/// Training or test clips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitName {
    /// What is learned from.
    Train,
    /// What is judged.
    Test,
}

impl SplitName {
    /// `train` or `test`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// A system whose windows are shown, and those the paper gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowsRequest {
    /// The front end's name.
    pub front_end: String,
    /// Its convention.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convention: Option<String>,
    /// Positions in a band for single data sets, as in a system.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub band_width_for: BTreeMap<String, usize>,
    /// What the paper gives.
    #[serde(default)]
    pub paper: Vec<PaperWindows>,
}

impl WindowsRequest {
    /// The system whose windows these are: BEAM with what is not said as the paper has it.
    pub fn system(&self) -> SystemSettings {
        SystemSettings {
            front_end: self.front_end.clone(),
            convention: self.convention.clone(),
            band_width_for: self.band_width_for.clone(),
            ..SystemSettings::default()
        }
    }
}

/// A row of the paper's Table 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperWindows {
    /// Of which data sets; of all if none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<DatasetKind>,
    /// Positions in a window.
    pub width: usize,
    /// Positions from one window to the next.
    pub stride: usize,
    /// How many windows there are.
    pub windows: usize,
}

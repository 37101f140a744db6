//! Where a machine stands, as status, pages and metrics show it.

use serde::{Deserialize, Serialize};

/// One machine in `auscult watch status --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MachineStatus {
    /// Its name.
    pub name: String,
    /// `no-data`, `learning`, `normal`, `alert`, `alarm`, `not-running` or `sensor-fault`.
    pub state: String,
    /// Since when, in UTC.
    pub since: String,
    /// The score of the last clip that had one.
    pub score: Option<f64>,
    /// Its p-value.
    pub p_value: Option<f64>,
    /// Why the last clip was judged as it was.
    pub reason: String,
    /// When the last clip began, in UTC.
    pub last_clip: Option<String>,
    /// How loud it was.
    pub level_dbfs: Option<f64>,
    /// The last scores, the newest last.
    pub trend: Vec<f64>,
    /// The model that judges.
    pub model: Option<ModelStatus>,
    /// What raises an alarm, and what is promised; `null` while there is no model.
    #[serde(default)]
    pub rule: Option<RuleStatus>,
    /// Where its sound comes from.
    pub source: SourceStatus,
    /// Whether the normal has moved.
    pub drift: bool,
    /// Whether the alarm that is raised was acknowledged.
    pub acknowledged: bool,
    /// Until when people are not told, and why.
    pub shelved: Option<Shelved>,
    /// Why it is not judged.
    pub out_of_service: Option<String>,
    /// How far its learning is.
    pub learning: Option<LearningStatus>,
    /// What happened last.
    pub last_event: Option<LastEvent>,
    /// Clips that were taken in.
    pub clips: u64,
}

/// The model of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelStatus {
    /// Counts from 1.
    pub version: i64,
    /// Its fingerprint.
    pub hash: String,
    /// How many references it has.
    pub references: usize,
    /// Scores above it are anomalous.
    pub threshold: Option<f64>,
    /// Whether its false-alarm rate is promised.
    pub promised: bool,
}

/// What raises the alarms of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RuleStatus {
    /// Anomalous clips that raise an alarm ...
    pub raise: usize,
    /// ... among this many of the last ones.
    pub window: usize,
    /// The share of normal clips that may be anomalous.
    pub rate: f64,
    /// How many false alarms it was chosen for, such as `1 alarm per month`; `null` if somebody named the rule.
    pub budget: Option<String>,
    /// Whether that is promised; otherwise it is aimed at.
    pub promised: bool,
    /// Why it cannot be promised.
    pub missing: Option<String>,
    /// All of this in a sentence.
    pub text: String,
}

/// The source of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceStatus {
    /// What it is.
    pub kind: String,
    /// Whether sound arrives.
    pub alive: bool,
    /// What is wrong.
    pub problem: Option<String>,
}

/// Why people are not told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Shelved {
    /// In UTC.
    pub until: String,
    /// In somebody's words.
    pub reason: String,
}

/// How far learning is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LearningStatus {
    /// Visits so far.
    pub visits: usize,
    /// Visits to wait for.
    pub visits_wanted: usize,
    /// Usable clips so far.
    pub clips: usize,
    /// Clips to wait for.
    pub clips_wanted: usize,
    /// Clips that were not used.
    pub rejected: usize,
    /// What is missing, in a sentence.
    pub text: String,
}

/// What happened last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LastEvent {
    /// Its name.
    pub id: String,
    /// When, in UTC.
    pub time: String,
    /// Why.
    pub reason: String,
}

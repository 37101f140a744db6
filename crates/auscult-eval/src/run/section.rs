//! What a run keeps of one section.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

use super::plan::PLAN_FILE;
use crate::{
    Error, Result,
    datasets::{DatasetKind, Group},
    diagnostics::{BothViews, Summary},
    metrics::{Domain, Label, ScoreSet, Scored},
    problems::FileProblem,
};

/// What a run writes is never so long.
pub(super) const LARGEST_BYTES: u64 = 1 << 30;

/// One test clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestClip {
    /// Its base name; with folders before it where another clip of the section has the same.
    pub name: String,
    /// What it is, if that is known.
    pub label: Option<Label>,
    /// Its domain, if it has one.
    pub domain: Option<Domain>,
}

/// What one system made of the section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemResult {
    /// The system's name.
    pub system: String,
    /// The score of each test clip, in order; empty if the system could not run.
    pub scores: Vec<f64>,
    /// Why it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The 90 % point of a gamma distribution fitted to left-out scores, as the baselines decide.
    pub threshold_gamma: Option<f64>,
    /// The 90 % point of the left-out scores themselves.
    pub threshold_quantile: Option<f64>,
}

/// Diagnostics of one front end and band size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiagnosticsResult {
    /// The front end, with its convention.
    pub front_end: String,
    /// The band size.
    pub band_width: usize,
    /// Neighbours of local density normalisation; 0 is without.
    pub neighbours: usize,
    /// With all clips in one regime.
    pub one_regime: Summary,
    /// With regimes by coupling and domain.
    pub by_regime: Option<Summary>,
    /// With the scores of the mean and the max view fused (DMM); `None` for one view.
    pub both_views: Option<BothViews>,
}

/// Everything about one section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SectionResult {
    /// What it depends on: settings, and names, sizes and times of the files.
    pub fingerprint: String,
    /// The data set.
    pub dataset: DatasetKind,
    /// The part of it.
    pub set: String,
    /// The machine type.
    pub machine: String,
    /// The section.
    pub section: String,
    /// How many clips were learned from.
    pub train: usize,
    /// The test clips.
    pub clips: Vec<TestClip>,
    /// What each system made of it.
    pub systems: Vec<SystemResult>,
    /// Requested diagnostics.
    #[serde(default)]
    pub diagnostics: Vec<DiagnosticsResult>,
    /// Files that could not be used.
    #[serde(default)]
    pub problems: Vec<FileProblem>,
}

impl SectionResult {
    /// A result without scores yet.
    pub(super) fn new(dataset: DatasetKind, group: &Group<'_>, fingerprint: String) -> Self {
        Self {
            fingerprint,
            dataset,
            set: group.set.to_owned(),
            machine: group.machine.to_owned(),
            section: group.section.to_owned(),
            train: 0,
            clips: Vec::new(),
            systems: Vec::new(),
            diagnostics: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The name of its file in a run's folder.
    pub fn file_name(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars()
                .map(|c| if c.is_alphanumeric() || c == '-' || c == '.' { c } else { '_' })
                .collect()
        };
        let set = if self.set.is_empty() { "all" } else { &self.set };
        format!(
            "{}_{}_{}_{}.json",
            self.dataset,
            plain(set),
            plain(&self.machine),
            plain(&self.section)
        )
    }

    /// `fan 00`, for people.
    pub fn name(&self) -> String {
        format!("{} {}", self.machine, self.section).trim().to_owned()
    }

    /// The labelled scores of a system; empty if it could not run or gave a score that is not a
    /// finite number.
    pub fn scores_of(&self, system: &str) -> ScoreSet {
        let Some(found) = self.systems.iter().find(|result| result.system == system) else {
            return ScoreSet::default();
        };
        let scored = |(clip, &score): (&TestClip, &f64)| {
            Some(Scored { score, label: clip.label?, domain: clip.domain })
        };
        ScoreSet::new(self.clips.iter().zip(&found.scores).filter_map(scored).collect())
            .unwrap_or_default()
    }

    /// The file of this section in a folder, if it is there and was made from the same.
    pub(super) fn load_same(&self, folder: &Path) -> Option<Self> {
        let text =
            auscult_files::read_at_most(&folder.join(self.file_name()), LARGEST_BYTES).ok()?;
        let found: Self = serde_json::from_slice(&text).ok()?;
        (found.fingerprint == self.fingerprint).then_some(found)
    }

    /// Writes the section whole or not at all.
    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(self.file_name());
        let wrong = |source: std::io::Error| Error::Write { path: path.clone(), source };
        fs::create_dir_all(folder).map_err(wrong)?;
        let text = serde_json::to_vec(self).map_err(|error| wrong(error.into()))?;
        auscult_files::write_atomically(&path, &text)
            .map_err(|error| wrong(std::io::Error::other(error)))
    }
}

/// Reads the sections of a finished run, in order; a stopped run, or sections that another run left
/// in the same folder, do not count.
///
/// # Errors
///
/// [`Error::Unfinished`] if the run was stopped, [`Error::Run`] if the folder is not that of a run.
pub fn read_sections(run: &Path) -> Result<Vec<SectionResult>> {
    /// What is needed of `results.json`.
    #[derive(Deserialize)]
    struct Finished {
        section_files: Vec<String>,
    }
    let folder = run.join(SECTIONS_FOLDER);
    let wrong = |reason: String| Error::Run { path: run.to_owned(), reason };
    let text =
        auscult_files::read_at_most(&run.join(RESULTS_FILE), LARGEST_BYTES).map_err(|_| {
            if folder.is_dir() || run.join(PLAN_FILE).is_file() {
                Error::Unfinished { path: run.to_owned() }
            } else {
                wrong(format!("there is no {RESULTS_FILE} in it"))
            }
        })?;
    let finished: Finished = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("{RESULTS_FILE} is not that of a run: {error}")))?;
    finished
        .section_files
        .iter()
        .map(|name| {
            // A name, never a path out of the folder.
            let path = folder.join(Path::new(name).file_name().unwrap_or_default());
            let bytes =
                auscult_files::read_at_most(&path, LARGEST_BYTES).map_err(Error::read(&path))?;
            serde_json::from_slice(&bytes)
                .map_err(|error| wrong(format!("{} cannot be read: {error}", path.display())))
        })
        .collect()
}

/// What a finished run has.
pub(super) const RESULTS_FILE: &str = "results.json";

/// Where a run keeps its sections.
pub(super) const SECTIONS_FOLDER: &str = "sections";

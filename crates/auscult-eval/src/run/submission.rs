//! Files as the official evaluators of each year take them.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use super::{SectionResult, SystemResult};
use crate::{
    Error, Result,
    datasets::{DatasetKind, Year},
    metrics::{DecisionFigures, Decisions, Domain},
};

/// Which threshold decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Threshold {
    /// The 90 % point of a gamma distribution of left-out scores, as the baselines do.
    #[default]
    Gamma,
    /// The 90 % point of the left-out scores themselves.
    Quantile,
}

impl Threshold {
    /// The limit of a system; `None` if it has no left-out scores.
    fn of(self, system: &SystemResult) -> Option<f64> {
        match self {
            Self::Gamma => system.threshold_gamma,
            Self::Quantile => system.threshold_quantile,
        }
    }
}

/// What was written, and what it decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The files.
    pub files: Vec<PathBuf>,
    /// The decisions of each section; none for 2020, which has no such files.
    pub decisions: Vec<SectionDecisions>,
}

/// How many clips of a section are called anomalous.
#[derive(Debug, Clone, PartialEq)]
pub struct SectionDecisions {
    /// The machine and its section.
    pub section: String,
    /// The test clips.
    pub clips: usize,
    /// Those above the threshold.
    pub anomalous: usize,
    /// What the decisions are worth, where every label is known.
    pub figures: Option<DecisionFigures>,
}

impl SectionDecisions {
    fn of(section: &SectionResult, system: &SystemResult, limit: f64) -> Self {
        let scores = section.scores_of(&system.system);
        let is_labelled = section.clips.iter().all(|clip| clip.label.is_some());
        Self {
            section: section.name(),
            clips: system.scores.len(),
            anomalous: system.scores.iter().filter(|&&score| score > limit).count(),
            figures: (is_labelled && !scores.clips().is_empty())
                .then(|| Decisions::above(&scores, limit, None).figures()),
        }
    }

    /// Whether at least 19 of 20 clips are called the same, which says next to nothing about any of them.
    pub fn is_one_sided(&self) -> bool {
        let rarer = self.anomalous.min(self.clips - self.anomalous);
        self.clips > 0 && 20 * rarer <= self.clips
    }
}

/// Writes `anomaly_score_*.csv` and, since 2021, `decision_result_*.csv` of one system. Nothing is
/// written, and no folder made, if a section cannot be submitted.
///
/// # Errors
///
/// [`Error::Dataset`] if the data set has no such form or a section lacks scores or a threshold,
/// [`Error::Write`] if a file cannot be written.
pub fn write_submission(
    sections: &[SectionResult],
    system: &str,
    threshold: Threshold,
    folder: &Path,
) -> Result<Submission> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut decisions = Vec::new();
    for section in sections {
        files.extend(files_of(section, system, threshold)?);
        let found = section.systems.iter().find(|result| result.system == system);
        let limit = found.and_then(|found| Some((found, threshold.of(found)?)));
        if section.dataset != DatasetKind::Dcase(Year::Y2020) {
            decisions
                .extend(limit.map(|(found, limit)| SectionDecisions::of(section, found, limit)));
        }
    }
    fs::create_dir_all(folder).map_err(Error::write(folder))?;
    let files: Result<Vec<PathBuf>> =
        files.into_iter().map(|(name, text)| write(&folder.join(name), &text)).collect();
    Ok(Submission { files: files?, decisions })
}

/// Names and texts of the files of one section.
fn files_of(
    section: &SectionResult,
    system: &str,
    threshold: Threshold,
) -> Result<Vec<(String, String)>> {
    let wrong = |reason: String| Error::Dataset {
        kind: format!("{} {}", section.dataset, section.name()).trim().to_owned(),
        reason,
    };
    let DatasetKind::Dcase(year) = section.dataset else {
        return Err(wrong(
            "only DCASE has submission files; its scores are in the run's folder".to_owned(),
        ));
    };
    let found = section.systems.iter().find(|result| result.system == system).ok_or_else(|| {
        // Names may have commas in them.
        let names = section.systems.iter().map(|found| format!("{:?}", found.system));
        let names = names.collect::<Vec<_>>().join(", ");
        wrong(format!("there is no system {system:?}; there are {names}"))
    })?;
    if let Some(problem) = &found.problem {
        return Err(wrong(format!("{system:?} has no scores: {problem}")));
    }
    let limit = threshold.of(found);
    let mut files = Vec::new();
    for (name, wanted) in parts(year, section) {
        let rows: Vec<(&str, f64)> = section
            .clips
            .iter()
            .zip(&found.scores)
            .filter(|(clip, _)| wanted.is_none() || clip.domain == wanted)
            .map(|(clip, &score)| (clip.name.as_str(), score))
            .collect();
        let scores = rows.iter().map(|(clip, score)| format!("{clip},{score}"));
        files.push((format!("anomaly_score_{name}.csv"), lines(scores)));
        if year == Year::Y2020 {
            continue;
        }
        let limit = limit.ok_or_else(|| {
            wrong(format!("{system:?} has no left-out scores to decide by; submit another system"))
        })?;
        let decisions =
            rows.iter().map(|(clip, score)| format!("{clip},{}", u8::from(*score > limit)));
        files.push((format!("decision_result_{name}.csv"), lines(decisions)));
    }
    Ok(files)
}

/// The middle of the file names of a section, and the domain of each.
fn parts(year: Year, section: &SectionResult) -> Vec<(String, Option<Domain>)> {
    let SectionResult { machine, section, .. } = section;
    match year {
        Year::Y2020 => vec![(format!("{machine}_id_{section}"), None)],
        Year::Y2021 => Domain::ALL
            .map(|domain| {
                (format!("{machine}_section_{section}_{}_test", domain.name()), Some(domain))
            })
            .to_vec(),
        _ => vec![(format!("{machine}_section_{section}_test"), None)],
    }
}

/// No header, comma, line feed; the evaluators sort rows before they compare.
fn lines(rows: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for row in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", row.replace(".flac,", ".wav,"));
    }
    text
}

fn write(path: &Path, text: &str) -> Result<PathBuf> {
    auscult_files::write_atomically(path, text.as_bytes())
        .map_err(|error| Error::write(path)(std::io::Error::other(error)))?;
    Ok(path.to_owned())
}

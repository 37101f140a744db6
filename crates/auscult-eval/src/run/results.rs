//! From sections to the rows of a table.

use std::collections::{BTreeMap, BTreeSet};

use auscult::ClipRules;
use auscult_core::{FrontEndIdentity, plural, random::Random};
use rayon::prelude::*;
use serde::Serialize;

use super::{
    CountsRow, DataTables, DiagnosticsResult, MissingFrontEnd, SectionResult, WindowsRow,
    partial::partial,
};
use crate::{
    datasets::{DatasetKind, Year},
    diagnostics::{BothViews, Summary},
    metrics::{
        Interval, OfficialScores, ScoreSet, SectionFigures, Strata, arithmetic_mean,
        order_of_sections, percentiles,
    },
    problems::{FileProblem, grouped},
    protocol::{PaperDiagnostics, Protocol},
    systems::SystemSettings,
};

/// Where and with what a run was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunFacts {
    /// The command line.
    pub command: String,
    /// Version and commit of the program.
    pub program: String,
    /// Processor and cores.
    pub machine: String,
    /// When it ended, if that is to be shown.
    pub date: String,
    /// Each data set with a fingerprint of its names and labels.
    pub data: BTreeMap<String, String>,
    /// Each front end with its settings; encoders with the fingerprint of their weights, layers and
    /// precision.
    pub front_ends: BTreeMap<String, FrontEndIdentity>,
    /// What could not be run, and the command for it.
    pub not_run: Vec<String>,
    /// Front ends that could not be made: what needs them has no row.
    pub missing: Vec<MissingFrontEnd>,
    /// What was odd.
    pub remarks: Vec<String>,
}

impl RunFacts {
    /// Whether a system has all its front ends.
    pub fn can_run(&self, system: &str) -> bool {
        !self.missing.iter().any(|missing| missing.systems.iter().any(|name| name == system))
    }
}

/// One system on one part of a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultRow {
    /// The data set.
    pub dataset: DatasetKind,
    /// The part of it; empty if it has none.
    pub set: String,
    /// The system.
    pub system: String,
    /// The heading it stands under.
    pub group: String,
    /// The curve it is a point of.
    pub series: String,
    /// Its place on the figure's axis.
    pub x: Option<f64>,
    /// Which score is the headline.
    pub measure: &'static str,
    /// The headline score; `None` where labels are missing or the system could not run.
    pub score: Option<f64>,
    /// The standard deviation over trials; the score is then their mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Its 95 % interval, clips drawn within sections, labels and domains.
    pub interval: Option<Interval>,
    /// The mean AUC over sections.
    pub auc: Option<f64>,
    /// The paper's score, where the protocol is the same.
    pub paper: Option<f64>,
    /// What of a published set is not there, so that the score is not that of the set.
    pub partial: Option<String>,
    /// Every convention's score.
    pub official_scores: OfficialScores,
    /// Each section.
    pub sections: Vec<SectionFigures>,
    /// Why there is no score.
    pub problem: Option<String>,
}

/// Mean diagnostics of one front end and band size over the sections of a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "means of the fields of Summary")]
pub struct DiagnosticsRow {
    pub dataset: DatasetKind,
    pub set: String,
    pub front_end: String,
    pub band_width: usize,
    pub neighbours: usize,
    pub sections: usize,
    pub variance_ratio_sub_uniform: Option<f64>,
    pub variance_ratio_uniform_global: Option<f64>,
    pub variance_ratio_sub_global: Option<f64>,
    pub gap_global: Option<f64>,
    pub gap_sub_band: Option<f64>,
    pub mean_gap_ratio: Option<f64>,
    pub d_prime_global: Option<f64>,
    pub d_prime_sub_band: Option<f64>,
    pub d_prime_ratio: Option<f64>,
    /// d' of bands with both views fused (DMM) over that of global matching on the mean view.
    pub d_prime_ratio_both_views: Option<f64>,
    /// The same over global matching with both views fused.
    pub d_prime_ratio_within_both_views: Option<f64>,
    /// Sections in which Proposition 1 holds, with regimes by coupling and domain.
    pub proposition_holds: usize,
    /// Sections in which the condition of Theorem 1 holds.
    pub theorem_condition: usize,
    /// Sections in which the condition with the measured variance ratio holds.
    pub measured_condition: usize,
    /// Sections in which bands have the larger d'.
    pub d_prime_improves: usize,
    /// Sections that do not contradict Theorem 1.
    pub theorem_consistent: usize,
    pub paper: Option<PaperDiagnostics>,
}

/// All rows of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunResults {
    /// The protocol.
    pub protocol: Protocol,
    /// Where and with what.
    pub facts: RunFacts,
    /// Which clips were used.
    pub clip_rules: ClipRules,
    /// The rows, by data set, part and system.
    pub rows: Vec<ResultRow>,
    /// The diagnostics, by data set, part, front end, band size.
    pub diagnostics: Vec<DiagnosticsRow>,
    /// The clips of each section beside the paper's, where the protocol has those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<CountsRow>,
    /// The windows of each front end beside the paper's, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowsRow>,
    /// Files that could not be used, a line a reason; the sections name each of them.
    pub problems: Vec<String>,
    /// The files of the sections it was made of; others in the folder are of other runs.
    pub section_files: Vec<String>,
}

impl RunResults {
    /// Gathers the sections of a run; intervals take `samples` draws, none if that is 0.
    pub fn new(
        protocol: Protocol,
        facts: RunFacts,
        sections: &[SectionResult],
        samples: usize,
    ) -> Self {
        let mut parts: BTreeMap<(DatasetKind, i32, &str), Vec<&SectionResult>> = BTreeMap::new();
        for section in sections {
            let set = section.set.as_str();
            let place = noise_ratio(set).unwrap_or_default();
            parts.entry((section.dataset, place, set)).or_default().push(section);
        }
        let rows = parts
            .iter()
            .flat_map(|((dataset, _, set), sections)| {
                let systems = protocol.systems.iter().filter(|system| facts.can_run(&system.name));
                let rows = systems.map(|system| row(*dataset, set, sections, system, samples));
                with_means_of_trials(&rows.collect::<Vec<_>>(), &protocol)
            })
            .collect();
        let diagnostics = parts
            .iter()
            .flat_map(|((dataset, _, set), sections)| {
                diagnostics(*dataset, set, sections, &protocol)
            })
            .collect();
        let problems: Vec<FileProblem> =
            sections.iter().flat_map(|section| section.problems.clone()).collect();
        let problems = grouped(&problems);
        let section_files = sections.iter().map(SectionResult::file_name).collect();
        let clip_rules = ClipRules::protocol();
        let (counts, windows) = (Vec::new(), Vec::new());
        Self {
            protocol,
            facts,
            clip_rules,
            rows,
            diagnostics,
            counts,
            windows,
            problems,
            section_files,
        }
    }

    /// Adds what the data and the windows are.
    #[must_use]
    pub fn with_data(mut self, tables: DataTables) -> Self {
        (self.counts, self.windows) = (tables.counts, tables.windows);
        self.facts.missing.extend(tables.missing);
        self
    }

    /// Parts of data sets, in order.
    pub fn parts(&self) -> Vec<(DatasetKind, String)> {
        let mut parts: Vec<(DatasetKind, String)> =
            self.rows.iter().map(|row| (row.dataset, row.set.clone())).collect();
        parts.dedup();
        parts
    }

    /// The systems that have rows in the table; of trials the first, for all.
    pub fn systems(&self) -> impl Iterator<Item = &SystemSettings> {
        let mut shown = BTreeSet::new();
        let systems = &self.protocol.systems;
        let can_run = systems.iter().filter(|system| self.facts.can_run(&system.name));
        can_run.filter(move |system| shown.insert(system.table_name()))
    }

    /// The row of a system on a part.
    pub fn row(&self, dataset: DatasetKind, set: &str, system: &str) -> Option<&ResultRow> {
        self.rows
            .iter()
            .find(|row| row.dataset == dataset && row.set == set && row.system == system)
    }
}

/// The signal-to-noise ratio a part of MIMII is of, in dB.
pub(super) fn noise_ratio(set: &str) -> Option<i32> {
    match set {
        "min6dB" => Some(-6),
        "0dB" => Some(0),
        "6dB" => Some(6),
        _ => None,
    }
}

/// The score that stands for a data set, and its name.
pub(super) fn headline(
    dataset: DatasetKind,
    scores: &OfficialScores,
) -> (&'static str, Option<f64>) {
    match dataset {
        DatasetKind::Dcase(Year::Y2020) | DatasetKind::Mimii => {
            ("mean of AUC and pAUC over ids", scores.dcase2020)
        }
        DatasetKind::Dcase(Year::Y2021) => ("official score", scores.dcase2021),
        DatasetKind::Dcase(_) => ("official score", scores.dcase2022),
        DatasetKind::Folder if scores.dcase2022.is_some() => {
            ("harmonic mean of source AUC, target AUC and pAUC", scores.dcase2022)
        }
        DatasetKind::Folder => ("mean of AUC and pAUC", scores.dcase2020),
    }
}

fn row(
    dataset: DatasetKind,
    set: &str,
    sections: &[&SectionResult],
    system: &SystemSettings,
    samples: usize,
) -> ResultRow {
    let problem_of = |section: &&SectionResult| {
        let found = section.systems.iter().find(|result| result.system == system.name)?;
        found.problem.as_ref().map(|problem| format!("{}: {problem}", section.name()))
    };
    let machines: Vec<(&str, &str)> =
        sections.iter().map(|section| (&*section.machine, &*section.section)).collect();
    let sets: Vec<ScoreSet> =
        sections.iter().map(|section| section.scores_of(&system.name)).collect();
    let sets_by_reference: Vec<&ScoreSet> = sets.iter().collect();
    let figures = figures(&machines, &sets_by_reference);
    let official_scores = OfficialScores::of(&figures, &sets_by_reference);
    let (measure, score) = headline(dataset, &official_scores);
    let unlabelled = || {
        let missing = sets.iter().any(|set| set.clips().is_empty());
        let advice = dataset.advice_on_labels();
        missing.then(|| format!("test clips have no labels: scores only; {advice}"))
    };
    let without_label = sections.iter().flat_map(|section| &section.clips);
    let without_label = without_label.filter(|clip| clip.label.is_none()).count();
    let one_class = || {
        let missing = score.is_none().then(|| one_sided(&figures))?;
        if without_label == 0 {
            return Some(missing);
        }
        let (clips, advice) = (plural(without_label, "test clip"), dataset.advice_on_labels());
        Some(format!("{missing}; without a label: {clips}; {advice}"))
    };
    let problem = sections.iter().find_map(problem_of).or_else(unlabelled).or_else(one_class);
    let partial = partial(dataset, set, sections);
    let name = dataset.to_string();
    let part = if set.is_empty() { name } else { format!("{name}/{set}") };
    ResultRow {
        dataset,
        set: set.to_owned(),
        system: system.name.clone(),
        group: system.group.clone(),
        series: system.series.clone(),
        x: system.x,
        measure,
        score,
        deviation: None,
        interval: score.and_then(|_| interval(dataset, &machines, &sets, samples)),
        auc: mean_auc(&figures),
        paper: system
            .paper
            .get(&part)
            // Only then may the paper's number stand beside ours.
            .filter(|_| dataset != DatasetKind::Folder && partial.is_none())
            .map(|percent| percent / 100.0),
        partial,
        official_scores,
        sections: figures,
        problem,
    }
}

/// Rows of one part, with a row of means before the trials of a system. Trials keep theirs, without the paper's number,
/// which is a mean as well.
fn with_means_of_trials(rows: &[ResultRow], protocol: &Protocol) -> Vec<ResultRow> {
    let trial_of = |row: &ResultRow| {
        let system = protocol.systems.iter().find(|system| system.name == row.system);
        system.map(|system| system.trial_of.clone()).unwrap_or_default()
    };
    let names: Vec<String> = rows.iter().map(trial_of).collect();
    let mut all: Vec<ResultRow> = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let name = &names[at];
        if name.is_empty() {
            all.push(row.clone());
            continue;
        }
        if at == 0 || names[at - 1] != *name {
            let trials = rows.iter().zip(&names).filter(|(_, other)| *other == name);
            all.push(mean_of_trials(name, &trials.map(|(row, _)| row).collect::<Vec<_>>()));
        }
        all.push(ResultRow { paper: None, ..row.clone() });
    }
    all
}

fn mean_of_trials(name: &str, trials: &[&ResultRow]) -> ResultRow {
    let first = trials[0];
    let scores: Option<Vec<f64>> = trials.iter().map(|row| row.score).collect();
    let mean = scores.as_ref().and_then(|scores| arithmetic_mean(scores.iter().copied()));
    let deviation = scores.as_ref().zip(mean).filter(|(scores, _)| scores.len() > 1);
    let deviation = deviation.map(|(scores, mean)| {
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        (squares / (scores.len() - 1) as f64).sqrt()
    });
    let aucs: Option<Vec<f64>> = trials.iter().map(|row| row.auc).collect();
    ResultRow {
        system: name.to_owned(),
        score: mean,
        deviation,
        interval: None,
        auc: aucs.and_then(arithmetic_mean),
        official_scores: OfficialScores::default(),
        sections: Vec::new(),
        problem: trials.iter().find_map(|row| row.problem.clone()),
        ..first.clone()
    }
}

fn figures(machines: &[(&str, &str)], sets: &[&ScoreSet]) -> Vec<SectionFigures> {
    machines
        .iter()
        .zip(sets)
        .map(|((machine, section), set)| SectionFigures {
            machine: (*machine).to_owned(),
            section: (*section).to_owned(),
            figures: set.figures(),
        })
        .collect()
}

/// Which sections keep a score from being made.
fn one_sided(sections: &[SectionFigures]) -> String {
    let where_it_is = |is: &dyn Fn(&SectionFigures) -> bool| -> Option<String> {
        let found = sections.iter().filter(|found| is(found));
        let names = found.map(|found| format!("{} {}", found.machine, found.section));
        let names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
        match names.as_slice() {
            [] => None,
            // Some data have neither machines nor sections.
            [name] if name.is_empty() => Some(String::new()),
            names => Some(format!(" in {}", names.join(", "))),
        }
    };
    let one_class = |found: &SectionFigures| found.figures.auc.is_none();
    if let Some(place) = where_it_is(&one_class) {
        return format!("no score: test clips of one class only{place}");
    }
    let one_domain = |found: &SectionFigures| {
        found.figures.auc_source.is_none() || found.figures.auc_target.is_none()
    };
    let place = where_it_is(&one_domain).unwrap_or_default();
    format!("no score: normal test clips of one domain only{place}")
}

/// `None` if a section has none.
fn mean_auc(sections: &[SectionFigures]) -> Option<f64> {
    let values: Option<Vec<f64>> = sections.iter().map(|found| found.figures.auc).collect();
    arithmetic_mean(values?)
}

/// The headline of sets drawn with replacement.
fn interval(
    dataset: DatasetKind,
    machines: &[(&str, &str)],
    sets: &[ScoreSet],
    samples: usize,
) -> Option<Interval> {
    if samples == 0 {
        return None;
    }
    let order = order_of_sections(&sets.iter().collect::<Vec<_>>());
    let (machines, sets): (Vec<(&str, &str)>, Vec<&ScoreSet>) =
        order.into_iter().map(|at| (machines[at], &sets[at])).unzip();
    let strata: Vec<Strata> = sets.iter().map(|set| Strata::of(set.clips())).collect();
    let values: Option<Vec<f64>> = (0..samples)
        .into_par_iter()
        .map(|sample| {
            let mut random = Random::of(1, &[sample as u64]);
            let drawn: Vec<ScoreSet> = sets
                .iter()
                .zip(&strata)
                .map(|(set, strata)| set.select(strata.draw(&mut random)))
                .collect();
            score_of(dataset, &machines, &drawn.iter().collect::<Vec<_>>())
        })
        .collect();
    percentiles(values?)
}

/// The headline score of sets.
pub(super) fn score_of(
    dataset: DatasetKind,
    machines: &[(&str, &str)],
    sets: &[&ScoreSet],
) -> Option<f64> {
    measured(dataset, machines, sets).1
}

/// The headline score of sets, after its name.
pub(super) fn measured(
    dataset: DatasetKind,
    machines: &[(&str, &str)],
    sets: &[&ScoreSet],
) -> (&'static str, Option<f64>) {
    headline(dataset, &OfficialScores::of(&figures(machines, sets), sets))
}

fn diagnostics(
    dataset: DatasetKind,
    set: &str,
    sections: &[&SectionResult],
    protocol: &Protocol,
) -> Vec<DiagnosticsRow> {
    // Front end, neighbours and band size.
    type Key = (String, usize, usize);
    let mut groups: BTreeMap<Key, Vec<&DiagnosticsResult>> = BTreeMap::new();
    for found in sections.iter().flat_map(|section| &section.diagnostics) {
        let key = (found.front_end.clone(), found.neighbours, found.band_width);
        groups.entry(key).or_default().push(found);
    }
    let paper_of = |front_end: &str, width: usize| {
        protocol
            .diagnostics
            .iter()
            .filter(|request| front_end.starts_with(&request.front_end))
            .flat_map(|request| &request.paper)
            .find(|row| row.dataset == dataset && row.band_width == width)
            .cloned()
    };
    groups
        .into_iter()
        .map(|((front_end, neighbours, band_width), found)| {
            let mean = |part: fn(&Summary) -> Option<f64>| {
                arithmetic_mean(found.iter().filter_map(|section| part(&section.one_regime)))
            };
            let count = |part: fn(&Summary) -> Option<bool>| {
                let summary = |section: &DiagnosticsResult| {
                    part(section.by_regime.as_ref().unwrap_or(&section.one_regime))
                };
                found.iter().filter(|section| summary(section) == Some(true)).count()
            };
            let both_over = |global: fn(&DiagnosticsResult, &BothViews) -> Option<f64>| {
                let ratios: Option<Vec<f64>> = found
                    .iter()
                    .map(|section| {
                        let both = section.both_views.as_ref()?;
                        Some(both.d_prime_sub_band? / global(section, both).filter(|d| *d != 0.0)?)
                    })
                    .collect();
                arithmetic_mean(ratios?)
            };
            DiagnosticsRow {
                dataset,
                set: set.to_owned(),
                paper: (neighbours == 0).then(|| paper_of(&front_end, band_width)).flatten(),
                front_end,
                band_width,
                neighbours,
                sections: found.len(),
                variance_ratio_sub_uniform: mean(|s| s.variance_ratio_sub_uniform),
                variance_ratio_uniform_global: mean(|s| s.variance_ratio_uniform_global),
                variance_ratio_sub_global: mean(|s| s.variance_ratio_sub_global),
                gap_global: mean(|s| Some(s.gap_global)),
                gap_sub_band: mean(|s| Some(s.gap_sub_band)),
                mean_gap_ratio: mean(|s| s.mean_gap_ratio),
                d_prime_global: mean(|s| s.d_prime_global),
                d_prime_sub_band: mean(|s| s.d_prime_sub_band),
                d_prime_ratio: mean(|s| s.d_prime_ratio),
                d_prime_ratio_both_views: both_over(|mean, _| mean.one_regime.d_prime_global),
                d_prime_ratio_within_both_views: both_over(|_, both| both.d_prime_global),
                proposition_holds: count(|s| s.proposition_holds),
                theorem_condition: count(|s| s.theorem_condition),
                measured_condition: count(|s| s.measured_condition),
                d_prime_improves: count(|s| s.d_prime_improves),
                theorem_consistent: count(|s| s.theorem_consistent),
            }
        })
        .collect()
}

//! `auscult bench compare`: is the difference of two runs more than chance?

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use auscult_eval::{
    datasets::DatasetKind,
    metrics::read_scores,
    run::{
        Comparison, SectionResult, SystemResult, TestClip, compare, nothing_to_compare,
        read_sections,
    },
};

use super::opening;
use crate::{Outcome, args::CompareArguments, context::Context, tables::comparison};

pub(super) fn run(arguments: &CompareArguments, context: &Context) -> anyhow::Result<Outcome> {
    let (mut first, mut second) = (sections(&arguments.first)?, sections(&arguments.second)?);
    match (arguments.first.is_file(), arguments.second.is_file()) {
        (true, false) => take_data_sets(&mut first, &second),
        (false, true) => take_data_sets(&mut second, &first),
        _ => {}
    }
    let (ours, theirs) = (systems(&first), systems(&second));
    let known = |name: &str, of: &BTreeSet<&str>| -> anyhow::Result<String> {
        let list = || opening::quoted(of);
        anyhow::ensure!(of.contains(name), "there is no system {name:?}; there are {}", list());
        Ok(name.to_owned())
    };
    let pairs: Vec<(String, String)> = match (&arguments.system, &arguments.against) {
        (Some(name), against) => {
            let other = against.as_ref().unwrap_or(name);
            vec![(known(name, &ours)?, known(other, &theirs)?)]
        }
        (None, _) => {
            ours.intersection(&theirs).map(|&name| (name.to_owned(), name.to_owned())).collect()
        }
    };
    anyhow::ensure!(
        !pairs.is_empty(),
        "the two have no system in common; name one of each with --system and --against: A has {}; B has {}",
        opening::quoted(&ours),
        opening::quoted(&theirs)
    );
    let found: Vec<Comparison> = pairs
        .iter()
        .flat_map(|(a, b)| compare((&first, a), (&second, b), arguments.samples as usize))
        .collect();
    anyhow::ensure!(
        !found.is_empty(),
        "{} and {} cannot be compared: {}",
        arguments.first.display(),
        arguments.second.display(),
        nothing_to_compare(&first, &second)
    );
    if arguments.json {
        context.printer.line(serde_json::to_string_pretty(&found)?)?;
    } else {
        context.printer.text(&comparison::describe(&found))?;
    }
    let left_out: BTreeSet<String> = found.iter().filter_map(comparison::left_out).collect();
    for problem in &left_out {
        context.printer.problem(problem);
    }
    Ok(if left_out.is_empty() { Outcome::Done } else { Outcome::Incomplete })
}

fn systems(sections: &[SectionResult]) -> BTreeSet<&str> {
    sections.iter().flat_map(|section| &section.systems).map(|found| &*found.system).collect()
}

/// A table does not say which data set it is of: sections of the same name as the run's are the
/// run's.
fn take_data_sets(table: &mut [SectionResult], run: &[SectionResult]) {
    for section in table {
        let same = |other: &&SectionResult| {
            (&other.set, &other.machine, &other.section)
                == (&section.set, &section.machine, &section.section)
        };
        if let Some(other) = run.iter().find(same) {
            section.dataset = other.dataset;
        }
    }
}

/// The sections of a run's folder, or of a CSV file of scores.
fn sections(path: &Path) -> anyhow::Result<Vec<SectionResult>> {
    if !path.is_file() {
        return Ok(read_sections(path)?);
    }
    let mut groups: BTreeMap<(String, String, String), SectionResult> = BTreeMap::new();
    for clip in read_scores(path)? {
        let key = (clip.set.clone(), clip.machine.clone(), clip.section.clone());
        let section = groups.entry(key).or_insert_with(|| SectionResult {
            fingerprint: String::new(),
            dataset: DatasetKind::Folder,
            set: clip.set.clone(),
            machine: clip.machine.clone(),
            section: clip.section.clone(),
            train: 0,
            clips: Vec::new(),
            systems: vec![SystemResult {
                system: "scores".to_owned(),
                scores: Vec::new(),
                problem: None,
                threshold_gamma: None,
                threshold_quantile: None,
            }],
            diagnostics: Vec::new(),
            problems: Vec::new(),
        });
        section.clips.push(TestClip { name: clip.path, label: clip.label, domain: clip.domain });
        section.systems[0].scores.push(clip.score);
    }
    Ok(groups.into_values().collect())
}

//! What was found, against what is known.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use auscult_core::plural;

use super::{Dataset, DatasetKind, Group, Known, Set, Year, headers};
use crate::{
    counts::found_of,
    metrics::{Domain, Label},
    problems::FileProblem,
};

/// How many clips a section has.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GroupCounts {
    /// Which part of the data set.
    pub set: String,
    /// The machine type.
    pub machine: String,
    /// The section.
    pub section: String,
    /// Training clips by domain; those without a domain count as source.
    pub train_source: usize,
    /// Training clips of the target domain.
    pub train_target: usize,
    /// Test clips: source normal, source anomalous, target normal, target anomalous; those without
    /// a domain count as source.
    pub test: [usize; 4],
    /// Test clips without a label.
    pub unlabelled: usize,
    /// Different attributes among the training clips.
    pub classes: usize,
    /// The known counts, where there are such.
    pub known: Option<Known>,
    /// How many test clips all sections of the machine are known to have together, where only that
    /// is known.
    pub known_test_total: Option<usize>,
    /// What is wrong, in sentences.
    pub problems: Vec<String>,
}

/// What a data set on disk has, and what it lacks.
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// Which data set.
    pub dataset: String,
    /// The sections found.
    pub sections: Vec<GroupCounts>,
    /// Machines of the data set that are not there, by part.
    pub missing: BTreeMap<&'static str, Vec<String>>,
    /// Classes among the training clips (machine, section, attributes), whatever the domain.
    pub classes: usize,
    /// The same by machine and section only.
    pub classes_by_section: usize,
    /// How many classes the whole data set is known to have.
    pub known_classes: Option<usize>,
    /// Whether they are as many; `None` if nothing is known or a section lacks training clips.
    pub classes_as_known: Option<bool>,
    /// Remarks on what was read.
    pub remarks: Vec<String>,
    /// Files that are not there, are empty or cut off, or have a header that makes no sense.
    pub unusable: Vec<FileProblem>,
    /// Whether every section of the data set is there and intact.
    pub complete: bool,
    /// Whether what is there is: every file can be used, and counts are those known, as far as they are known.
    pub intact: bool,
    /// A fingerprint of names, splits, labels and domains.
    pub fingerprint: String,
}

impl GroupCounts {
    /// Counts the clips of a section.
    pub fn of(kind: DatasetKind, group: &Group<'_>) -> Self {
        counts(kind, group)
    }

    /// What the counts agree with if there are no problems.
    pub fn agreement(&self) -> &'static str {
        match (self.known, self.known_test_total) {
            (Some(Known { test: Some(_), .. }), _) => "as known",
            (Some(_), _) => "training clips as known, test clips not known",
            (None, Some(_)) => "test clips of all ids as known, training clips not known",
            (None, None) => "no known counts",
        }
    }

    /// `fan 00`, for people; some data have neither machines nor sections.
    pub fn name(&self) -> String {
        match format!("{} {}", self.machine, self.section).trim() {
            "" => "all clips".to_owned(),
            name => name.to_owned(),
        }
    }
}

impl CheckReport {
    /// What to say of a part of a data set that is intact, but not all of it; `None` of anything else.
    pub fn subset(&self) -> Option<String> {
        let missing: usize = self.missing.values().map(Vec::len).sum();
        (self.intact && missing > 0).then(|| {
            let (here, dataset) = (self.sections.len(), &self.dataset);
            format!(
                "{here} of {} of {dataset} are here and intact; figures will be of these, not of the whole set",
                plural(here + missing, "section")
            )
        })
    }

    /// Looks at a data set: its names, and the headers of its files.
    pub fn of(dataset: &Dataset) -> Self {
        let mut sections: Vec<GroupCounts> =
            dataset.groups().iter().map(|group| counts(dataset.kind, group)).collect();
        let mut missing = BTreeMap::new();
        let mut known_classes = None;
        if let DatasetKind::Dcase(year) = dataset.kind {
            known_classes = year.known_classes();
            missing = missing_machines(year, &sections);
            check_totals(year, &mut sections);
        }
        let classes = dataset.class_count();
        let is_trained = |section: &GroupCounts| section.train_source + section.train_target > 0;
        let all_there = missing.values().all(Vec::is_empty) && sections.iter().all(is_trained);
        let classes_as_known =
            known_classes.filter(|_| all_there).map(|known: usize| known == classes);
        let unusable = headers::unusable(&dataset.clips);
        let intact = unusable.is_empty()
            && sections.iter().all(|section| section.problems.is_empty())
            && classes_as_known != Some(false);
        let complete = intact && missing.values().all(Vec::is_empty);
        Self {
            dataset: dataset.kind.to_string(),
            missing,
            classes,
            classes_by_section: dataset.section_class_count(),
            known_classes,
            classes_as_known,
            remarks: dataset.remarks(),
            unusable,
            complete,
            intact,
            fingerprint: dataset.fingerprint(),
            sections,
        }
    }
}

fn counts(kind: DatasetKind, group: &Group<'_>) -> GroupCounts {
    let is_target = |domain: Option<Domain>| domain == Some(Domain::Target);
    let train_target = group.train.iter().filter(|clip| is_target(clip.domain)).count();
    let mut found = GroupCounts {
        set: group.set.to_owned(),
        machine: group.machine.to_owned(),
        section: group.section.to_owned(),
        train_source: group.train.len() - train_target,
        train_target,
        classes: group.train.iter().map(|clip| &clip.attributes).collect::<BTreeSet<_>>().len(),
        ..GroupCounts::default()
    };
    for clip in &group.test {
        match clip.label {
            None => found.unlabelled += 1,
            Some(label) => {
                let place =
                    2 * usize::from(is_target(clip.domain)) + usize::from(label == Label::Anomaly);
                found.test[place] += 1;
            }
        }
    }
    if let DatasetKind::Dcase(year) = kind {
        let set = Set::ALL.into_iter().find(|set| set.name() == group.set);
        found.known = set.and_then(|set| year.known(set, group.machine));
    }
    found.problems = problems(kind, &found, group);
    found
}

fn problems(kind: DatasetKind, found: &GroupCounts, group: &Group<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    if group.train.is_empty() {
        problems.push("no training clips".to_owned());
    }
    if group.test.is_empty() {
        problems.push("no test clips".to_owned());
    }
    if found.unlabelled > 0 {
        problems.push(format!(
            "{} without a label: scores only, no metric; {}",
            plural(found.unlabelled, "test clip"),
            kind.advice_on_labels()
        ));
    }
    let Some(known) = found.known else { return problems };
    let train = [
        ("source", found.train_source, known.train_source),
        ("target", found.train_target, known.train_target),
    ];
    for (domain, got, wanted) in train {
        if got != wanted && !group.train.is_empty() {
            let what = format!("training clips of the {domain} domain");
            problems.push(found_of(got, wanted, &what));
        }
    }
    let total: usize = known.test.iter().flatten().sum();
    match known.test {
        Some(_) if group.test.is_empty() => {}
        Some(_) if found.unlabelled > 0 && group.test.len() != total => {
            problems.push(found_of(group.test.len(), total, "test clips"));
        }
        Some(wanted) if found.unlabelled == 0 && found.test != wanted => problems.push(format!(
            "test clips {:?}, known are {wanted:?} (source normal, source anomalous, target normal, target anomalous)",
            found.test
        )),
        _ => {}
    }
    problems
}

fn missing_machines(year: Year, sections: &[GroupCounts]) -> BTreeMap<&'static str, Vec<String>> {
    let is_there = |set: Set, machine: &str, section: &str| {
        sections.iter().any(|found| {
            (found.set.as_str(), found.machine.as_str(), found.section.as_str())
                == (set.name(), machine, section)
        })
    };
    let missing = |set: Set| {
        let all = year.machines(set).iter().flat_map(move |machine| {
            year.sections(set, machine).iter().map(move |section| (*machine, *section))
        });
        all.filter(|(machine, section)| !is_there(set, machine, section))
            .map(|(machine, section)| format!("{machine} {section}"))
            .collect()
    };
    Set::ALL.into_iter().map(|set| (set.name(), missing(set))).collect()
}

/// Where only the total of a machine's hidden test clips is known.
fn check_totals(year: Year, sections: &mut [GroupCounts]) {
    for machine in year.machines(Set::Evaluation) {
        let Some(known) = year.known_evaluation_total(machine) else { continue };
        let of_machine =
            |found: &&mut GroupCounts| found.set == "eval" && found.machine == *machine;
        let tested = |found: &GroupCounts| found.test.iter().sum::<usize>() + found.unlabelled;
        let total: usize = sections.iter_mut().filter(of_machine).map(|found| tested(found)).sum();
        for found in sections.iter_mut().filter(of_machine) {
            found.known_test_total = Some(known);
        }
        if total == known || total == 0 {
            continue;
        }
        if let Some(first) = sections.iter_mut().find(|found| of_machine(found)) {
            let what = format!("test clips of {machine} in all ids");
            first.problems.push(found_of(total, known, &what));
        }
    }
}

//! One folder, one run: what a folder is of, and how another run differs from it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use auscult_core::FrontEndIdentity;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::section::{LARGEST_BYTES, RESULTS_FILE, SECTIONS_FOLDER};
use crate::{Error, Result, datasets::DatasetKind, protocol::Protocol};

/// What decides the numbers of a run. A run writes it into its folder before anything else.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunPlan {
    /// The protocol, with what options changed in it.
    pub protocol: Protocol,
    /// Each data set with a fingerprint of its names and labels.
    pub data: BTreeMap<String, String>,
    /// The front ends that can be made.
    pub front_ends: BTreeMap<String, FrontEndIdentity>,
    /// Draws for intervals.
    pub samples: usize,
}

/// What a folder says it is of. Folders of finished runs without a plan have it in their results.
#[derive(Debug, Default, Deserialize)]
struct Found {
    protocol: Value,
    #[serde(default)]
    data: BTreeMap<String, String>,
    #[serde(default)]
    front_ends: BTreeMap<String, FrontEndIdentity>,
    #[serde(default)]
    samples: Option<usize>,
    #[serde(default)]
    facts: Option<FoundFacts>,
}

#[derive(Debug, Deserialize)]
struct FoundFacts {
    #[serde(default)]
    data: BTreeMap<String, String>,
    #[serde(default)]
    front_ends: BTreeMap<String, FrontEndIdentity>,
}

impl RunPlan {
    /// How this run differs from the one a folder is of, in words; nothing if it is the same, or the
    /// folder is of none.
    ///
    /// A front end that could not be made then or now makes no difference: a run may be continued
    /// after weights were fetched.
    ///
    /// # Errors
    ///
    /// [`Error::Run`] if the folder is a file, or has a plan or results that cannot be read.
    pub fn differences(&self, folder: &Path) -> Result<Vec<String>> {
        if folder.is_file() {
            let reason = "it is a file; choose a folder".to_owned();
            return Err(Error::Run { path: folder.to_owned(), reason });
        }
        let Some(found) = read(folder)? else { return Ok(Vec::new()) };
        // Written and read like the other, so that numbers are the same to the last digit.
        let now: Found = serde_json::to_vec(self)
            .and_then(|bytes| serde_json::from_slice(&bytes))
            .map_err(|error| Error::Run { path: folder.to_owned(), reason: error.to_string() })?;
        let mut differences = protocol_differences(&found.protocol, &now.protocol);
        for name in found.data.keys().chain(now.data.keys()).collect::<BTreeSet<_>>() {
            match (found.data.get(name), now.data.get(name)) {
                (Some(_), None) => differences.push(format!("{name} there, not now")),
                (None, Some(_)) => differences.push(format!("{name} now, not there")),
                (one, other) if one != other => differences
                    .push(format!("{name} with other machines, splits, clips or labels there")),
                _ => {}
            }
        }
        for (name, identity) in &now.front_ends {
            if found.front_ends.get(name).is_some_and(|other| other != identity) {
                differences.push(format!("other weights or settings of {name} there"));
            }
        }
        if let Some(samples) = found.samples.filter(|&samples| samples != self.samples) {
            differences.push(format!("{samples} samples there, {} now", self.samples));
        }
        Ok(differences)
    }

    /// Makes the folder, and makes it this run's.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] if that is not possible.
    pub fn claim(&self, folder: &Path) -> Result<()> {
        let path = folder.join(PLAN_FILE);
        let wrong = |source: std::io::Error| Error::Write { path: path.clone(), source };
        fs::create_dir_all(folder).map_err(wrong)?;
        let text = serde_json::to_vec_pretty(self).map_err(|error| wrong(error.into()))?;
        auscult_files::write_atomically(&path, &text)
            .map_err(|error| wrong(std::io::Error::other(error)))
    }
}

/// Removes the results of an earlier run from a folder. Its sections stay until the new run is
/// finished: those that are the same are not computed again.
///
/// # Errors
///
/// [`Error::Write`] if a file cannot be removed.
pub fn remove_results(folder: &Path) -> Result<()> {
    let scores = DatasetKind::all()
        .flat_map(|kind| ["parquet", "csv"].map(|form| format!("scores-{kind}.{form}")));
    let plain = [RESULTS_FILE, "results.md", "results.tex", "index.html", PLAN_FILE];
    scores.chain(plain.map(str::to_owned)).try_for_each(|name| remove(&folder.join(name)))
}

/// Removes sections that are not of the finished run.
///
/// # Errors
///
/// [`Error::Write`] if a file cannot be removed.
pub fn remove_stale_sections(folder: &Path, of_run: &[String]) -> Result<()> {
    let sections = folder.join(SECTIONS_FOLDER);
    let entries = fs::read_dir(&sections).into_iter().flatten().flatten();
    let is_stale = |path: &PathBuf| {
        let is_of_run = |name| of_run.iter().any(|file| Path::new(file) == Path::new(name));
        path.extension().is_some_and(|end| end == "json")
            && !path.file_name().is_some_and(is_of_run)
    };
    entries.map(|entry| entry.path()).filter(is_stale).try_for_each(|path| remove(&path))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::Write { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// What a folder is of.
pub(super) const PLAN_FILE: &str = "run.json";

fn read(folder: &Path) -> Result<Option<Found>> {
    for name in [PLAN_FILE, RESULTS_FILE] {
        let path = folder.join(name);
        let bytes = match auscult_files::read_at_most(&path, LARGEST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::read(&path)(error)),
        };
        let mut found: Found = serde_json::from_slice(&bytes).map_err(|error| Error::Run {
            path: folder.to_owned(),
            reason: format!("its {name} is not that of a run ({error}); choose another folder"),
        })?;
        if let Some(facts) = found.facts.take() {
            (found.data, found.front_ends) = (facts.data, facts.front_ends);
        }
        return Ok(Some(found));
    }
    Ok(None)
}

/// Texts of a protocol that change no number.
const TEXTS: [&str; 4] = ["title", "paper", "about", "cited"];

fn protocol_differences(found: &Value, now: &Value) -> Vec<String> {
    let nothing = serde_json::Map::new();
    let (found, now) = (found.as_object().unwrap_or(&nothing), now.as_object().unwrap_or(&nothing));
    let names: BTreeSet<&String> = found.keys().chain(now.keys()).collect();
    let mut differences = Vec::new();
    for name in names.into_iter().filter(|name| !TEXTS.contains(&name.as_str())) {
        let (there, here) = (found.get(name), now.get(name));
        match (there, here) {
            _ if there == here => {}
            (Some(Value::Array(there)), Some(Value::Array(here))) if name == "system" => {
                differences.push(system_differences(there, here));
            }
            (Some(there), Some(here)) if is_short(there) && is_short(here) => {
                differences.push(format!("{name} {there} there, {here} now"));
            }
            _ => differences.push(format!("other {name} there")),
        }
    }
    differences
}

fn is_short(value: &Value) -> bool {
    !value.is_object() && value.to_string().len() < 40
}

fn system_differences(there: &[Value], here: &[Value]) -> String {
    let by_name = |systems: &[Value]| -> BTreeMap<String, Value> {
        systems.iter().map(|system| (system["name"].to_string(), system.clone())).collect()
    };
    let (there, here) = (by_name(there), by_name(here));
    let only = |one: &BTreeMap<String, Value>, other: &BTreeMap<String, Value>| -> Vec<String> {
        one.keys().filter(|name| !other.contains_key(*name)).cloned().collect()
    };
    let changed = here.iter().filter(|(name, now)| there.get(*name).is_some_and(|was| was != *now));
    let changed: Vec<String> = changed.map(|(name, _)| name.clone()).collect();
    let differences = [
        ("only there", only(&there, &here)),
        ("only now", only(&here, &there)),
        ("with other settings there", changed),
    ];
    let differences: Vec<String> = differences
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}: {}", names.join(", ")))
        .collect();
    if differences.is_empty() {
        "systems in another order there".to_owned()
    } else {
        format!("systems {}", differences.join("; "))
    }
}

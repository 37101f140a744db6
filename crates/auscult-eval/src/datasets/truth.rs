//! Labels and domains of hidden test sets, from the official evaluator's folder.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use auscult_core::plural;

use super::{DatasetClip, DatasetKind, Split, guess::year_in, parse_name};
use crate::{
    Error, Result,
    metrics::{Domain, Label},
};

/// A list of labels is never so long.
const LARGEST_LIST: u64 = 64 << 20;

/// Machine, section, domain where the name tells it, and number: what names a hidden clip.
type Key = (String, String, Option<Domain>, u32);

/// What is known about hidden test clips.
///
/// Label and domain come from `ground_truth_data` and `ground_truth_domain`, never from names with
/// attributes: for DCASE 2022 these disagree with the official evaluator on half of two machines.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    labels: BTreeMap<Key, Label>,
    domains: BTreeMap<Key, Domain>,
}

impl Truth {
    /// Reads an evaluator's folder (`ground_truth_data/`, `ground_truth_domain/`), or the file
    /// `eval_data_list.csv` of DCASE 2020.
    ///
    /// # Errors
    ///
    /// [`Error::Dataset`] if there is no ground truth, [`Error::Table`] if a row has another form.
    pub fn open(path: &Path) -> Result<Self> {
        let mut truth = Self::default();
        if path.is_file() {
            truth.read_list(path)?;
            return Ok(truth);
        }
        let Some(data) = find_folder(path, "ground_truth_data") else {
            let list = path.join("eval_data_list.csv");
            if list.is_file() {
                truth.read_list(&list)?;
                return Ok(truth);
            }
            let reason = format!(
                "{} has no ground_truth_data folder (and no eval_data_list.csv of 2020); name the folder of the official evaluator",
                path.display()
            );
            return Err(Error::Dataset { kind: "ground truth".to_owned(), reason });
        };
        let label = |text: &str| match text {
            "0" => Some(Label::Normal),
            "1" => Some(Label::Anomaly),
            _ => None,
        };
        read_tables(&data, label, &mut truth.labels)?;
        if let Some(folder) = find_folder(path, "ground_truth_domain") {
            let domain = |text: &str| match text {
                "0" => Some(Domain::Source),
                "1" => Some(Domain::Target),
                _ => None,
            };
            read_tables(&folder, domain, &mut truth.domains)?;
        }
        Ok(truth)
    }

    /// The truth for one data set from several folders: those whose names tell another DCASE year
    /// are for other data. `None` if no folder is for this one.
    ///
    /// # Errors
    ///
    /// Those of [`Truth::open`].
    pub fn open_for(kind: DatasetKind, paths: &[PathBuf]) -> Result<Option<Self>> {
        let is_for = |path: &&PathBuf| {
            let named = path.iter().rev().find_map(|part| year_in(&part.to_string_lossy()));
            named.is_none_or(|year| kind == DatasetKind::Dcase(year))
        };
        let mut truth: Option<Self> = None;
        for path in paths.iter().filter(is_for) {
            let Self { labels, domains } = Self::open(path)?;
            let all = truth.get_or_insert_default();
            all.labels.extend(labels);
            all.domains.extend(domains);
        }
        Ok(truth)
    }

    /// 2020's list: a line with the machine, then `hidden name, name with label, label`.
    fn read_list(&mut self, path: &Path) -> Result<()> {
        let text =
            auscult_files::read_text_at_most(path, LARGEST_LIST).map_err(Error::read(path))?;
        let mut machine = String::new();
        for (index, line) in text.lines().enumerate() {
            let fields: Vec<&str> =
                line.split(',').map(str::trim).filter(|f| !f.is_empty()).collect();
            match fields.as_slice() {
                [] => {}
                [name] => (*name).clone_into(&mut machine),
                [hidden, _, label, ..] => {
                    let key = key(&machine, hidden);
                    let label = label.parse().ok();
                    let (Some(key), Some(label)) = (key, label) else {
                        return Err(wrong(path, index, line));
                    };
                    self.labels.insert(key, label);
                }
                [_, _] => {
                    let reason = "a list without labels (since 2021) is not taken: for 2022 it disagrees \
                        with the official evaluator; name the evaluator's folder instead";
                    let line = index as u64 + 1;
                    return Err(Error::Table {
                        path: path.to_owned(),
                        line,
                        reason: reason.to_owned(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Gives hidden test clips their label and domain; remarks on those it does not know.
    pub(super) fn apply(&self, clips: &mut [DatasetClip], remarks: &mut Vec<String>) {
        let mut unknown = 0;
        let mut disagreeing = 0;
        for clip in clips.iter_mut().filter(|clip| clip.split == Split::Test) {
            let Some(key) = key(&clip.machine, &clip.name) else { continue };
            match self.labels.get(&key) {
                Some(&label) => {
                    disagreeing += usize::from(clip.label.is_some_and(|named| named != label));
                    clip.label = Some(label);
                }
                None => unknown += usize::from(clip.label.is_none()),
            }
            if let Some(&domain) = self.domains.get(&key) {
                clip.domain = Some(domain);
            }
        }
        if unknown > 0 {
            let clips = plural(unknown, "hidden test clip");
            remarks.push(format!("not in the ground truth: {clips}"));
        }
        if disagreeing > 0 {
            remarks.push(format!(
                "another label in the name than in the ground truth, which counts: {}",
                plural(disagreeing, "test clip")
            ));
        }
    }
}

fn find_folder(root: &Path, name: &str) -> Option<PathBuf> {
    let direct = root.join(name);
    if direct.is_dir() {
        return Some(direct);
    }
    let below = fs::read_dir(root).ok()?.flatten().map(|entry| entry.path().join(name));
    below.into_iter().find(|path| path.is_dir())
}

/// `ground_truth_<machine>_section_XX_test.csv`, 2021 `..._section_XX_source_test.csv`.
fn read_tables<T>(
    folder: &Path,
    parse: impl Fn(&str) -> Option<T>,
    into: &mut BTreeMap<Key, T>,
) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::read(folder))? {
        let path = entry.map_err(Error::read(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(middle) =
            name.strip_prefix("ground_truth_").and_then(|name| name.strip_suffix(".csv"))
        else {
            continue;
        };
        let Some((machine, _)) =
            middle.rsplit_once("_section_").or_else(|| middle.rsplit_once("_id_"))
        else {
            continue;
        };
        let text =
            auscult_files::read_text_at_most(&path, LARGEST_LIST).map_err(Error::read(&path))?;
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let row = line
                .split_once(',')
                .and_then(|(clip, value)| Some((key(machine, clip.trim())?, parse(value.trim())?)));
            let (key, value) = row.ok_or_else(|| wrong(&path, index, line))?;
            into.insert(key, value);
        }
    }
    Ok(())
}

fn key(machine: &str, name: &str) -> Option<Key> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let name = parse_name(stem)?;
    Some((machine.to_owned(), name.section, name.domain, name.index))
}

fn wrong(path: &Path, index: usize, line: &str) -> Error {
    let reason = format!("expected a clip's name and 0 or 1, got {line:?}");
    Error::Table { path: path.to_owned(), line: index as u64 + 1, reason }
}

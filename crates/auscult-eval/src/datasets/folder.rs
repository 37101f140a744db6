//! Any folder with labels, or a manifest.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    ClipFile, DatasetClip, DatasetKind, Split,
    dcase::Found,
    nothing_found, once, parse_name,
    tree::{self, TreeFile},
};
use crate::{
    Error, Result,
    metrics::{Domain, Label},
};

/// Reads a manifest, a folder with `manifest.csv`, or folders called train, test, normal, anomaly.
pub(super) fn read(roots: &[PathBuf]) -> Result<Found> {
    let mut clips = Vec::new();
    let mut remarks = Vec::new();
    for root in roots {
        let manifest = if root.is_file() { root.clone() } else { root.join("manifest.csv") };
        if manifest.is_file() {
            let mut listed = Vec::new();
            read_manifest(&manifest, &mut listed, &mut remarks)?;
            clips.extend(listed.into_iter().map(|clip| (clip.file.label(), clip)));
        } else {
            let files = tree::list(root)?.into_iter().filter(TreeFile::is_sound);
            clips.extend(files.filter_map(|file| clip_by_folders(&file)));
        }
    }
    if clips.is_empty() {
        let looked_for = "manifest.csv (path, split, label; machine, section, domain), or folders \
            train/ and test/{normal,anomaly}/, or normal/ and anomaly/";
        return Err(nothing_found(DatasetKind::Folder, roots, looked_for, &[]));
    }
    let clips = once::each_once(
        DatasetKind::Folder,
        clips,
        |(key, _)| key.clone(),
        |(_, clip)| &clip.file,
        &mut remarks,
    )?;
    let mut clips: Vec<DatasetClip> = clips.into_iter().map(|(_, clip)| clip).collect();
    split_where_nobody_said(&mut clips, &mut remarks);
    Ok((clips, remarks))
}

fn read_manifest(
    path: &Path,
    clips: &mut Vec<DatasetClip>,
    remarks: &mut Vec<String>,
) -> Result<()> {
    let wrong = |line: u64, reason: String| Error::Table { path: path.to_owned(), line, reason };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(path)
        .map_err(|error| wrong(0, error.to_string()))?;
    let headers = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
    let column = |name: &str| headers.iter().position(|header| header.eq_ignore_ascii_case(name));
    let columns = ["path", "split", "label", "machine", "section", "domain"].map(column);
    let [Some(_), Some(_), ..] = columns else {
        let found = headers.iter().collect::<Vec<_>>().join(", ");
        let reason = format!(
            "a manifest for evaluation needs the columns path and split (train or test), and label to be judged; found {found}"
        );
        return Err(wrong(1, reason));
    };
    if columns[2].is_none() {
        remarks.push(format!(
            "{} has no column label: its test clips are scored and not judged; add it with 0, 1, normal or anomaly",
            path.display()
        ));
    }
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            wrong(error.position().map_or(0, csv::Position::line), error.to_string())
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let [clip_path, split, label, machine, section, domain] =
            columns.map(|at| at.and_then(|at| record.get(at)).unwrap_or_default());
        let split = match split {
            "train" => Split::Train,
            "test" => Split::Test,
            other => {
                return Err(wrong(line, format!("split must be train or test, got {other:?}")));
            }
        };
        let label = match (split, label) {
            (Split::Train, "") => Some(Label::Normal),
            (_, "") => None,
            (_, text) => Some(Label::parse(text).ok_or_else(|| {
                wrong(line, format!("label must be 0, 1, normal or anomaly, got {text:?}"))
            })?),
        };
        let domain = match domain {
            "" => None,
            text => Some(Domain::parse(text).ok_or_else(|| {
                wrong(line, format!("domain must be source or target, got {text:?}"))
            })?),
        };
        if split == Split::Train && label == Some(Label::Anomaly) {
            let reason = "an anomaly among the training clips; only normal clips are learned from";
            return Err(wrong(line, reason.to_owned()));
        }
        if let Some(first) = lines.insert(clip_path.to_owned(), line) {
            let reason = format!(
                "{clip_path:?} is in line {first} too; each clip counts once, remove one of them"
            );
            return Err(wrong(line, reason));
        }
        let name = clip_path.rsplit(['/', '\\']).next().unwrap_or(clip_path).to_owned();
        clips.push(DatasetClip {
            file: ClipFile::Plain(folder.join(clip_path)),
            name,
            machine: machine.to_owned(),
            section: section.to_owned(),
            set: String::new(),
            split,
            label,
            domain,
            attributes: String::new(),
        });
    }
    Ok(())
}

/// Folders that say what the clips in them are; whole names, so `abnormal_backup` says nothing.
fn label_of_folder(name: &str) -> Option<Label> {
    match name.to_ascii_lowercase().as_str() {
        "normal" | "good" | "healthy" => Some(Label::Normal),
        "anomaly" | "anomalous" | "abnormal" | "faulty" | "bad" => Some(Label::Anomaly),
        _ => None,
    }
}

fn split_of_folder(name: &str) -> Option<Split> {
    match name.to_ascii_lowercase().as_str() {
        "train" | "reference" | "references" => Some(Split::Train),
        "test" | "check" => Some(Split::Test),
        _ => None,
    }
}

/// The machine is the folder above the first one that says train, test, normal or anomaly. Before
/// the clip stands what tells it from others: its path from the machine on.
fn clip_by_folders(file: &TreeFile) -> Option<(String, DatasetClip)> {
    let folders = &file.path[..file.path.len() - 1];
    let speaks = |name: &String| label_of_folder(name).is_some() || split_of_folder(name).is_some();
    let first = folders.iter().position(speaks)?;
    let machine = first.checked_sub(1).map_or("", |above| folders[above].as_str()).to_owned();
    let split = folders.iter().find_map(|name| split_of_folder(name));
    let name = parse_name(file.stem());
    let label = folders
        .iter()
        .find_map(|name| label_of_folder(name))
        .or_else(|| name.as_ref().and_then(|name| name.label))
        .or((split == Some(Split::Train)).then_some(Label::Normal));
    // Without train and test folders everything is for training until it is split below.
    // Without a machine nothing says that two clips of one name are of the same.
    let key = first
        .checked_sub(1)
        .map_or_else(|| file.file.label(), |machine| file.path[machine..].join("/"));
    let clip = DatasetClip {
        file: file.file.clone(),
        name: file.name().to_owned(),
        machine,
        section: name.as_ref().map_or("", |name| name.section.as_str()).to_owned(),
        set: String::new(),
        split: split.unwrap_or(Split::Train),
        label,
        domain: name.as_ref().and_then(|name| name.domain),
        attributes: name.map(|name| name.attributes).unwrap_or_default(),
    };
    Some((key, clip))
}

/// Machines with normal and anomalous clips but no test clips are split as MIMII's baseline does:
/// the first normal clips by name, as many as there are anomalies (half of them at most), test.
fn split_where_nobody_said(clips: &mut [DatasetClip], remarks: &mut Vec<String>) {
    let machines: BTreeSet<String> = clips.iter().map(|clip| clip.machine.clone()).collect();
    for machine in machines {
        let of_machine = |clip: &&mut DatasetClip| clip.machine == machine;
        if clips.iter_mut().filter(of_machine).any(|clip| clip.split == Split::Test) {
            continue;
        }
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut anomalies = 0;
        for (place, clip) in
            clips.iter_mut().enumerate().filter(|(_, clip)| clip.machine == machine)
        {
            if clip.label == Some(Label::Anomaly) {
                clip.split = Split::Test;
                anomalies += 1;
            } else {
                places.insert(clip.file.label(), place);
            }
        }
        if anomalies == 0 {
            continue;
        }
        let tested = anomalies.min(places.len() / 2);
        for &place in places.values().take(tested) {
            clips[place].split = Split::Test;
        }
        remarks.push(format!(
            "{machine}: no train and test folders; the first {tested} of {} normal clips by name test, the rest is learned from",
            places.len()
        ));
    }
}

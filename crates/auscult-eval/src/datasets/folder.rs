//! Any folder with labels, or a manifest.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use auscult_audio::{
    UnknownLabel,
    manifest::{Column, Manifest, Row},
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

/// Reads manifests, folders with a `manifest.csv`, or folders called train, test, normal, anomaly.
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
            let files = tree::list(root, &mut remarks)?.into_iter().filter(TreeFile::is_sound);
            clips.extend(files.filter_map(|file| clip_by_folders(&file)));
        }
    }
    if clips.is_empty() {
        let looked_for = "manifest.csv (path, split, label; machine, section, domain), or folders \
            train/ and test/{normal,anomaly}/, or normal/ and anomaly/";
        return Err(nothing_found(DatasetKind::Folder, roots, looked_for, &[]));
    }
    let clips = once::deduplicate(
        DatasetKind::Folder,
        clips,
        |(key, _)| key.clone(),
        |(_, clip)| &clip.file,
        &mut remarks,
    )?;
    Ok((clips.into_iter().map(|(_, clip)| clip).collect(), remarks))
}

fn read_manifest(
    path: &Path,
    clips: &mut Vec<DatasetClip>,
    remarks: &mut Vec<String>,
) -> Result<()> {
    let manifest = Manifest::open(path)?;
    let (has_split, has_label) = (manifest.has(Column::Split), manifest.has(Column::Label));
    if !has_split && !has_label {
        let reason = "the columns split (train or test) and label are missing: without either of them nothing says \
            which clips are judged; add one of them";
        return Err(Error::Table { path: path.to_owned(), line: 1, reason: reason.to_owned() });
    }
    if !has_label {
        remarks.push(format!(
            "{} has no column label: its test clips are scored and not judged; add it with 0, 1, normal or anomaly",
            path.display()
        ));
    }
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for row in manifest.rows {
        let row = row?;
        let wrong = |reason: String| Error::Table { path: path.to_owned(), line: row.line, reason };
        if let Some(first) = lines.insert(row.written_path.clone(), row.line) {
            let written = &row.written_path;
            return Err(wrong(format!(
                "{written:?} is in line {first} too; each clip counts once, remove one of them"
            )));
        }
        clips.push(listed_clip(&row, has_split).map_err(wrong)?);
    }
    Ok(())
}

/// The clip of a row, or what is wrong with the row. Without a column split everything is for
/// training until it is split below.
fn listed_clip(row: &Row, has_split: bool) -> std::result::Result<DatasetClip, String> {
    if row.part().is_some() {
        let reason = "start_seconds and seconds name a part of a recording, and only whole clips are judged here; \
            make files of the parts";
        return Err(reason.to_owned());
    }
    let split = match row.split.as_deref().unwrap_or_default() {
        _ if !has_split => None,
        name if name.eq_ignore_ascii_case("train") => Some(Split::Train),
        name if name.eq_ignore_ascii_case("test") => Some(Split::Test),
        other => return Err(format!("split must be train or test, got {other:?}")),
    };
    let label = match (split, &row.label) {
        (Some(Split::Train), None) => Some(Label::Normal),
        (_, None) => None,
        (_, Some(label)) => Some(label.clone().map_err(|UnknownLabel(text)| {
            format!("label must be 0, 1, normal or anomaly, got {text:?}")
        })?),
    };
    let parse_domain = |text: &String| {
        Domain::parse(text).ok_or_else(|| format!("domain must be source or target, got {text:?}"))
    };
    let domain = row.domain.as_ref().map(parse_domain).transpose()?;
    if split == Some(Split::Train) && label == Some(Label::Anomaly) {
        let reason = "an anomaly among the training clips; only normal clips are learned from";
        return Err(reason.to_owned());
    }
    Ok(DatasetClip {
        file: ClipFile::Plain(row.path.clone()),
        name: row.written_path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
        machine: row.machine.clone().unwrap_or_default(),
        section: row.section.clone().unwrap_or_default(),
        set: String::new(),
        split: split.unwrap_or(Split::Train),
        label,
        domain,
        attributes: String::new(),
    })
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
/// Clips without a label are learned from.
pub(super) fn split_unmarked(clips: &mut [DatasetClip], remarks: &mut Vec<String>) {
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
            } else if clip.label == Some(Label::Normal) {
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
        let all = places.len();
        let name = if machine.is_empty() { "all clips" } else { &machine };
        remarks.push(format!(
            "{name}: no clip is marked for testing; the first {tested} of {all} normal clips by name test, the rest \
             is learned from"
        ));
    }
}

//! MIMII: `<snr>/<machine>/id_XX/{normal,abnormal}/########.wav`, with the split of its baseline.

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    DatasetClip, DatasetKind, Split,
    dcase::Found,
    nothing_found, once,
    tree::{self, TreeFile},
};
use crate::{Result, metrics::Label};

pub(super) fn read(roots: &[PathBuf]) -> Result<Found> {
    let mut found = Vec::new();
    let mut remarks = Vec::new();
    for root in roots {
        // The nearest folder counts: what stands above it may be called anything.
        let above = root.iter().rev().find_map(|folder| ratio_of(&folder.to_string_lossy()));
        let files = tree::list(root, &mut remarks)?;
        remarks.extend(tree::unfinished(&files));
        let files = files.iter().filter(|file| file.is_sound());
        found.extend(files.filter_map(|file| clip(file, above)));
    }
    if found.is_empty() {
        let looked_for = "<machine>/id_00/{normal,abnormal}/ with sound files";
        return Err(nothing_found(DatasetKind::Mimii, roots, looked_for, &remarks));
    }
    // Before the split, which counts clips.
    let key = |clip: &DatasetClip| {
        let DatasetClip { set, machine, section, label, name, .. } = clip;
        format!("{set}/{machine}/{section}/{label:?}/{name}")
    };
    let found = once::deduplicate(DatasetKind::Mimii, found, key, |clip| &clip.file, &mut remarks)?;
    let mut groups: BTreeMap<(String, String, String), Vec<DatasetClip>> = BTreeMap::new();
    for clip in found {
        let key = (clip.set.clone(), clip.machine.clone(), clip.section.clone());
        groups.entry(key).or_default().push(clip);
    }
    let mut clips = Vec::new();
    for ((set, machine, section), mut group) in groups {
        group.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(remark) = split(&mut group) {
            remarks.push(format!("{machine} id_{section} {set}: {remark}"));
        }
        clips.extend(group);
    }
    Ok((clips, remarks))
}

fn clip(file: &TreeFile, above: Option<&'static str>) -> Option<DatasetClip> {
    let label = match file.folder(1) {
        "normal" => Label::Normal,
        "abnormal" => Label::Anomaly,
        _ => return None,
    };
    let section = file.folder(2).strip_prefix("id_")?.to_owned();
    Some(DatasetClip {
        file: file.file.clone(),
        name: file.name().to_owned(),
        machine: file.folder(3).to_owned(),
        section,
        set: ratio(file.path.iter().map(String::as_str)).or(above).unwrap_or_default().to_owned(),
        split: Split::Train,
        label: Some(label),
        domain: None,
        attributes: String::new(),
    })
}

/// The signal-to-noise ratio of the innermost folder that names one.
fn ratio<'a>(folders: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    folders.filter_map(ratio_of).last()
}

/// The signal-to-noise ratio a folder or archive names: `min6dB`, `-6_dB_fan`, `0dB`, `6dB`.
fn ratio_of(folder: &str) -> Option<&'static str> {
    let plain = folder.to_ascii_lowercase().replace(['_', ' '], "");
    match plain.split_once("db")?.0 {
        number if number.ends_with("min6") || number.ends_with("-6") => Some("min6dB"),
        number if number.ends_with('6') => Some("6dB"),
        number if number.ends_with('0') => Some("0dB"),
        _ => None,
    }
}

/// The baseline's split: of the sorted normal clips as many as there are anomalies are for testing,
/// the first ones; the rest is for training.
fn split(group: &mut [DatasetClip]) -> Option<String> {
    let anomalies = group.iter().filter(|clip| clip.label == Some(Label::Anomaly)).count();
    let mut normal_seen = 0;
    for clip in group.iter_mut() {
        let is_anomaly = clip.label == Some(Label::Anomaly);
        if is_anomaly || normal_seen < anomalies {
            clip.split = Split::Test;
        }
        normal_seen += usize::from(!is_anomaly);
    }
    match (anomalies, normal_seen) {
        (0, _) => Some("no abnormal clips: nothing to judge with".to_owned()),
        (_, normal) if normal <= anomalies => {
            Some(format!("{normal} normal and {anomalies} abnormal clips leave none to learn from"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_read_from_folders_and_archives() {
        for (folders, expected) in [
            (vec!["dataset", "min6dB", "fan"], Some("min6dB")),
            (vec!["-6_dB_fan", "fan"], Some("min6dB")),
            (vec!["0_dB_valve"], Some("0dB")),
            (vec!["6dB", "fan"], Some("6dB")),
            (vec!["fan", "id_06"], None),
        ] {
            assert_eq!(ratio(folders.iter().copied()), expected, "{folders:?}");
        }
    }
}

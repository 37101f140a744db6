//! Folders whose names are labels.

use std::path::{Path, PathBuf};

use crate::{Label, Source};

/// A folder whose name says what the recordings in it are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelFolder {
    /// The folder.
    pub path: PathBuf,
    /// What its name stands for.
    pub label: Label,
    /// How many recordings lie below it.
    pub files: usize,
}

/// What people call folders of normal recordings.
const NORMAL: &[&str] = &[
    "normal", "normale", "ok", "good", "healthy", "gut", "seijo", "seijou", "正常", "良品", "정상",
];

/// What people call folders of anomalous recordings.
const ANOMALY: &[&str] = &[
    "abnormal",
    "anomaly",
    "anomalies",
    "anomalous",
    "fault",
    "faults",
    "faulty",
    "ng",
    "bad",
    "defect",
    "defects",
    "defective",
    "broken",
    "anormal",
    "anormale",
    "anomal",
    "anomalie",
    "anomalien",
    "schlecht",
    "defekt",
    "ijo",
    "ijou",
    "异常",
    "異常",
    "故障",
    "不良",
    "비정상",
    "이상",
];

/// The label that the name of a folder stands for, in upper or lower case.
///
/// Only whole names count, such as `normal`, `NG`, `defekt` or `異常`; numbers, and `id` with one,
/// may stand beside them (`anomaly-2`, `id_00_abnormal`). `abnormal_backup`, `not_ok` and
/// `normal_abnormal` say nothing.
///
/// # Examples
///
/// ```
/// use auscult_audio::{Label, label_of_folder};
///
/// assert_eq!(label_of_folder("Normal_1"), Some(Label::Normal));
/// assert_eq!(label_of_folder("id_00_abnormal"), Some(Label::Anomaly));
/// assert_eq!(label_of_folder("abnormal_backup"), None);
/// ```
pub fn label_of_folder(name: &str) -> Option<Label> {
    let name = name.to_lowercase();
    let mut label = None;
    for part in name.split(['_', '-', '.', ' ']) {
        let found = match part {
            "id" => continue,
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => continue,
            word if NORMAL.contains(&word) => Label::Normal,
            word if ANOMALY.contains(&word) => Label::Anomaly,
            _ => return None,
        };
        if label.is_some_and(|label| label != found) {
            return None;
        }
        label = Some(found);
    }
    label
}

/// Counts the sources of a folder by the first folder on the way to them whose name is a label.
///
/// For sources right in the given folder that is the given one itself, if it `is_visit`.
pub(crate) fn count(
    given: &Path,
    is_visit: bool,
    sources: &[Source],
    found: &mut Vec<LabelFolder>,
) {
    for source in sources {
        let Some(file) = source.location.path() else { continue };
        let Ok(below) = file.strip_prefix(given) else { continue };
        let label_of = |folder: &Path| label_of_folder(&folder.file_name()?.to_string_lossy());
        let folders: Vec<&Path> = below.ancestors().skip(1).collect();
        // From the outside to the inside; the last ancestor is nothing, which is the given folder itself.
        let places =
            folders.iter().rev().map(|folder| (given.join(folder), folder.as_os_str().is_empty()));
        let found_label = places
            .filter(|(_, is_given)| !is_given || (is_visit && folders.len() == 1))
            .find_map(|(path, _)| Some((label_of(&path)?, path)));
        let Some((label, path)) = found_label else { continue };
        match found.iter_mut().find(|folder| folder.path == path) {
            Some(folder) => folder.files += 1,
            None => found.push(LabelFolder { path, label, files: 1 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_are_labels_also_with_numbers() {
        for name in ["normal", "OK", "Good", "normal_1", "id_00_normal", "正常", "normal 2.1"] {
            assert_eq!(label_of_folder(name), Some(Label::Normal), "{name}");
        }
        for name in ["abnormal", "NG", "anomaly-2", "id_00_abnormal", "Defekt", "異常", "异常"]
        {
            assert_eq!(label_of_folder(name), Some(Label::Anomaly), "{name}");
        }
    }

    #[test]
    fn other_names_say_nothing() {
        for name in [
            "",
            "1",
            "id_00",
            "train",
            "abnormal_backup",
            "not_ok",
            "normal_abnormal",
            "abnormally",
            "2024-05-03",
            "no_ng",
            "_",
        ] {
            assert_eq!(label_of_folder(name), None, "{name}");
        }
    }

    #[test]
    fn no_name_stands_for_both() {
        assert!(NORMAL.iter().all(|name| !ANOMALY.contains(name)));
    }
}

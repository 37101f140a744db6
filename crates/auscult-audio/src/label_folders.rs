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
    /// Whether the name says nothing else: `fan_faulty` may be a label or not.
    pub is_clear: bool,
    /// The visit of recordings right in it: the first folder between what was given and this one.
    pub visit: Option<String>,
    /// How many recordings lie below it.
    pub files: usize,
}

/// What people call folders of normal recordings: English, German, Japanese, Chinese, Korean, French, Spanish, Italian,
/// Russian.
#[rustfmt::skip]
const NORMAL: &[&str] = &[
    "normal", "normale", "ok", "good", "healthy", "pass", "passed",
    "gut", "io",
    "seijo", "seijou", "正常", "良品", "合格",
    "정상", "양품",
    "sain", "bon", "sano", "bueno", "buono",
    "норма", "исправный",
];

/// What people call folders of anomalous recordings, in the same languages.
#[rustfmt::skip]
const ANOMALY: &[&str] = &[
    "abnormal", "anomaly", "anomalies", "anomalous", "fault", "faults", "faulty", "ng", "nok", "bad", "fail", "failed",
    "failure", "defect", "defects", "defective", "broken", "damaged", "unhealthy",
    "anomal", "anomalie", "anomalien", "schlecht", "defekt", "fehler", "fehlerhaft", "kaputt", "nio",
    "ijo", "ijou", "異常", "異音", "故障", "不良", "不良品", "不合格",
    "异常", "异音",
    "비정상", "이상", "불량",
    "anormal", "anormale", "défaut", "defaut", "défectueux", "defectueux", "mauvais",
    "anormales", "anomalía", "anomalia", "fallo", "falla", "avería", "averia", "malo",
    "anomalo", "guasto", "difettoso",
    "брак", "дефект", "неисправный", "аномалия",
];

/// Words that may stand beside a label and say nothing; `ind` and `cnt` are those of `ToyADMOS`.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "id", "audio", "clips", "data", "files", "recordings", "samples", "sound", "sounds", "wav", "ind", "cnt",
];

/// Words that turn what others say around.
const NEGATIONS: &[&str] = &["no", "non", "not", "without", "free"];

/// The label that the name of a folder stands for, in upper or lower case.
///
/// Only whole names count, such as `normal`, `NG`, `defekt` or `異常`; numbers, `id`, and words for sound may
/// stand beside them (`anomaly-2`, `id_00_abnormal`, `NormalSound_IND`). `abnormal_backup`, `not_ok` and
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
    label_within(name).filter(|(_, is_clear)| *is_clear).map(|(label, _)| label)
}

/// The label among the words of a name, and whether there is nothing else in it. A name with labels of both kinds, or with
/// a negation, has none.
fn label_within(name: &str) -> Option<(Label, bool)> {
    let (mut label, mut is_clear) = (None, true);
    for word in name.split(['_', '-', '.', ' ']).flat_map(split_words) {
        let found = match word.as_str() {
            negation if NEGATIONS.contains(&negation) => return None,
            filler if FILLERS.contains(&filler) => continue,
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => continue,
            word => label_of_word(word),
        };
        match found {
            None => is_clear = false,
            Some(found) if label.is_some_and(|label| label != found) => return None,
            Some(found) => label = Some(found),
        }
    }
    label.map(|label| (label, is_clear))
}

fn label_of_word(word: &str) -> Option<Label> {
    match word {
        _ if NORMAL.contains(&word) => Some(Label::Normal),
        _ if ANOMALY.contains(&word) => Some(Label::Anomaly),
        _ => None,
    }
}

/// The words of a part of a name, in lower case: two of `NormalSound`, one of `AbNormal`, which is a label as it is.
fn split_words(part: &str) -> Vec<String> {
    let whole = part.to_lowercase();
    if label_of_word(&whole).is_some() {
        return vec![whole];
    }
    let (mut words, mut word, mut was_lower) = (Vec::new(), String::new(), false);
    for letter in part.chars() {
        if letter.is_uppercase() && was_lower {
            words.push(std::mem::take(&mut word));
        }
        was_lower = letter.is_lowercase();
        word.extend(letter.to_lowercase());
    }
    words.push(word);
    words
}

/// The folders with labels as names between what was given and the sources found there.
///
/// `places` are the folders that the inputs name: a folder itself, that of a file, and the part of a
/// pattern without wildcards. What all of them lie in was chosen on purpose and says nothing; below
/// it the outermost label counts, one in doubt only where there is no clear one. Without any anomalous one, a normal folder
/// that was named itself is no label either (whoever names `normal` and `monday` wants both), nor is one in doubt.
pub(crate) fn find<'a>(
    places: &[PathBuf],
    sources: impl Iterator<Item = &'a Source>,
) -> Vec<LabelFolder> {
    let Some(root) = common_folder(places) else { return Vec::new() };
    let mut found: Vec<LabelFolder> = Vec::new();
    for source in sources {
        let Some((below, label, is_clear)) =
            source.location.path().and_then(|path| label_below(&root, path))
        else {
            continue;
        };
        let path = root.join(below);
        if let Some(folder) = found.iter_mut().find(|folder| folder.path == path) {
            folder.files += 1;
        } else {
            let visit = first_of_several(below);
            found.push(LabelFolder { path, label, is_clear, visit, files: 1 });
        }
    }
    if found.iter().all(|folder| folder.label == Label::Normal) {
        found.retain(|folder| folder.is_clear && !places.contains(&folder.path));
    }
    found
}

/// The innermost folder that all places lie in or are; `None` without places.
fn common_folder(places: &[PathBuf]) -> Option<PathBuf> {
    let (first, others) = places.split_first()?;
    let is_common = |folder: &&Path| others.iter().all(|place| place.starts_with(folder));
    // A relative and an absolute path have nothing in common, and nothing is where every path starts.
    Some(first.ancestors().find(is_common).unwrap_or(Path::new("")).to_owned())
}

/// The outermost folder on the way from `root` to a file whose name is a label, or else has one in it, as a path below
/// `root`; and whether it is clear.
fn label_below<'a>(root: &Path, file: &'a Path) -> Option<(&'a Path, Label, bool)> {
    let below = file.strip_prefix(root).ok()?;
    let folders: Vec<&Path> = below.ancestors().skip(1).collect();
    let labels = folders.into_iter().rev().filter_map(|folder| {
        let (label, is_clear) = label_within(&folder.file_name()?.to_string_lossy())?;
        Some((folder, label, is_clear))
    });
    // The first of several smallest: clear ones before those in doubt.
    labels.min_by_key(|(_, _, is_clear)| !is_clear)
}

/// The first part of a path that has several.
pub(crate) fn first_of_several(path: &Path) -> Option<String> {
    let mut parts = path.components();
    let first = parts.next()?;
    parts.next()?;
    Some(first.as_os_str().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_are_labels_also_with_numbers() {
        let normal = ["normal", "OK", "Good", "normal_1", "id_00_normal", "正常", "normal 2.1"];
        for name in normal.into_iter().chain(["normal sounds", "IO", "Норма", "NormalSound_IND"])
        {
            assert_eq!(label_of_folder(name), Some(Label::Normal), "{name}");
        }
        let faulty = ["abnormal", "NG", "anomaly-2", "id_00_abnormal", "Defekt", "異常", "异常"];
        for name in faulty.into_iter().chain([
            "fault_recordings",
            "NOK",
            "Défaut",
            "불량",
            "不良品",
            "AbNormal",
            "AnomalousSound_CNT",
        ]) {
            assert_eq!(label_of_folder(name), Some(Label::Anomaly), "{name}");
        }
    }

    #[test]
    fn other_names_say_nothing() {
        for name in [
            "",
            "1",
            "id_00",
            "recordings",
            "train",
            "abnormal_backup",
            "not_ok",
            "normal_abnormal",
            "abnormally",
            "2024-05-03",
            "no_ng",
            "fault-free",
            "EnvironmentalNoise_CNT",
            "_",
        ] {
            assert_eq!(label_of_folder(name), None, "{name}");
        }
    }

    #[test]
    fn labels_among_other_words_are_in_doubt() {
        let doubt = |label| Some((label, false));
        for name in ["fan_abnormal", "engine2_broken", "abnormal_backup", "Pump 7 faulty"] {
            assert_eq!(label_within(name), doubt(Label::Anomaly), "{name}");
        }
        for name in ["fan_normal", "engine1_good", "goodFriday"] {
            assert_eq!(label_within(name), doubt(Label::Normal), "{name}");
        }
        for name in ["not_ok", "no_ng", "fault-free", "NotOK", "normal_abnormal", "2024-05-03"] {
            assert_eq!(label_within(name), None, "{name}");
        }
    }

    #[test]
    fn what_all_places_lie_in_is_no_label() {
        let common =
            |places: &[&str]| common_folder(&places.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(common(&[]), None);
        assert_eq!(common(&["faulty/fan"]), Some("faulty/fan".into()));
        assert_eq!(common(&["fan/normal", "fan/abnormal/day1"]), Some("fan".into()));
        assert_eq!(common(&["normal", "abnormal"]), Some("".into()));
        assert_eq!(common(&["/data/normal", "abnormal"]), Some("".into()));
    }

    #[test]
    fn no_name_stands_for_both() {
        assert!(NORMAL.iter().all(|name| !ANOMALY.contains(name)));
    }
}

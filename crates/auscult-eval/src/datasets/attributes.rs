//! Attributes: operating conditions that DCASE writes behind a clip's number or into tables.

use std::{collections::BTreeMap, io::Cursor};

use super::{
    DatasetClip,
    tree::{Archives, TreeFile},
};
use crate::Result;

/// Attributes as names and values.
///
/// `car_B1_spd_31V` is (car, B1), (spd, 31V). The clips of `RoboticArm` (2024) lack the separators
/// inside a pair: `weight15_BckgF` is (weight, 15), (Bckg, F). What does not come in pairs is one
/// name without a value.
///
/// # Examples
///
/// ```
/// use auscult_eval::datasets::attribute_pairs;
///
/// assert_eq!(attribute_pairs("fan", "m-n_X"), [("m-n".to_owned(), "X".to_owned())]);
/// assert_eq!(attribute_pairs("RoboticArm", "weight15_BckgF")[0].1, "15");
/// assert!(attribute_pairs("fan", "noAttribute").is_empty());
/// ```
pub fn attribute_pairs(machine: &str, text: &str) -> Vec<(String, String)> {
    if text.is_empty() || text == "noAttribute" {
        return Vec::new();
    }
    let words: Vec<&str> = text.split('_').collect();
    if machine == "RoboticArm" && words.iter().all(|word| glued(word).is_some()) {
        return words.into_iter().filter_map(glued).collect();
    }
    words
        .chunks(2)
        .map(|pair| (pair[0].to_owned(), pair.get(1).copied().unwrap_or_default().to_owned()))
        .collect()
}

/// `weight15` is (weight, 15), `BckgF` is (Bckg, F).
fn glued(word: &str) -> Option<(String, String)> {
    let at = word
        .char_indices()
        .skip(1)
        .find(|(_, letter)| letter.is_ascii_digit() || letter.is_ascii_uppercase())?
        .0;
    Some((word[..at].to_owned(), word[at..].to_owned()))
}

/// Fills attributes that names do not tell from `attributes_XX.csv`. What a challenge hid
/// (`noAttribute`) stays hidden, also where the evaluator's folder with
/// `attributes_XX_train_correspondence.csv` was unpacked beside the data: classes are counted
/// without it.
pub(super) fn fill(
    clips: &mut [&mut DatasetClip],
    tables: &[TreeFile],
    archives: &Archives,
) -> Result<()> {
    let mut known: BTreeMap<(String, String), String> = BTreeMap::new();
    for table in tables {
        let machine = table.folder(1).to_owned();
        let bytes = table.file.bytes(archives)?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(Cursor::new(bytes));
        for record in reader.records().flatten() {
            let Some((file, attributes)) = row(&record) else { continue };
            known.insert((machine.clone(), file), attributes);
        }
    }
    for clip in clips.iter_mut().filter(|clip| clip.attributes.is_empty()) {
        if let Some(found) = known.get(&(clip.machine.clone(), clip.name.clone())) {
            clip.attributes.clone_from(found);
        }
    }
    Ok(())
}

/// The base name of a clip and its attributes.
fn row(record: &csv::StringRecord) -> Option<(String, String)> {
    let base = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let words: Vec<&str> = record
        .iter()
        .skip(1)
        .filter(|word| !word.is_empty() && !word.contains("section_"))
        .collect();
    Some((base(record.get(0)?), words.join("_")))
}

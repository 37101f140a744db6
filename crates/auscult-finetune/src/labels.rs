//! What is learnt to be distinguished: one class a section, or a combination of attributes.

use std::collections::BTreeMap;

use crate::{Error, Result};

/// The classes of some clips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    names: Vec<String>,
    of: Vec<usize>,
}

impl Classes {
    /// Numbers the labels of clips in the order of their names.
    ///
    /// # Errors
    ///
    /// [`Error::Labels`] if there is one class only or a clip has no label, [`Error::SmallClass`] if
    /// a class has fewer than `least_clips`: little can be learnt from one clip but the clip.
    pub fn of(labels: &[String], least_clips: usize) -> Result<Self> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (clip, label) in labels.iter().enumerate() {
            if label.trim().is_empty() {
                return Err(Error::Labels {
                    reason: format!("clip {clip} of {} has an empty label", labels.len()),
                    advice: "leave it out, or give it the name of a class",
                });
            }
            *counts.entry(label).or_default() += 1;
        }
        if counts.len() < 2 {
            let found = counts.keys().next().copied().unwrap_or("none");
            return Err(Error::Labels {
                reason: format!("{} clips of one class only ({found})", labels.len()),
                advice: "fine-tuning learns to distinguish classes: give clips of other machines, sections \
                         or attributes",
            });
        }
        let mut small = counts.iter().filter(|(_, count)| **count < least_clips);
        if let Some((name, &count)) = small.next() {
            return Err(Error::SmallClass {
                class: (*name).to_owned(),
                clips: count,
                least: least_clips,
                others: small.count(),
                classes: counts.len(),
            });
        }
        let names: Vec<String> = counts.keys().map(|&name| name.to_owned()).collect();
        let number = |label: &String| names.binary_search(label).unwrap_or_default();
        let of = labels.iter().map(number).collect();
        Ok(Self { names, of })
    }

    /// The names, in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The class of each clip.
    pub fn members(&self) -> &[usize] {
        &self.of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(labels: &[&str]) -> Result<Classes> {
        Classes::of(&labels.iter().map(|&label| label.to_owned()).collect::<Vec<_>>(), 2)
    }

    #[test]
    fn classes_are_numbered_by_name() {
        let classes = classes(&["pump", "fan", "pump", "fan"]).unwrap();
        assert_eq!(classes.names(), ["fan", "pump"]);
        assert_eq!(classes.members(), [1, 0, 1, 0]);
    }

    #[test]
    fn labels_that_teach_nothing_are_refused() {
        for (labels, text) in [
            (vec![], "0 clips of one class only (none)"),
            (vec!["fan", "fan"], "one class only (fan)"),
            (vec!["fan", "fan", "pump"], "class \"pump\" has 1 clip, at least 2 are needed"),
            (vec!["fan", "fan", "pump"], "or allow fewer clips"),
            (vec!["a", "b", "c", "d", "d"], "and 2 other of 4 classes have too few"),
            (vec!["fan", " ", "pump"], "clip 1 of 3 has an empty label"),
        ] {
            let error = classes(&labels).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}

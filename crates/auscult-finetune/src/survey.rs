//! Every clip is read before the first step: what cannot be trained on is named at once, and the
//! sound is noted, so that a run never goes on with another.

use std::{collections::BTreeMap, ops::ControlFlow};

use auscult_core::{ClipCondition, ClipSettings, plural};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{LabelledClips, RunEvent, place::PATCH_SIDE};
use crate::{Error, Result};

/// The clips of one class, as they were when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClassFacts {
    pub(super) clips: usize,
    /// Of names and samples, in their order.
    pub(super) digest: String,
}

/// Each class with its clips.
pub(super) type ClassList = BTreeMap<String, ClassFacts>;

/// Clips between two reports to the caller.
const AT_ONCE: usize = 128;

/// Samples of a patch: sixteen frames every 10 ms.
const LEAST_SAMPLES: usize = PATCH_SIDE * 160;

/// Hears every clip.
///
/// # Errors
///
/// [`Error::Clips`] with those that cannot be trained on, [`Error::Stopped`] if asked to.
pub(super) fn survey(
    clips: &dyn LabelledClips,
    watch: &mut dyn FnMut(RunEvent<'_>) -> ControlFlow<()>,
) -> Result<ClassList> {
    let labels = clips.labels();
    let of = labels.len();
    let mut classes: BTreeMap<&str, (usize, blake3::Hasher)> = BTreeMap::new();
    let mut problems = Vec::new();
    for first in (0..of).step_by(AT_ONCE) {
        let part = first..of.min(first + AT_ONCE);
        let read: Vec<std::result::Result<blake3::Hash, String>> =
            part.clone().into_par_iter().map(|clip| digest(clips, clip)).collect();
        for (clip, read) in part.clone().zip(read) {
            match read {
                Err(reason) => problems.push((clips.name(clip), reason)),
                Ok(digest) => {
                    let (count, hasher) = classes.entry(&labels[clip]).or_default();
                    *count += 1;
                    hasher.update(clips.name(clip).as_bytes()).update(digest.as_bytes());
                }
            }
        }
        if watch(RunEvent::Checked { clips: part.end, of }).is_break() {
            return Err(Error::Stopped);
        }
    }
    if !problems.is_empty() {
        return Err(Error::Clips { problems, of });
    }
    let facts = |(name, (clips, hasher)): (&str, (usize, blake3::Hasher))| {
        let digest = hasher.finalize().to_hex()[..16].to_owned();
        (name.to_owned(), ClassFacts { clips, digest })
    };
    Ok(classes.into_iter().map(facts).collect())
}

fn digest(clips: &dyn LabelledClips, clip: usize) -> std::result::Result<blake3::Hash, String> {
    let samples = clips.samples(clip)?;
    check(&samples)?;
    let mut hasher = blake3::Hasher::new();
    let mut bytes = Vec::new();
    for part in samples.chunks(16_384) {
        bytes.clear();
        bytes.extend(part.iter().flat_map(|sample| sample.to_le_bytes()));
        hasher.update(&bytes);
    }
    Ok(hasher.finalize())
}

/// Refuses samples that teach nothing, with the reason.
pub(super) fn check(samples: &[f32]) -> std::result::Result<(), String> {
    let got = samples.len();
    if got < LEAST_SAMPLES {
        return Err(format!("{}; a patch needs {LEAST_SAMPLES} (0.16 s)", plural(got, "sample")));
    }
    let patch = ClipSettings { seconds: 0.16, ..ClipSettings::default() };
    let patch = patch.check().map_err(|error| error.to_string())?;
    match ClipCondition::of(samples, patch) {
        ClipCondition::NotFinite { sample } => {
            Err(format!("sample {sample} is {}", samples[sample]))
        }
        ClipCondition::Silent => Err("it is silent".to_owned()),
        ClipCondition::Constant { value } => Err(format!("every sample is {value}")),
        ClipCondition::Usable | ClipCondition::TooShort { .. } => Ok(()),
    }
}

/// What differs between the classes of a run's beginning and now, as a sentence.
pub(super) fn difference(then: &ClassList, now: &ClassList) -> Option<String> {
    let changed = then.iter().find_map(|(name, then)| match now.get(name) {
        None => Some(format!("class {name:?} ({} clips) is not there any more", then.clips)),
        Some(now) if now.clips != then.clips => {
            Some(format!("class {name:?} had {} clips and has {} now", then.clips, now.clips))
        }
        Some(now) if now.digest != then.digest => Some(format!(
            "class {name:?} sounds different: some of its {} clips were changed, renamed or replaced",
            now.clips
        )),
        Some(_) => None,
    });
    changed.or_else(|| {
        let (name, facts) = now.iter().find(|(name, _)| !then.contains_key(*name))?;
        Some(format!("class {name:?} ({} clips) was not there", facts.clips))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(list: &[(&str, usize, &str)]) -> ClassList {
        let of = |&(name, clips, digest): &(&str, usize, &str)| {
            (name.to_owned(), ClassFacts { clips, digest: digest.to_owned() })
        };
        list.iter().map(of).collect()
    }

    #[test]
    fn what_changed_is_named_by_its_class() {
        let then = classes(&[("fan", 3, "a"), ("pump", 2, "b")]);
        assert_eq!(difference(&then, &then), None);
        for (now, text) in [
            (classes(&[("fan", 3, "a")]), "class \"pump\" (2 clips) is not there any more"),
            (classes(&[("fan", 4, "c"), ("pump", 2, "b")]), "\"fan\" had 3 clips and has 4 now"),
            (classes(&[("fan", 3, "a"), ("pump", 2, "c")]), "class \"pump\" sounds different"),
            (
                classes(&[("fan", 3, "a"), ("pump", 2, "b"), ("valve", 5, "d")]),
                "class \"valve\" (5 clips) was not there",
            ),
        ] {
            let found = difference(&then, &now).unwrap();
            assert!(found.contains(text), "{found}");
        }
    }

    #[test]
    fn samples_that_teach_nothing_are_refused() {
        for (samples, text) in [
            (vec![0.1; 100], "a patch needs 2560"),
            (vec![0.0; 16_000], "silent"),
            (vec![0.25; 16_000], "every sample is 0.25"),
            (vec![f32::INFINITY; 16_000], "sample 0 is inf"),
        ] {
            assert!(check(&samples).unwrap_err().contains(text), "{text}");
        }
        check(&(0..2560).map(|at| (at as f32).sin()).collect::<Vec<_>>()).unwrap();
    }
}

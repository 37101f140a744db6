//! Each clip counts once, however often it lies on the disk.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{ClipFile, DatasetKind};
use crate::{Error, Result};

/// Refuses a root that is named twice, in whatever spelling.
pub(super) fn refuse_same_roots(kind: DatasetKind, roots: &[PathBuf]) -> Result<()> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for root in roots {
        let real = root.canonicalize().unwrap_or_else(|_| root.clone());
        if seen.contains(&real) {
            let reason = format!("{} is named twice; name each root once", root.display());
            return Err(Error::Dataset { kind: kind.to_string(), reason });
        }
        seen.push(real);
    }
    Ok(())
}

/// Keeps one of each clip. Of an archive beside what was unpacked from it, the unpacked clips are
/// used, with a remark; any other clip that is there twice is refused, since nothing says which one
/// is meant.
///
/// `key` distinguishes clips within a data set: machine, section, split and name.
pub(super) fn deduplicate<T>(
    kind: DatasetKind,
    found: Vec<T>,
    key: impl Fn(&T) -> String,
    file: impl Fn(&T) -> &ClipFile,
    remarks: &mut Vec<String>,
) -> Result<Vec<T>> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, clip) in found.iter().enumerate() {
        places.entry(key(clip)).or_default().push(place);
    }
    let mut unused: BTreeMap<&Path, usize> = BTreeMap::new();
    let mut is_kept = vec![true; found.len()];
    let mut refused: Vec<[String; 2]> = Vec::new();
    for places in places.into_values().filter(|places| places.len() > 1) {
        let is_plain = |place: &&usize| matches!(file(&found[**place]), ClipFile::Plain(_));
        if places.iter().filter(is_plain).count() != 1 {
            refused.push([places[0], places[1]].map(|place| file(&found[place]).label()));
            continue;
        }
        for place in places {
            if let ClipFile::Archived { archive, .. } = file(&found[place]) {
                is_kept[place] = false;
                *unused.entry(archive).or_default() += 1;
            }
        }
    }
    if let Some([first, second]) = refused.first() {
        let reason = format!(
            "{} found twice, such as {first} and {second}: machine, section, split and name are the same; each clip \
             counts once, so name the folder of one of them, or move the other away",
            if refused.len() == 1 {
                "a clip is".to_owned()
            } else {
                format!("{} clips are", refused.len())
            },
        );
        return Err(Error::Dataset { kind: kind.to_string(), reason });
    }
    remarks.extend(unused.iter().map(|(archive, clips)| {
        format!(
            "{}: {clips} of its clips lie unpacked beside it; the unpacked ones are used",
            archive.display()
        )
    }));
    let kept = found.into_iter().zip(is_kept);
    Ok(kept.filter_map(|(clip, is_kept)| is_kept.then_some(clip)).collect())
}

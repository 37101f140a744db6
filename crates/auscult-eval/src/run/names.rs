//! Names that distinguish the test clips of a section.

use std::collections::BTreeMap;

use crate::datasets::DatasetClip;

/// The base name of each clip; where several have the same (`normal/0.wav`, `anomaly/0.wav`), with
/// as many folders before it as distinguish them.
pub(super) fn distinct_names(clips: &[&DatasetClip]) -> Vec<String> {
    let paths: Vec<Vec<String>> = clips.iter().map(|clip| path_of(clip)).collect();
    let deepest = paths.iter().map(Vec::len).max().unwrap_or(0);
    let mut names: Vec<String> = clips.iter().map(|clip| clip.name.clone()).collect();
    for depth in 2..=deepest {
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(name).or_default().push(place);
        }
        let doubled: Vec<usize> =
            places.into_values().filter(|same| same.len() > 1).flatten().collect();
        if doubled.is_empty() {
            break;
        }
        for place in doubled {
            let path = &paths[place];
            names[place] = path[path.len().saturating_sub(depth)..].join("/");
        }
    }
    names
}

fn path_of(clip: &DatasetClip) -> Vec<String> {
    clip.file.label().split(['/', '\\']).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::datasets::{ClipFile, Split};

    fn names(paths: &[&str]) -> Vec<String> {
        let clip = |path: &&str| DatasetClip {
            file: ClipFile::Plain(PathBuf::from(path)),
            name: path.rsplit('/').next().unwrap().to_owned(),
            machine: String::new(),
            section: String::new(),
            set: String::new(),
            split: Split::Test,
            label: None,
            domain: None,
            attributes: String::new(),
        };
        let clips: Vec<DatasetClip> = paths.iter().map(clip).collect();
        distinct_names(&clips.iter().collect::<Vec<_>>())
    }

    #[test]
    fn folders_stand_before_names_that_are_there_twice_and_before_no_others() {
        assert_eq!(
            names(&["d/normal/0.wav", "d/anomaly/0.wav", "d/normal/1.wav"]),
            ["normal/0.wav", "anomaly/0.wav", "1.wav"]
        );
        assert_eq!(
            names(&["d/a/x/0.wav", "d/b/x/0.wav", "d/b/y/0.wav"]),
            ["a/x/0.wav", "b/x/0.wav", "y/0.wav"]
        );
    }

    #[test]
    fn one_file_named_twice_comes_to_an_end() {
        assert_eq!(names(&["d/0.wav", "d/0.wav"]), ["d/0.wav", "d/0.wav"]);
    }
}

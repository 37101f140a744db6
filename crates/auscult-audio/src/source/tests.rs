//! Inputs of all kinds become sources.

use super::*;

/// A folder with the given empty files.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    folder
}

fn expand_one(path: &Path) -> Expanded {
    expand(&[path.to_str().unwrap().to_owned()])
}

/// Names below `folder` with visits.
fn found(folder: &Path, expanded: &Expanded) -> Vec<(String, Option<String>)> {
    let name = |source: &Source| {
        let path = Path::new(&source.label).strip_prefix(folder).unwrap();
        (path.to_str().unwrap().replace('\\', "/"), source.visit.clone())
    };
    expanded.sources.iter().map(name).collect()
}

fn names(folder: &Path, expanded: &Expanded) -> Vec<String> {
    found(folder, expanded).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn several_folders_are_visits_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = ["monday", "tuesday"].map(|name| {
        let day = folder.path().join(name);
        std::fs::create_dir(&day).unwrap();
        std::fs::write(day.join("a.wav"), b"").unwrap();
        format!("{}/", day.display())
    });
    let visits: Vec<_> = expand(&inputs).sources.into_iter().map(|source| source.visit).collect();
    let expected = inputs.each_ref().map(|input| Some(input.trim_end_matches('/').to_owned()));
    assert_eq!(visits, expected);
    assert_eq!(expand(&inputs[..1]).sources[0].visit, None);
}

#[test]
fn folder_gives_its_sounds_sorted_with_sub_folders_as_visits() {
    let folder = folder(&[
        "b.WAV",
        "a.flac",
        "notes.txt",
        ".hidden.wav",
        "day2/x.wav",
        "day1/deep/y.mp3",
        ".git/z.wav",
    ]);
    let expanded = expand_one(folder.path());
    assert!(expanded.problems.is_empty());
    assert_eq!(
        found(folder.path(), &expanded),
        [
            ("a.flac".to_owned(), None),
            ("b.WAV".to_owned(), None),
            ("day1/deep/y.mp3".to_owned(), Some("day1".to_owned())),
            ("day2/x.wav".to_owned(), Some("day2".to_owned())),
        ]
    );
}

#[test]
fn folders_named_like_labels_are_reported() {
    let folder = folder(&[
        "normal/a.wav",
        "normal/deep/b.wav",
        "abnormal/c.wav",
        "monday/abnormal/d.wav",
        "e.wav",
    ]);
    let reported = |expanded: &Expanded| -> Vec<(PathBuf, Label, usize)> {
        let fact = |found: &LabelFolder| (found.path.clone(), found.label, found.files);
        expanded.label_folders.iter().map(fact).collect()
    };
    let (normal, abnormal) = (folder.path().join("normal"), folder.path().join("abnormal"));
    let deep = folder.path().join("monday/abnormal");
    let expanded = expand_one(folder.path());
    assert_eq!(
        reported(&expanded),
        [
            (abnormal.clone(), Label::Anomaly, 1),
            (deep, Label::Anomaly, 1),
            (normal.clone(), Label::Normal, 2)
        ]
    );
    assert_eq!(expanded.sources.len(), 5);

    let inputs = [&normal, &abnormal].map(|path| path.to_str().unwrap().to_owned());
    let given = reported(&expand(&inputs));
    assert_eq!(given, [(normal.clone(), Label::Normal, 2), (abnormal.clone(), Label::Anomaly, 1)]);
    let pattern = |name: &str| expand_one(&folder.path().join(name));
    let patterns = ["*/*.wav", "**/*.wav", "*/", "[an]*"];
    for found in patterns.map(pattern) {
        let names: Vec<PathBuf> = reported(&found).into_iter().map(|(path, ..)| path).collect();
        assert!(names.contains(&normal) && names.contains(&abnormal), "{names:?}");
    }
    assert!(reported(&pattern("abnormal/*.wav")).is_empty(), "named on purpose");
    let files = ["normal/a.wav", "normal/deep/b.wav", "abnormal/c.wav"];
    let files = files.map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let both = [(normal.clone(), Label::Normal, 2), (abnormal.clone(), Label::Anomaly, 1)];
    assert_eq!(reported(&expand(&files)), both, "as a shell makes of a pattern");
    assert!(reported(&expand(&files[2..])).is_empty(), "named on purpose");
    fs::remove_dir_all(&abnormal).unwrap();
    assert!(!expand_one(folder.path()).label_folders.is_empty(), "the deeper one");
    fs::remove_dir_all(folder.path().join("monday")).unwrap();
    assert_eq!(reported(&expand_one(folder.path())), [(normal.clone(), Label::Normal, 2)]);
    assert!(reported(&expand_one(&normal)).is_empty(), "named on purpose");
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("f.wav"), "").unwrap();
    let both = [&normal, &other].map(|path| path.to_str().unwrap().to_owned());
    assert!(reported(&expand(&both)).is_empty(), "both named on purpose");
}

#[test]
fn file_named_directly_is_taken_whatever_its_extension() {
    let folder = folder(&["sound.bin"]);
    let expanded = expand_one(&folder.path().join("sound.bin"));
    assert_eq!(names(folder.path(), &expanded), ["sound.bin"]);
}

#[test]
fn tables_are_recordings_where_their_column_is_named() {
    let folder = folder(&["a.wav", "b.CSV", "day/c.csv", "notes.txt"]);
    fs::write(folder.path().join("list.jsonl"), "{\"path\": \"b.CSV\"}\n").unwrap();
    let column: SampleColumn = "x@25600".parse().unwrap();
    let expand = |name: &str, samples| {
        let input = folder.path().join(name).to_str().unwrap().to_owned();
        expand_with(&[input], samples)
    };
    let found = expand("", Some(&column));
    assert_eq!(names(folder.path(), &found), ["a.wav", "b.CSV", "day/c.csv"]);
    assert_eq!(found.sources[2].visit.as_deref(), Some("day"));
    assert_eq!(names(folder.path(), &expand("", None)), ["a.wav"]);
    for name in ["b.CSV", "list.jsonl", "*.CSV", "**/b.CSV"] {
        let found = expand(name, Some(&column));
        let table = Location::Table(folder.path().join("b.CSV"), column.clone());
        assert_eq!(found.sources[0].location, table, "{name}");
    }
}

#[test]
fn opus_is_listed_so_that_it_can_be_refused_by_name() {
    let folder = folder(&["a.wav", "b.opus"]);
    assert_eq!(expand_one(folder.path()).sources.len(), 2);
}

#[test]
fn sound_that_is_not_read_is_noted_once_for_each_extension() {
    let folder = folder(&["a.wav", "b.webm", "sub/C.WEBM", "d.wma", "notes.txt"]);
    let expanded = expand_one(folder.path());
    assert_eq!(names(folder.path(), &expanded), ["a.wav"]);
    assert!(expanded.problems.is_empty());
    let place = folder.path().display();
    let example = |name: &str| folder.path().join(name).display().to_string();
    let (webm, wma) = (example("b.webm"), example("d.wma"));
    let notes: Vec<String> = expanded.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            format!(
                "2 .webm files in {place} are not read, such as {webm}: this format is not \
                 supported; convert them to WAV or FLAC"
            ),
            format!(
                "1 .wma file in {place} is not read, such as {wma}: this format is not \
                 supported; convert it to WAV or FLAC"
            ),
        ]
    );
}

#[test]
fn missing_and_empty_inputs_are_problems_and_the_others_go_on() {
    let folder = folder(&["a.wav", "empty/notes.txt"]);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let inputs = ["gone.wav", "empty", "*.flac", "[", "a.wav"].map(path);
    let expanded = expand(&inputs);
    assert_eq!(names(folder.path(), &expanded), ["a.wav"]);
    let problems: Vec<_> = expanded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 4);
    assert!(problems[0].contains("gone.wav: no such file or folder"));
    assert!(problems[1].contains("empty: no sound files in this folder"));
    assert!(problems[2].contains("*.flac: no file matches this pattern"));
    assert!(problems[3].contains("[: not a valid pattern"));
}

#[test]
fn pattern_is_expanded_in_order() {
    let folder = folder(&["b.wav", "a.wav", ".c.wav", "a.flac", "sub/d.wav"]);
    let expanded = expand_one(&folder.path().join("*.wav"));
    assert_eq!(names(folder.path(), &expanded), ["a.wav", "b.wav"]);
    let expanded = expand_one(&folder.path().join("**/*.wav"));
    assert_eq!(names(folder.path(), &expanded), ["a.wav", "b.wav", "sub/d.wav"]);
}

#[test]
fn names_with_a_leading_dot_match_where_the_dot_is_spelled() {
    let above = folder(&["beside.wav", "here/x"]);
    let folder = tempfile::tempdir_in(above.path()).unwrap();
    for file in [".hidden/a.wav", "seen/a.wav", "seen/.b.wav"] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    for (pattern, expected) in [
        ("*/*.wav", vec!["seen/a.wav"]),
        (".*/*.wav", vec![".hidden/a.wav"]),
        ("seen/.*.wav", vec!["seen/.b.wav"]),
    ] {
        let expanded = expand_one(&folder.path().join(pattern));
        assert_eq!(names(folder.path(), &expanded), expected, "{pattern}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_text_do_not_disturb_patterns() {
    use std::os::unix::ffi::OsStrExt;

    let folder = folder(&["a.wav", "b.wav"]);
    fs::write(folder.path().join(OsStr::from_bytes(b"bad\xff.wav")), "").unwrap();
    for pattern in ["*.wav", "**/*.wav"] {
        let expanded = expand_one(&folder.path().join(pattern));
        assert_eq!(names(folder.path(), &expanded), ["a.wav", "b.wav"], "{pattern}");
    }
}

#[test]
fn file_with_a_literal_wildcard_in_its_name_wins_over_the_pattern() {
    let folder = folder(&["a[1].wav", "a1.wav"]);
    let expanded = expand_one(&folder.path().join("a[1].wav"));
    assert_eq!(names(folder.path(), &expanded), ["a[1].wav"]);
}

#[test]
fn standard_input_can_be_named_once() {
    let expanded = expand(&["-", "-"]);
    assert_eq!(expanded.sources, [Source::new(Location::StandardInput)]);
    assert_eq!(expanded.sources[0].label, "-");
    assert!(matches!(expanded.problems[..], [Error::StandardInputTwice]));
}

#[cfg(unix)]
#[test]
fn loops_of_symbolic_links_end() {
    let folder = folder(&["a/x.wav", "b/y.wav"]);
    for name in ["a/up", "a/again", "b/up"] {
        std::os::unix::fs::symlink(folder.path(), folder.path().join(name)).unwrap();
    }
    let expanded = expand_one(folder.path());
    assert_eq!(names(folder.path(), &expanded), ["a/x.wav", "b/y.wav"]);
    let expanded = expand_one(&folder.path().join("**/*.wav"));
    assert_eq!(names(folder.path(), &expanded), ["a/x.wav", "b/y.wav"]);
}

#[cfg(unix)]
#[test]
fn broken_link_is_listed_so_that_its_loss_is_reported() {
    let folder = folder(&["a.wav"]);
    std::os::unix::fs::symlink("gone", folder.path().join("b.wav")).unwrap();
    assert_eq!(names(folder.path(), &expand_one(folder.path())), ["a.wav", "b.wav"]);
}

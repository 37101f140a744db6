//! What the user typed becomes a list of sources, in an order that never changes.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use glob::{MatchOptions, Pattern};

use crate::extensions::{SUPPORTED, has_sound_extension};
use crate::label_folders::{self, LabelFolder};
use crate::manifest::{Format, Manifest, Row};
use crate::notes::{self, Note};
use crate::pattern::{fixed_part, is_hidden_from, pattern};
use crate::table::has_table_extension;
use crate::{Error, Label, MemorySound, Result, SampleColumn, UnknownLabel, walk};

const GLOB_OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// The column of tables, if they are recordings.
type Samples<'a> = Option<&'a SampleColumn>;

/// A part of a recording; it is read as a file with the same samples would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    /// Where it starts.
    pub start: Duration,
    /// How long it is; to the end of the recording if not given.
    pub length: Option<Duration>,
}

/// Where sound comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Location {
    /// A file, or anything else with a path that can be read like one.
    File(PathBuf),
    /// A part of a file.
    Part(PathBuf, Part),
    /// A file of numbers as text, a row a sample.
    Table(PathBuf, SampleColumn),
    /// Samples in memory.
    Memory(MemorySound),
    /// The standard input of the process; it can be read only once.
    StandardInput,
}

impl Location {
    /// A recording by its path: with a column of samples, files with the extension `csv` are tables.
    pub fn of_path(path: impl Into<PathBuf>, samples: Option<&SampleColumn>) -> Self {
        let path = path.into();
        match samples {
            Some(column) if has_table_extension(&path) => Self::Table(path, column.clone()),
            _ => Self::File(path),
        }
    }

    /// The path, where there is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Part(path, _) | Self::Table(path, _) => Some(path),
            Self::Memory(_) | Self::StandardInput => None,
        }
    }

    /// Whether sound may still be recorded while it is read. Such sound is read once, and its clips
    /// are wanted as soon as they are full.
    pub fn is_live(&self) -> bool {
        match self {
            Self::Table(..) | Self::Memory(_) => false,
            Self::File(path) | Self::Part(path, _) => is_pipe(path),
            Self::StandardInput => true,
        }
    }
}

/// Whether what is there may come while it is read: a named pipe, or the end of one.
#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// One input and what is known about it before it is opened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Source {
    /// Where the sound is.
    pub location: Location,
    /// The path as shown to users, `-` for standard input.
    pub label: String,
    /// The recording visit: from a manifest, or the sub-folder the file lies in.
    pub visit: Option<String>,
    /// The domain named in a manifest.
    pub domain: Option<String>,
    /// The machine named in a manifest.
    pub machine: Option<String>,
    /// What a manifest says it is, or the text there that is not a label.
    pub truth: Option<std::result::Result<Label, UnknownLabel>>,
    /// When it was recorded, as a manifest writes it; see [`Source::recorded_at`].
    pub time: Option<String>,
    /// Whether a manifest keeps it for testing (`split` is `test`): nothing is to be learnt from it.
    pub is_for_test: bool,
}

impl Source {
    /// A source at `location` about which nothing else is known.
    pub fn new(location: Location) -> Self {
        let label = match &location {
            Location::File(path) | Location::Part(path, _) | Location::Table(path, _) => {
                path.display().to_string()
            }
            Location::Memory(sound) => sound.name().to_owned(),
            Location::StandardInput => "-".to_owned(),
        };
        Self {
            location,
            label,
            visit: None,
            domain: None,
            machine: None,
            truth: None,
            time: None,
            is_for_test: false,
        }
    }

    /// Whether its [`Location::is_live`].
    pub fn is_live(&self) -> bool {
        self.location.is_live()
    }
}

/// The sources found, and the inputs that gave none.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Expanded {
    /// The sources, in the order of the inputs; within a folder or pattern, by path.
    pub sources: Vec<Source>,
    /// What could not be used; the other inputs are not affected.
    pub problems: Vec<Error>,
    /// What else a user should know.
    pub notes: Vec<Note>,
    /// Folders named like labels, such as `normal` and `abnormal`, between what the inputs have in
    /// common and the files.
    pub label_folders: Vec<LabelFolder>,
}

/// Turns what the user typed into sources.
///
/// An input is a file (taken whatever its extension), a folder (searched with all
/// its sub-folders for known extensions, hidden files left out), a manifest
/// (`.csv`, `.jsonl`, `.ndjson`, `.parquet`), a glob pattern (if no file has that literal name)
/// or `-` for standard input. A file in a sub-folder of a given folder gets the
/// first folder name below the given one as its visit. Of several given folders, as
/// a shell makes of `recordings/*/`, each is the visit of the files right in it.
pub fn expand<I: AsRef<OsStr>>(inputs: &[I]) -> Expanded {
    expand_with(inputs, None)
}

/// As [`expand`], but with a column of samples every `.csv` file is a recording and not a manifest:
/// named, in a folder, or listed in a manifest of another format.
pub fn expand_with<I: AsRef<OsStr>>(inputs: &[I], samples: Option<&SampleColumn>) -> Expanded {
    let mut expanded = Expanded::default();
    let several = inputs.iter().filter(|input| Path::new(input).is_dir()).count() > 1;
    let (mut places, mut listed) = (Vec::new(), Vec::new());
    for input in inputs.iter().map(AsRef::as_ref) {
        let before = expanded.sources.len();
        if let Err(problem) = expand_input(input, samples, &mut expanded) {
            expanded.problems.push(problem);
        }
        let found = &mut expanded.sources[before..];
        if several && Path::new(input).is_dir() {
            let name = input.to_string_lossy();
            for source in found.iter_mut() {
                source.visit.get_or_insert_with(|| name.trim_end_matches(['/', '\\']).to_owned());
            }
        }
        match place(input, samples) {
            Some(place) => places.push(place),
            None => listed.push(before..expanded.sources.len()),
        }
    }
    let by_name = expanded.sources.iter().enumerate();
    let by_name = by_name.filter(|(index, _)| !listed.iter().any(|rows| rows.contains(index)));
    expanded.label_folders = label_folders::find(&places, by_name.map(|(_, source)| source));
    expanded
}

/// The folder that an input names; `None` for standard input, and for manifests, which have a column for labels.
fn place(input: &OsStr, samples: Samples<'_>) -> Option<PathBuf> {
    let path = Path::new(input);
    match Location::of_path(path, samples) {
        _ if input == "-" => None,
        _ if path.is_dir() => Some(path.to_owned()),
        Location::File(_) if Format::of(path).is_some() => None,
        _ if !path.exists() => match pattern(input) {
            Some(pattern) => Some(fixed_part(pattern)),
            None => path.parent().map(Path::to_owned),
        },
        _ => path.parent().map(Path::to_owned),
    }
}

fn expand_input(input: &OsStr, samples: Samples<'_>, expanded: &mut Expanded) -> Result<()> {
    if input == "-" {
        return expand_standard_input(expanded);
    }
    let path = Path::new(input);
    match (fs::metadata(path), pattern(input)) {
        (Ok(_), _) => expand_path(path, samples, expanded),
        (Err(_), Some(pattern)) => expand_pattern(pattern, samples, expanded),
        (Err(error), None) => Err(Error::from_io(path, error)),
    }
}

fn expand_standard_input(expanded: &mut Expanded) -> Result<()> {
    if expanded.sources.iter().any(Source::is_live) {
        return Err(Error::StandardInputTwice);
    }
    expanded.sources.push(Source::new(Location::StandardInput));
    Ok(())
}

fn expand_path(path: &Path, samples: Samples<'_>, expanded: &mut Expanded) -> Result<()> {
    if path.is_dir() {
        return expand_folder(path, samples, expanded);
    }
    match Location::of_path(path, samples) {
        Location::File(_) if Format::of(path).is_some() => expand_manifest(path, samples, expanded),
        location => {
            expanded.sources.push(Source::new(location));
            Ok(())
        }
    }
}

fn expand_manifest(path: &Path, samples: Samples<'_>, expanded: &mut Expanded) -> Result<()> {
    let mut manifest = Manifest::open(path)?;
    expanded.notes.extend(notes::on_times(&mut manifest));
    for row in std::mem::take(&mut manifest.rows) {
        match row.and_then(|row| listed_source(row, &manifest, samples)) {
            Ok(source) => expanded.sources.push(source),
            Err(problem) => expanded.problems.push(problem),
        }
    }
    Ok(())
}

/// The source a row names, if its file is there.
fn listed_source(row: Row, manifest: &Manifest, samples: Samples<'_>) -> Result<Source> {
    let problem = match row.path.metadata() {
        Ok(found) if found.is_dir() => Error::IsFolder { input: row.path.display().to_string() },
        Ok(_) => {
            let part = row.part();
            let location = match (Location::of_path(row.path, samples), part) {
                (Location::File(path), Some(part)) => Location::Part(path, part),
                (Location::Table(..), Some(_)) => {
                    let reason =
                        "parts of tables are not read; leave start_seconds and seconds empty";
                    return Err(manifest.row_refused(row.line, reason));
                }
                (location, _) => location,
            };
            return Ok(Source {
                visit: row.visit,
                domain: row.domain,
                machine: row.machine,
                truth: row.label,
                time: row.time,
                is_for_test: row.split.is_some_and(|split| split.eq_ignore_ascii_case("test")),
                ..Source::new(location)
            });
        }
        Err(error) => Error::from_io(&row.path, error),
    };
    Err(manifest.row_refused(row.line, problem.to_string()))
}

fn expand_folder(folder: &Path, samples: Samples<'_>, expanded: &mut Expanded) -> Result<()> {
    let before = (expanded.sources.len(), expanded.problems.len());
    let walked = walk(folder);
    expanded.problems.extend(walked.problems);
    expanded.notes.extend(notes::on_unsupported(folder, &walked.files));
    let is_recording = |path: &PathBuf| {
        has_sound_extension(path) || samples.is_some() && has_table_extension(path)
    };
    for path in walked.files.into_iter().filter(is_recording) {
        let visit = visit_below(folder, &path);
        let location = Location::of_path(path, samples);
        expanded.sources.push(Source { visit, ..Source::new(location) });
    }
    if (expanded.sources.len(), expanded.problems.len()) == before {
        let input = folder.display().to_string();
        return Err(Error::EmptyFolder { input, known: SUPPORTED.join(", ") });
    }
    Ok(())
}

/// The first folder name below `folder` on the way to `path`.
fn visit_below(folder: &Path, path: &Path) -> Option<String> {
    label_folders::first_of_several(path.strip_prefix(folder).ok()?)
}

fn expand_pattern(input: &str, samples: Samples<'_>, expanded: &mut Expanded) -> Result<()> {
    let bad = |reason: String| Error::BadPattern { pattern: input.to_owned(), reason };
    let pattern = Pattern::new(input).map_err(|error| bad(error.to_string()))?;
    let before = (expanded.sources.len(), expanded.problems.len());
    if input.contains("**") {
        // The glob crate follows symbolic links without looking for loops.
        let walked = walk(&fixed_part(input));
        expanded.problems.extend(walked.problems);
        let is_match = |path: &PathBuf| pattern.matches_path_with(path, GLOB_OPTIONS);
        let files = walked.files.into_iter().filter(is_match);
        let locations = files.map(|path| Location::of_path(path, samples));
        expanded.sources.extend(locations.map(Source::new));
    } else {
        // Looking for leading dots, the glob crate panics at names that are not text.
        let options = MatchOptions { require_literal_leading_dot: false, ..GLOB_OPTIONS };
        let paths = glob::glob_with(input, options).map_err(|error| bad(error.to_string()))?;
        for path in paths {
            let found = match path {
                Ok(path) if is_hidden_from(input, &path) => continue,
                Ok(path) => expand_path(&path, samples, expanded),
                Err(error) => {
                    let path = error.path().to_owned();
                    Err(Error::from_io(&path, error.into()))
                }
            };
            expanded.problems.extend(found.err());
        }
    }
    if (expanded.sources.len(), expanded.problems.len()) == before {
        return Err(Error::NoMatch { pattern: input.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
        let visits: Vec<_> =
            expand(&inputs).sources.into_iter().map(|source| source.visit).collect();
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
        assert_eq!(
            given,
            [(normal.clone(), Label::Normal, 2), (abnormal.clone(), Label::Anomaly, 1)]
        );
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
}

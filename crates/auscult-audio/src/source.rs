//! What the user typed becomes a list of sources, in an order that never changes.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use crate::extensions::{SUPPORTED, has_sound_extension};
use crate::label_folders::{self, LabelFolder};
use crate::manifest::{Format, Manifest, Row};
use crate::notes::{self, Note};
use crate::pattern::{fixed_part, is_hidden_from, pattern};
use crate::table::has_table_extension;
use crate::{Error, Label, MemorySound, Part, Result, SampleColumn, UnknownLabel, walk};

const GLOB_OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// The column of tables, if they are recordings.
type Samples<'a> = Option<&'a SampleColumn>;

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
mod tests;

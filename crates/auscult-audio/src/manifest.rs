//! Lists of sound files as CSV or JSON lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;

use crate::{Error, Expanded, Label, Location, Result, Source};

/// The longest line of a JSON-lines manifest, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// How a manifest is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Csv,
    JsonLines,
}

impl Kind {
    /// The kind a file's extension stands for, if it is a manifest at all.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_ascii_lowercase();
        match extension.to_str()? {
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}

/// Adds the sources a manifest lists, and a problem for each row that cannot be used.
pub(crate) fn read(path: &Path, kind: Kind, expanded: &mut Expanded) -> Result<()> {
    let file = File::open(path).map_err(|error| Error::from_io(path, error))?;
    let mut manifest = Manifest { path, expanded, rows: 0 };
    match kind {
        Kind::Csv => manifest.read_csv(file)?,
        Kind::JsonLines => manifest.read_json_lines(BufReader::new(file))?,
    }
    if manifest.rows == 0 {
        return Err(manifest.refused("lists no files; add a row for each file"));
    }
    Ok(())
}

/// One row as it stands in the file; unknown columns and keys are left out.
#[derive(Debug, Deserialize)]
struct Row {
    path: Option<String>,
    visit: Option<Cell>,
    domain: Option<Cell>,
    label: Option<LabelCell>,
    split: Option<Cell>,
}

/// A value that may be written with or without quotes in JSON.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Cell {
    Text(String),
    Number(serde_json::Number),
}

/// A label may also be true or false.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum LabelCell {
    Boolean(bool),
    Cell(Cell),
}

impl LabelCell {
    fn into_label(self) -> Option<Label> {
        let text = match self {
            Self::Boolean(value) => Some(value.to_string()),
            Self::Cell(cell) => cell.into_text(),
        };
        text.map(Label::from)
    }
}

impl Cell {
    fn into_text(self) -> Option<String> {
        let text = match self {
            Self::Text(text) => text.trim().to_owned(),
            Self::Number(number) => number.to_string(),
        };
        (!text.is_empty()).then_some(text)
    }
}

struct Manifest<'a> {
    path: &'a Path,
    expanded: &'a mut Expanded,
    rows: u64,
}

impl Manifest<'_> {
    fn read_csv(&mut self, file: File) -> Result<()> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
        let header = reader.headers().map_err(|error| self.refused(&error.to_string()))?.clone();
        let path_column = self.path_column(&header)?;
        let column = |name: &str| header.iter().position(|found| found == name);
        let [visit_column, domain_column, label_column, split_column] =
            ["visit", "domain", "label", "split"].map(column);
        for record in reader.records() {
            match record {
                Ok(record) => {
                    let line = record.position().map_or(0, csv::Position::line);
                    let cell = |column: Option<usize>| {
                        column.and_then(|at| record.get(at)).map(|text| Cell::Text(text.to_owned()))
                    };
                    let path = record.get(path_column).map(str::to_owned);
                    let row = Row {
                        path,
                        visit: cell(visit_column),
                        domain: cell(domain_column),
                        label: cell(label_column).map(LabelCell::Cell),
                        split: cell(split_column),
                    };
                    self.add(line, row);
                }
                Err(error) if error.is_io_error() => return Err(self.refused(&error.to_string())),
                Err(error) => {
                    let line = error.position().map_or(0, csv::Position::line);
                    self.problem(line, csv_reason(&error));
                }
            }
        }
        Ok(())
    }

    fn path_column(&self, header: &csv::StringRecord) -> Result<usize> {
        let mut found = header.iter().enumerate().filter(|(_, name)| *name == "path");
        match (found.next(), found.next()) {
            (Some((column, _)), None) => Ok(column),
            (Some(_), Some(_)) => {
                Err(self.refused("the header names the column `path` twice; keep one of them"))
            }
            (None, _) => {
                let names: Vec<_> = header.iter().collect();
                Err(self.refused(&format!(
                    "the header has no column `path` (it has: {}); the first line must name the \
                     columns, separated by commas, such as: path,visit,domain",
                    names.join(" | ")
                )))
            }
        }
    }

    fn read_json_lines(&mut self, mut reader: impl BufRead) -> Result<()> {
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let read = reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut text);
            if read.map_err(|error| Error::from_io(self.path, error))? == 0 {
                break;
            }
            if text.len() as u64 == MAX_LINE_BYTES {
                return Err(self.row_refused(
                    line,
                    format!("the line is longer than {MAX_LINE_BYTES} bytes; is this JSON lines?"),
                ));
            }
            let json = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text).trim_ascii();
            if json.is_empty() {
                continue;
            }
            match serde_json::from_slice::<Row>(json) {
                Ok(row) => self.add(line, row),
                Err(error) => self.problem(line, json_reason(&error)),
            }
        }
        Ok(())
    }

    /// Adds one row as a source, or as a problem if its file is not there.
    fn add(&mut self, line: u64, row: Row) {
        let Some(written) = row.path.filter(|path| !path.is_empty()) else {
            return self.problem(line, "the path is empty; name a sound file".to_owned());
        };
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let path = folder.join(written);
        match path.metadata() {
            Ok(found) if found.is_dir() => {
                let input = path.display().to_string();
                self.problem(line, Error::IsFolder { input }.to_string());
            }
            Ok(_) => {
                self.rows += 1;
                self.expanded.sources.push(Source {
                    visit: row.visit.and_then(Cell::into_text),
                    domain: row.domain.and_then(Cell::into_text),
                    truth: row.label.and_then(LabelCell::into_label),
                    is_for_test: row
                        .split
                        .and_then(Cell::into_text)
                        .is_some_and(|split| split.eq_ignore_ascii_case("test")),
                    ..Source::new(Location::File(path))
                });
            }
            Err(error) => self.problem(line, Error::from_io(&path, error).to_string()),
        }
    }

    fn problem(&mut self, line: u64, reason: String) {
        self.rows += 1;
        let problem = self.row_refused(line, reason);
        self.expanded.problems.push(problem);
    }

    fn row_refused(&self, line: u64, reason: String) -> Error {
        Error::ManifestRow { manifest: self.path.display().to_string(), line, reason }
    }

    fn refused(&self, reason: &str) -> Error {
        Error::Manifest { manifest: self.path.display().to_string(), reason: reason.to_owned() }
    }
}

fn csv_reason(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
            "the row has {len} cells but the header has {expected_len}; \
             put cells that contain commas in double quotes"
        ),
        csv::ErrorKind::Utf8 { .. } => "the row is not UTF-8; save the file as UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

fn json_reason(error: &serde_json::Error) -> String {
    // The line is known better than serde_json knows it: it always says 1.
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("{what}; each line must be an object such as {{\"path\": \"a.wav\", \"visit\": \"1\"}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expands a manifest that lies beside `a.wav` and `sub/b.wav`.
    fn expand_manifest(name: &str, content: impl AsRef<[u8]>) -> (tempfile::TempDir, Expanded) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        for file in ["a.wav", "sub/b.wav"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let expanded = crate::expand(&[path.to_str().unwrap().to_owned()]);
        (folder, expanded)
    }

    fn problems(expanded: &Expanded) -> Vec<String> {
        expanded.problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn csv_rows_become_sources_relative_to_the_manifest() {
        let (folder, expanded) = expand_manifest(
            "list.CSV",
            "\u{feff}machine,visit,path,domain\nfan,1,a.wav,\nfan,,\"sub/b.wav\",target\n",
        );
        assert_eq!(problems(&expanded), [""; 0]);
        let [first, second] = &expanded.sources[..] else { panic!("two sources") };
        assert_eq!(first.location, Location::File(folder.path().join("a.wav")));
        assert_eq!((first.visit.as_deref(), first.domain.as_deref()), (Some("1"), None));
        assert_eq!(second.location, Location::File(folder.path().join("sub/b.wav")));
        assert_eq!((second.visit.as_deref(), second.domain.as_deref()), (None, Some("target")));
    }

    #[test]
    fn json_lines_become_sources_and_numbers_are_text() {
        let (_folder, expanded) = expand_manifest(
            "list.jsonl",
            "\u{feff}{\"path\":\"a.wav\",\"visit\":7,\"gain\":[1]}\n\n{\"path\":\"sub/b.wav\",\"visit\":\"\"}",
        );
        assert_eq!(problems(&expanded), [""; 0]);
        let visits: Vec<_> = expanded.sources.iter().map(|source| source.visit.clone()).collect();
        assert_eq!(visits, [Some("7".to_owned()), None]);
    }

    #[test]
    fn bad_rows_are_named_by_their_line_and_the_others_go_on() {
        let csv = b"path,visit\ngone.wav,1\na.wav,1,2\n,1\nsub,1\n\xff,1\na.wav,2\n";
        let (_folder, expanded) = expand_manifest("list.csv", csv);
        assert_eq!(expanded.sources.len(), 1);
        let expected = [
            (2, "no such file"),
            (3, "the row has 3 cells but the header has 2"),
            (4, "the path is empty"),
            (5, "is a folder"),
            (6, "not UTF-8"),
        ];
        let problems = problems(&expanded);
        assert_eq!(problems.len(), expected.len());
        for (problem, (line, reason)) in problems.iter().zip(expected) {
            assert!(problem.contains(&format!("list.csv:{line}: ")), "{problem}");
            assert!(problem.contains(reason), "{problem}");
        }
    }

    #[test]
    fn bad_json_lines_are_named_by_their_line() {
        let lines = "{\"path\":\"a.wav\"}\n{path}\n[]\n{\"path\":\"a.wav\",\"visit\":true}\n{}\n";
        let (_folder, expanded) = expand_manifest("list.ndjson", lines);
        assert_eq!(expanded.sources.len(), 1);
        let problems = problems(&expanded);
        assert_eq!(problems.len(), 4);
        for (problem, line) in problems.iter().zip(2..) {
            assert!(problem.contains(&format!("list.ndjson:{line}: ")), "{problem}");
            assert!(!problem.contains("at line 1"), "{problem}");
        }
    }

    #[test]
    fn csv_without_a_path_column_is_refused_with_what_it_has() {
        let (_folder, expanded) = expand_manifest("list.csv", "file;visit\na.wav;1\n");
        let problems = problems(&expanded);
        assert!(problems[0].contains("no column `path` (it has: file;visit)"), "{problems:?}");
    }

    #[test]
    fn empty_manifests_are_refused() {
        for (name, content) in [("a.csv", ""), ("b.csv", "path\n"), ("c.jsonl", "\n\n")] {
            let (_folder, expanded) = expand_manifest(name, content);
            assert!(expanded.sources.is_empty());
            assert_eq!(expanded.problems.len(), 1, "{name}");
        }
    }

    #[test]
    fn endless_line_is_refused() {
        let (_folder, expanded) = expand_manifest("list.jsonl", vec![b'x'; 3 << 20]);
        assert!(problems(&expanded)[0].contains("longer than 1048576 bytes"));
    }
}

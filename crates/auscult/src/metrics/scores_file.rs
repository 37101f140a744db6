//! Reads tables of scores.

use std::{collections::BTreeMap, fs::File, io::Read, path::Path};

use super::{Domain, Error, Label, Result, Scored};

/// One row: a score, and what the table says about its clip.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredClip {
    /// The clip's path, as written.
    pub path: String,
    /// The machine type; empty if the table has none.
    pub machine: String,
    /// The section or machine id; empty if the table has none.
    pub section: String,
    /// The part of a data set, such as a signal-to-noise ratio; empty if the table has none.
    pub set: String,
    /// What the clip is, if that is known.
    pub label: Option<Label>,
    /// Its domain, if it has one.
    pub domain: Option<Domain>,
    /// The score.
    pub score: f64,
}

impl ScoredClip {
    /// The score with its label, if it has one.
    pub fn scored(&self) -> Option<Scored> {
        Some(Scored { score: self.score, label: self.label?, domain: self.domain })
    }

    /// The section, with the part of the data set it is of.
    pub(super) fn section_of_set(&self) -> String {
        format!("{} {}", self.set, self.section).trim().to_owned()
    }
}

/// Reads a CSV file with the columns `path`, `label`, `score` and, where there are such,
/// `domain`, `machine`, `section` and `set`; other columns are left alone.
///
/// Labels are those of [`Label`], such as `0`, `1`, `normal` or `anomaly`; an empty one means that nobody knows. Each clip may
/// stand in one row: rows are of the same clip if path, machine, section, set and, in tables of
/// `auscult score`, `start_seconds` are the same.
///
/// # Errors
///
/// [`Error::Read`] if the file cannot be read, [`Error::Table`] with the line and what is allowed if
/// a column is missing or there twice, a clip is there twice, or a value is not what it should be,
/// [`Error::ScoreNotFinite`] for NaN.
pub fn read_scores(path: &Path) -> Result<Vec<ScoredClip>> {
    let wrong = |source| Error::Read { path: path.to_owned(), source };
    if path.is_dir() {
        return Err(wrong(std::io::Error::other("it is a folder; name a CSV file")));
    }
    let file = File::open(path).map_err(wrong)?;
    parse_scores(file, path)
}

fn parse_scores(input: impl Read, path: &Path) -> Result<Vec<ScoredClip>> {
    let wrong = |line: u64, reason: String| Error::Table { path: path.to_owned(), line, reason };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
    let headers = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
    let column = |name: &str| headers.iter().position(|header| header.eq_ignore_ascii_case(name));
    if let Some(name) = USED_COLUMNS
        .into_iter()
        .find(|name| headers.iter().filter(|header| header.eq_ignore_ascii_case(name)).count() > 1)
    {
        let reason = format!("two columns are called {name:?}; keep one, or rename the other");
        return Err(wrong(1, reason));
    }
    let needed = |name: &str| {
        column(name).ok_or_else(|| {
            let found = headers.iter().collect::<Vec<_>>().join(", ");
            let reason = format!(
                "no column {name:?} among {found}; needed: path, label, score; used if there: domain, machine, section, set"
            );
            wrong(1, reason)
        })
    };
    let (path_column, score_column, label_column) =
        (needed("path")?, needed("score")?, needed("label")?);
    let [domain_column, machine_column, section_column, set_column, start_column] =
        ["domain", "machine", "section", "set", "start_seconds"].map(column);
    let mut clips = Vec::new();
    let mut lines: BTreeMap<[String; 5], u64> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            wrong(error.position().map_or(0, csv::Position::line), error.to_string())
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let text = |column: Option<usize>| column.and_then(|at| record.get(at)).unwrap_or_default();
        let (name, score) = (text(Some(path_column)).to_owned(), text(Some(score_column)));
        let score: f64 = score
            .parse()
            .map_err(|_| wrong(line, format!("score must be a number, got {score:?}")))?;
        if !score.is_finite() {
            return Err(Error::ScoreNotFinite { clip: format!("{name} (line {line})"), score });
        }
        let label =
            optional(text(Some(label_column)), |text| text.parse().ok()).map_err(|got| {
                wrong(line, format!("label must be 0, 1, normal or anomaly, got {got:?}"))
            })?;
        let domain = optional(text(domain_column), Domain::parse)
            .map_err(|got| wrong(line, format!("domain must be source or target, got {got:?}")))?;
        let [machine, section, set] =
            [machine_column, section_column, set_column].map(|at| text(at).to_owned());
        let start = text(start_column);
        let clip = [&name, &machine, &section, &set, start].map(|part: &str| part.to_owned());
        if let Some(first) = lines.insert(clip, line) {
            let reason = format!(
                "{name:?} is in line {first} too; each clip counts once: remove one of them, or distinguish them \
                 by whole paths or a column machine, section, set or start_seconds"
            );
            return Err(wrong(line, reason));
        }
        clips.push(ScoredClip { path: name, machine, section, set, label, domain, score });
    }
    if clips.is_empty() {
        return Err(wrong(2, "no scores below the header".to_owned()));
    }
    Ok(clips)
}

/// The columns that are read; any other may be there as often as it likes.
const USED_COLUMNS: [&str; 8] =
    ["path", "label", "score", "domain", "machine", "section", "set", "start_seconds"];

/// `None` for an empty field, an error with the text for one that cannot be read.
fn optional<T>(
    text: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> std::result::Result<Option<T>, String> {
    if text.is_empty() { Ok(None) } else { parse(text).map(Some).ok_or_else(|| text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<ScoredClip>> {
        parse_scores(text.as_bytes(), Path::new("scores.csv"))
    }

    #[test]
    fn columns_may_be_in_any_order_and_labels_names_or_numbers() {
        let clips =
            parse("score,extra,label,path,domain\n1.5,x,anomaly,a.wav,target\n0.5,y,0,b.wav,\n");
        let clips = clips.unwrap();
        assert_eq!(clips[0].label, Some(Label::Anomaly));
        assert_eq!(clips[0].domain, Some(Domain::Target));
        assert_eq!((clips[1].label, clips[1].domain), (Some(Label::Normal), None));
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        for (text, message) in [
            ("path,score\na,1\n", "scores.csv, line 1: no column \"label\""),
            (
                "path,label,score\na,0,1\nb,2,1\n",
                "line 3: label must be 0, 1, normal or anomaly, got \"2\"",
            ),
            ("path,label,score\na,0,high\n", "line 2: score must be a number, got \"high\""),
            ("path,label,score\na,0,nan\n", "the score of a (line 2) is NaN"),
            ("path,label,score,domain\na,0,1,left\n", "line 2: domain must be source or target"),
            ("path,label,score\n", "no scores below the header"),
            ("path,label,score\na,0\n", "line 2"),
            (
                "path,label,score,Score\na,0,1,2\n",
                "line 1: two columns are called \"score\"; keep one",
            ),
            (
                "path,label,score\na,0,1\nb,1,2\na,0,1\n",
                "line 4: \"a\" is in line 2 too; each clip counts once",
            ),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
    #[test]
    fn clips_of_one_name_are_distinguished_by_the_other_columns() {
        for column in ["machine", "section", "set", "start_seconds"] {
            let table = |second| format!("path,label,score,{column}\na,0,1,1\na,1,2,{second}\n");
            assert_eq!(parse(&table("2")).unwrap().len(), 2, "{column}");
            assert!(parse(&table("1")).is_err(), "{column}");
        }
        let unused = "path,label,score,note,note\na,0,1,x,y\n";
        assert_eq!(parse(unused).unwrap().len(), 1);
    }
}

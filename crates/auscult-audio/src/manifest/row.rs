//! One row of a manifest: cells with names become values.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Label, Part, UnknownLabel};

/// The columns of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Column {
    /// `path`: the recording, relative to the manifest.
    Path,
    /// `visit`: recordings made together have the same.
    Visit,
    /// `domain`: the conditions it was recorded under.
    Domain,
    /// `label`: what it is known to be.
    Label,
    /// `split`: `train` or `test`.
    Split,
    /// `machine`: the machine or its type.
    Machine,
    /// `section`: the section, or the machine's number.
    Section,
    /// `time`: when it was recorded, as RFC 3339; UTC if it has no offset.
    Time,
    /// `start_seconds`: where the part that is meant starts.
    StartSeconds,
    /// `seconds`: how long the part that is meant is.
    Seconds,
}

impl Column {
    /// Every column.
    pub const ALL: [Self; 10] = [
        Self::Path,
        Self::Visit,
        Self::Domain,
        Self::Label,
        Self::Split,
        Self::Machine,
        Self::Section,
        Self::Time,
        Self::StartSeconds,
        Self::Seconds,
    ];

    /// The name in a header.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Visit => "visit",
            Self::Domain => "domain",
            Self::Label => "label",
            Self::Split => "split",
            Self::Machine => "machine",
            Self::Section => "section",
            Self::Time => "time",
            Self::StartSeconds => "start_seconds",
            Self::Seconds => "seconds",
        }
    }

    /// The column of a name in a header, in upper or lower case.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| name.trim().eq_ignore_ascii_case(column.name()))
    }
}

/// The latest second of a recording that a row can name: three years on.
const MAX_SECONDS: f64 = 1e8;

/// What a manifest says about one recording. An empty cell says nothing.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The line in the manifest, counted from 1; in Parquet, the row.
    pub line: u64,
    /// The recording, below the manifest's folder unless it was given from the root.
    pub path: PathBuf,
    /// The path as written.
    pub written_path: String,
    /// Recordings made together have the same visit.
    pub visit: Option<String>,
    /// The conditions it was recorded under.
    pub domain: Option<String>,
    /// What it is known to be, or the text that is not a label.
    pub label: Option<Result<Label, UnknownLabel>>,
    /// What it is for.
    pub split: Option<String>,
    /// The machine or its type.
    pub machine: Option<String>,
    /// The section, or the machine's number.
    pub section: Option<String>,
    /// When it was recorded, as written.
    pub time: Option<String>,
    /// Where the part that is meant starts, in seconds: 0 to 1e8.
    pub start_seconds: Option<f64>,
    /// How long the part that is meant is, in seconds: 0 to 1e8.
    pub seconds: Option<f64>,
}

impl Row {
    /// How much text it holds.
    pub(super) fn text_bytes(&self) -> usize {
        let texts =
            [&self.visit, &self.domain, &self.split, &self.machine, &self.section, &self.time];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        self.path.as_os_str().len() + self.written_path.len() + texts
    }

    /// The part of the recording that is meant; `None` for all of it.
    pub fn part(&self) -> Option<Part> {
        if self.start_seconds.is_none() && self.seconds.is_none() {
            return None;
        }
        // Both were checked when the row was read.
        let duration = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Some(Part {
            start: duration(self.start_seconds.unwrap_or(0.0)),
            length: self.seconds.map(duration),
        })
    }
}

/// The cells of one row: trimmed text, none where it is empty.
#[derive(Debug, Default)]
pub(super) struct Cells([Option<String>; Column::ALL.len()]);

impl Cells {
    pub(super) fn set(&mut self, column: Column, text: &str) {
        let text = text.trim();
        self.0[column as usize] = (!text.is_empty()).then(|| text.to_owned());
    }

    fn take(&mut self, column: Column) -> Option<String> {
        self.0[column as usize].take()
    }

    fn take_seconds(&mut self, column: Column) -> Result<Option<f64>, String> {
        let Some(text) = self.take(column) else { return Ok(None) };
        let is_time = |seconds: &f64| (0.0..=MAX_SECONDS).contains(seconds);
        let seconds = text.parse().ok().filter(is_time).ok_or_else(|| {
            format!("{} must be a number from 0 to {MAX_SECONDS:e}, got {text:?}", column.name())
        })?;
        Ok(Some(seconds))
    }

    /// The row, or why it cannot be used.
    pub(super) fn into_row(mut self, line: u64, folder: &Path) -> Result<Row, String> {
        let Some(written_path) = self.take(Column::Path) else {
            return Err("the path is empty; name a sound file".to_owned());
        };
        Ok(Row {
            line,
            path: folder.join(&written_path),
            written_path,
            visit: self.take(Column::Visit),
            domain: self.take(Column::Domain),
            label: self.take(Column::Label).map(|text| text.parse()),
            split: self.take(Column::Split),
            machine: self.take(Column::Machine),
            section: self.take(Column::Section),
            time: self.take(Column::Time),
            start_seconds: self.take_seconds(Column::StartSeconds)?,
            seconds: self.take_seconds(Column::Seconds)?,
        })
    }
}

//! 7. All shards on one machine, each written whole.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use auscult::Event;
use serde::Serialize;

use crate::{
    Error, Plan, Result, Shard, Table,
    row::{self, ArchiveRow},
    shard::ShardScorer,
};

/// The version of the form of a shard's file.
const FORM: &str = "1";

/// What a shard's file says about itself.
const FORM_KEY: &str = "auscult.form";
const MODEL_KEY: &str = "auscult.model_hash";
const SETTINGS_KEY: &str = "auscult.settings_hash";
const CLIPS_KEY: &str = "auscult.clips_hash";

/// Scores shards into a folder: a file `shard=NNNNN.parquet` for each.
///
/// Several may work on one folder at a time, in one process or in many: what is written is the same.
#[derive(Debug)]
pub struct ScoreArchive<'a> {
    /// How clips become rows.
    pub scorer: ShardScorer<'a>,
    /// The folder that results go to.
    pub out: &'a Path,
    /// Whether results of another manifest, model or settings may be replaced.
    pub replace: bool,
}

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ArchiveSummary {
    /// Shards of the whole archive.
    pub shards: usize,
    /// Shards that were there already, made from the same clips, models and settings.
    pub skipped: usize,
    /// Rows that were written now.
    pub rows: u64,
    /// Of those, rows with an error.
    pub errors: u64,
    /// Of those, rows called anomalous.
    pub anomalous: u64,
    /// Torn or foreign files among the shards, which were written again.
    pub rewritten: usize,
    /// How long it took.
    pub seconds: f64,
}

/// What is at a shard's place before it is scored.
#[derive(Debug, PartialEq)]
enum Found {
    Nothing,
    Same,
    Torn(String),
    Other(&'static str),
}

impl ScoreArchive<'_> {
    /// Scores what is not scored yet. May be killed at any moment and run again: a shard is there whole or not at all.
    ///
    /// # Errors
    ///
    /// [`Error::OtherResults`] before any work if results of something else are in the folder, [`Error::Cancelled`], and
    /// whatever keeps results from being written. Clips that cannot be scored are rows with an error.
    pub fn run(&self, plan: &Plan) -> Result<ArchiveSummary> {
        let began = Instant::now();
        self.prepare(plan)?;
        let control = self.scorer.control;
        let total = usize::try_from(plan.clips()).unwrap_or(usize::MAX);
        control.report(Event::Started { what: "clips", total, name: "" });
        let mut summary = ArchiveSummary::default();
        for shard in plan.shards()? {
            summary.add(&self.shard(&shard?)?);
        }
        control.report(Event::Finished);
        summary.seconds = began.elapsed().as_secs_f64();
        Ok(summary)
    }

    /// Makes the folder, and looks at every result that is there.
    ///
    /// # Errors
    ///
    /// [`Error::OtherResults`], [`Error::NoMachines`], and whatever keeps the folder from being made or read.
    pub fn prepare(&self, plan: &Plan) -> Result<()> {
        self.scorer.models.check(plan)?;
        fs::create_dir_all(self.out).map_err(|source| self.failed(source))?;
        let has_results = self.check_beyond(plan)?;
        if self.replace || !has_results {
            return Ok(());
        }
        for shard in plan.shards()? {
            let shard = shard?;
            if let Found::Other(what) = self.find(&shard) {
                let (path, what) = (shard_path(self.out, shard.index), what.to_owned());
                return Err(Error::OtherResults { path, what });
            }
        }
        Ok(())
    }

    /// Scores one shard, unless its results are there already.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`], [`Error::OtherResults`], and whatever keeps results from being written.
    pub fn shard(&self, shard: &Shard) -> Result<ArchiveSummary> {
        let began = Instant::now();
        let path = shard_path(self.out, shard.index);
        let mut summary = ArchiveSummary { shards: 1, ..ArchiveSummary::default() };
        let control = self.scorer.control;
        let rewritten = match self.find(shard) {
            Found::Same => {
                summary.skipped = 1;
                shard.clips.iter().for_each(|_| control.report(Event::Advanced));
                return Ok(summary);
            }
            Found::Other(what) if !self.replace => {
                return Err(Error::OtherResults { path, what: what.to_owned() });
            }
            Found::Nothing => None,
            Found::Other(what) => Some(what.to_owned()),
            Found::Torn(what) => Some(what),
        };
        if let Some(what) = rewritten {
            summary.rewritten = 1;
            let note = format!("{}: {what}; it is written again", path.display());
            control.report(Event::Note(&note));
        }
        let rows = self.scorer.score(&shard.clips)?;
        self.write(shard, &rows, &path)?;
        let count = |is: fn(&ArchiveRow) -> bool| rows.iter().filter(|row| is(row)).count() as u64;
        summary.rows = rows.len() as u64;
        summary.errors = count(|row| row.error.is_some());
        summary.anomalous = count(|row| row.verdict == "anomalous");
        summary.seconds = began.elapsed().as_secs_f64();
        Ok(summary)
    }

    /// How many shards there are whose results are not there yet.
    ///
    /// # Errors
    ///
    /// If the manifest can no longer be read.
    pub fn left(&self, plan: &Plan) -> Result<usize> {
        let mut left = 0;
        for shard in plan.shards()? {
            left += usize::from(self.find(&shard?) != Found::Same);
        }
        Ok(left)
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { path: self.out.to_owned(), source }
    }

    /// What the file of a shard must say about itself.
    fn facts(&self, shard: &Shard) -> [(&'static str, String); 4] {
        [
            (FORM_KEY, FORM.to_owned()),
            (MODEL_KEY, self.scorer.models.hash_for(shard)),
            (SETTINGS_KEY, self.scorer.settings.hash()),
            (CLIPS_KEY, shard.hash()),
        ]
    }

    fn find(&self, shard: &Shard) -> Found {
        let path = shard_path(self.out, shard.index);
        if !path.exists() {
            return Found::Nothing;
        }
        let facts = match Table::read_facts(&path) {
            Ok((facts, _)) => facts,
            Err(Error::Table { reason, .. }) => return Found::Torn(reason),
            Err(error) => return Found::Torn(error.to_string()),
        };
        let differs = |(key, value): &(&str, String)| facts.get(*key) != Some(value);
        match self.facts(shard).into_iter().find(differs) {
            None => Found::Same,
            Some((MODEL_KEY, _)) => Found::Other("made by another model"),
            Some((SETTINGS_KEY, _)) => Found::Other("made with other settings"),
            Some((CLIPS_KEY, _)) => {
                Found::Other("made from other clips, or shards of another length")
            }
            Some(_) => Found::Other("not written by this program, or by another version of it"),
        }
    }

    /// Refuses shards beyond the last, which are of another manifest, unless they may be replaced; says whether there
    /// are others.
    fn check_beyond(&self, plan: &Plan) -> Result<bool> {
        let (mut beyond, mut has_results) = (Vec::new(), false);
        for entry in fs::read_dir(self.out).map_err(|source| self.failed(source))? {
            let path = entry.map_err(|source| self.failed(source))?.path();
            match index_of(&path) {
                Some(index) if index >= plan.shard_count() => beyond.push(path),
                Some(_) => has_results = true,
                None => {}
            }
        }
        if self.replace {
            beyond.iter().try_for_each(fs::remove_file).map_err(|source| self.failed(source))?;
            return Ok(has_results);
        }
        let Some(path) = beyond.into_iter().min() else { return Ok(has_results) };
        let count = plan.shard_count();
        let what = format!("the manifest has {count} shards, so this is of another one");
        Err(Error::OtherResults { path, what })
    }

    fn write(&self, shard: &Shard, rows: &[ArchiveRow], path: &Path) -> Result<()> {
        let mut table = row::table(rows);
        table.facts = self.facts(shard).map(|(key, value)| (key.to_owned(), value)).into();
        let failed = |reason: String| Error::Table { path: path.to_owned(), reason };
        let bytes = table.to_parquet().map_err(|error| failed(error.to_string()))?;
        Ok(auscult::files::write_atomically(path, &bytes)?)
    }
}

impl ArchiveSummary {
    /// Counts another part of the same archive.
    pub fn add(&mut self, other: &Self) {
        self.shards += other.shards;
        self.skipped += other.skipped;
        self.rows += other.rows;
        self.errors += other.errors;
        self.anomalous += other.anomalous;
        self.rewritten += other.rewritten;
        self.seconds += other.seconds;
    }
}

/// Where the results of a shard are.
pub fn shard_path(out: &Path, index: usize) -> PathBuf {
    out.join(format!("shard={index:05}.parquet"))
}

/// Which shard a file is of, by its name.
fn index_of(path: &Path) -> Option<usize> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix("shard=")?.strip_suffix(".parquet")?.parse().ok()
}

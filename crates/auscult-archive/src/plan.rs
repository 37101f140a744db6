//! 2. A manifest becomes shards, before any work begins.

use std::{
    borrow::Borrow,
    collections::{BTreeSet, HashSet},
    path::{Path, PathBuf},
};

use auscult::audio::manifest::{Column, Row, Rows};

use crate::{ClipReference, Error, Result, reference::hash_of};

/// The fewest and the most clips of a shard.
const SHARD_CLIPS: std::ops::RangeInclusive<usize> = 1..=1_000_000;

/// Rows whose mistakes a message quotes.
const MOST_QUOTED: usize = 5;

/// What a manifest asks for, checked as a whole. Holds a fingerprint of each shard, not the clips.
#[derive(Debug)]
pub struct Plan {
    manifest: PathBuf,
    shard_clips: usize,
    clips: u64,
    /// What identifies the clips of each shard.
    hashes: Vec<String>,
    has_machines: bool,
}

/// Some clips that are scored together.
#[derive(Debug, Clone, PartialEq)]
pub struct Shard {
    /// Its place among the shards.
    pub index: usize,
    /// Its clips, in the order of the manifest.
    pub clips: Vec<ClipReference>,
}

impl Shard {
    /// The machines that its clips name.
    pub fn machines(&self) -> BTreeSet<&str> {
        self.clips.iter().filter_map(|clip| clip.machine.as_deref()).collect()
    }

    /// Identifies the clips: the same references in the same order.
    pub fn hash(&self) -> String {
        // References can always be written.
        let text: Vec<u8> = self
            .clips
            .iter()
            .flat_map(|clip| serde_json::to_vec(clip).unwrap_or_default())
            .collect();
        hash_of(&text)
    }
}

impl Plan {
    /// Reads a manifest (CSV, JSON lines or Parquet) and checks every row.
    ///
    /// # Errors
    ///
    /// [`Error::BadRows`], [`Error::Duplicate`], [`Error::NoClips`], [`Error::OutOfRange`] for a shard length, and
    /// whatever is wrong with the manifest as a whole.
    pub fn read(manifest: &Path, shard_clips: usize) -> Result<Self> {
        if !SHARD_CLIPS.contains(&shard_clips) {
            let (value, allowed) = (shard_clips.to_string(), "1 to 1000000");
            return Err(Error::OutOfRange {
                what: "the number of clips of a shard",
                value,
                allowed,
            });
        }
        let mut rows = Rows::open(manifest)?;
        let mut plan = Self {
            manifest: manifest.to_owned(),
            shard_clips,
            clips: 0,
            hashes: Vec::new(),
            has_machines: false,
        };
        let mut check = Check::default();
        let mut clips = Vec::new();
        for row in rows.by_ref() {
            clips.extend(check.row(row, manifest)?);
            if clips.len() == shard_clips {
                plan.add(&mut clips);
            }
        }
        plan.add(&mut clips);
        plan.has_machines = rows.columns().contains(&Column::Machine);
        check.finish(manifest)?;
        if plan.clips == 0 {
            return Err(Error::NoClips { path: plan.manifest });
        }
        Ok(plan)
    }

    fn add(&mut self, clips: &mut Vec<ClipReference>) {
        if clips.is_empty() {
            return;
        }
        self.clips += clips.len() as u64;
        let shard = Shard { index: self.hashes.len(), clips: std::mem::take(clips) };
        self.hashes.push(shard.hash());
        // The room is used again.
        *clips = shard.clips;
        clips.clear();
    }

    /// How many rows the manifest has.
    pub fn clips(&self) -> u64 {
        self.clips
    }

    /// How many shards they make.
    pub fn shard_count(&self) -> usize {
        self.hashes.len()
    }

    /// Whether the manifest says which machine a clip is of.
    pub fn has_machines(&self) -> bool {
        self.has_machines
    }

    /// The manifest.
    pub fn manifest(&self) -> &Path {
        &self.manifest
    }

    /// The shards, one after the other, in bounded memory. A manifest that is no longer the one that was planned is an
    /// [`Error::Changed`].
    ///
    /// # Errors
    ///
    /// If the manifest can no longer be opened.
    pub fn shards(&self) -> Result<Shards<&Self>> {
        Shards::new(self)
    }
}

/// The shards of a plan that is borrowed, owned or shared.
#[derive(Debug)]
pub struct Shards<P> {
    plan: P,
    rows: Rows,
    next: usize,
}

impl<P: Borrow<Plan>> Shards<P> {
    /// Begins with the first.
    ///
    /// # Errors
    ///
    /// If the manifest can no longer be opened.
    pub fn new(plan: P) -> Result<Self> {
        let rows = Rows::open(&plan.borrow().manifest)?;
        Ok(Self { plan, rows, next: 0 })
    }
}

impl<P: Borrow<Plan>> Iterator for Shards<P> {
    type Item = Result<Shard>;

    fn next(&mut self) -> Option<Result<Shard>> {
        let plan = self.plan.borrow();
        let index = self.next;
        let expected = plan.hashes.get(index)?;
        self.next += 1;
        let rows: auscult::audio::Result<Vec<Row>> =
            self.rows.by_ref().take(plan.shard_clips).collect();
        let clips = match rows {
            Ok(rows) => rows.into_iter().map(ClipReference::of_row).collect(),
            Err(error) => return Some(Err(error.into())),
        };
        let shard = Shard { index, clips };
        let is_same = shard.hash() == *expected;
        let changed = || Error::Changed { path: plan.manifest.clone() };
        Some(is_same.then_some(shard).ok_or_else(changed))
    }
}

/// What is looked for in all rows together.
#[derive(Debug, Default)]
struct Check {
    seen: HashSet<u64>,
    bad: u64,
    quoted: Vec<String>,
}

impl Check {
    fn row(
        &mut self,
        row: auscult::audio::Result<Row>,
        manifest: &Path,
    ) -> Result<Option<ClipReference>> {
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                self.bad += 1;
                if self.quoted.len() < MOST_QUOTED {
                    self.quoted.push(error.to_string());
                }
                return Ok(None);
            }
        };
        let line = row.line;
        let clip = ClipReference::of_row(row);
        if !self.seen.insert(clip.key()) {
            // A fingerprint may repeat by chance; the rows themselves do not.
            if let Some(first) = first_line_of(&clip, line, manifest)? {
                return Err(Error::Duplicate { path: manifest.to_owned(), line, first });
            }
        }
        Ok(Some(clip))
    }

    fn finish(self, manifest: &Path) -> Result<()> {
        if self.bad == 0 {
            return Ok(());
        }
        Err(Error::BadRows { path: manifest.to_owned(), count: self.bad, first: self.quoted })
    }
}

/// The line before `line` that lists the same clip.
fn first_line_of(clip: &ClipReference, line: u64, manifest: &Path) -> Result<Option<u64>> {
    let earlier = Rows::open(manifest)?.flatten().take_while(|row| row.line < line);
    let mut same = earlier.filter_map(|row| {
        let first = row.line;
        (ClipReference::of_row(row) == *clip).then_some(first)
    });
    Ok(same.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clips.csv");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn shards_are_the_rows_in_their_order() {
        let rows: Vec<String> = (0..10).map(|row| format!("a.wav,{row},1,fan\n")).collect();
        let rows = rows.concat();
        let (_folder, path) = manifest(&format!("path,start_seconds,seconds,machine\n{rows}"));
        let plan = Plan::read(&path, 4).unwrap();
        assert_eq!((plan.clips(), plan.shard_count(), plan.has_machines()), (10, 3, true));
        let shards: Vec<Shard> = plan.shards().unwrap().map(Result::unwrap).collect();
        let starts = shards.iter().flat_map(|shard| &shard.clips).map(|clip| clip.start_seconds);
        assert_eq!(
            starts.collect::<Vec<_>>(),
            (0..10).map(|row| Some(f64::from(row))).collect::<Vec<_>>()
        );
        assert_eq!(shards.iter().map(|shard| shard.clips.len()).collect::<Vec<_>>(), [4, 4, 2]);
        let hashes: BTreeSet<String> = shards.iter().map(Shard::hash).collect();
        assert_eq!(hashes.len(), 3);
    }

    #[test]
    fn a_manifest_that_changes_is_noticed() {
        let (_folder, path) = manifest("path\na.wav\nb.wav\n");
        let plan = Plan::read(&path, 1).unwrap();
        std::fs::write(&path, "path\na.wav\nc.wav\n").unwrap();
        let shards: Vec<Result<Shard>> = plan.shards().unwrap().collect();
        assert!(matches!(shards[..], [Ok(_), Err(Error::Changed { .. })]));
    }

    #[test]
    fn nothing_begins_with_a_bad_manifest() {
        let cases = [
            ("path\n", "lists no clips"),
            ("path\na.wav\nb.wav\na.wav\n", ":4: the same clip as in line 2"),
            ("path,start_seconds\na.wav,x\n,1\nb.wav,2\n", "2 of its rows cannot be used"),
            ("file\na.wav\n", "no column `path`"),
        ];
        for (text, expected) in cases {
            let (_folder, path) = manifest(text);
            let error = Plan::read(&path, 512).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let (_folder, path) = manifest("path,machine\na.wav,fan\na.wav,pump\n");
        assert_eq!(Plan::read(&path, 512).unwrap().clips(), 2);
        assert!(matches!(Plan::read(&path, 0), Err(Error::OutOfRange { .. })));
    }
}

//! 2. Data sets: what lies on the disk becomes clips with machine, section, split, label and domain.
//!
//! Names are read by their grammar, base name only: a folder called `abnormal_backup` says nothing
//! about the clips in it. Labels and domains of hidden test sets come from the official evaluator's
//! folder ([`Truth`]).

mod attributes;
mod check;
mod dcase;
mod download;
mod folder;
mod guess;
mod headers;
mod judging;
mod known;
mod mimii;
mod names;
mod once;
mod supplemental;
mod tree;
mod truth;

use std::{collections::BTreeSet, fmt, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

pub use self::{
    attributes::attribute_pairs,
    check::{CheckReport, GroupCounts},
    download::{DownloadPlan, DownloadSettings, RemoteFile, download, plan},
    judging::Judging,
    known::{Known, Set, Year},
    names::{ClipName, parse_name},
    tree::{Archives, ClipFile, empty_folders},
    truth::Truth,
};
use crate::{
    Error, Result,
    metrics::{Domain, Label},
};

/// The data sets that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DatasetKind {
    /// DCASE Task 2 of one year.
    Dcase(Year),
    /// MIMII, three signal-to-noise ratios, with the split of its baseline.
    Mimii,
    /// Any folder with labels, or a manifest.
    Folder,
}

impl DatasetKind {
    /// Every data set.
    pub fn all() -> impl Iterator<Item = Self> {
        Year::ALL.into_iter().map(Self::Dcase).chain([Self::Mimii, Self::Folder])
    }

    /// What to do about test clips without labels.
    pub(crate) fn advice_on_labels(self) -> &'static str {
        match self {
            Self::Dcase(_) => "give the evaluator's folder, which has the ground truth",
            Self::Mimii | Self::Folder => {
                "put them into folders normal and anomaly, or fill the column label of the manifest (0, 1, \
                 normal or anomaly)"
            }
        }
    }
}

impl fmt::Display for DatasetKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dcase(year) => write!(formatter, "dcase{}", year.number()),
            Self::Mimii => formatter.write_str("mimii"),
            Self::Folder => formatter.write_str("folder"),
        }
    }
}

impl FromStr for DatasetKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::all().find(|kind| kind.to_string() == text).ok_or_else(|| {
            let known: Vec<String> = Self::all().map(|kind| kind.to_string()).collect();
            let allowed = format!("one of {}", known.join(", "));
            Error::Setting { setting: "data set", allowed, got: text.to_owned() }
        })
    }
}

impl Serialize for DatasetKind {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DatasetKind {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What a clip is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// To learn from.
    Train,
    /// To judge with.
    Test,
    /// Clean machine sound or noise alone (DCASE 2025): used for neither, unless the clean ones are asked for.
    Supplemental,
}

/// One clip of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetClip {
    /// Where its bytes are.
    pub file: ClipFile,
    /// Its base name, as submission files need it.
    pub name: String,
    /// The machine type.
    pub machine: String,
    /// The section, or machine id.
    pub section: String,
    /// Which part of the data set: `dev`, `eval`, a signal-to-noise ratio, or empty.
    pub set: String,
    /// What the clip is for.
    pub split: Split,
    /// What it is, if that is known.
    pub label: Option<Label>,
    /// Its domain, if it has one.
    pub domain: Option<Domain>,
    /// Its attributes as written in its name or table; empty if there are none.
    pub attributes: String,
}

/// The clips of a data set.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// Which data set.
    pub kind: DatasetKind,
    /// Its clips, sorted by set, machine, section, split and name.
    pub clips: Vec<DatasetClip>,
    /// Remarks on what was found, in sentences.
    remarks: Vec<String>,
    /// Remarks on how clips were split, where nothing says so.
    split_remarks: Vec<String>,
    judging: Judging,
}

/// The clips of one machine and section: what is fitted and judged together.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// Which part of the data set.
    pub set: &'a str,
    /// The machine type.
    pub machine: &'a str,
    /// The section, or machine id.
    pub section: &'a str,
    /// Normal clips to learn from.
    pub train: Vec<&'a DatasetClip>,
    /// Clips to judge with; where one is left out at a time, those of `train` and then the anomalous ones.
    pub test: Vec<&'a DatasetClip>,
    /// Which of them are judged by which others.
    pub judging: Judging,
}

impl Group<'_> {
    /// `fan 00`, for people.
    pub fn name(&self) -> String {
        format!("{} {}", self.machine, self.section).trim().to_owned()
    }
}

impl Dataset {
    /// Reads what lies in `roots`; `truth` is the official evaluator's folder. Of a root that holds
    /// several data sets in folders of their names, only the folder of this one is read.
    ///
    /// # Errors
    ///
    /// [`Error::Dataset`] if nothing of the data set is found, with what was looked for, or if a
    /// clip or root is there twice.
    pub fn open(kind: DatasetKind, roots: &[PathBuf], truth: Option<&Truth>) -> Result<Self> {
        let (mut remarks, mut split_remarks) = (Vec::new(), Vec::new());
        let roots = guess::own_folders(kind, roots, &mut remarks)?;
        once::refuse_same_roots(kind, &roots)?;
        let (mut clips, found) = match kind {
            DatasetKind::Dcase(year) => dcase::read(year, &roots)?,
            DatasetKind::Mimii => mimii::read(&roots)?,
            DatasetKind::Folder => folder::read(&roots)?,
        };
        remarks.extend(found);
        if kind == DatasetKind::Folder {
            folder::split_unmarked(&mut clips, &mut split_remarks);
        }
        if let Some(truth) = truth {
            truth.apply(&mut clips, &mut remarks);
        }
        clips.sort_by(|a, b| {
            let key = |clip: &DatasetClip| {
                (clip.set.clone(), clip.machine.clone(), clip.section.clone(), clip.split)
            };
            key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
        });
        Ok(Self { kind, clips, remarks, split_remarks, judging: Judging::default() })
    }

    /// Remarks on the data, in sentences.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = [&self.remarks[..], &self.split_remarks[..]].concat();
        let foreign = self.foreign_sections();
        if !foreign.is_empty() {
            remarks.push(format!("not of {}, evaluated all the same: {foreign}", self.kind));
        }
        remarks
    }

    /// Machines and sections that a year of DCASE does not have: they are in none of its parts. The
    /// machine alone may be one of the year's.
    fn foreign_sections(&self) -> String {
        let is_foreign =
            |clip: &&DatasetClip| matches!(self.kind, DatasetKind::Dcase(_)) && clip.set.is_empty();
        let name = |clip: &DatasetClip| format!("{} {}", clip.machine, clip.section);
        let names: BTreeSet<String> = self.clips.iter().filter(is_foreign).map(name).collect();
        names.iter().map(|name| name.trim()).collect::<Vec<_>>().join(", ")
    }

    /// Keeps the named machines and parts; an empty list keeps all.
    ///
    /// # Errors
    ///
    /// [`Error::Dataset`] if a name is not among the data, with those that are.
    pub fn keep(&mut self, machines: &[String], sets: &[String]) -> Result<()> {
        self.look_for("machine", machines, |clip| &clip.machine)?;
        self.look_for("split", sets, |clip| &clip.set)?;
        if !machines.is_empty() {
            self.clips.retain(|clip| machines.contains(&clip.machine));
        }
        if sets.is_empty() {
            return Ok(());
        }
        let foreign = self.foreign_sections();
        if !foreign.is_empty() {
            let remark =
                format!("not of {}, in none of its splits and left out: {foreign}", self.kind);
            self.remarks.push(remark);
        }
        self.clips.retain(|clip| sets.contains(&clip.set));
        Ok(())
    }

    /// Refuses a name that no clip has; `option` is the option it was given with.
    fn look_for(
        &self,
        option: &str,
        wanted: &[String],
        of: fn(&DatasetClip) -> &String,
    ) -> Result<()> {
        let found: BTreeSet<&str> = self
            .clips
            .iter()
            .map(|clip| of(clip).as_str())
            .filter(|name| !name.is_empty())
            .collect();
        let Some(missing) = wanted.iter().find(|name| !found.contains(name.as_str())) else {
            return Ok(());
        };
        let found: Vec<String> = found.iter().map(|name| format!("{name:?}")).collect();
        let reason = if found.is_empty() {
            format!("there is no {option} {missing:?}, nor any other; leave out --{option}")
        } else {
            format!("there is no {option} {missing:?}; there are {}", found.join(", "))
        };
        Err(Error::Dataset { kind: self.kind.to_string(), reason })
    }

    /// The clips by machine and section, in the order they are sorted.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for clip in &self.clips {
            let is_last = groups.last().is_some_and(|group| {
                (group.set, group.machine, group.section)
                    == (clip.set.as_str(), clip.machine.as_str(), clip.section.as_str())
            });
            if !is_last {
                let (set, machine, section) = (&*clip.set, &*clip.machine, &*clip.section);
                let (train, test) = (Vec::new(), Vec::new());
                let judging = self.judging;
                groups.push(Group { set, machine, section, train, test, judging });
            }
            if let Some(group) = groups.last_mut() {
                let (is_learnt, is_judged) = self.judging.parts_of(clip);
                group.train.extend(is_learnt.then_some(clip));
                group.test.extend(is_judged.then_some(clip));
            }
        }
        groups
    }

    /// Machines and sections that have training clips and no test clips, and so no figures.
    pub fn untested(&self) -> Vec<String> {
        let is_untested = |group: &Group<'_>| !group.train.is_empty() && group.test.is_empty();
        let groups = self.groups().into_iter().filter(is_untested);
        groups.map(|group| format!("{} {}", group.set, group.name()).trim().to_owned()).collect()
    }

    /// How many classes the training clips have: machine, section and attributes, whatever the
    /// domain (DCASE 2020, which has no attributes: machine and id).
    pub fn class_count(&self) -> usize {
        self.classes(|clip| (&clip.machine, &clip.section, &clip.attributes))
    }

    /// How many machines and sections have training clips.
    pub fn section_class_count(&self) -> usize {
        self.classes(|clip| (&clip.machine, &clip.section))
    }

    fn classes<'a, K: Ord>(&'a self, key: impl Fn(&'a DatasetClip) -> K) -> usize {
        let train = self.clips.iter().filter(|clip| clip.split == Split::Train);
        train.map(key).collect::<BTreeSet<K>>().len()
    }

    /// A fingerprint of what was found: names, splits, labels and domains.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for clip in &self.clips {
            let label = clip.label.map_or("", Label::name);
            let domain = clip.domain.map_or("", Domain::name);
            let line = format!(
                "{}\t{}\t{}\t{:?}\t{}\t{label}\t{domain}\n",
                clip.set, clip.machine, clip.section, clip.split, clip.name
            );
            hasher.update(line.as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

/// Nothing of a data set was found; `remarks` are what was seen instead.
fn nothing_found(
    kind: DatasetKind,
    roots: &[PathBuf],
    looked_for: &str,
    remarks: &[String],
) -> Error {
    let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
    let hint = "Check the path; archives (.zip) are read in place";
    let hints: Vec<&str> = [hint].into_iter().chain(remarks.iter().map(String::as_str)).collect();
    let (roots, hints) = (roots.join(" and "), hints.join("; "));
    let reason = format!("found no clips in {roots}; looked for {looked_for}. {hints}");
    Error::Dataset { kind: kind.to_string(), reason }
}

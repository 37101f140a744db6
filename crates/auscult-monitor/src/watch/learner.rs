//! Learning a machine while it runs: visits are collected until a promise can be made.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    path::Path,
};

use auscult::{
    ClipSettings, FrontEnds, LabelFolders, Learn, Machine, Model, Sources, audio::MemorySound,
    plural,
};

use super::{rule::Ruled, status::LearningStatus};
use crate::{
    clock::day,
    data::DataFolder,
    error::{Error, Result},
    site::{Keep, MachineSpec, VisitRule},
};

/// What has been collected of a machine that has no model yet.
#[derive(Debug)]
pub struct Learner {
    /// Where its clips are, relative to the data folder.
    folder: String,
    keeps: bool,
    /// Clips a visit: file names, or the sound itself where nothing may be written.
    visits: BTreeMap<String, Vec<LearnClip>>,
    current: Option<(String, f64)>,
    /// Clips that were not used.
    pub rejected: usize,
    /// Whether a model is being made right now.
    pub is_fitting: bool,
    /// Clips there were when the last model was not good enough.
    tried_with: usize,
    /// What was missing then.
    missing: Option<String>,
}

#[derive(Debug, Clone)]
enum LearnClip {
    File(String),
    Memory(Vec<f32>),
}

/// A model that was made, and the clips that are unlike all others.
#[derive(Debug)]
pub struct Fitted {
    /// The machine, with its alarm rule.
    pub ruled: Ruled,
    /// Files, relative to the data folder, that were left out and wait for a person.
    pub odd: Vec<String>,
}

impl Learner {
    /// Goes on with what is in the data folder: `round` counts the times a machine was learnt.
    pub fn open(spec: &MachineSpec, data: &DataFolder, round: usize) -> Self {
        let folder = format!("learning/{}/round-{round}", spec.name);
        let mut visits: BTreeMap<String, Vec<LearnClip>> = BTreeMap::new();
        for (visit, file) in files_below(&data.file(&folder)) {
            let path = format!("{folder}/{visit}/{file}");
            visits.entry(visit).or_default().push(LearnClip::File(path));
        }
        Self {
            folder,
            keeps: spec.keep != Keep::None,
            visits,
            current: None,
            rejected: 0,
            is_fitting: false,
            tried_with: 0,
            missing: None,
        }
    }

    /// Takes in a usable clip, whose step will be `step`; gives the file it was written to, and its size.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn add(
        &mut self,
        spec: &MachineSpec,
        data: &DataFolder,
        samples: &[f32],
        began: f64,
        step: u64,
    ) -> Result<Option<(String, u64)>> {
        let visit = self.visit_of(spec, began);
        if !self.keeps {
            self.visits.entry(visit).or_default().push(LearnClip::Memory(samples.to_vec()));
            return Ok(None);
        }
        // Recordings may bear the same time, and none may be lost for it.
        let file = format!("{}/{visit}/{:.0}-{step}.flac", self.folder, 1_000.0 * began);
        let bytes = data.write(&file, &auscult_report::flac(samples, SAMPLE_RATE))?;
        let clips = self.visits.entry(visit).or_default();
        let is_known =
            clips.iter().any(|clip| matches!(clip, LearnClip::File(known) if *known == file));
        if !is_known {
            clips.push(LearnClip::File(file.clone()));
        }
        Ok(Some((file, bytes)))
    }

    /// A new visit begins with the next clip.
    pub fn begin_visit(&mut self) {
        self.current = None;
    }

    fn visit_of(&mut self, spec: &MachineSpec, began: f64) -> String {
        let same = match (&self.current, spec.learn.visit) {
            (None, _) => false,
            (Some((_, last)), VisitRule::Gap) => began - last < spec.learn.gap.0,
            (Some((_, last)), VisitRule::Day) => day(began) == day(*last),
            (Some(_), VisitRule::Button) => true,
        };
        let name = match self.current.take().filter(|_| same) {
            Some((name, _)) => name,
            None => match spec.learn.visit {
                VisitRule::Day => day(began),
                VisitRule::Gap | VisitRule::Button => {
                    format!("visit-{:03}", self.visits.len() + 1)
                }
            },
        };
        self.current = Some((name.clone(), began));
        name
    }

    fn clips(&self) -> usize {
        self.visits.values().map(Vec::len).sum()
    }

    /// Whether there is enough to make a model of, and more than the last time.
    pub fn is_ready(&self, spec: &MachineSpec) -> bool {
        // A visit that has just begun is not one yet.
        let share = spec.learn.clips.div_ceil(spec.learn.visits.max(1));
        let newest = self.current.as_ref().and_then(|(name, _)| self.visits.get(name));
        let has_begun = newest.is_some_and(|clips| clips.len() < share);
        let visits = self.visits.len() - usize::from(has_begun);
        let enough = visits >= spec.learn.visits && self.clips() >= spec.learn.clips;
        // After a model that was not good enough, a tenth more is worth another try.
        enough && !self.is_fitting && self.clips() * 10 >= self.tried_with * 11
    }

    /// How far it is.
    pub fn status(&self, spec: &MachineSpec) -> LearningStatus {
        let (visits, clips) = (self.visits.len(), self.clips());
        let more_visits = spec.learn.visits.saturating_sub(visits);
        let more_clips = spec.learn.clips.saturating_sub(clips);
        let missing: Vec<String> = [(more_visits, "more visit"), (more_clips, "more clip")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| plural(count, what))
            .collect();
        let text = match (&self.missing, missing.is_empty()) {
            _ if self.is_fitting => "making the model".to_owned(),
            (_, false) => format!("waiting for {}", missing.join(" and ")),
            (Some(missing), true) => missing.clone(),
            (None, true) if self.is_ready(spec) => "there is enough to begin watching".to_owned(),
            (None, true) => "waiting for more clips of this visit".to_owned(),
        };
        LearningStatus {
            visits,
            visits_wanted: spec.learn.visits,
            clips,
            clips_wanted: spec.learn.clips,
            rejected: self.rejected,
            text,
        }
    }

    /// The last model was not good enough.
    pub fn failed(&mut self, reason: String) {
        self.is_fitting = false;
        self.tried_with = self.clips();
        self.missing = Some(reason);
    }

    /// Everything collected, to be learnt from on another thread.
    ///
    /// # Errors
    ///
    /// If there is nothing.
    pub fn lesson(&mut self, spec: &MachineSpec, data: &DataFolder) -> Result<Lesson> {
        if self.clips() < 2 {
            let name = &spec.name;
            let text =
                format!("{name} has {}; two are needed", plural(self.clips(), "usable clip"));
            return Err(Error::Refused(text));
        }
        self.is_fitting = true;
        let mut visits = Vec::new();
        for (visit, clips) in &self.visits {
            for clip in clips {
                let clip = match clip {
                    LearnClip::File(file) => LearnClip::File(file.clone()),
                    LearnClip::Memory(samples) => LearnClip::Memory(samples.clone()),
                };
                visits.push((visit.clone(), clip));
            }
        }
        Ok(Lesson { spec: spec.clone(), data: data.clone(), clips: visits })
    }
}

/// The rate that clips are learnt at.
pub(super) const SAMPLE_RATE: u32 = 16_000;

/// What a model is made from.
#[derive(Debug)]
pub struct Lesson {
    spec: MachineSpec,
    data: DataFolder,
    clips: Vec<(String, LearnClip)>,
}

impl Lesson {
    /// Makes the model; clips unlike all others are left out of it.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::learn`], and that the alarm budget which the configuration names cannot be kept yet.
    pub fn learn(self, front_ends: &FrontEnds) -> Result<Fitted> {
        let learn = Learn {
            clip: ClipSettings { seconds: self.spec.clip_seconds, sample_rate: SAMPLE_RATE },
            clip_of_recordings: false,
            label_folders: LabelFolders::Ignore,
            preset: self.spec.preset,
            front_ends: front_ends.clone(),
            // Others are watched meanwhile.
            jobs: NonZeroUsize::new(1),
            ..Learn::default()
        };
        let machine = Machine::learn(self.sources(&BTreeSet::new())?, &learn)?;
        let odd = odd_clips(machine.model());
        let machine =
            if odd.is_empty() { machine } else { Machine::learn(self.sources(&odd)?, &learn)? };
        let ruled = Ruled::plan(machine, None, &self.spec, front_ends)?;
        let root = self.data.file("");
        let relative = |path: &String| {
            let relative = Path::new(path).strip_prefix(&root).ok()?;
            Some(relative.to_string_lossy().into_owned())
        };
        Ok(Fitted { ruled, odd: odd.iter().filter_map(relative).collect() })
    }

    fn sources(&self, without: &BTreeSet<String>) -> Result<Sources> {
        let mut all: Option<Sources> = None;
        for (index, (visit, clip)) in self.clips.iter().enumerate() {
            let one = match clip {
                LearnClip::File(file) => {
                    let path = self.data.file(file);
                    if without.contains(&path.display().to_string()) {
                        continue;
                    }
                    Sources::of([path])?
                }
                LearnClip::Memory(samples) => {
                    let name = format!("{visit}, clip {}", index + 1);
                    if without.contains(&name) {
                        continue;
                    }
                    Sources::of_sounds([MemorySound::new(
                        name.as_str(),
                        SAMPLE_RATE,
                        samples.clone(),
                    )?])?
                }
            };
            let one = one.of_visit(visit.clone());
            all = Some(match all {
                Some(all) => all.and(one),
                None => one,
            });
        }
        all.ok_or_else(|| Error::Refused(format!("{} has nothing to learn from", self.spec.name)))
    }
}

/// How far above the others a clip's score must be, in deviations, to be unlike all of them.
const ODD: f64 = 6.0;

/// References whose left-out score stands far above all others: somebody hammered, or the machine was ill already.
fn odd_clips(model: &Model) -> BTreeSet<String> {
    let scored = model.least_normal(usize::MAX);
    // Half of them at most are given, the highest: their middle is above that of all, and so is the bound.
    let mut logs: Vec<f64> = scored.iter().map(|(_, score)| score.max(1e-12).ln()).collect();
    logs.reverse();
    let Some(&middle) = logs.get(logs.len() / 2) else { return BTreeSet::new() };
    let mut distances: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    distances.sort_by(f64::total_cmp);
    let deviation = 1.4826 * distances[distances.len() / 2];
    let is_odd = |score: f64| score.max(1e-12).ln() - middle > ODD * deviation.max(0.05);
    scored.iter().filter(|(_, score)| is_odd(*score)).map(|(from, _)| from.source.clone()).collect()
}

/// Folders and the files in them, in order.
fn files_below(folder: &Path) -> Vec<(String, String)> {
    let names = |folder: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let mut found = Vec::new();
    for visit in names(folder) {
        for file in names(&folder.join(&visit)) {
            if Path::new(&file).extension().is_some_and(|extension| extension == "flac") {
                found.push((visit.clone(), file));
            }
        }
    }
    found
}

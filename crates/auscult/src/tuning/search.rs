//! 7. A search: recordings in, a ranking of settings out.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use auscult_audio::{ChannelRule, Source};
use auscult_core::{ClipSettings, Control, Event, FrontEnd, FrontEndSettings};

use super::{
    Candidate, Error as TuningError, Features, Ranking, Study, StudySettings, StudyState,
    gather::gather, grid, presets,
};
use crate::{
    ClipRules, Error, FrontEndSpec, FrontEnds, LabelFolders, Preset, Reading, Result, Sources,
    sources::report_not_normal,
};

/// What a search keeps of itself is never so long.
const LARGEST_STUDY: u64 = 1 << 30;

/// How settings are chosen; the default is what `auscult tune` does without options.
#[derive(Debug, Clone)]
pub struct Tune {
    /// Length and rate of clips.
    pub clip: ClipSettings,
    /// Which channel is taken.
    pub channel: ChannelRule,
    /// Time from one clip's start to the next; the clip length if not given.
    pub hop_seconds: Option<f64>,
    /// Which clips are used.
    pub rules: ClipRules,
    /// Whether folders whose names look like labels are labels.
    pub label_folders: LabelFolders,
    /// The presets to start from.
    pub presets: Vec<Preset>,
    /// Encoders to try beside the built-in front ends.
    pub encoders: Vec<FrontEndSpec>,
    /// Where front ends come from.
    pub front_ends: FrontEnds,
    /// At most this many normal clips, and half as many of other machines.
    pub max_clips: usize,
    /// Seed of the changes.
    pub seed: u64,
    /// When enough was tried.
    pub budget: Option<TuneBudget>,
    /// Who is told, and who may stop it.
    pub control: Control,
}

/// When a search has tried enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuneBudget {
    /// After this time.
    Time(Duration),
    /// After this many settings in all.
    Candidates(usize),
}

impl Default for Tune {
    fn default() -> Self {
        Self {
            clip: ClipSettings::default(),
            channel: ChannelRule::default(),
            hop_seconds: None,
            rules: ClipRules::field(),
            label_folders: LabelFolders::default(),
            presets: Preset::ALL.to_vec(),
            encoders: Vec::new(),
            front_ends: FrontEnds::standard(),
            max_clips: 120,
            seed: 1,
            budget: None,
            control: Control::default(),
        }
    }
}

/// A search that is ready to try settings.
#[derive(Debug)]
pub struct Search {
    study: Study,
    candidates: Vec<Candidate>,
    started: Instant,
    tune: Tune,
    /// Files and clips that could not be used.
    skipped: usize,
}

impl Search {
    /// Reads the clips; `outliers` is sound of other machines, which counts as anomalous.
    ///
    /// Of normal recordings, what a manifest labels as anomalous or keeps for testing is left out, as when a machine is
    /// learnt.
    ///
    /// # Errors
    ///
    /// If there are too few clips, a setting is out of range, or the work was cancelled.
    pub fn new(normal: Sources, outliers: Option<Sources>, tune: &Tune) -> Result<Self> {
        let started = Instant::now();
        let encoders = encoders(tune)?;
        let length = tune.clip.check()?;
        let presets = presets(&tune.presets, &tune.front_ends, length)?;
        let known: Vec<String> = presets.iter().map(Candidate::key).collect();
        let others = grid(length, &encoders)?.into_iter();
        let others = others.filter(|candidate| !known.contains(&candidate.key())).collect();
        let candidates = in_turns(presets, others);
        let reading = Reading::new(tune.clip, tune.channel, tune.hop_seconds, tune.rules)?;
        let mut normal = normal;
        normal.apply_label_folders(tune.label_folders)?;
        normal.notes().iter().for_each(|note| tune.control.report(Event::Note(note)));
        let mut skipped = report_not_normal(&normal.keep_normal()?, &tune.control);
        let mut read = |sources: Sources, most: usize, what: &str| {
            let (sources, problems) = sources.into_parts();
            for problem in &problems {
                tune.control.report(Event::Problem(problem));
            }
            if sources.iter().any(Source::is_live) {
                return Err(Error::ReadTwice);
            }
            let gathered = gather(sources, &reading, most, &tune.control)?;
            skipped += problems.len() + gathered.skipped;
            if gathered.clips.len() < gathered.found {
                let (used, found) = (gathered.clips.len(), gathered.found);
                tune.control.report(Event::Note(&format!(
                    "using {used} of {found} {what} clips, spread evenly over the visits"
                )));
            }
            Ok(gathered.clips)
        };
        let clips = read(normal, tune.max_clips, "normal")?;
        let most = (tune.max_clips / 2).max(1);
        let outliers =
            outliers.map(|sources| read(sources, most, "other machines'")).transpose()?;
        let outliers = outliers.unwrap_or_default().into_iter().map(|clip| clip.samples).collect();
        let study =
            Study::new(clips, outliers, StudySettings { clip: tune.clip, seed: tune.seed })?;
        Ok(Self { study, candidates, started, tune: tune.clone(), skipped })
    }

    /// The clips, and how they leave the memory.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// Every setting there is to try.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Files and clips that could not be used.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Tries what is not done yet, until all is done, the budget is spent, or the work is cancelled.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if nothing was tried; if a front end or a file fails.
    pub fn run(&self, state: &mut StateFile) -> Result<Ranking> {
        let candidates = self.within_budget();
        let control = &self.tune.control;
        let mut features: BTreeMap<String, Features> = BTreeMap::new();
        control.report(Event::Started { what: "settings", total: candidates.len(), name: "" });
        for candidate in candidates {
            control.report(Event::Advanced);
            if state.state.has(candidate) {
                continue;
            }
            // One result at least: a budget that buys nothing helps nobody.
            let has_result = !state.state.is_empty();
            let is_over = || control.is_cancelled() || (has_result && self.is_time_up());
            if is_over() {
                break;
            }
            // Of one name there may be several: with other views, other layers.
            let name = format!("{} {}", candidate.front_end, candidate.front_end.settings);
            if !features.contains_key(&name) {
                let front_ends = self.tune.front_ends.registry();
                let front_end = front_ends.build(&candidate.front_end, self.study.length())?;
                let computed = self.study.features(&*front_end, &|| !is_over())?;
                let Some(computed) = computed else { break };
                features.insert(name.clone(), computed);
            }
            if let Some(features) = features.get(&name) {
                state.state.insert(self.study.evaluate(features, candidate)?);
            }
            state.save_sometimes()?;
        }
        control.report(Event::Finished);
        state.save()?;
        let results = state.state.results(candidates);
        if results.is_empty() {
            return Err(Error::Cancelled);
        }
        Ok(Ranking::of(results))
    }

    fn within_budget(&self) -> &[Candidate] {
        match self.tune.budget {
            Some(TuneBudget::Candidates(most)) => {
                &self.candidates[..most.min(self.candidates.len())]
            }
            Some(TuneBudget::Time(_)) | None => &self.candidates,
        }
    }

    fn is_time_up(&self) -> bool {
        matches!(self.tune.budget, Some(TuneBudget::Time(most)) if self.started.elapsed() >= most)
    }
}

/// The candidates in the order to try them: the cheap presets, half of the others, which begin with the cheap ones, then the
/// preset with an encoder, then the rest. A budget that ends early has then tried much and not one dear thing in part.
fn in_turns(presets: Vec<Candidate>, mut others: Vec<Candidate>) -> Vec<Candidate> {
    let is_cheap = |candidate: &Candidate| candidate.preset != Some(Preset::Best);
    let (mut candidates, dear): (Vec<_>, Vec<_>) = presets.into_iter().partition(is_cheap);
    if candidates.is_empty() {
        // The dear one is all that was asked for.
        return dear.into_iter().chain(others).collect();
    }
    let rest = others.split_off(others.len() / 2);
    candidates.extend(others.into_iter().chain(dear).chain(rest));
    candidates
}

/// The front ends tried beside the built-in ones.
fn encoders(tune: &Tune) -> Result<Vec<Arc<dyn FrontEnd>>> {
    let mut made: Vec<Arc<dyn FrontEnd>> = Vec::new();
    for spec in &tune.encoders {
        if FrontEndSettings::NAMES.contains(&spec.name.as_str()) {
            return Err(TuningError::TriedAnyway { name: spec.name.clone() }.into());
        }
        let front_end = tune.front_ends.named(spec, tune.clip.check()?)?;
        let identity = front_end.identity();
        if made.iter().any(|other| other.identity() == identity) {
            return Err(TuningError::NamedTwice { name: identity.to_string() }.into());
        }
        made.push(front_end);
    }
    Ok(made)
}

/// The results so far, in memory and on the disk.
#[derive(Debug)]
pub struct StateFile {
    path: Option<PathBuf>,
    state: StudyState,
    saved: Instant,
    resumption: Resumption,
}

/// What was there when a state file was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumption {
    /// Nothing.
    New,
    /// Results of the same search, which goes on.
    Continued,
    /// Results of other clips, another seed or another version, which are replaced.
    Replaced,
}

/// Results are written no more often.
const BETWEEN_WRITES: Duration = Duration::from_secs(2);

impl StateFile {
    /// Results in memory only.
    pub fn in_memory(search: &Search) -> Self {
        Self::new(None, StudyState::new(&search.study), Resumption::New)
    }

    fn new(path: Option<PathBuf>, state: StudyState, resumption: Resumption) -> Self {
        Self { path, state, saved: Instant::now(), resumption }
    }

    /// Takes up the results in a file if they are of the same search.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or holds something else.
    pub fn open(path: &Path, search: &Search) -> Result<Self> {
        auscult_files::check_target(path)?;
        let fresh = || StudyState::new(&search.study);
        let bytes = match auscult_files::read_at_most(path, LARGEST_STUDY) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::new(Some(path.to_owned()), fresh(), Resumption::New));
            }
            Err(source) => {
                return Err(auscult_files::Error::Read { path: path.to_owned(), source }.into());
            }
            Ok(bytes) => bytes,
        };
        let found = StudyState::resume(&bytes, &search.study).map_err(|error| {
            TuningError::ForeignState { path: path.to_owned(), reason: error.to_string() }
        })?;
        Ok(match found {
            Some(state) => Self::new(Some(path.to_owned()), state, Resumption::Continued),
            None => Self::new(Some(path.to_owned()), fresh(), Resumption::Replaced),
        })
    }

    /// What was there when it was opened.
    pub fn resumption(&self) -> Resumption {
        self.resumption
    }

    /// Settings tried so far.
    pub fn tried(&self) -> usize {
        self.state.len()
    }

    fn save_sometimes(&mut self) -> Result<()> {
        if self.saved.elapsed() >= BETWEEN_WRITES { self.save() } else { Ok(()) }
    }

    fn save(&mut self) -> Result<()> {
        if let Some(path) = &self.path {
            auscult_files::write_atomically(path, &self.state.to_bytes()?)?;
        }
        self.saved = Instant::now();
        Ok(())
    }
}

//! Runs systems over the sections of a data set.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use auscult_audio::ChannelRule;
use auscult_core::{
    BandSettings, ClipSettings, ClipVectors, Control, Event, Provenance, References, View,
    calibration::gamma::{GammaFit, GammaForm},
};
use serde::Serialize;
use serde_json::json;

use super::{
    front_ends::{FrontEndMaker, FrontEndName},
    names::distinct_names,
    section::{DiagnosticsResult, SECTIONS_FOLDER, SectionResult, SystemResult, TestClip},
};
use crate::{
    Result,
    datasets::{Archives, ClipFile, Dataset, DatasetClip, Group, Judging},
    diagnostics::{BothViews, Diagnosis, Regimes, summarise},
    features::Features,
    metrics::{Domain, Label},
    problems::FileProblem,
    protocol::DiagnosticsRequest,
    systems::{self, BackEnd, Networks, SectionVectors, SystemScores, SystemSettings, fuse},
};

/// How sound is read and where things are stored.
#[expect(missing_debug_implementations, reason = "functions have none")]
pub struct RunSettings<'a> {
    /// Length and rate of clips.
    pub clip: ClipSettings,
    /// Which channel is taken.
    pub channel: ChannelRule,
    /// The run's folder: finished sections are kept in it and not computed again.
    pub out: Option<&'a Path>,
    /// Makes front ends.
    pub front_ends: &'a FrontEndMaker<'a>,
    /// Who is told of sections and clips, and who may stop the run; what is finished is kept.
    pub control: &'a Control,
}

/// What came out of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The sections, in order.
    pub sections: Vec<SectionResult>,
    /// The front ends that could not be made.
    pub missing: Vec<MissingFrontEnd>,
}

/// A front end that could not be made, and what does not run for that.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingFrontEnd {
    /// Its name, with its convention.
    pub front_end: String,
    /// Why, and how to get it.
    pub reason: String,
    /// The systems that need it, themselves or through a member.
    pub systems: Vec<String>,
}

/// Runs every system on every section; `None` if it was stopped.
///
/// One section is in memory at a time.
///
/// # Errors
///
/// If a setting is out of range or a finished section cannot be stored. What a single system or file
/// cannot do is in the results.
pub fn evaluate(
    dataset: &Dataset,
    systems: &[SystemSettings],
    diagnostics: &[DiagnosticsRequest],
    settings: &RunSettings<'_>,
) -> Result<Option<Evaluation>> {
    let name = dataset.kind.to_string();
    let length = settings.clip.check()?;
    let systems: Vec<SystemSettings> =
        systems.iter().map(|system| system.for_dataset(&name).for_clips(length).0).collect();
    let front_ends = make_front_ends(&systems, diagnostics, settings)?;
    let missing = missing_front_ends(&systems, &front_ends);
    let work = Work { systems, diagnostics, settings, front_ends };
    let folder: Option<PathBuf> = settings.out.map(|out| out.join(SECTIONS_FOLDER));
    let archives = Archives::default();
    let mut sections = Vec::new();
    for group in dataset.groups() {
        if group.test.is_empty() {
            continue;
        }
        let begun = SectionResult::new(dataset.kind, &group, work.fingerprint(&group));
        if let Some(done) = folder.as_deref().and_then(|folder| begun.load_same(folder)) {
            sections.push(done);
            continue;
        }
        let Some(result) = work.section(begun, &group, &archives) else { return Ok(None) };
        if let Some(folder) = &folder {
            result.save(folder)?;
        }
        sections.push(result);
    }
    Ok(Some(Evaluation { sections, missing }))
}

/// Front ends by how they are called, or why they could not be made.
type Made = BTreeMap<String, std::result::Result<Features, String>>;

fn missing_front_ends(systems: &[SystemSettings], front_ends: &Made) -> Vec<MissingFrontEnd> {
    let missing = |(called, made): (&String, &std::result::Result<Features, String>)| {
        let reason = made.as_ref().err()?.clone();
        let needs = |system: &SystemSettings| called_by(system).as_ref() == Some(called);
        let of_members = |system: &SystemSettings| {
            systems.iter().any(|other| system.members.contains(&other.name) && needs(other))
        };
        let without = systems.iter().filter(|system| needs(system) || of_members(system));
        let systems = without.map(|system| system.name.clone()).collect();
        Some(MissingFrontEnd { front_end: called.clone(), reason, systems })
    };
    front_ends.iter().filter_map(missing).collect()
}

/// How the front end of a system is called; `None` for a fusion.
fn called_by(system: &SystemSettings) -> Option<String> {
    FrontEndName::of_system(system).map(|name| name.to_string())
}

fn make_front_ends(
    systems: &[SystemSettings],
    diagnostics: &[DiagnosticsRequest],
    settings: &RunSettings<'_>,
) -> Result<Made> {
    let length = settings.clip.check()?;
    let make = |(called, name): (String, FrontEndName)| {
        let features = match (settings.front_ends)(&name, length) {
            Ok(front_end) => Ok(Features::new(front_end, settings.clip, settings.channel)?),
            Err(reason) => Err(reason),
        };
        Ok((called, features))
    };
    FrontEndName::all(systems, diagnostics).into_iter().map(make).collect()
}

/// Changes when sections hold something else, so that those of an older program are made anew.
const SECTION_FORM: u32 = 6;

struct Work<'a> {
    systems: Vec<SystemSettings>,
    diagnostics: &'a [DiagnosticsRequest],
    settings: &'a RunSettings<'a>,
    front_ends: Made,
}

/// A section's vectors of one front end.
struct Vectors {
    train: References,
    test: Vec<ClipVectors>,
    judging: Judging,
}

/// The clips of a section, each once, and which of them are learnt from and judged.
struct SectionClips<'a> {
    all: Vec<&'a DatasetClip>,
    train: std::ops::Range<usize>,
    test: std::ops::Range<usize>,
}

impl<'a> SectionClips<'a> {
    fn of(group: &Group<'a>) -> Self {
        let train = 0..group.train.len();
        match group.judging {
            Judging::Split => {
                let all: Vec<_> = group.train.iter().chain(&group.test).copied().collect();
                Self { test: train.end..all.len(), train, all }
            }
            // The clips that are learnt from are judged as well.
            Judging::LeaveOneOut => {
                Self { train, test: 0..group.test.len(), all: group.test.clone() }
            }
        }
    }
}

impl Work<'_> {
    /// Everything the section's result depends on.
    fn fingerprint(&self, group: &Group<'_>) -> String {
        let file = |clip: &&DatasetClip| {
            let path = match &clip.file {
                ClipFile::Plain(path) => path,
                ClipFile::Archived { archive, .. } => archive,
            };
            let found = path.metadata().ok();
            let size = found.as_ref().map_or(0, std::fs::Metadata::len);
            let time = found
                .and_then(|found| found.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |time| time.as_millis());
            format!("{} {size} {time} {:?} {:?}", clip.name, clip.label, clip.domain)
        };
        let files: Vec<String> = SectionClips::of(group).all.iter().map(file).collect();
        let available: Vec<String> = self
            .front_ends
            .iter()
            .map(|(called, made)| match made {
                Ok(features) => format!("{:?}", features.front_end().identity()),
                Err(_) => format!("no {called}"),
            })
            .collect();
        let all = json!({
            "form": SECTION_FORM,
            "systems": self.systems,
            "diagnostics": self.diagnostics,
            "seconds": self.settings.clip.seconds,
            "rate": self.settings.clip.sample_rate,
            "channel": format!("{:?}", self.settings.channel),
            "front_ends": available,
            "files": files,
        });
        let all = match group.judging {
            Judging::Split => all,
            Judging::LeaveOneOut => json!([all, "leave one out"]),
        };
        blake3::hash(all.to_string().as_bytes()).to_hex()[..32].to_owned()
    }

    fn section(
        &self,
        mut result: SectionResult,
        group: &Group<'_>,
        archives: &Archives,
    ) -> Option<SectionResult> {
        let count = self.front_ends.values().filter(|made| made.is_ok()).count();
        let clips = count * SectionClips::of(group).all.len();
        let name = group.name();
        self.settings.control.report(Event::Started { what: "clips", total: clips, name: &name });
        let vectors = self.vectors(&mut result, group, archives)?;
        let networks = Networks::default();
        let mut scores: BTreeMap<&str, std::result::Result<SystemScores, String>> = BTreeMap::new();
        for system in self.systems.iter().filter(|system| system.back_end != BackEnd::Fusion) {
            scores.insert(&system.name, self.score(system, &vectors, &networks));
            // A system that was stopped half way is not a result.
            if self.settings.control.is_cancelled() {
                return None;
            }
        }
        for system in self.systems.iter().filter(|system| system.back_end == BackEnd::Fusion) {
            let fused = fuse_members(system, &scores);
            scores.insert(&system.name, fused);
        }
        for system in &self.systems {
            let found = scores.remove(system.name.as_str());
            result.systems.push(system_result(&system.name, found));
        }
        for request in self.diagnostics {
            add_diagnostics(request, &vectors, &mut result, self.settings.control)?;
        }
        Some(result)
    }

    /// The vectors of every front end; clips that one of them cannot use are left out of all.
    fn vectors(
        &self,
        result: &mut SectionResult,
        group: &Group<'_>,
        archives: &Archives,
    ) -> Option<BTreeMap<&str, Vectors>> {
        let SectionClips { all, train, test } = SectionClips::of(group);
        let files: Vec<&ClipFile> = all.iter().map(|clip| &clip.file).collect();
        let done = || {
            self.settings.control.report(Event::Advanced);
            !self.settings.control.is_cancelled()
        };
        let mut found = Vec::new();
        for (called, features) in &self.front_ends {
            if let Ok(features) = features {
                found.push((called.as_str(), features, features.of(&files, archives, &done)?));
            }
        }
        let usable = |at: usize| found.iter().all(|(_, _, vectors)| vectors[at].is_ok());
        for at in 0..all.len() {
            let reason = found.iter().find_map(|(_, _, vectors)| vectors[at].as_ref().err());
            let problem = |reason: &String| FileProblem::new(files[at].label(), reason);
            result.problems.extend(reason.map(problem));
        }
        let (judging, first_test) = (group.judging, test.start);
        let train: Vec<usize> = train.filter(|&at| usable(at)).collect();
        let test: Vec<usize> = test.filter(|&at| usable(at)).collect();
        result.train = match judging {
            Judging::Split => train.len(),
            Judging::LeaveOneOut => train.len().saturating_sub(1),
        };
        let names = distinct_names(&group.test);
        result.clips = test
            .iter()
            .map(|&at| TestClip {
                name: names[at - first_test].clone(),
                label: all[at].label,
                domain: all[at].domain,
            })
            .collect();
        let gather = |features: &Features, vectors: &[std::result::Result<ClipVectors, String>]| {
            let front_end = features.front_end();
            let mut references = References::for_front_end(&**front_end);
            for &at in &train {
                let domain = all[at].domain.map(|domain| domain.name().to_owned());
                let provenance = Provenance { domain, ..Provenance::of(&*all[at].name) };
                if let Ok(clip) = &vectors[at] {
                    // The vectors are this front end's own.
                    let _ = references.push(clip, provenance);
                }
            }
            let test = test.iter().filter_map(|&at| vectors[at].as_ref().ok().cloned()).collect();
            Vectors { train: references, test, judging }
        };
        Some(
            found
                .iter()
                .map(|(called, features, vectors)| (*called, gather(features, vectors)))
                .collect(),
        )
    }

    fn score(
        &self,
        system: &SystemSettings,
        vectors: &BTreeMap<&str, Vectors>,
        networks: &Networks,
    ) -> std::result::Result<SystemScores, String> {
        let called = called_by(system).unwrap_or_default();
        let features = match self.front_ends.get(&called) {
            Some(Ok(features)) => features,
            Some(Err(reason)) => return Err(format!("front end {called}: {reason}")),
            None => return Err(format!("front end {called} was not made")),
        };
        let Some(vectors) = vectors.get(called.as_str()) else {
            return Err(format!("front end {called} gave no vectors"));
        };
        let Vectors { train, test, judging } = vectors;
        let section = SectionVectors { train, test, judging: *judging, networks };
        let is_stopped = || self.settings.control.is_cancelled();
        systems::score(system, &**features.front_end(), section, &is_stopped)
            .map_err(|error| error.to_string())
    }
}

/// `None` if it was stopped.
fn add_diagnostics(
    request: &DiagnosticsRequest,
    vectors: &BTreeMap<&str, Vectors>,
    result: &mut SectionResult,
    control: &Control,
) -> Option<()> {
    let called = FrontEndName::of_diagnostics(request).to_string();
    let labels: Option<Vec<Label>> = result.clips.iter().map(|clip| clip.label).collect();
    let (Some(labels), Some(vectors)) = (labels, vectors.get(called.as_str())) else {
        return Some(());
    };
    let domains: Vec<Option<Domain>> = result.clips.iter().map(|clip| clip.domain).collect();
    for &neighbours in &request.neighbours {
        let of_view =
            |view| Diagnosis::new(&vectors.train, &vectors.test, view, neighbours, control);
        // What does not fit has no row; what was stopped has none yet.
        let [mean, max] = [View::Mean, View::Max].map(|view| of_view(view).ok().flatten());
        for &width in &request.band_widths {
            if control.is_cancelled() {
                return None;
            }
            let bands = BandSettings::touching(width);
            let scores = |diagnosis: &Option<Diagnosis<'_>>| {
                diagnosis.as_ref()?.of_bands(bands, control).ok().flatten()
            };
            let Some(found) = scores(&mean) else { continue };
            let count = bands.layout(vectors.train.axis_len()).map_or(0, |l| l.bands().len());
            let summary = |regimes| summarise(&found, &labels, &domains, count, regimes);
            if let Some(one_regime) = summary(Regimes::One) {
                result.diagnostics.push(DiagnosticsResult {
                    front_end: called.clone(),
                    band_width: width,
                    neighbours,
                    one_regime,
                    by_regime: summary(Regimes::CouplingAndDomain),
                    both_views: scores(&max)
                        .and_then(|other| BothViews::of(&found, &other, &labels)),
                });
            }
        }
    }
    (!control.is_cancelled()).then_some(())
}

fn fuse_members(
    system: &SystemSettings,
    scores: &BTreeMap<&str, std::result::Result<SystemScores, String>>,
) -> std::result::Result<SystemScores, String> {
    let mut members = Vec::new();
    for name in &system.members {
        match scores.get(name.as_str()) {
            Some(Ok(found)) => members.push((name.as_str(), found)),
            Some(Err(reason)) => return Err(format!("member {name}: {reason}")),
            None => return Err(format!("member {name} is a fusion itself")),
        }
    }
    fuse(&members, system.fusion()).map_err(|error| error.to_string())
}

fn system_result(
    name: &str,
    found: Option<std::result::Result<SystemScores, String>>,
) -> SystemResult {
    let (scores, problem) = match found {
        Some(Ok(scores)) if scores.test.iter().any(|score| !score.is_finite()) => {
            (None, Some("a score is not a finite number".to_owned()))
        }
        Some(Ok(scores)) => (Some(scores), None),
        Some(Err(reason)) => (None, Some(reason)),
        None => (None, Some("it was not run".to_owned())),
    };
    let left_out = scores.as_ref().map(|scores| scores.left_out.clone()).unwrap_or_default();
    SystemResult {
        system: name.to_owned(),
        scores: scores.map(|scores| scores.test).unwrap_or_default(),
        problem,
        threshold_gamma: gamma_threshold(&left_out),
        threshold_quantile: quantile_threshold(left_out),
    }
}

/// The share of normal clips the DCASE baselines want below their threshold.
const DECISION_SHARE: f64 = 0.9;

/// With two parameters: the three-parameter fit of scipy realises far more false alarms.
fn gamma_threshold(left_out: &[f64]) -> Option<f64> {
    let positive = left_out.iter().all(|&score| score > 0.0);
    let form = if positive { GammaForm::TwoParameters } else { GammaForm::ThreeParameters };
    GammaFit::new(left_out, form).ok()?.quantile(DECISION_SHARE).ok()
}

fn quantile_threshold(mut left_out: Vec<f64>) -> Option<f64> {
    left_out.sort_by(f64::total_cmp);
    let place = (DECISION_SHARE * left_out.len() as f64).ceil() as usize;
    left_out.get(place.checked_sub(1)?).copied()
}

//! A run as a whole: whether the recording or the machine has changed, and what differs.

use std::{collections::BTreeMap, fmt};

use auscult_core::{
    Basis, Calibration, ClipRecord,
    calibration::{CHANGE_LEVEL, NormalRuns, NormalSpectra, RunClip, RunJudgement},
    plural,
    quality::Remark,
};
use serde::Serialize;

use crate::Machine;

/// The recording or the machine has changed as a whole: most clips of a run differ, more than visits of the healthy
/// machine do. It displays as a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// The level of the test: of normal visits at most this share is called changed.
    pub level: f64,
    /// How probable such a run is if nothing has changed.
    pub p_value: f64,
    /// Scored clips.
    pub clips: usize,
    /// Clips that score above nine tenths of normal clips.
    pub differing: usize,
    /// What the run was compared with: how many visits, files, blocks or clips were left out.
    pub compared_with: usize,
    /// Which of these they are.
    pub basis: Basis,
    /// What most clips differ in, the plainest first.
    pub what_differs: Vec<WhatDiffers>,
    /// What to do now.
    pub next_step: String,
}

/// One thing that most clips of a run differ in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WhatDiffers {
    /// `codec`, `bandwidth`, `level`, `hum`, `band` or `shape`.
    pub kind: &'static str,
    /// In words, with numbers.
    pub text: String,
}

/// What to do about a changed run.
const NEXT_STEP: &str = "listen to a few of the clips; check the microphone (place, gain, cable) and the load of the \
    machine; only if the machine is confirmed healthy, add these recordings to the model as a visit. That has its price: \
    with one real pump it turned 66 false alarms of 141 clips into 2, and an encoder then found 85 of 138 faults instead \
    of 137";

/// What to do first about a run that was recorded or stored in another way.
const RECORD_ALIKE: &str =
    "record and store sound as the references were, and score again; if that is not it: ";

impl fmt::Display for Changed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { clips, differing, level, .. } = self;
        let with = match self.basis {
            Basis::Visits => plural(self.compared_with, "visit"),
            basis => format!(
                "{} {basis} of one visit, so another day alone may be why",
                self.compared_with
            ),
        };
        write!(
            formatter,
            "the recording or the machine has changed as a whole: most clips differ the same way ({differing} of {clips}, \
             tested at a level of {:.0} % against {with})",
            100.0 * level
        )
    }
}

impl Changed {
    /// What most clips differ in, in one line.
    pub fn differences(&self) -> String {
        let texts: Vec<&str> = self.what_differs.iter().map(|one| one.text.as_str()).collect();
        texts.join("; ")
    }
}

/// Spectra of more clips than these add nothing to their middle.
const MOST_SPECTRA: usize = 1_000;

/// A run, clip by clip.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunTally {
    /// Scored clips by the domain they were judged in.
    domains: BTreeMap<Option<String>, Vec<RunClip>>,
    recording: (String, usize),
    levels: Vec<f64>,
    mains_shares: Vec<f64>,
    mains_hertz: Option<f64>,
    remarks: BTreeMap<&'static str, (usize, Option<Remark>)>,
    spectra: Vec<ClipSpectrum>,
    /// How often each member, or the band of a single front end, differs most.
    members: BTreeMap<String, usize>,
}

/// The spectrum of a clip, as a difference.
#[derive(Debug, Clone)]
struct ClipSpectrum {
    domain: Option<String>,
    /// The reference it differs from.
    reference: usize,
    decibels: Vec<f32>,
}

impl RunTally {
    pub(crate) fn add(&mut self, record: &ClipRecord) {
        let Some(score) = record.score() else { return };
        if self.recording.0 != record.path {
            self.recording = (record.path.clone(), self.recording.1 + 1);
        }
        let clip = RunClip { score, recording: self.recording.1 };
        match self.domains.get_mut(&record.domain) {
            Some(clips) => clips.push(clip),
            None => drop(self.domains.insert(record.domain.clone(), vec![clip])),
        }
        if let Some(quality) = &record.quality {
            self.levels.push(quality.level_dbfs);
            self.mains_shares.push(quality.hum.map_or(0.0, |hum| hum.share));
            self.mains_hertz = quality.hum.map(|hum| hum.mains_hertz).or(self.mains_hertz);
        }
        for remark in &record.remarks {
            let (count, example) = self.remarks.entry(remark.name()).or_default();
            *count += 1;
            example.get_or_insert(*remark);
        }
        if let Some(difference) = &record.difference
            && self.spectra.len() < MOST_SPECTRA
        {
            let (domain, reference) = (record.domain.clone(), difference.reference);
            let decibels = difference.decibels.clone();
            self.spectra.push(ClipSpectrum { domain, reference, decibels });
        }
        if let Some(most) = &record.differs_most {
            let member = most.split_once(" (").map_or(most.as_str(), |(name, _)| name);
            let member = if member.starts_with("modulation") { "modulation" } else { member };
            *self.members.entry(member.to_owned()).or_default() += 1;
        }
    }

    /// What the clips so far say as a whole; `None` if nothing has changed, or too little is known to tell.
    pub(crate) fn changed(&self, machine: &Machine) -> Option<Changed> {
        let judge = |domain: &Option<String>, calibration: &Calibration| -> Option<RunJudgement> {
            let judgement = NormalRuns::of(calibration)?.judge(calibration, &self.domains[domain]);
            Some(match judgement.basis {
                Basis::Visits => {
                    judgement.and_spectra(self.spectrum_p_value(domain.as_ref(), machine))
                }
                _ => judgement,
            })
        };
        let judgements =
            self.domains.keys().filter_map(|domain| match machine.judge(domain.as_deref()) {
                Some((_, own, _)) => judge(domain, own.calibration()),
                None => judge(domain, machine.model().calibration()),
            });
        // Domains share the level: each of them gets its part.
        let level = CHANGE_LEVEL / self.domains.len().max(1) as f64;
        let changed = judgements.filter(|judgement| judgement.is_changed_at(level));
        let clearest =
            changed.min_by(|a, b| a.p_value.unwrap_or(1.0).total_cmp(&b.p_value.unwrap_or(1.0)))?;
        let what_differs = self.what_differs(machine);
        let is_stored_otherwise =
            what_differs.iter().any(|it| matches!(it.kind, "codec" | "bandwidth"));
        let first = if is_stored_otherwise { RECORD_ALIKE } else { "" };
        Some(Changed {
            level: CHANGE_LEVEL,
            p_value: clearest.p_value?,
            clips: clearest.clips,
            differing: clearest.differing,
            compared_with: clearest.groups,
            basis: clearest.basis,
            what_differs,
            next_step: format!("{first}{NEXT_STEP}"),
        })
    }

    /// How probable spectra like those of a domain's clips are, if visits are all that differs.
    fn spectrum_p_value(&self, domain: Option<&String>, machine: &Machine) -> Option<f64> {
        let provenance = machine.model().references().provenance();
        let levels = |index: usize| Some(&provenance.get(index)?.recording.as_ref()?.spectrum_dbfs);
        // A domain that the references do not know is judged by all of them, as its clips are.
        let is_known =
            domain.is_some() && provenance.iter().any(|from| from.domain.as_ref() == domain);
        let references = provenance.iter().enumerate().filter_map(|(index, from)| {
            let is_of_domain = !is_known || from.domain.as_ref() == domain;
            is_of_domain.then_some((from.visit.as_deref()?, levels(index)?.as_slice()))
        });
        let of_clip = |clip: &ClipSpectrum| -> Option<Vec<f32>> {
            let pairs = clip.decibels.iter().zip(levels(clip.reference)?);
            Some(pairs.map(|(difference, level)| difference + level).collect())
        };
        let clips = self.spectra.iter().filter(|clip| clip.domain.as_ref() == domain);
        let clips = clips.map(of_clip).collect::<Option<Vec<_>>>()?;
        NormalSpectra::of(references)?.p_value(&clips)
    }

    fn what_differs(&self, machine: &Machine) -> Vec<WhatDiffers> {
        let level = self.level(machine);
        let found = [
            self.of_most("coding").map(|remark| ("codec", first_clause(remark))),
            self.of_most("narrow band").map(|remark| ("bandwidth", first_clause(remark))),
            self.of_most("wider band").map(|remark| ("bandwidth", first_clause(remark))),
            level.clone().map(|text| ("level", text)),
            self.hum(machine).map(|text| ("hum", text)),
            self.band(machine, level.is_some()).map(|text| ("band", text)),
        ];
        let mut found: Vec<WhatDiffers> =
            found.into_iter().flatten().map(|(kind, text)| WhatDiffers { kind, text }).collect();
        if found.is_empty() {
            let most =
                self.members.iter().max_by_key(|(_, count)| **count).map(|(name, _)| name.as_str());
            let text = format!("the shape of the sound ({})", most.unwrap_or("all of it"));
            found.push(WhatDiffers { kind: "shape", text });
        }
        found
    }

    fn clips(&self) -> usize {
        self.domains.values().map(Vec::len).sum()
    }

    /// A remark that most clips have.
    fn of_most(&self, name: &str) -> Option<Remark> {
        let (count, example) = self.remarks.get(name)?;
        if 2 * count > self.clips() { *example } else { None }
    }

    fn level(&self, machine: &Machine) -> Option<String> {
        let (found, [lowest, _, highest]) =
            (median(self.levels.iter().copied())?, machine.usual_recording().levels()?);
        let beyond = found - found.clamp(lowest, highest);
        // As far as the references are apart, at least a decibel and at most those that are remarked on anyway.
        let margin = (highest - lowest).clamp(1.0, 3.0);
        (beyond.abs() >= margin).then(|| {
            let than =
                if beyond > 0.0 { "louder than the loudest" } else { "quieter than the quietest" };
            format!("{:.0} dB {than} reference", beyond.abs())
        })
    }

    fn hum(&self, machine: &Machine) -> Option<String> {
        const NOTABLE: f64 = 0.1;
        let (found, usual) =
            (median(self.mains_shares.iter().copied())?, machine.usual_recording().mains_share()?);
        (found >= NOTABLE && found >= 2.0 * usual).then(|| {
            format!(
                "hum: {:.0} % of the energy at multiples of {} Hz, {:.0} % in the references",
                100.0 * found,
                self.mains_hertz.unwrap_or(50.0),
                100.0 * usual
            )
        })
    }

    /// Where the spectrum differs most in the middle of all clips; beyond the level, if that is named already.
    fn band(&self, machine: &Machine, is_level_named: bool) -> Option<String> {
        let bands = self.spectra.first()?.decibels.len();
        let of_band = |band: usize| {
            median(
                self.spectra.iter().filter_map(|it| it.decibels.get(band).copied()).map(f64::from),
            )
        };
        let medians: Vec<f64> = (0..bands).map(of_band).collect::<Option<_>>()?;
        let overall = if is_level_named { median(medians.iter().copied())? } else { 0.0 };
        let differences: Vec<f32> =
            medians.iter().map(|decibels| (decibels - overall) as f32).collect();
        let most = machine.names().standout(&differences)?;
        Some(if is_level_named { format!("beyond that {most}") } else { most.to_string() })
    }
}

/// What a remark found, without what to do about it.
fn first_clause(remark: Remark) -> String {
    let text = remark.to_string();
    let text = text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest);
    text.split_once(';').map_or(text, |(found, _)| found).to_owned()
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

//! The document around the sections, and what they share.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    fmt::{self, Display, Formatter},
};

use auscult::{ScoreOf, Standing, Verdict};
use auscult_page::{Document, Escaped};

use crate::{MOST_DETAILS, Report, ReportClip, charts::ScoreRange, sections};

const STYLE: &str = include_str!("../style.css");

/// One report, ready to be written.
pub(crate) struct Page<'a> {
    pub(crate) input: &'a Report<'a>,
    /// The scores above which clips are anomalous: one, or one for each domain.
    pub(crate) thresholds: Vec<Threshold>,
    /// The range of every score on the page.
    pub(crate) range: ScoreRange,
    /// Indices of the clips shown in detail, in the order they are shown.
    pub(crate) details: Vec<usize>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(input: &'a Report<'a>) -> Self {
        let thresholds = Threshold::all(input);
        let values = thresholds.iter().filter_map(|threshold| threshold.value);
        let calibration = input.model.calibration().scores().iter().copied();
        let scores = input.clips.iter().filter_map(ReportClip::score);
        Self {
            input,
            range: ScoreRange::of(calibration.chain(scores).chain(values)),
            thresholds,
            details: chosen_for_details(&input.clips),
        }
    }

    /// Left-out scores of the normal clips that the clips of this page are compared with, ascending:
    /// of all, or of their domains.
    pub(crate) fn calibration_scores(&self) -> Vec<f64> {
        if let Some(all) = self.thresholds.iter().find(|threshold| threshold.domain.is_none()) {
            return all.scores.clone();
        }
        let mut scores: Vec<f64> =
            self.thresholds.iter().flat_map(|threshold| &threshold.scores).copied().collect();
        scores.sort_by(f64::total_cmp);
        scores
    }

    /// Whether clips are compared with the references; an autoencoder's errors are not.
    pub(crate) fn compares(&self) -> bool {
        self.input.model.settings().detector.score_of == ScoreOf::Distance
    }

    /// Whether every threshold on the page keeps the promised rate.
    pub(crate) fn is_promised(&self) -> bool {
        self.thresholds.iter().all(|threshold| threshold.standing.is_promised())
    }

    /// Whether the clip at an index has a section of its own.
    pub(crate) fn has_details(&self, index: usize) -> bool {
        self.details.contains(&index)
    }
}

/// A score above which clips are anomalous.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Threshold {
    /// The domain it is for; `None` if it is for all clips without one.
    pub(crate) domain: Option<String>,
    /// `None` with too few normal clips.
    pub(crate) value: Option<f64>,
    /// What it is worth.
    pub(crate) standing: Standing,
    /// The left-out scores it comes from, ascending.
    pub(crate) scores: Vec<f64>,
}

impl Threshold {
    /// The thresholds that the clips of a report were judged by; at least one.
    fn all(input: &Report<'_>) -> Vec<Self> {
        let model = input.model;
        let domains: BTreeSet<Option<&str>> =
            input.clips.iter().map(|clip| clip.domain.as_deref()).collect();
        let of_all = || Self {
            domain: None,
            value: model.threshold(),
            standing: model.standing(),
            scores: model.calibration().scores().to_vec(),
        };
        let of = |domain: Option<&str>| {
            let judge = domain.and_then(|domain| model.judge_of_domain(domain));
            judge.map_or_else(of_all, |judge| Self {
                domain: domain.map(str::to_owned),
                value: judge.threshold(),
                standing: judge.standing(),
                scores: judge.calibration().scores().to_vec(),
            })
        };
        if domains.is_empty() { vec![of_all()] } else { domains.into_iter().map(of).collect() }
    }

    /// `threshold`, or the domain it is for.
    pub(crate) fn name(&self) -> String {
        self.domain.clone().unwrap_or_else(|| "threshold".to_owned())
    }
}

/// Clips with score and sound: anomalous ones first, the furthest first.
fn chosen_for_details(clips: &[ReportClip<'_>]) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..clips.len())
        .filter(|&index| clips[index].sound.is_some() && clips[index].scored.is_some())
        .collect();
    let is_anomalous = |index: usize| clips[index].verdict() == Some(Verdict::Anomalous);
    let score = |index: usize| clips[index].score().unwrap_or(f64::NEG_INFINITY);
    chosen.sort_by(|&a, &b| {
        let order = Reverse(is_anomalous(a)).cmp(&Reverse(is_anomalous(b)));
        order.then(score(b).total_cmp(&score(a)))
    });
    chosen.truncate(MOST_DETAILS);
    chosen
}

impl Display for Page<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let title = format!("{}: sound report", self.input.title);
        let document = Document { title: &title, style: STYLE };
        document.open(out)?;
        writeln!(out, "<a class=\"skip\" href=\"#clips\">Skip to the table of all clips</a>")?;
        sections::headline::write(out, self)?;
        writeln!(out, "<main>")?;
        sections::scores::write(out, self)?;
        sections::details::write(out, self)?;
        sections::table::write(out, self)?;
        sections::quality::write(out, self)?;
        sections::promise::write(out, self)?;
        sections::facts::write(out, self)?;
        writeln!(
            out,
            "</main>\n<footer>\n<p>Made by auscult {}. This page is complete in itself: it loads \
             nothing and can be kept, mailed and printed.</p>\n</footer>",
            Escaped(self.input.version)
        )?;
        document.close(out)
    }
}

#[cfg(test)]
mod tests;

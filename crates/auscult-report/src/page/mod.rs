//! The document around the sections, and what they share.

use std::{
    collections::BTreeSet,
    fmt::{self, Display, Formatter},
};

use auscult::{ScoreOf, Standing};
use auscult_page::{Document, Escaped, Script};

use crate::{
    Report, ReportClip, charts,
    charts::ScoreRange,
    health::Health,
    kinds::{self, Kind, MOST_KINDS},
    sections,
    visits::Visits,
};

pub(crate) const STYLE: &str = include_str!("../style.css");

/// Plays a clip and its closest normal one on one clock, so that a switch keeps the moment. Without it the page has two
/// plain players.
pub(crate) const PLAYER: Script<'static> = Script {
    source: include_str!("../player.js"),
    sha256: include_str!("../player.js.sha256").trim_ascii_end(),
};

/// One report, ready to be written.
pub(crate) struct Page<'a> {
    pub(crate) input: &'a Report<'a>,
    /// The scores above which clips are anomalous: one, or one for each domain.
    pub(crate) thresholds: Vec<Threshold>,
    /// The range of every score on the page.
    pub(crate) range: ScoreRange,
    /// When clips were recorded.
    pub(crate) visits: Visits,
    /// Is it well, and since when.
    pub(crate) health: Health,
    /// Anomalies that resemble each other.
    pub(crate) kinds: Vec<Kind>,
    /// Makes the names of places unique where several machines share a page.
    prefix: String,
    /// The level of the machine's heading.
    pub(crate) heading: u8,
}

impl<'a> Page<'a> {
    pub(crate) fn new(input: &'a Report<'a>) -> Self {
        let thresholds = Threshold::all(input);
        let values = || thresholds.iter().filter_map(|threshold| threshold.value);
        let calibration = || input.model.calibration().scores().iter().copied();
        let scores = input.clips.iter().filter_map(ReportClip::score);
        let visits = Visits::of(&input.clips);
        Self {
            input,
            range: ScoreRange::of(
                calibration().chain(scores).chain(values()),
                calibration().chain(values()),
            ),
            thresholds,
            health: Health::of(input, &visits),
            visits,
            kinds: kinds::of(&input.clips),
            prefix: String::new(),
            heading: 1,
        }
    }

    /// The page of one of several machines.
    pub(crate) fn of_machine(input: &'a Report<'a>, number: usize) -> Self {
        Self { prefix: format!("machine-{number}-"), heading: 2, ..Self::new(input) }
    }

    /// The name of a place, unique on the page.
    pub(crate) fn id(&self, place: &str) -> String {
        format!("{}{place}", self.prefix)
    }

    /// The start of a section and its heading. Where several machines share a page, only machines are landmarks.
    pub(crate) fn section(&self, place: &str, title: &str) -> String {
        let id = self.id(place);
        let label = if self.prefix.is_empty() {
            format!(" aria-labelledby=\"{id}\"")
        } else {
            String::new()
        };
        format!("<section{label}>\n<h2 id=\"{id}\">{title}</h2>\n")
    }

    /// When a clip was recorded, in words, or else which one it is.
    pub(crate) fn moment(&self, clip: usize) -> String {
        self.visits.moment(&self.input.clips, clip)
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

    /// How many visits the references come from.
    pub(crate) fn reference_visits(&self) -> usize {
        let provenance = self.input.model.references().provenance();
        provenance.iter().filter_map(|from| from.visit.as_deref()).collect::<BTreeSet<_>>().len()
    }

    /// Whether clips are compared with the references; an autoencoder's errors are not.
    pub(crate) fn compares(&self) -> bool {
        self.input.model.settings().detector.score_of == ScoreOf::Distance
    }

    /// Whether every threshold on the page keeps the promised rate.
    pub(crate) fn is_promised(&self) -> bool {
        self.thresholds.iter().all(|threshold| threshold.standing.is_promised())
    }

    /// The kind with a card that a clip belongs to, counted from 1.
    pub(crate) fn kind_of(&self, clip: usize) -> Option<usize> {
        let kinds = self.kinds.iter().take(MOST_KINDS);
        kinds.enumerate().find(|(_, kind)| kind.clips().contains(&clip)).map(|(index, _)| index + 1)
    }

    /// Everything below the first screen.
    pub(crate) fn write_details(&self, out: &mut Formatter<'_>) -> fmt::Result {
        sections::scores::write_timeline(out, self)?;
        sections::kinds::write(out, self)?;
        sections::scores::write(out, self)?;
        sections::table::write(out, self)?;
        sections::quality::write(out, self)?;
        sections::promise::write(out, self)?;
        sections::facts::write(out, self)
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

impl Display for Page<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let title = format!("{}: sound report", self.input.title);
        let document = Document { title: &title, style: STYLE, script: Some(PLAYER) };
        document.open(out)?;
        charts::write_marks(out)?;
        write!(
            out,
            "<a class=\"skip\" href=\"#clips\">Skip to the table of all clips</a>\n\
             <header>\n<p class=\"kicker\">Sound report \u{b7} {}</p>\n</header>\n\
             <main data-state=\"{}\" data-changed=\"{}\">\n",
            sections::answer::dates(self),
            self.health.state.name(),
            self.input.changed.is_some()
        )?;
        sections::answer::write(out, self)?;
        self.write_details(out)?;
        write_footer(out, self.input.version)?;
        document.close(out)
    }
}

pub(crate) fn write_footer(out: &mut Formatter<'_>, version: &str) -> fmt::Result {
    writeln!(
        out,
        "</main>\n<footer>\n<p>Made by auscult {}. This page is complete in itself: it loads \
         nothing and can be kept, mailed and printed.</p>\n</footer>",
        Escaped(version)
    )
}

#[cfg(test)]
mod tests;

//! What `fit` and `model` tell about a model they wrote.

use std::{collections::BTreeSet, fmt, path::Path};

use auscult_core::{
    Basis, Model, Provenance, Standing, calibration::Missing, features::MemberSettings,
};
use serde::Serialize;

use super::{budget::BudgetFacts, gathering::Counts};
use crate::{
    printer::{Printer, count},
    quality::QualitySummary,
    reading::clip_name,
};

/// Says what the threshold cannot be trusted for.
pub(super) fn warn_about_calibration(model: &Model, printer: &Printer) {
    let basis = model.calibration().basis();
    match shortcoming(model.standing()) {
        Some(shortcoming) => printer.note(shortcoming),
        None if basis == Basis::Visits => {}
        None => {
            let condition = model.standing().condition(basis).unwrap_or_default();
            printer.note(format!(
                "{basis} were left out, as asked for: the promise holds {condition}"
            ));
            if visits_of(model).len() > 1 {
                printer.note(
                    "the references come from several visits, which say more: leaving out visits is the default",
                );
            }
        }
    }
}

/// The names of the visits.
fn visits_of(model: &Model) -> BTreeSet<&String> {
    model.references().provenance().iter().filter_map(|from| from.visit.as_ref()).collect()
}

/// Why verdicts are not to be relied on, and what to do; `None` if the rate is promised.
pub(super) fn shortcoming(standing: Standing) -> Option<String> {
    let (verdicts, lack) = match standing {
        Standing::Promised => return None,
        Standing::Provisional(lack) => ("verdicts are provisional", lack),
        Standing::Undecided(lack) => ("no verdicts yet", lack),
    };
    let option = match lack.missing {
        Missing::Clips | Missing::Independence => " (--false-alarm-rate)",
        Missing::Visits if lack.basis == Basis::Files => {
            "; or, if each file was recorded on an occasion of its own, auscult calibrate --scheme files --save"
        }
        Missing::Visits => "",
    };
    Some(format!("{verdicts}: {lack}{option}"))
}

/// The rate, and how sure it is.
pub(super) fn promise_words(model: &Model) -> String {
    let promise = model.settings().promise();
    let sure = promise.confidence.map(|confidence| format!(" ({confidence} sure)"));
    format!("{}{}", promise.rate, sure.unwrap_or_default())
}

/// What `fit` tells at the end.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    model: String,
    front_end: String,
    /// The members of an ensemble, with their forms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<String>,
    references: usize,
    visits: usize,
    bands: usize,
    calibrated_by: &'static str,
    /// In words.
    #[serde(skip)]
    promise: String,
    false_alarm_rate: f64,
    threshold: Option<f64>,
    /// Whether the rate is promised, or the threshold provisional.
    promised: bool,
    #[serde(flatten)]
    pub(super) counts: Counts,
    quality: Option<QualitySummary>,
    /// How the alarm budget is kept, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetFacts>,
    /// References that score highest when left out, for the ear.
    least_normal: Vec<LeastNormal>,
}

/// A reference that is far from the others.
#[derive(Debug, Serialize)]
struct LeastNormal {
    path: String,
    start_seconds: f64,
    left_out_score: f64,
}

/// As many as people will listen to.
const MOST_TO_HEAR: usize = 10;

impl Summary {
    pub(super) fn new(
        model: &Model,
        path: &Path,
        counts: Counts,
        quality: Option<QualitySummary>,
        budget: Option<BudgetFacts>,
    ) -> Self {
        Self {
            model: path.display().to_string(),
            front_end: model.settings().front_end.to_string(),
            members: members(model),
            references: model.references().len(),
            visits: visits_of(model).len(),
            bands: model.detector().beam().layout().bands().len(),
            calibrated_by: model.calibration().basis().name(),
            promise: promise_words(model),
            false_alarm_rate: model.settings().false_alarm_rate.into(),
            threshold: model.threshold(),
            promised: model.standing().is_promised(),
            counts,
            quality,
            budget,
            least_normal: least_normal(model),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "model       {}", self.model)?;
        writeln!(formatter, "front end   {}, {}", self.front_end, count(self.bands, "band"))?;
        if !self.members.is_empty() {
            writeln!(formatter, "members     {}", self.members.join(" + "))?;
        }
        writeln!(
            formatter,
            "references  {} from {}, {}; {} skipped, {} left out as copies",
            self.references,
            count(self.counts.files, "file"),
            count(self.visits, "visit"),
            self.counts.skipped,
            self.counts.copies
        )?;
        match self.threshold {
            Some(threshold) => writeln!(
                formatter,
                "threshold   {threshold:.4}{} {} false alarms, calibrated by leaving out {}",
                if self.promised { " for at most" } else { ", provisional, aiming at" },
                self.promise,
                self.calibrated_by
            )?,
            None => writeln!(formatter, "threshold   none yet")?,
        }
        if let Some(quality) = &self.quality {
            writeln!(formatter, "quality     {quality}")?;
        }
        if let Some(budget) = &self.budget {
            write!(formatter, "{}", budget.describe())?;
        }
        if !self.least_normal.is_empty() {
            writeln!(formatter, "\nthe least normal of your normal clips: please listen")?;
        }
        for clip in &self.least_normal {
            let name = clip_name(&clip.path, clip.start_seconds);
            writeln!(formatter, "  {:.4}  {name}", clip.left_out_score)?;
        }
        Ok(())
    }
}

/// The labels of an ensemble's members.
fn members(model: &Model) -> Vec<String> {
    let ensemble = model.settings().detector.ensemble.as_ref();
    let members = ensemble.map(|ensemble| ensemble.members.as_slice()).unwrap_or_default();
    members.iter().map(MemberSettings::label).collect()
}

fn least_normal(model: &Model) -> Vec<LeastNormal> {
    let clip = |(from, left_out_score): (&Provenance, f64)| LeastNormal {
        path: from.source.clone(),
        start_seconds: from.start_seconds,
        left_out_score,
    };
    model.least_normal(MOST_TO_HEAR).into_iter().map(clip).collect()
}

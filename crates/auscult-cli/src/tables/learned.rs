//! What `fit` prints about a model it wrote.

use std::{collections::BTreeMap, fmt, path::Path};

use auscult::{
    FrontEnds, Machine, Model, Preset, Provenance, QualitySummary, alarm::BudgetPlan,
    features::MemberSettings, record::clip_name,
};
use serde::Serialize;

use super::{budget, promise};
use crate::printer::{count, printable};

/// What `fit` prints at the end.
#[derive(Debug, Serialize)]
pub(crate) struct LearnedTable {
    model: String,
    front_end: String,
    /// The preset, if it is one.
    preset: Option<Preset>,
    clip_seconds: f64,
    /// Whether these clips can have every member of every preset.
    #[serde(skip)]
    has_all_members: bool,
    /// The members of an ensemble, with their forms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<String>,
    references: usize,
    visits: usize,
    bands: usize,
    calibrated_by: &'static str,
    /// As a sentence.
    #[serde(skip)]
    promise: String,
    false_alarm_rate: f64,
    threshold: Option<f64>,
    /// Whether the rate is promised, or the threshold provisional.
    promised: bool,
    files: usize,
    clips: usize,
    skipped: usize,
    copies: usize,
    /// How many recordings and clips were not learnt from, by reason.
    left_out: BTreeMap<&'static str, usize>,
    quality: Option<QualitySummary>,
    /// How the alarm budget is kept, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetPlan>,
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

impl LearnedTable {
    pub(crate) fn new(machine: &Machine, path: &Path, front_ends: &FrontEnds) -> Self {
        let (model, learned) = (machine.model(), machine.learned());
        let preset = Preset::of_model(front_ends, model);
        let mut left_out = BTreeMap::new();
        for one in &learned.left_out {
            *left_out.entry(one.reason.name()).or_default() += 1;
        }
        Self {
            preset: preset.filter(|found| found.differs.is_empty()).map(|found| found.preset),
            clip_seconds: model.settings().clip.seconds,
            has_all_members: model
                .settings()
                .clip
                .check()
                .is_ok_and(|length| Preset::Best.spec(length).1.is_none()),
            left_out,
            model: path.display().to_string(),
            front_end: model.settings().front_end.to_string(),
            members: members(model),
            references: learned.references,
            visits: learned.visits.len(),
            bands: model.detector().beam().layout().bands().len(),
            calibrated_by: model.calibration().basis().name(),
            promise: promise::rate(model),
            false_alarm_rate: model.settings().false_alarm_rate.into(),
            threshold: model.threshold(),
            promised: model.standing().is_promised(),
            files: learned.files,
            clips: learned.quality.as_ref().map_or(0, |quality| quality.clips),
            skipped: learned.failures(),
            copies: learned.copies(),
            quality: learned.quality.clone(),
            budget: learned.budget.clone(),
            least_normal: least_normal(model),
        }
    }
}

impl fmt::Display for LearnedTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "model       {}", self.model)?;
        if let Some(preset) = self.preset {
            let has_choice = self.has_all_members;
            writeln!(
                formatter,
                "preset      {preset}{}",
                if has_choice { alternative(preset) } else { "" }
            )?;
        }
        writeln!(formatter, "front end   {}, {}", self.front_end, count(self.bands, "band"))?;
        if !self.members.is_empty() {
            writeln!(formatter, "members     {}", self.members.join(" + "))?;
        }
        writeln!(
            formatter,
            "references  {} from {}, {}; {} skipped, {} left out as copies",
            self.references,
            count(self.files, "file"),
            count(self.visits, "visit"),
            self.skipped,
            self.copies
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
        if let Some(plan) = &self.budget {
            write!(formatter, "{}", budget::describe(plan))?;
        }
        if !self.least_normal.is_empty() {
            writeln!(formatter, "\nthe least normal of your normal clips: please listen")?;
        }
        for clip in &self.least_normal {
            let name = clip_name(&printable(&clip.path), clip.start_seconds);
            writeln!(formatter, "  {:.4}  {name}", clip.left_out_score)?;
        }
        Ok(())
    }
}

/// What another preset would cost and lose, measured in docs/detection.md.
fn alternative(preset: Preset) -> &'static str {
    match preset {
        Preset::Best => "; --preset fast costs a tenth and detects 3 of 100 points worse",
        Preset::Fast => {
            "; --preset best costs ten times as much and detects 3 of 100 points better"
        }
        _ => "; --preset best costs more and detects 14 of 100 points better",
    }
}

/// Who asks for more neighbours in a local scale than there are other references, which then are all used.
pub(crate) fn few_neighbours(model: &Model) -> Option<String> {
    let (detector, others) = (&model.settings().detector, model.references().len() - 1);
    let asks = |name: String, neighbours: usize| {
        (neighbours > others).then(|| format!("{name} {neighbours}"))
    };
    let asking: Vec<String> = match &detector.ensemble {
        None => asks("--neighbours".to_owned(), detector.neighbours).into_iter().collect(),
        Some(ensemble) => {
            let of_member = |member: &MemberSettings| {
                let neighbours = member.neighbours.unwrap_or(detector.neighbours);
                asks(format!("neighbours of {}:", member.label()), neighbours)
            };
            ensemble.members.iter().filter_map(of_member).collect()
        }
    };
    (!asking.is_empty()).then(|| {
        format!(
            "{}: there {}, and all are used",
            asking.join(", "),
            if others == 1 {
                "is only 1 other".to_owned()
            } else {
                format!("are only {others} others")
            }
        )
    })
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

//! All figures of a table of scores: each section, and all together.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    AsdkitNames, DecisionFigures, Decisions, Domain, F1OverThresholds, Figures, IntervalSettings,
    Intervals, OfficialScores, ScoreSet, Scored, ScoredClip, SectionFigures, arithmetic_mean,
    f1_over_thresholds, harmonic_mean,
};
use crate::{Result, counts::count};

/// What a report is made with.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReportSettings {
    /// How intervals are made.
    pub intervals: IntervalSettings,
    /// The score above which a clip is called anomalous, if decisions are to be judged.
    pub threshold: Option<f64>,
}

/// Every figure of a table of scores.
///
/// Figures at the top take all clips as one set. Scores of different machines need not be
/// comparable: with several sections, `mean_over_sections` and the official scores are what to read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricsReport {
    /// Clips with a label.
    pub clips: usize,
    /// Clips without one: scored, but in no figure.
    pub unlabelled: usize,
    /// All labelled clips as one set.
    #[serde(flatten)]
    pub pooled: Figures,
    /// Figures of all clips under other names.
    pub asdkit: AsdkitNames,
    /// F1 over thresholds, all clips as one set.
    pub f1_over_thresholds: Option<F1OverThresholds>,
    /// Decisions at the given threshold: of all clips, and of each domain.
    pub decisions: Option<BTreeMap<&'static str, DecisionFigures>>,
    /// 95 % intervals of figures of all clips as one set.
    pub intervals: BTreeMap<&'static str, Intervals>,
    /// Mean of the half widths of AUC and pAUC, as the evaluators' `official score ci95`.
    pub official_score_ci95: Option<f64>,
    /// One number for all sections, for each convention.
    pub official_scores: OfficialScores,
    /// Arithmetic mean over sections of each figure all of them have.
    pub mean_over_sections: BTreeMap<&'static str, f64>,
    /// Harmonic mean over sections of each area all of them have.
    pub harmonic_mean_over_sections: BTreeMap<&'static str, f64>,
    /// The sections, in the order of the table.
    pub sections: Vec<SectionFigures>,
    /// Why a figure is missing, in sentences.
    pub remarks: Vec<String>,
}

impl MetricsReport {
    /// The report of a table.
    ///
    /// # Errors
    ///
    /// If a score is not finite or the settings are out of range.
    pub fn new(clips: &[ScoredClip], settings: ReportSettings) -> Result<Self> {
        let intervals = settings.intervals.check()?;
        let all = ScoreSet::new(clips.iter().filter_map(ScoredClip::scored).collect())?;
        let groups = sections(clips);
        let sections: Vec<SectionFigures> = groups
            .iter()
            .map(|((machine, section), set)| SectionFigures {
                machine: machine.clone(),
                section: section.clone(),
                figures: set.figures(),
            })
            .collect();
        let sets: Vec<&ScoreSet> = groups.iter().map(|(_, set)| set).collect();
        let pooled = all.figures();
        let unlabelled = clips.len() - all.clips().len();
        let intervals = intervals_of(&all, intervals);
        let half =
            |name| intervals.get(name).and_then(|found: &Intervals| found.official_half_width);
        Ok(Self {
            clips: all.clips().len(),
            unlabelled,
            asdkit: pooled.asdkit_names(),
            f1_over_thresholds: f1_over_thresholds(&all),
            decisions: settings.threshold.map(|threshold| decisions(&all, threshold)),
            official_score_ci95: half("auc").zip(half("pauc")).map(|(a, b)| f64::midpoint(a, b)),
            intervals,
            official_scores: OfficialScores::of(&sections, &sets),
            mean_over_sections: mean_over_sections(&sections),
            harmonic_mean_over_sections: over_sections(&sections, harmonic_mean),
            remarks: remarks(&pooled, &all, &sections, unlabelled),
            sections,
            pooled,
        })
    }
}

/// The labelled clips of each machine and section, in order of appearance.
fn sections(clips: &[ScoredClip]) -> Vec<((String, String), ScoreSet)> {
    let mut groups: Vec<((String, String), Vec<Scored>)> = Vec::new();
    let one_set = clips.windows(2).all(|pair| pair[0].set == pair[1].set);
    let mut places: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for clip in clips {
        let Some(scored) = clip.scored() else { continue };
        let section = if one_set { clip.section.clone() } else { clip.section_of_set() };
        let place = *places.entry((&clip.machine, section.clone())).or_insert(groups.len());
        if place == groups.len() {
            groups.push(((clip.machine.clone(), section), Vec::new()));
        }
        groups[place].1.push(scored);
    }
    groups.into_iter().map(|(name, clips)| (name, ScoreSet::of_checked(clips))).collect()
}

/// Figures that have a mean over sections, by name.
type NamedFigure = (&'static str, fn(&Figures) -> Option<f64>);

const AREAS: [NamedFigure; 10] = [
    ("auc", |f| f.auc),
    ("pauc", |f| f.pauc),
    ("auc_source", |f| f.auc_source),
    ("auc_target", |f| f.auc_target),
    ("pauc_source", |f| f.pauc_source),
    ("pauc_target", |f| f.pauc_target),
    ("auc_source_same_domain", |f| f.auc_source_same_domain),
    ("auc_target_same_domain", |f| f.auc_target_same_domain),
    ("pauc_source_same_domain", |f| f.pauc_source_same_domain),
    ("pauc_target_same_domain", |f| f.pauc_target_same_domain),
];

/// The arithmetic mean over sections of each area all of them have, by name.
pub fn mean_over_sections(sections: &[SectionFigures]) -> BTreeMap<&'static str, f64> {
    over_sections(sections, arithmetic_mean)
}

fn over_sections(
    sections: &[SectionFigures],
    mean: impl Fn(Vec<f64>) -> Option<f64>,
) -> BTreeMap<&'static str, f64> {
    let of = |(name, figure): &NamedFigure| {
        let values: Option<Vec<f64>> =
            sections.iter().map(|section| figure(&section.figures)).collect();
        Some((*name, mean(values?)?))
    };
    AREAS.iter().filter_map(of).collect()
}

fn intervals_of(
    scores: &ScoreSet,
    settings: IntervalSettings,
) -> BTreeMap<&'static str, Intervals> {
    let wanted =
        AREAS[..4].iter().copied().chain([("d_prime", (|f| f.d_prime) as fn(&Figures) -> _)]);
    wanted
        .filter(|(_, figure)| figure(&scores.figures()).is_some())
        .map(|(name, figure)| (name, Intervals::of(scores, |set| figure(&set.figures()), settings)))
        .collect()
}

fn decisions(scores: &ScoreSet, threshold: f64) -> BTreeMap<&'static str, DecisionFigures> {
    let of = |domain| Decisions::above(scores, threshold, domain).figures();
    let mut figures = BTreeMap::from([("all", of(None))]);
    if scores.has_domains() {
        let is_there =
            |domain: &Domain| scores.clips().iter().any(|clip| clip.domain == Some(*domain));
        let there = Domain::ALL.into_iter().filter(is_there);
        figures.extend(there.map(|domain| (domain.name(), of(Some(domain)))));
    }
    figures
}

fn remarks(
    pooled: &Figures,
    scores: &ScoreSet,
    sections: &[SectionFigures],
    unlabelled: usize,
) -> Vec<String> {
    let mut remarks = Vec::new();
    if unlabelled > 0 {
        remarks.push(format!(
            "without a label and in no figure: {}; fill the column label to judge them",
            count(unlabelled, "clip")
        ));
    }
    if pooled.normal == 0 || pooled.anomalous == 0 {
        let missing = if pooled.normal == 0 { "normal clip" } else { "anomaly" };
        remarks.push(format!("no AUC: among the labelled clips is no {missing}"));
    }
    if !scores.has_domains() {
        remarks.push(
            "no figures by domain: not every clip has a domain (column domain: source or target)"
                .to_owned(),
        );
    }
    let one_class = sections.iter().filter(|section| section.figures.auc.is_none());
    let one_class: Vec<String> = one_class
        .map(|section| format!("{} {}", section.machine, section.section).trim().to_owned())
        .collect();
    if !one_class.is_empty() {
        remarks.push(format!(
            "no official score: {} without both normal and anomalous clips: {}",
            count(one_class.len(), "section"),
            one_class.join(", ")
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::Label, *};

    fn clip(machine: &str, label: Option<Label>, score: f64) -> ScoredClip {
        let path = format!("{machine}{score}");
        let (machine, section, set) = (machine.to_owned(), String::new(), String::new());
        ScoredClip { path, machine, section, set, label, domain: None, score }
    }

    /// The same machine at two signal-to-noise ratios has two memories: scores are not mixed.
    #[test]
    fn parts_of_a_data_set_are_judged_on_their_own() {
        let of = |set: &str, label, score| ScoredClip {
            set: set.to_owned(),
            section: "00".to_owned(),
            ..clip("pump", Some(label), score)
        };
        let clips = [
            of("0dB", Label::Normal, 1.0),
            of("0dB", Label::Anomaly, 2.0),
            of("6dB", Label::Normal, 3.0),
            of("6dB", Label::Anomaly, 4.0),
        ];
        let report = MetricsReport::new(&clips, ReportSettings::default()).unwrap();
        assert_eq!(report.official_scores.mean_auc, Some(1.0));
        let names: Vec<&str> = report.sections.iter().map(|found| &*found.section).collect();
        assert_eq!(names, ["0dB 00", "6dB 00"]);
    }

    #[test]
    fn sections_are_judged_on_their_own() {
        let (normal, anomaly) = (Some(Label::Normal), Some(Label::Anomaly));
        let clips = [
            clip("fan", normal, 1.0),
            clip("fan", anomaly, 2.0),
            clip("pump", normal, 10.0),
            clip("pump", anomaly, 20.0),
            clip("pump", None, 15.0),
        ];
        let report = MetricsReport::new(&clips, ReportSettings::default()).unwrap();
        assert_eq!(report.mean_over_sections["auc"], 1.0);
        assert_eq!(report.pooled.auc, Some(0.75), "a pump's normal sound above a fan's fault");
        assert_eq!((report.clips, report.unlabelled), (4, 1));
        assert_eq!(report.official_scores.dcase2020, Some(1.0));
        assert_eq!(report.official_scores.dcase2023, None, "no domains");
        assert_eq!(report.remarks.len(), 2);
    }

    #[test]
    fn decisions_are_judged_in_domains_that_are_there() {
        let of = |label, score| ScoredClip {
            domain: Some(Domain::Source),
            ..clip("fan", Some(label), score)
        };
        let clips = [of(Label::Normal, 1.0), of(Label::Anomaly, 2.0)];
        let settings = ReportSettings { threshold: Some(1.5), ..ReportSettings::default() };
        let decisions = MetricsReport::new(&clips, settings).unwrap().decisions.unwrap();
        assert_eq!(decisions.keys().copied().collect::<Vec<_>>(), ["all", "source"]);
    }

    #[test]
    fn one_class_only_gives_no_area_and_says_so() {
        let clips = [clip("fan", Some(Label::Normal), 1.0), clip("fan", Some(Label::Normal), 2.0)];
        let report = MetricsReport::new(&clips, ReportSettings::default()).unwrap();
        assert_eq!(report.pooled.auc, None);
        assert!(report.remarks[0].contains("no anomaly"), "{:?}", report.remarks);
        let last = report.remarks.last().unwrap();
        assert_eq!(
            last,
            "no official score: 1 section without both normal and anomalous clips: fan"
        );
        assert!(report.intervals.is_empty());
    }
}

//! One system on one data set.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use auscult::FrontEnd;
use auscult_eval::{
    datasets::{Dataset, Judging},
    metrics::{
        Figures, OfficialScores, ScoreSet, SectionFigures, arithmetic_mean, mean_over_sections,
    },
    run::{ResultRow, RunResults, SectionResult},
    systems::SystemSettings,
};
use serde_json::{Value, json};

use super::figures;
use crate::args::EvalArguments;

/// The figures of each part, and overall.
pub(crate) fn describe(results: &RunResults, judging: Judging) -> String {
    let mut text = String::new();
    let how = match judging {
        Judging::Split => "",
        Judging::LeaveOneOut => {
            ", leave one out: each normal clip judged by the others of its section"
        }
    };
    for row in &results.rows {
        let set = if row.set.is_empty() { String::new() } else { format!(" {}", row.set) };
        let _ = write!(text, "{}{set}{how}\n\n", row.dataset);
        text += &figures::section_table(&row.sections).render();
        text += "\n";
        let Some(score) = row.score else { continue };
        let score = figures::percent(Some(score));
        let interval = row.interval.map_or_else(String::new, |interval| {
            let (low, high) =
                (figures::percent(Some(interval.low)), figures::percent(Some(interval.high)));
            format!(" (95 %: {low} to {high})")
        });
        let _ = writeln!(text, "{}: {score} %{interval}", row.measure);
        if let Some(partial) = &row.partial {
            let _ = writeln!(text, "{partial}");
        }
        text += "\n";
        text += &figures::official_table(&row.official_scores).render();
        text += "\n";
    }
    text
}

/// Every figure, for programs.
pub(crate) fn as_json(
    arguments: &EvalArguments,
    dataset: &Dataset,
    system: &SystemSettings,
    front_end: &Arc<dyn FrontEnd>,
    sections: &[SectionResult],
    results: &RunResults,
) -> Value {
    let sets: Vec<ScoreSet> =
        sections.iter().map(|section| section.scores_of(&system.name)).collect();
    let sets: Vec<&ScoreSet> = sets.iter().collect();
    let figures: Vec<SectionFigures> =
        results.rows.iter().flat_map(|row| row.sections.iter().cloned()).collect();
    let over_all = OfficialScores::of(&figures, &sets);
    let only = match results.rows.as_slice() {
        [row] => row.score,
        _ => None,
    };
    let overall: Vec<Value> = results.rows.iter().map(overall).collect();
    json!({
        "dataset": dataset.kind,
        "fingerprint": dataset.fingerprint(),
        "leave_one_out": arguments.leave_one_out,
        "preset": system.preset,
        "front_end": front_end.identity(),
        "back_end": system.back_end,
        "detector": system.detector,
        "clip_seconds": arguments.front_end.clip().seconds,
        "clip_rules": results.clip_rules,
        "channel": arguments.front_end.channel().to_string(),
        "official_score": only.or_else(|| headline_over_all(results, &over_all)),
        "mean_over_sections": mean_over_sections(&figures),
        "auc": mean(&figures, |found| found.auc),
        "pauc": mean(&figures, |found| found.pauc),
        "auc_source": mean(&figures, |found| found.auc_source),
        "auc_target": mean(&figures, |found| found.auc_target),
        "measure": results.rows.first().map(|row| row.measure),
        "overall": overall,
        "official_scores_over_all": over_all,
        "machines": machines(results, sections),
        "problems": results.problems,
    })
}

/// The mean over sections; `None` if one has no such figure.
fn mean(sections: &[SectionFigures], figure: fn(&Figures) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = sections.iter().map(|found| figure(&found.figures)).collect();
    arithmetic_mean(values?)
}

/// The headline's convention over all parts.
fn headline_over_all(results: &RunResults, scores: &OfficialScores) -> Option<f64> {
    let first = results.rows.first()?;
    let is = |of: fn(&OfficialScores) -> Option<f64>| {
        first.score.is_some() && first.score == of(&first.official_scores)
    };
    let conventions: [fn(&OfficialScores) -> Option<f64>; 3] =
        [|scores| scores.dcase2022, |scores| scores.dcase2021, |scores| scores.dcase2020];
    conventions.into_iter().find(|of| is(*of)).and_then(|of| of(scores))
}

fn overall(row: &ResultRow) -> Value {
    json!({
        "set": row.set,
        "measure": row.measure,
        "official_score": row.score,
        "interval": row.interval,
        "partial": row.partial,
        "official_scores": row.official_scores,
        "problem": row.problem,
    })
}

fn machines(results: &RunResults, sections: &[SectionResult]) -> Vec<Value> {
    let trained: BTreeMap<(&str, &str, &str), usize> = sections
        .iter()
        .map(|section| ((&*section.set, &*section.machine, &*section.section), section.train))
        .collect();
    let rows =
        results.rows.iter().flat_map(|row| row.sections.iter().map(move |found| (row, found)));
    rows.map(|(row, found)| {
        let mut value = serde_json::to_value(found).unwrap_or_default();
        let train = trained.get(&(&*row.set, &*found.machine, &*found.section)).copied();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("set".to_owned(), json!(row.set));
            fields.insert("train".to_owned(), json!(train));
        }
        value
    })
    .collect()
}

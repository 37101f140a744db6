//! Figures of labelled scores.

use std::fmt::Write;

use auscult_eval::metrics::{Figures, Intervals, MetricsReport, OfficialScores, SectionFigures};

use super::{Align, Table};
use crate::printer::count;

/// Every figure of labelled scores.
pub(crate) fn describe(report: &MetricsReport) -> String {
    let mut text = format!(
        "{}: {} normal, {} anomalous\n\n",
        count(report.clips, "labelled clip"),
        report.pooled.normal,
        report.pooled.anomalous
    );
    if report.sections.len() > 1 {
        text += &section_table(&report.sections).render();
        text += "\n";
    }
    // With one class there is nothing to fill them with.
    let tables = [pooled_table(report), official_table(&report.official_scores)];
    let tables: Vec<String> =
        tables.iter().filter(|table| !table.is_empty()).map(Table::render).collect();
    text += &tables.join("\n");
    if let Some(f1) = &report.f1_over_thresholds {
        let _ = writeln!(
            text,
            "\nF1 over all thresholds {}, over likely thresholds {}, at the best one (an oracle) {}",
            percent(Some(f1.f1_ev)),
            percent(Some(f1.f1_ev_bounded)),
            percent(Some(f1.f1_oracle)),
        );
    }
    for (which, figures) in report.decisions.iter().flatten() {
        let _ = writeln!(
            text,
            "decisions, {which}: F1 {}, precision {}, recall {}, false alarms {}",
            percent(Some(figures.f1)),
            percent(Some(figures.precision)),
            percent(Some(figures.recall)),
            percent(Some(figures.false_alarm_rate)),
        );
    }
    format!("{}\n", text.trim_end())
}

/// The figures of each section, in %.
pub(crate) fn section_table(sections: &[SectionFigures]) -> Table {
    let mut table = Table::new(&[
        ("machine", Align::Left),
        ("section", Align::Left),
        ("normal", Align::Right),
        ("anomalous", Align::Right),
        ("AUC %", Align::Right),
        ("pAUC %", Align::Right),
        ("source %", Align::Right),
        ("target %", Align::Right),
        ("d'", Align::Right),
    ]);
    for SectionFigures { machine, section, figures } in sections {
        table.row([
            machine.clone(),
            section.clone(),
            figures.normal.to_string(),
            figures.anomalous.to_string(),
            percent(figures.auc),
            percent(figures.pauc),
            percent(figures.auc_source),
            percent(figures.auc_target),
            figures.d_prime.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}")),
        ]);
    }
    table
}

fn pooled_table(report: &MetricsReport) -> Table {
    type Row = (&'static str, &'static str, fn(&Figures) -> Option<f64>);
    const ROWS: [Row; 5] = [
        ("auc", "AUC", |f| f.auc),
        ("pauc", "pAUC, up to 10 % false positives", |f| f.pauc),
        ("auc_source", "AUC, normal of source, all anomalies", |f| f.auc_source),
        ("auc_target", "AUC, normal of target, all anomalies", |f| f.auc_target),
        ("d_prime", "d'", |f| f.d_prime),
    ];
    let mut table = Table::new(&[
        (if report.sections.len() > 1 { "all clips as one set" } else { "figure" }, Align::Left),
        ("value", Align::Right),
        ("95 % by bootstrap", Align::Right),
        ("by jackknife", Align::Right),
    ]);
    for (name, title, figure) in ROWS {
        let Some(value) = figure(&report.pooled) else { continue };
        let show = |value: f64| {
            if name == "d_prime" { format!("{value:.3}") } else { percent(Some(value)) }
        };
        let found: Option<&Intervals> = report.intervals.get(name);
        let range = |interval: Option<auscult_eval::metrics::Interval>| {
            interval.map_or_else(
                || "-".to_owned(),
                |range| format!("{} to {}", show(range.low), show(range.high)),
            )
        };
        table.row([
            title.to_owned(),
            show(value),
            range(found.and_then(|found| found.bootstrap)),
            range(found.and_then(|found| found.jackknife)),
        ]);
    }
    table
}

/// The scores that the data allow, in %.
pub(crate) fn official_table(scores: &OfficialScores) -> Table {
    let mut table = Table::new(&[("score", Align::Left), ("%", Align::Right)]);
    let rows = [
        ("DCASE 2022 and later, official", scores.dcase2023),
        ("the same, anomalies of the same domain only", scores.since_2022_same_domain),
        ("DCASE 2021, official", scores.dcase2021),
        ("DCASE 2020, mean of AUC and pAUC over ids", scores.dcase2020),
        ("DCASE 2020, over ids, then over types", scores.dcase2020_by_type),
        ("DCASE 2020, AUC of all ids of a type as one set", scores.dcase2020_ids_pooled_auc),
        ("mean AUC over sections", scores.mean_auc),
    ];
    for (title, score) in rows {
        if score.is_some() {
            table.row([title.to_owned(), percent(score)]);
        }
    }
    table
}

/// `81.25`, or `-` where there is none.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.2}", 100.0 * share))
}

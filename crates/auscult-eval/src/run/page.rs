//! One HTML page with the tables and figures of a run; it loads nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use auscult_page::{Document, Escaped, LineChart, Spacing};

use super::{
    DiagnosticsRow, ResultRow, RunResults,
    cited::{CitedCells, cited_rows},
    data_tables,
    results::noise_ratio,
    sweep_table::{legend, sweep_tables},
    tables::{DIAGNOSTICS_COLUMNS, cell, diagnostics_cells, facts, notes, part_name},
};
use crate::{
    datasets::DatasetKind,
    metrics::arithmetic_mean,
    systems::{Sweep, SweepMeasure, SweepParameter},
};

/// What only this page has; the rest is the style of every page.
const STYLE: &str = include_str!("page.css");

/// The page of a run.
pub fn page(results: &RunResults) -> String {
    let mut out = String::new();
    let title = &results.protocol.title;
    let document = Document { title, style: STYLE, script: None };
    // Writing to a string does not fail.
    let _ = document.open(&mut out);
    let about: Vec<&str> = results.protocol.about.split_whitespace().collect();
    let _ =
        writeln!(out, "<main>\n<h1>{}</h1>\n<p>{}</p>", Escaped(title), Escaped(&about.join(" ")));
    // A sweep is read from its figures, other protocols from their table.
    if results.protocol.sweep.is_some() {
        figures(&mut out, results);
        table(&mut out, results);
    } else {
        table(&mut out, results);
        figures(&mut out, results);
    }
    for table in data_tables::tables(&results.counts, &results.windows) {
        table.html(&mut out, "");
    }
    diagnostics_table(&mut out, &results.diagnostics);
    list(&mut out, "Not run, or run in part", &notes(results));
    list(&mut out, "Where this comes from", &facts(results));
    out.push_str("</main>\n");
    let _ = document.close(&mut out);
    out
}

fn figures(out: &mut String, results: &RunResults) {
    let charts = charts(results);
    if charts.is_empty() {
        return;
    }
    out.push_str("<h2>Figures</h2>\n<div class=\"figures\">\n");
    for (index, chart) in charts.iter().enumerate() {
        out.push_str(&chart.render(&format!("f{index}")));
    }
    out.push_str("</div>\n");
}

fn diagnostics_table(out: &mut String, rows: &[DiagnosticsRow]) {
    if rows.is_empty() {
        return;
    }
    out.push_str("<h2>Diagnostics</h2>\n<p>Means over sections, and counts of sections; the paper's in brackets. What the columns are stands below; on a narrow \
        screen the table moves sideways.</p>\n\
        <div class=\"table\" tabindex=\"0\"><table class=\"dense\">\n<tr>");
    for (head, meaning) in DIAGNOSTICS_COLUMNS {
        let _ = write!(out, "<th title=\"{}\">{head}</th>", Escaped(meaning));
    }
    out.push_str("</tr>\n");
    for row in rows {
        out.push_str("<tr>");
        for cell in diagnostics_cells(row) {
            let _ = write!(out, "<td>{}</td>", Escaped(&cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n<h3>The columns</h3>\n<dl>\n");
    for (head, meaning) in DIAGNOSTICS_COLUMNS {
        let _ = writeln!(out, "<div><dt>{head}</dt><dd>{}</dd></div>", Escaped(meaning));
    }
    out.push_str("</dl>\n");
}

fn list(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h2>{title}</h2>\n<ul>");
    for line in lines {
        let _ = writeln!(out, "<li>{}</li>", with_code(line));
    }
    out.push_str("</ul>\n");
}

/// Text between two backticks as code.
fn with_code(line: &str) -> String {
    let mut out = String::new();
    for (index, part) in Escaped(line).to_string().split('`').enumerate() {
        match index {
            0 => {}
            _ if index % 2 == 1 => out.push_str("<code>"),
            _ => out.push_str("</code>"),
        }
        out.push_str(part);
    }
    out
}

fn table(out: &mut String, results: &RunResults) {
    let parts = results.parts();
    if parts.is_empty() {
        return;
    }
    if results.protocol.sweep.is_some() {
        for table in sweep_tables(results) {
            table.html(out, &legend(results));
        }
        return;
    }
    let _ = writeln!(
        out,
        "<p>{}</p>\n<div class=\"table\" tabindex=\"0\"><table>\n<tr><th>system</th>",
        Escaped(&legend(results))
    );
    for (dataset, set) in &parts {
        let _ = write!(out, "<th>{}</th>", Escaped(&part_name(*dataset, set)));
    }
    out.push_str("</tr>\n");
    let mut group = "";
    for system in results.systems() {
        if system.group != group {
            group = &system.group;
            group_row(out, group, parts.len());
        }
        let cells = parts.iter().map(|(dataset, set)| {
            results.row(*dataset, set, system.table_name()).map_or_else(String::new, cell)
        });
        named_row(out, system.table_name(), cells);
    }
    for CitedCells { group, name, cells } in cited_rows(results) {
        if let Some(group) = group {
            group_row(out, &group, parts.len());
        }
        named_row(out, &name, cells);
    }
    out.push_str("</table></div>\n");
}

fn group_row(out: &mut String, group: &str, parts: usize) {
    let (columns, group) = (parts + 1, Escaped(group));
    let _ = writeln!(out, "<tr class=\"group\"><td colspan=\"{columns}\">{group}</td></tr>");
}

fn named_row(out: &mut String, name: &str, cells: impl IntoIterator<Item = String>) {
    let _ = write!(out, "<tr><td>{}</td>", Escaped(name));
    for cell in cells {
        let _ = write!(out, "<td>{}</td>", Escaped(&cell));
    }
    out.push_str("</tr>\n");
}

fn charts(results: &RunResults) -> Vec<LineChart> {
    let mut charts = Vec::new();
    for (dataset, set) in results.parts() {
        let rows: Vec<&ResultRow> =
            results.rows.iter().filter(|row| row.dataset == dataset && row.set == set).collect();
        if let Some(sweep) = &results.protocol.sweep {
            charts.extend(sweep_charts(sweep, &part_name(dataset, &set), &rows));
        }
    }
    charts.extend(noise_charts(results));
    charts.extend(diagnostics_charts(&results.diagnostics));
    charts
}

/// Curves with their names, in the order they were first met.
#[derive(Default)]
struct Curves(Vec<(String, Vec<(f64, f64)>)>);

impl Curves {
    fn add(&mut self, name: &str, point: (f64, f64)) {
        match self.0.iter_mut().find(|(other, _)| other == name) {
            Some((_, points)) => points.push(point),
            None => self.0.push((name.to_owned(), vec![point])),
        }
    }

    /// With ascending x.
    fn sorted(mut self) -> Vec<(String, Vec<(f64, f64)>)> {
        for (_, points) in &mut self.0 {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        self.0
    }
}

/// More curves than this are drawn in a chart a group.
const MOST_CURVES: usize = 6;

/// The curves of one part, for each measure; systems that stand still are lines to compare with.
fn sweep_charts(sweep: &Sweep, part: &str, rows: &[&ResultRow]) -> Vec<LineChart> {
    let series: BTreeSet<&str> =
        rows.iter().filter(|row| row.x.is_some()).map(|row| row.series.as_str()).collect();
    let mut groups: Vec<Option<&str>> = vec![None];
    if series.len() > MOST_CURVES {
        groups = rows.iter().map(|row| Some(row.group.as_str())).collect();
        groups.dedup();
    }
    let chart = |measure: SweepMeasure, group: Option<&str>| {
        let value = |row: &ResultRow| match measure {
            SweepMeasure::Score => row.score,
            SweepMeasure::Auc => row.auc,
        };
        let mut curves = Curves::default();
        let mut levels = Vec::new();
        for row in rows.iter().filter(|row| group.is_none_or(|group| row.group == group)) {
            let Some(value) = value(row).map(|share| 100.0 * share) else { continue };
            match row.x {
                Some(x) => curves.add(&row.series, (x, value)),
                None => levels.push((row.system.clone(), value)),
            }
        }
        let name = match measure {
            SweepMeasure::Score => "score",
            SweepMeasure::Auc => "mean AUC",
        };
        let title = [Some(part), group].into_iter().flatten().collect::<Vec<_>>().join(", ");
        LineChart {
            title: format!("{title}: {name}"),
            x_name: sweep.axis.clone(),
            y_name: format!("{name} in %"),
            x_spacing: match sweep.parameter {
                SweepParameter::Neighbours => Spacing::Logarithmic,
                SweepParameter::BandPercent => Spacing::Linear,
            },
            series: curves.sorted(),
            levels,
        }
    };
    let measures = sweep.measures.iter();
    measures
        .flat_map(|&measure| groups.iter().map(move |&group| (measure, group)))
        .map(|(measure, group)| chart(measure, group))
        .collect()
}

/// MIMII's features by signal-to-noise ratio: all machines by their score, then each by its AUC.
fn noise_charts(results: &RunResults) -> Vec<LineChart> {
    let mut all = Curves::default();
    let mut by_machine: BTreeMap<&str, Curves> = BTreeMap::new();
    for row in
        results.rows.iter().filter(|row| row.dataset == DatasetKind::Mimii && row.x.is_none())
    {
        let Some(ratio) = noise_ratio(&row.set).map(f64::from) else { continue };
        if let Some(score) = row.score {
            all.add(&row.system, (ratio, 100.0 * score));
        }
        let machines: BTreeSet<&str> = row.sections.iter().map(|s| &*s.machine).collect();
        for machine in machines {
            let ids = row.sections.iter().filter(|found| found.machine == machine);
            if let Some(auc) = arithmetic_mean(ids.filter_map(|found| found.figures.auc)) {
                by_machine.entry(machine).or_default().add(&row.system, (ratio, 100.0 * auc));
            }
        }
    }
    let chart = |title: String, y_name: &str, curves: Curves| LineChart {
        title,
        x_name: "signal-to-noise ratio in dB".to_owned(),
        y_name: y_name.to_owned(),
        x_spacing: Spacing::Linear,
        series: curves.sorted(),
        levels: Vec::new(),
    };
    let mut charts = Vec::new();
    // One ratio makes no curve: the table says it.
    if !all.0.iter().any(|(_, points)| points.len() > 1) {
        return charts;
    }
    charts.push(chart("MIMII by signal-to-noise ratio".to_owned(), "score in %", all));
    charts.extend(by_machine.into_iter().map(|(machine, curves)| {
        chart(format!("MIMII {machine}, mean AUC of its ids"), "mean AUC in %", curves)
    }));
    charts
}

const D_PRIME: &str = "d' ratio";

/// Variance, gap and d' of bands over those of global matching, against the band size.
fn diagnostics_charts(rows: &[DiagnosticsRow]) -> Vec<LineChart> {
    type Figure = (&'static str, fn(&DiagnosticsRow) -> Option<f64>);
    const FIGURES: [Figure; 3] = [
        ("variance ratio", |row| row.variance_ratio_sub_global),
        ("mean-gap ratio", |row| row.mean_gap_ratio),
        (D_PRIME, |row| row.d_prime_ratio),
    ];
    let mut groups: BTreeMap<(&str, usize), Vec<&DiagnosticsRow>> = BTreeMap::new();
    for row in rows {
        groups.entry((&row.front_end, row.neighbours)).or_default().push(row);
    }
    let mut charts = Vec::new();
    for ((front_end, neighbours), rows) in groups {
        for (name, figure) in FIGURES {
            let mut curves = Curves::default();
            for row in &rows {
                let part = part_name(row.dataset, &row.set);
                let band = row.band_width as f64;
                if let Some(value) = figure(row) {
                    curves.add(&part, (band, value));
                }
                // As in the paper's figure: with local density normalisation only.
                let wanted = name == D_PRIME && neighbours > 0;
                if let Some(value) = row.d_prime_ratio_both_views.filter(|_| wanted) {
                    curves.add(&format!("{part}, DMM"), (band, value));
                }
            }
            let density = if neighbours == 0 {
                "no LDN".to_owned()
            } else {
                format!("LDN, K = {neighbours}")
            };
            charts.push(LineChart {
                title: format!("{front_end}: {name} ({density})"),
                x_name: "band size".to_owned(),
                y_name: name.to_owned(),
                x_spacing: Spacing::Logarithmic,
                series: curves.sorted(),
                levels: vec![("as global matching".to_owned(), 1.0)],
            });
        }
    }
    charts
}

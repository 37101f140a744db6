//! Results as Markdown and as LaTeX.

use std::{collections::BTreeMap, fmt::Write};

use super::{
    DiagnosticsRow, MissingFrontEnd, ResultRow, RunResults,
    cited::{CitedCells, cited_rows},
    data_tables,
    front_ends::describe_encoders,
    sweep_table::{legend, sweep_tables},
};
use crate::{datasets::DatasetKind, protocol::Protocol};

/// The results as one Markdown page.
pub fn markdown(results: &RunResults) -> String {
    let mut text = String::new();
    let protocol = &results.protocol;
    line(&mut text, format_args!("# {}\n", protocol.title));
    if !protocol.about.is_empty() {
        line(&mut text, format_args!("{}\n", protocol.about.trim()));
    }
    for fact in facts(results) {
        line(&mut text, format_args!("- {fact}"));
    }
    let parts = results.parts();
    for table in sweep_tables(results) {
        table.markdown(&mut text, &legend(results));
    }
    for table in data_tables::tables(&results.counts, &results.windows) {
        table.markdown(&mut text, "");
    }
    if !results.rows.is_empty() && protocol.sweep.is_none() {
        line(&mut text, format_args!("\n{}\n", legend(results)));
        let heads: Vec<String> =
            parts.iter().map(|(dataset, set)| part_name(*dataset, set)).collect();
        line(&mut text, format_args!("| system | {} |", heads.join(" | ")));
        line(&mut text, format_args!("|---|{}", "---|".repeat(parts.len())));
        let mut group = "";
        for system in results.systems() {
            if system.group != group {
                group = &system.group;
                line(&mut text, format_args!("| **{group}** |{}", " |".repeat(parts.len())));
            }
            let cells: Vec<String> = parts
                .iter()
                .map(|(dataset, set)| {
                    results.row(*dataset, set, system.table_name()).map_or_else(String::new, cell)
                })
                .collect();
            line(&mut text, format_args!("| {} | {} |", system.table_name(), cells.join(" | ")));
        }
        for CitedCells { group, name, cells } in cited_rows(results) {
            if let Some(group) = group {
                line(&mut text, format_args!("| **{group}** |{}", " |".repeat(parts.len())));
            }
            line(&mut text, format_args!("| {name} | {} |", cells.join(" | ")));
        }
    }
    let notes = notes(results);
    if !notes.is_empty() {
        line(&mut text, format_args!("\n## Not run, or run in part\n"));
        for note in notes {
            line(&mut text, format_args!("- {note}"));
        }
    }
    sections(&mut text, results);
    diagnostics(&mut text, &results.diagnostics);
    text
}

/// `dcase2023 dev`.
pub(super) fn part_name(dataset: DatasetKind, set: &str) -> String {
    format!("{dataset} {set}").trim().to_owned()
}

/// Where the results come from, in lines.
pub(super) fn facts(results: &RunResults) -> Vec<String> {
    let (protocol, facts) = (&results.protocol, &results.facts);
    let mut lines = Vec::new();
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("{name}: {value}"));
        }
    };
    add("protocol", &protocol.name);
    add("the paper's", &protocol.paper);
    add(
        "command",
        &if facts.command.is_empty() { String::new() } else { format!("`{}`", facts.command) },
    );
    add("program", &facts.program);
    add("machine", &facts.machine);
    add("date", &facts.date);
    for (dataset, fingerprint) in &facts.data {
        add("data", &format!("{dataset}, fingerprint of names and labels {fingerprint}"));
    }
    for (called, identity) in &facts.front_ends {
        for encoder in describe_encoders(identity) {
            add("encoder", &format!("{called}: {encoder}"));
        }
    }
    lines
}

/// What is missing, and why; the same reason once.
pub(super) fn notes(results: &RunResults) -> Vec<String> {
    let not_run = |missing| not_run(missing, &results.protocol);
    let mut notes: Vec<String> = results.facts.missing.iter().map(not_run).collect();
    notes.extend(results.facts.not_run.iter().cloned());
    let mut systems: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    let mut partial: Vec<String> = Vec::new();
    for row in &results.rows {
        if let Some(what) = row.partial.as_ref().filter(|_| row.score.is_some()) {
            let note = format!("{}: {what}", part_name(row.dataset, &row.set));
            if !partial.contains(&note) {
                partial.push(note);
            }
        }
        if let Some(problem) = &row.problem {
            let part = part_name(row.dataset, &row.set);
            systems.entry((part, problem)).or_default().push(&row.system);
        }
    }
    notes.extend(partial);
    for ((part, problem), systems) in systems {
        notes.push(format!("{part}: {problem} ({})", systems.join("; ")));
    }
    notes.extend(results.facts.remarks.iter().cloned());
    notes.extend(results.problems.iter().cloned());
    notes.dedup();
    notes
}

fn not_run(missing: &MissingFrontEnd, protocol: &Protocol) -> String {
    let needed = match missing.systems.len() {
        0 if protocol.diagnostics.is_empty() => "windows".to_owned(),
        0 => "diagnostics".to_owned(),
        1 => "one system".to_owned(),
        count => format!("{count} systems"),
    };
    format!("not run: {} ({needed}): {}", missing.front_end, missing.reason)
}

/// `56.9 [55.0, 58.1] (57.0)`.
pub(super) fn cell(row: &ResultRow) -> String {
    let Some(score) = row.score else { return "-".to_owned() };
    let mut text = percent(score);
    if let Some(deviation) = row.deviation {
        let _ = write!(text, " ± {}", percent(deviation));
    }
    if let Some(interval) = row.interval {
        let _ = write!(text, " [{}, {}]", percent(interval.low), percent(interval.high));
    }
    if let Some(paper) = row.paper {
        let _ = write!(text, " ({})", percent(paper));
    }
    text
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn sections(text: &mut String, results: &RunResults) {
    // A table a part; sweeps have their figures instead.
    for (dataset, set) in results.parts() {
        let rows: Vec<&ResultRow> = results
            .rows
            .iter()
            .filter(|row| row.dataset == dataset && row.set == set)
            .filter(|row| row.sections.iter().any(|found| found.figures.auc.is_some()))
            .filter(|row| row.x.is_none())
            .collect();
        let Some(first) = rows.first() else { continue };
        line(text, format_args!("\n## {}: each section\n", part_name(dataset, &set)));
        line(
            text,
            format_args!("AUC / pAUC in %, and source / target AUC where there are domains.\n"),
        );
        let heads: Vec<String> = first
            .sections
            .iter()
            .map(|found| format!("{} {}", found.machine, found.section))
            .collect();
        line(text, format_args!("| system | {} |", heads.join(" | ")));
        line(text, format_args!("|---|{}", "---|".repeat(heads.len())));
        for row in rows {
            let cells: Vec<String> = row
                .sections
                .iter()
                .map(|found| {
                    let show = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), percent);
                    let figures = &found.figures;
                    let mut cell = format!("{} / {}", show(figures.auc), show(figures.pauc));
                    if figures.auc_source.is_some() && figures.auc_target.is_some() {
                        let _ = write!(
                            cell,
                            ", {} / {}",
                            show(figures.auc_source),
                            show(figures.auc_target)
                        );
                    }
                    cell
                })
                .collect();
            line(text, format_args!("| {} | {} |", row.system, cells.join(" | ")));
        }
    }
}

/// The columns of the table of diagnostics, and what stands in them.
pub(super) const DIAGNOSTICS_COLUMNS: [(&str, &str); 18] = [
    ("part", "the data set, and which part of it"),
    ("front end", "what is made of the sound; of it the mean view"),
    ("K", "neighbours in local density normalisation; 0 is without"),
    ("band", "positions in a band; as many as the axis has is global matching"),
    (
        "Var sub/uni",
        "variance of normal scores where each band has its own nearest reference (sub), over that where all bands \
         take the globally nearest one and weigh alike (uni)",
    ),
    ("Var uni/glob", "variance of these tied bands over that of global matching (glob)"),
    ("Var sub/glob", "the two together; below 1 bands make normal scores steadier"),
    ("gap glob", "mean anomalous minus mean normal score of global matching"),
    ("gap sub", "the same of bands"),
    ("d' glob", "the gap in standard deviations of normal scores, of global matching"),
    ("d' sub", "the same of bands"),
    ("d' ratio", "d' of bands over d' of global matching; above 1 bands separate better"),
    ("with DMM", "d' of bands on both views over that of global matching on the mean view"),
    (
        "Prop. 1 holds",
        "sections in which the variance of bands is within the bound of Proposition 1",
    ),
    (
        "Thm. 1 condition",
        "sections in which the condition of Theorem 1 holds: the gap shrinks by no more than that bound allows",
    ),
    (
        "measured condition",
        "sections in which it holds with the measured variance in place of the bound",
    ),
    ("d' improves", "sections in which d' of bands is larger"),
    (
        "Thm. 1 consistent",
        "sections that do not contradict Theorem 1: where its condition holds, d' does not fall",
    ),
];

fn diagnostics(text: &mut String, rows: &[DiagnosticsRow]) {
    if rows.is_empty() {
        return;
    }
    line(
        text,
        format_args!(
            "\n## Diagnostics\n\nMeans over sections, and counts of sections; the paper's in brackets.\n"
        ),
    );
    for (head, meaning) in DIAGNOSTICS_COLUMNS {
        line(text, format_args!("- {head}: {meaning}"));
    }
    let heads = DIAGNOSTICS_COLUMNS.map(|(head, _)| head);
    line(text, format_args!("\n| {} |", heads.join(" | ")));
    line(text, format_args!("|{}", "---|".repeat(heads.len())));
    for row in rows {
        line(text, format_args!("| {} |", diagnostics_cells(row).join(" | ")));
    }
}

/// The cells of a row of diagnostics.
pub(super) fn diagnostics_cells(row: &DiagnosticsRow) -> Vec<String> {
    let number = |value: f64| {
        if value.abs() < 0.001 && value != 0.0 {
            format!("{value:.3e}")
        } else {
            format!("{value:.3}")
        }
    };
    let paper = row.paper.as_ref();
    let show = |value: Option<f64>, paper: Option<f64>| {
        let ours = value.map_or_else(|| "-".to_owned(), number);
        paper.map_or(ours.clone(), |paper| format!("{ours} ({})", number(paper)))
    };
    let of = |count: usize| format!("{count}/{}", row.sections);
    vec![
        part_name(row.dataset, &row.set),
        row.front_end.clone(),
        row.neighbours.to_string(),
        row.band_width.to_string(),
        show(row.variance_ratio_sub_uniform, paper.map(|p| p.variance_ratio_sub_uniform)),
        show(row.variance_ratio_uniform_global, paper.map(|p| p.variance_ratio_uniform_global)),
        show(row.variance_ratio_sub_global, paper.map(|p| p.variance_ratio_sub_global)),
        show(row.gap_global, paper.map(|p| p.gap_global)),
        show(row.gap_sub_band, paper.map(|p| p.gap_sub_band)),
        show(row.d_prime_global, paper.map(|p| p.d_prime_global)),
        show(row.d_prime_sub_band, paper.map(|p| p.d_prime_sub_band)),
        show(row.d_prime_ratio, None),
        show(row.d_prime_ratio_both_views, None),
        of(row.proposition_holds),
        of(row.theorem_condition),
        of(row.measured_condition),
        of(row.d_prime_improves),
        of(row.theorem_consistent),
    ]
}

/// The main table as LaTeX (package booktabs).
pub fn latex(results: &RunResults) -> String {
    let parts = results.parts();
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "% {} (auscult, protocol {})",
            escape(&results.protocol.title),
            results.protocol.name
        ),
    );
    line(&mut text, format_args!("\\begin{{tabular}}{{l{}}}\n\\toprule", "r".repeat(parts.len())));
    let heads: Vec<String> =
        parts.iter().map(|(dataset, set)| escape(&part_name(*dataset, set))).collect();
    line(&mut text, format_args!("System & {} \\\\\n\\midrule", heads.join(" & ")));
    let mut group = "";
    for system in results.systems() {
        if system.group != group {
            group = &system.group;
            line(
                &mut text,
                format_args!(
                    "\\multicolumn{{{}}}{{l}}{{\\textit{{{}}}}} \\\\",
                    parts.len() + 1,
                    escape(group)
                ),
            );
        }
        let cells: Vec<String> = parts
            .iter()
            .map(|(dataset, set)| {
                let row = results.row(*dataset, set, system.table_name());
                let mut score =
                    row.and_then(|row| row.score).map_or_else(|| "--".to_owned(), percent);
                if let Some(deviation) = row.and_then(|row| row.deviation) {
                    let _ = write!(score, " $\\pm$ {}", percent(deviation));
                }
                match row.and_then(|row| row.paper) {
                    Some(paper) => format!("{score} ({})", percent(paper)),
                    None => score,
                }
            })
            .collect();
        line(
            &mut text,
            format_args!("{} & {} \\\\", escape(system.table_name()), cells.join(" & ")),
        );
    }
    for CitedCells { group, name, cells } in cited_rows(results) {
        if let Some(group) = group {
            let columns = parts.len() + 1;
            line(
                &mut text,
                format_args!(
                    "\\multicolumn{{{columns}}}{{l}}{{\\textit{{{}}}}} \\\\",
                    escape(&group)
                ),
            );
        }
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        line(&mut text, format_args!("{} & {} \\\\", escape(&name), cells.join(" & ")));
    }
    line(&mut text, format_args!("\\bottomrule\n\\end{{tabular}}"));
    for table in data_tables::tables(&results.counts, &results.windows) {
        table.latex(&mut text);
    }
    text
}

/// The text with LaTeX's own signs escaped.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(letter);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            _ => out.push(letter),
        }
    }
    out
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

//! The table of scored clips.

use std::fmt::Write;

use auscult::{
    ClipRecord, ClipVerdict, Verdict,
    record::{SpectrumDifference, clip_name},
};

use super::{Align, Table};
use crate::printer::{self, printable};

/// The table people read.
pub(crate) struct ScoreTable {
    table: Table,
    reasons: Vec<String>,
    counts: [usize; 4],
}

impl ScoreTable {
    pub(crate) fn new() -> Self {
        let columns = [
            ("clip", Align::Left),
            ("score", Align::Right),
            ("p-value", Align::Right),
            ("calibrated", Align::Right),
            ("verdict", Align::Left),
            ("what differs", Align::Left),
        ];
        Self { table: Table::new(&columns), reasons: Vec::new(), counts: [0; 4] }
    }

    /// Adds a clip, with the reasons of its bands if they are to be shown.
    pub(crate) fn add(&mut self, record: &ClipRecord, explain: bool) {
        let show = |value: Option<f64>, digits: usize| {
            value.map(|value| format!("{value:.digits$}")).unwrap_or_default()
        };
        self.table.row([
            name_of(record),
            show(record.score(), 4),
            show(record.p_value(), 3),
            show(record.calibrated(), 3),
            printer::verdict(record.verdict().name()),
            what_differs(record),
        ]);
        let kind = match record.verdict() {
            ClipVerdict::Judged(Verdict::Normal) => 0,
            ClipVerdict::Judged(Verdict::Anomalous) => 1,
            ClipVerdict::Judged(_) => 2,
            _ => 3,
        };
        self.counts[kind] += 1;
        if explain {
            self.reasons.extend(explained(record).map(|text| format!("\n{text}")));
        }
    }

    /// The table, the reasons, the counts, and the closing lines.
    pub(crate) fn render(&self, closing_lines: &[String]) -> String {
        let [normal, anomalous, undecided, unscored] = self.counts;
        if self.counts == [0; 4] {
            return "nothing was scored\n".to_owned();
        }
        let mut parts = vec![format!("{anomalous} anomalous, {normal} normal")];
        if undecided > 0 {
            parts.push(format!("{undecided} undecided"));
        }
        if unscored > 0 {
            parts.push(format!("{unscored} not scored"));
        }
        let (table, reasons) = (self.table.render(), self.reasons.concat());
        let counts = parts.join(", ");
        format!("{table}{reasons}\n{counts}\n{}\n", closing_lines.join("\n"))
    }
}

/// What can be heard, or else the band that differs most.
fn what_differs(record: &ClipRecord) -> String {
    match record.heard.as_str() {
        "" => record.differs_most.clone().unwrap_or_default(),
        heard => heard.to_owned(),
    }
}

/// Why a clip scored as it did: first what can be heard, then the details; `None` without an explanation.
pub(crate) fn explained(record: &ClipRecord) -> Option<String> {
    let explanation = record.explanation.as_ref()?;
    let mut text = format!("{}\n", printer::strong(name_of(record)));
    if !record.heard.is_empty() {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}", printable(&record.heard));
    }
    if let Some(difference) = &record.difference {
        let _ = writeln!(text, "{}", octaves(difference));
    }
    let _ = writeln!(text, "{}", printable(&explanation.summary));
    for sentence in explanation.sentences() {
        let _ = writeln!(text, "  {}", printable(sentence));
    }
    Some(text)
}

/// Third octaves that differ by less are not listed.
const NOTABLE_DECIBELS: f32 = 3.0;

/// The third octaves that are clearly louder or quieter than in the closest normal clip.
fn octaves(difference: &SpectrumDifference) -> String {
    let bands = difference.hertz.windows(2).zip(&difference.decibels);
    let notable = bands.filter(|(_, decibels)| decibels.abs() >= NOTABLE_DECIBELS);
    let parts: Vec<String> = notable
        .map(|(edges, decibels)| format!("{:.0} Hz {decibels:+.0}", (edges[0] * edges[1]).sqrt()))
        .collect();
    let parts = if parts.is_empty() {
        format!("none differs by {NOTABLE_DECIBELS} dB")
    } else {
        format!("{} dB", parts.join(", "))
    };
    format!("third octaves against {}: {parts}", printable(&difference.closest))
}

/// What a clip is called, fit for a terminal.
pub(crate) fn name_of(record: &ClipRecord) -> String {
    clip_name(&printable(record.path()), record.start_seconds())
}

//! The table of scored clips.

use auscult::{ClipRecord, ClipVerdict, Verdict, record::clip_name};

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
        let name = name_of(record);
        self.table.row([
            name.clone(),
            show(record.score(), 4),
            show(record.p_value(), 3),
            show(record.calibrated(), 3),
            printer::verdict(record.verdict().name()),
            record.heard.clone().or_else(|| record.differs_most.clone()).unwrap_or_default(),
        ]);
        let kind = match record.verdict() {
            ClipVerdict::Judged(Verdict::Normal) => 0,
            ClipVerdict::Judged(Verdict::Anomalous) => 1,
            ClipVerdict::Judged(_) => 2,
            _ => 3,
        };
        self.counts[kind] += 1;
        if let (true, Some(explanation)) = (explain, &record.explanation) {
            let (name, summary) = (printer::strong(name), &explanation.summary);
            self.reasons.push(format!("\n{name}\n{summary}\n"));
            let sentences = explanation.sentences();
            self.reasons.extend(sentences.into_iter().map(|text| format!("  {text}\n")));
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

/// What a clip is called, fit for a terminal.
pub(crate) fn name_of(record: &ClipRecord) -> String {
    clip_name(&printable(record.path()), record.start_seconds())
}

//! `auscult score`: recordings in, a score and a verdict for each clip out.

use anyhow::Context;
use auscult_core::{Model, Verdict};

use super::{
    scoring::{CheckedClip, Scoring},
    summary::missing,
};
use crate::{
    Outcome,
    args::ScoreArguments,
    files,
    output::{Format, Record, RecordWriter},
    printer::{self, Printer},
    table::{Align, Table},
};

const NOT_WRITTEN: &str = "cannot write the results";

pub(crate) fn run(arguments: &ScoreArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let format = arguments.format.format()?;
    anyhow::ensure!(
        !arguments.explain || !matches!(format, Some(Format::Csv | Format::Parquet(_))),
        "--explain goes with the table, --json or --jsonl; CSV and Parquet have no place for sentences"
    );
    if let Some(Format::Parquet(path)) = &format {
        files::check_target(path)?;
    }
    let mut scoring = Scoring::new(&arguments.scoring)?;
    // The table names the band that differs most, so it needs reasons too.
    scoring.explain = arguments.explain || format.is_none();
    let output = arguments.format.output.as_deref();
    let mut writer = format
        .map(|format| RecordWriter::new(&format, columns(&scoring.model, arguments.bands), output))
        .transpose()?;
    let mut table = ScoreTable::new();
    let mut anomalous = 0;
    let complete = scoring.run(&arguments.scoring.input.paths, printer, |clip| {
        anomalous += usize::from(clip.is_anomalous());
        if let Some(writer) = &mut writer {
            return writer.write(record(&clip, arguments)?).context(NOT_WRITTEN);
        }
        table.add(&clip, arguments.explain);
        Ok(())
    })?;
    if let Some(writer) = writer {
        writer.finish().context(NOT_WRITTEN)?;
    } else {
        printer.text(&table.render(&scoring.model))?;
    }
    Ok(match complete {
        false => Outcome::Incomplete,
        true if arguments.fail_on_anomaly && anomalous > 0 => Outcome::Anomalous,
        true => Outcome::Done,
    })
}

/// The columns of a score record. Scripts rely on the first six.
fn columns(model: &Model, bands: bool) -> Vec<String> {
    let mut columns: Vec<String> =
        ["path", "start_seconds", "score", "p_value", "calibrated", "verdict"]
            .map(str::to_owned)
            .to_vec();
    if bands {
        let beam = model.detector().beam();
        for view in &beam.settings().views {
            columns.push(view.to_string());
            columns
                .extend((0..beam.layout().bands().len()).map(|band| format!("{view}_band_{band}")));
        }
    }
    columns
}

fn record(clip: &CheckedClip, arguments: &ScoreArguments) -> anyhow::Result<Record> {
    let scored = clip.finding.as_ref().map(|finding| &finding.scored);
    let mut record = Record::default()
        .text("path", &clip.label)
        .number("start_seconds", clip.start_seconds)
        .number("score", scored.map(|scored| scored.score.value))
        .number("p_value", scored.and_then(|scored| scored.p_value))
        .number("calibrated", scored.and_then(|scored| scored.calibrated))
        .text("verdict", clip.verdict());
    if arguments.bands {
        for view in scored.iter().flat_map(|scored| &scored.score.views) {
            record = record.number(view.view.name(), view.value);
            for (index, band) in view.bands.iter().enumerate() {
                record = record.number(&format!("{}_band_{index}", view.view), band.value);
            }
        }
    }
    if arguments.explain {
        let explanation = clip.finding.as_ref().and_then(|finding| finding.explanation.as_ref());
        record = record.nested("explanation", &explanation)?;
    }
    Ok(record)
}

/// The table people read.
pub(super) struct ScoreTable {
    table: Table,
    reasons: Vec<String>,
    counts: [usize; 4],
}

impl ScoreTable {
    pub(super) fn new() -> Self {
        let columns = [
            ("clip", Align::Left),
            ("score", Align::Right),
            ("p-value", Align::Right),
            ("calibrated", Align::Right),
            ("verdict", Align::Left),
            ("differs most", Align::Left),
        ];
        Self { table: Table::new(&columns), reasons: Vec::new(), counts: [0; 4] }
    }

    pub(super) fn add(&mut self, clip: &CheckedClip, explain: bool) {
        let show = |value: Option<f64>, digits: usize| {
            value.map(|value| format!("{value:.digits$}")).unwrap_or_default()
        };
        let scored = clip.finding.as_ref().map(|finding| &finding.scored);
        let explanation = clip.finding.as_ref().and_then(|finding| finding.explanation.as_ref());
        let most = explanation.and_then(|explanation| explanation.bands.first()).map(|band| {
            match band.times_normal {
                Some(times) => format!("{} ({times:.1} x normal)", band.name()),
                None => band.name(),
            }
        });
        self.table.row([
            clip.name(),
            show(scored.map(|scored| scored.score.value), 4),
            show(scored.and_then(|scored| scored.p_value), 3),
            show(scored.and_then(|scored| scored.calibrated), 3),
            printer::verdict(clip.verdict()),
            most.unwrap_or_default(),
        ]);
        let kind = match scored.map(|scored| scored.verdict) {
            Some(Verdict::Normal) => 0,
            Some(Verdict::Anomalous) => 1,
            Some(_) => 2,
            None => 3,
        };
        self.counts[kind] += 1;
        if let (true, Some(explanation)) = (explain, explanation) {
            let (name, summary) = (printer::strong(clip.name()), &explanation.summary);
            self.reasons.push(format!("\n{name}\n{summary}\n"));
            let sentences = explanation.sentences();
            self.reasons.extend(sentences.into_iter().map(|text| format!("  {text}\n")));
        }
    }

    pub(super) fn render(&self, model: &Model) -> String {
        let [normal, anomalous, undecided, unscored] = self.counts;
        if self.counts == [0; 4] {
            return "nothing was scored\n".to_owned();
        }
        let rate = model.settings().promise();
        let mut parts = vec![format!("{anomalous} anomalous, {normal} normal")];
        if undecided > 0 {
            parts.push(format!("{undecided} undecided ({})", missing(model)));
        }
        if unscored > 0 {
            parts.push(format!("{unscored} not scored"));
        }
        let promise = match (undecided, model.keeps_promise()) {
            (0, true) => format!("; at most {rate} of normal clips are called anomalous"),
            (0, false) => format!("; verdicts are provisional: {}", missing(model)),
            _ => String::new(),
        };
        let (table, reasons) = (self.table.render(), self.reasons.concat());
        format!("{table}{reasons}\n{}{promise}\n", parts.join(", "))
    }
}

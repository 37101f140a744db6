//! `auscult score`: recordings in, a score and a verdict for each clip out.

use anyhow::Context;
use auscult_core::{Model, Verdict};

use super::scoring::{CheckedClip, Scoring};
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
    anyhow::ensure!(
        !arguments.columns.quality || format.is_some(),
        "--quality adds columns to --csv and --parquet (JSON always has them); name one of them"
    );
    let output = arguments.format.output.as_deref();
    if let Some(output) = output {
        // Devices and pipes are fine: these results are written as they come.
        files::protect(output, arguments.scoring.inputs())?;
    }
    if let Some(Format::Parquet(path)) = &format {
        files::check_result_target(path, arguments.scoring.inputs())?;
    }
    let mut scoring = Scoring::new(&arguments.scoring)?;
    // The table names the band that differs most, so it needs reasons too.
    scoring.explain = arguments.explain || format.is_none();
    let is_json = matches!(format, Some(Format::Json | Format::JsonLines));
    let start =
        |format: &Format| RecordWriter::new(format, columns(&scoring.model, arguments), output);
    // Old results stay until there are new ones.
    let mut writer: Option<RecordWriter> = None;
    let mut table = ScoreTable::new();
    let mut anomalous = 0;
    let scored = scoring.run(&arguments.scoring.input.paths, printer, |clip| {
        anomalous += usize::from(clip.is_anomalous());
        if let Some(format) = &format {
            let writer = match &mut writer {
                Some(writer) => writer,
                none => none.insert(start(format)?),
            };
            let domain = clip.domain.as_deref();
            let promise = (scoring.standing(domain).is_promised(), scoring.condition(domain));
            let record = record(&clip, &promise, arguments, is_json)?;
            return writer.write(record).context(NOT_WRITTEN);
        }
        table.add(&clip, arguments.explain);
        Ok(())
    })?;
    if let Some(format) = &format {
        let is_file = output.is_some() || matches!(format, Format::Parquet(_));
        let writer = match writer {
            None if is_file => {
                anyhow::bail!("nothing was scored, so no results were written")
            }
            None => start(format)?,
            Some(writer) => writer,
        };
        writer.finish().context(NOT_WRITTEN)?;
        scoring.tell_shortcomings(&scored, printer);
    } else {
        printer.text(&table.render(&scoring.closing_lines(&scored)))?;
    }
    Ok(match scored.complete {
        false => Outcome::Incomplete,
        true if arguments.fail_on_anomaly && anomalous > 0 => Outcome::Anomalous,
        true => Outcome::Done,
    })
}

/// The columns of a score record. Scripts rely on the first six.
fn columns(model: &Model, arguments: &ScoreArguments) -> Vec<String> {
    let mut columns: Vec<String> =
        ["path", "start_seconds", "score", "p_value", "calibrated", "verdict"]
            .map(str::to_owned)
            .to_vec();
    if arguments.columns.bands {
        let beam = model.detector().beam();
        for view in &beam.settings().views {
            columns.push(view.to_string());
            columns
                .extend((0..beam.layout().bands().len()).map(|band| format!("{view}_band_{band}")));
        }
    }
    if arguments.columns.quality {
        columns.extend(QUALITY_COLUMNS.map(str::to_owned));
    }
    columns
}

const QUALITY_COLUMNS: [&str; 11] = [
    "seconds",
    "level_dbfs",
    "peak_dbfs",
    "clipped_share",
    "offset",
    "dropouts",
    "dropout_seconds",
    "mains_hertz",
    "mains_share",
    "bandwidth_hertz",
    "remarks",
];

fn with_quality(record: Record, clip: &CheckedClip) -> Record {
    let quality = clip.quality.as_ref();
    let hum = quality.and_then(|quality| quality.hum);
    let numbers = [
        quality.map(|quality| quality.seconds),
        quality.map(|quality| quality.level_dbfs),
        quality.map(|quality| quality.peak_dbfs),
        quality.map(|quality| quality.clipped_share),
        quality.map(|quality| quality.offset),
        quality.map(|quality| quality.dropouts as f64),
        quality.map(|quality| quality.dropout_seconds),
        hum.map(|hum| hum.mains_hertz),
        hum.map(|hum| hum.share),
        quality.and_then(|quality| quality.bandwidth_hertz),
    ];
    let record = QUALITY_COLUMNS
        .iter()
        .zip(numbers)
        .fold(record, |record, (name, number)| record.number(name, number));
    record.text("remarks", remark_names(clip).join("; "))
}

/// One word or two for each remark on a clip.
pub(super) fn remark_names(clip: &CheckedClip) -> Vec<&'static str> {
    let remarks = clip.remarks.iter().map(|remark| remark.name());
    remarks.chain(clip.copy_of.as_ref().map(|_| "copy")).collect()
}

fn record(
    clip: &CheckedClip,
    promise: &(bool, Option<String>),
    arguments: &ScoreArguments,
    is_json: bool,
) -> anyhow::Result<Record> {
    let scored = clip.finding.as_ref().map(|finding| &finding.scored);
    let mut record = Record::default()
        .text("path", &clip.label)
        .number("start_seconds", clip.start_seconds)
        .number("score", scored.map(|scored| scored.score.value))
        .number("p_value", scored.and_then(|scored| scored.p_value))
        .number("calibrated", scored.and_then(|scored| scored.calibrated))
        .text("verdict", clip.verdict());
    if arguments.columns.bands {
        for view in scored.iter().flat_map(|scored| &scored.score.views) {
            record = record.number(view.view.name(), view.value);
            for (index, band) in view.bands.iter().enumerate() {
                record = record.number(&format!("{}_band_{index}", view.view), band.value);
            }
        }
    }
    if is_json {
        record = record
            .nested("promised", &promise.0)?
            .nested("promised_if", &promise.1)?
            .nested("alarm", &clip.alarm)?
            .nested("domain", &clip.domain)?
            .nested("quality", &clip.quality)?
            .nested("remarks", &remark_names(clip))?
            .nested("copy_of", &clip.copy_of)?;
    } else if arguments.columns.quality {
        record = with_quality(record, clip);
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
        let most = explanation.and_then(|explanation| explanation.bands.first());
        let most = most.filter(|band| band.is_reason()).map(|band| match band.times_normal {
            Some(times) => format!("{} ({times:.1} x normal)", band.name()),
            None => band.name(),
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

    /// The table, the reasons, the counts, and the closing lines.
    pub(super) fn render(&self, closing_lines: &[String]) -> String {
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

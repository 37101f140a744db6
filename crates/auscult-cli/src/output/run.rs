//! Records of clips, for programs.

use std::path::Path;

use auscult::{
    ClipRecord, Machine, RunSummary, ViewScore, alarm::AlarmState, record::RECORD_SCHEMA,
};
use serde::Serialize;

use super::{Format, Record, RecordWriter};
use crate::args::ColumnArguments;

/// Writes the records of a run in a [`Format`], as they come where the form allows it.
pub(crate) struct RunWriter {
    writer: RecordWriter,
    is_json: bool,
    bands: bool,
    quality: bool,
    model_hash: String,
}

/// The columns every record has in CSV and Parquet. Scripts rely on the first six.
const COLUMNS: [&str; 18] = [
    "path",
    "start_seconds",
    "score",
    "p_value",
    "calibrated",
    "verdict",
    "seconds",
    "time",
    "time_origin",
    "domain",
    "promised",
    "alarm",
    "copy_of",
    "differs_most",
    "reason",
    "error",
    "model_hash",
    "heard",
];

/// The same, for others who write clips.
pub(super) fn clip_columns() -> impl Iterator<Item = String> {
    COLUMNS.into_iter().map(str::to_owned)
}

const QUALITY_COLUMNS: [&str; 10] = [
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

impl RunWriter {
    pub(crate) fn new(
        format: &Format,
        machine: &Machine,
        arguments: &ColumnArguments,
        output: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let is_json = matches!(format, Format::Json | Format::JsonLines);
        let mut columns = COLUMNS.map(str::to_owned).to_vec();
        if arguments.bands {
            columns.extend(band_columns(machine));
        }
        if arguments.quality {
            columns.extend(QUALITY_COLUMNS.map(str::to_owned));
        }
        Ok(Self {
            writer: RecordWriter::new(format, columns, output)?,
            is_json,
            bands: arguments.bands,
            quality: arguments.quality,
            model_hash: machine.hash().to_string(),
        })
    }

    pub(crate) fn write(&mut self, clip: ClipRecord) -> anyhow::Result<()> {
        let mut record = if self.is_json { Record::default() } else { row(&clip) };
        if self.bands {
            let views = clip.scored.iter().flat_map(|scored| &scored.score.views);
            record = views.fold(record, with_bands);
        }
        if self.quality && !self.is_json {
            record = with_quality(record, &clip);
        }
        self.writer.write(if self.is_json { record.with_clip(clip) } else { record })
    }

    /// Ends the results; JSON says what the run came to.
    pub(crate) fn finish(self, summary: &RunSummary) -> anyhow::Result<()> {
        let program = format!("auscult {}", env!("CARGO_PKG_VERSION"));
        let run = summary.facts(&self.model_hash, &program);
        self.writer.finish_with(|clips: Vec<Record>| Document { schema: RECORD_SCHEMA, clips, run })
    }
}

/// The JSON form of a run.
#[derive(Serialize)]
struct Document {
    schema: u32,
    clips: Vec<Record>,
    run: serde_json::Value,
}

fn band_columns(machine: &Machine) -> Vec<String> {
    let beam = machine.model().detector().beam();
    let bands = beam.layout().bands().len();
    let of_view = |view: &auscult::View| {
        let bands = (0..bands).map(move |band| format!("{view}_band_{band}"));
        std::iter::once(view.to_string()).chain(bands).collect::<Vec<_>>()
    };
    beam.settings().views.iter().flat_map(of_view).collect()
}

fn with_bands(record: Record, view: &ViewScore) -> Record {
    let record = record.number(view.view.name(), view.value);
    view.bands.iter().enumerate().fold(record, |record, (index, band)| {
        record.number(&format!("{}_band_{index}", view.view), band.value)
    })
}

/// A row of CSV and Parquet: text and numbers only.
fn row(clip: &ClipRecord) -> Record {
    let time = clip.time.as_ref();
    Record::default()
        .text("path", clip.path())
        .number("start_seconds", clip.start_seconds())
        .number("score", clip.score())
        .number("p_value", clip.p_value())
        .number("calibrated", clip.calibrated())
        .text("verdict", clip.verdict().name())
        .number("seconds", clip.seconds)
        .text("time", time.map(|time| time.utc.clone()).unwrap_or_default())
        .text("time_origin", time.map(|time| time.origin.name()).unwrap_or_default())
        .text("domain", clip.domain.clone().unwrap_or_default())
        .text("promised", clip.promise.is_promised.to_string())
        .text("alarm", clip.alarm.map(AlarmState::name).unwrap_or_default())
        .text("copy_of", clip.copy_of.clone().unwrap_or_default())
        .text("differs_most", clip.differs_most.clone().unwrap_or_default())
        .text("reason", clip.reason())
        .text("error", clip.error.clone().unwrap_or_default())
        .text("model_hash", &*clip.model_hash)
        .text("heard", clip.heard.clone())
}

fn with_quality(record: Record, clip: &ClipRecord) -> Record {
    let quality = clip.quality.as_ref();
    let hum = quality.and_then(|quality| quality.hum);
    let numbers = [
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
    record.text("remarks", clip.remark_names().join("; "))
}

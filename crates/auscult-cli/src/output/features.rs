//! Feature vectors, for other tools.

use super::{Array, Cells, Format, Record, RecordWriter, write_npy, write_npz};
use crate::args::{FeatureView, FeaturesArguments};

/// The rows of all clips, one after the other.
#[derive(Debug)]
pub(crate) struct FeatureRows {
    axis_len: usize,
    labels: Vec<String>,
    start_seconds: Vec<f32>,
    values: Vec<f32>,
}

impl FeatureRows {
    pub(crate) fn new(axis_len: usize) -> Self {
        Self { axis_len, labels: Vec::new(), start_seconds: Vec::new(), values: Vec::new() }
    }

    pub(crate) fn push(&mut self, label: String, start_seconds: f64, values: &[f32]) {
        self.labels.push(label);
        self.start_seconds.push(start_seconds as f32);
        self.values.extend_from_slice(values);
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    fn frames(&self) -> usize {
        self.values.len() / self.axis_len / self.len().max(1)
    }
}

/// Writes the rows where the options say.
pub(crate) fn write_features(
    rows: &FeatureRows,
    arguments: &FeaturesArguments,
) -> anyhow::Result<()> {
    let (clips, axis_len) = (rows.len(), rows.axis_len);
    let shape = match arguments.view {
        FeatureView::Frames => vec![clips, rows.frames(), axis_len],
        FeatureView::Mean | FeatureView::Max => vec![clips, axis_len],
    };
    let features = Array { shape, values: &rows.values };
    if let Some(path) = &arguments.npy {
        return write_npy(path, &features);
    }
    if let Some(path) = &arguments.npz {
        let start_seconds = Array { shape: vec![clips], values: &rows.start_seconds };
        let arrays = [("features", features), ("start_seconds", start_seconds)];
        return write_npz(path, &arrays, ("paths", &rows.labels));
    }
    write_csv(rows)
}

fn write_csv(rows: &FeatureRows) -> anyhow::Result<()> {
    let mut columns = vec!["path".to_owned(), "start_seconds".to_owned(), "frame".to_owned()];
    columns.extend((0..rows.axis_len).map(|position| format!("f{position}")));
    let mut writer = RecordWriter::new(&Format::Csv(Cells::AsTheyAre), columns, None)?;
    let frames = rows.frames().max(1);
    for (index, values) in rows.values.chunks_exact(rows.axis_len).enumerate() {
        let clip = index / frames;
        let mut record = Record::default()
            .text("path", &rows.labels[clip])
            .number("start_seconds", f64::from(rows.start_seconds[clip]))
            .number("frame", (index % frames) as f64);
        for (position, &value) in values.iter().enumerate() {
            record = record.number(&format!("f{position}"), f64::from(value));
        }
        writer.write(record)?;
    }
    writer.finish()
}

//! `auscult features`: recordings in, vectors for other tools out.

use std::path::Path;

use auscult_audio::Extent;
use auscult_core::{ClipCondition, features::FORM_SEPARATOR};

use super::fit;
use crate::{
    Outcome,
    args::{FeatureView, FeaturesArguments},
    files,
    output::{Array, Format, Record, RecordWriter, write_npy, write_npz},
    printer::{Printer, count},
    reading::{self, clip_name},
};

/// The rows of all clips, one after the other.
#[derive(Default)]
struct Rows {
    labels: Vec<String>,
    start_seconds: Vec<f32>,
    values: Vec<f32>,
}

pub(crate) fn run(arguments: &FeaturesArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        arguments.npy.is_some() || arguments.npz.is_some() || arguments.csv,
        "say where features go: --npy FILE, --npz FILE or --csv"
    );
    for target in arguments.npy.iter().chain(&arguments.npz) {
        files::check_result_target(target, &arguments.input.paths)?;
    }
    anyhow::ensure!(
        !arguments.front_end.front_end.contains(FORM_SEPARATOR),
        "{}: @raw and @ldn say how scores are made, not vectors; leave them out",
        arguments.front_end.front_end
    );
    let (clip, front_end) = fit::front_end(&arguments.front_end)?;
    let axis_len = front_end.axis().len();
    let reading = fit::reading(&arguments.input, &arguments.front_end.channel, clip, front_end)?;
    let (sources, missing) = reading::expand(&arguments.input.paths, None, None, printer)?;
    let mut problems = missing.len();
    let mut rows = Rows::default();
    let read_all = reading::read_all(
        sources,
        &reading,
        printer,
        |worker, _, clip, condition| -> anyhow::Result<Vec<f32>> {
            let mut values = Vec::new();
            // Front ends may swallow a NaN; what is left would look like sound.
            anyhow::ensure!(!matches!(condition, ClipCondition::NotFinite { .. }), "{condition}");
            match arguments.view {
                FeatureView::Frames => {
                    worker.extractor.for_each_frame(&clip.samples, &mut |frame| {
                        values.extend_from_slice(frame);
                    })?;
                }
                FeatureView::Mean | FeatureView::Max => {
                    worker.extractor.extract_into(&clip.samples, &mut worker.vectors)?;
                    // A front end without frames has one vector for both views.
                    let wanted = usize::from(arguments.view == FeatureView::Max);
                    let views: Vec<&[f32]> =
                        worker.vectors.views().map(|(_, vector)| vector).collect();
                    values.extend_from_slice(views[wanted.min(views.len() - 1)]);
                }
            }
            Ok(values)
        },
        |file| {
            for clip in file.clips {
                match clip.result {
                    // The problem below says what happened to the rest of the file.
                    _ if clip.extent == Extent::CutByDamage => {}
                    Ok(values) => {
                        rows.labels.push(file.source.label.clone());
                        rows.start_seconds.push(clip.start_seconds as f32);
                        rows.values.extend(values);
                    }
                    Err(error) => {
                        problems += 1;
                        let name = clip_name(&file.source.label, clip.start_seconds);
                        printer.problem(format!("no features of {name}: {error}"));
                    }
                }
            }
            if let Some(problem) = file.problem {
                problems += 1;
                printer.problem(problem);
            }
            Ok(())
        },
    )?;
    let is_file = arguments.npy.is_some() || arguments.npz.is_some();
    anyhow::ensure!(
        !(is_file && rows.labels.is_empty()),
        "no clip had features, so nothing was written"
    );
    write(&rows, axis_len, arguments)?;
    printer.note(format!("{} of {axis_len} positions", count(rows.labels.len(), "clip")));
    let complete = read_all && problems == 0;
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
}

fn write(rows: &Rows, axis_len: usize, arguments: &FeaturesArguments) -> anyhow::Result<()> {
    let clips = rows.labels.len();
    let frames = rows.values.len() / axis_len / clips.max(1);
    let shape = match arguments.view {
        FeatureView::Frames => vec![clips, frames, axis_len],
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
    write_csv(rows, axis_len, frames.max(1), None)
}

fn write_csv(
    rows: &Rows,
    axis_len: usize,
    frames: usize,
    output: Option<&Path>,
) -> anyhow::Result<()> {
    let mut columns = vec!["path".to_owned(), "start_seconds".to_owned(), "frame".to_owned()];
    columns.extend((0..axis_len).map(|position| format!("f{position}")));
    let mut writer = RecordWriter::new(&Format::Csv, columns, output)?;
    for (index, values) in rows.values.chunks_exact(axis_len).enumerate() {
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

//! `auscult report`: one page that explains a machine, from a model and recordings.

use std::path::Path;

use auscult_audio::{ClipReader, Location};
use auscult_report::{MOST_DETAILS, ReportClip, ReportInput, ReportSound};

use super::scoring::{CheckedClip, Scored, Scoring};
use crate::{
    Outcome,
    args::ReportArguments,
    files,
    printer::{Printer, count},
};

pub(crate) fn run(arguments: &ReportArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let json_file = arguments.json.as_deref().filter(|path| *path != Path::new("-"));
    for path in arguments.output.as_deref().into_iter().chain(json_file) {
        files::check_result_target(path, arguments.scoring.inputs())?;
    }
    let is_same = |json: &Path| arguments.output.as_deref() == Some(json);
    anyhow::ensure!(
        !json_file.is_some_and(is_same),
        "--output and --json name the same file; give two"
    );
    let mut scoring = Scoring::new(&arguments.scoring)?;
    scoring.explain = true;
    let mut clips = Vec::new();
    let scored = scoring.run(&arguments.scoring.input.paths, printer, |clip| {
        clips.push(clip);
        Ok(())
    })?;
    anyhow::ensure!(!clips.is_empty(), "nothing was scored, so no report was written");
    let stem = arguments.scoring.model.file_stem().unwrap_or_default().to_string_lossy();
    let title = arguments.title.as_deref().unwrap_or(&stem);
    let anomalous = clips.iter().filter(|clip| clip.is_anomalous()).count();
    let told = format!("{}, {anomalous} anomalous", count(clips.len(), "clip"));
    let report = Report::new(title, &scoring, &scored, clips, |_| None);
    if let Some(path) = &arguments.output {
        report.write_page(path)?;
        printer.note(format!("{}: {told}", path.display()));
    }
    match (&arguments.json, json_file) {
        (_, Some(path)) => {
            auscult_files::write_atomically(path, report.json()?.as_bytes())?;
            printer.note(format!("{}: {told}", path.display()));
        }
        (Some(_), None) => printer.line(report.json()?)?,
        (None, None) => {}
    }
    scoring.tell_shortcomings(&scored, printer);
    Ok(if scored.complete { Outcome::Done } else { Outcome::Incomplete })
}

/// Checked clips, with the sound of those that matter.
pub(super) struct Report<'a> {
    title: &'a str,
    scoring: &'a Scoring,
    clips: Vec<ReportClip>,
    notes: Vec<String>,
}

impl<'a> Report<'a> {
    /// Reads the sound of the furthest clips again, so that memory never holds that of all.
    /// `truth` says what a clip really is, where that is known.
    pub(super) fn new(
        title: &'a str,
        scoring: &'a Scoring,
        scored: &Scored,
        clips: Vec<CheckedClip>,
        truth: impl Fn(&CheckedClip) -> Option<String>,
    ) -> Self {
        let listed = furthest(&clips);
        let mut notes = scoring.notes(scored);
        let clips = clips
            .into_iter()
            .enumerate()
            .map(|(index, clip)| {
                let truth = truth(&clip);
                let sound = listed.contains(&index).then(|| sound(&clip, scoring));
                let sound = sound.and_then(|sound| {
                    sound.map_err(|why| notes.push(format!("{}: {why}", clip.name()))).ok()
                });
                report_clip(clip, truth, sound)
            })
            .collect();
        Self { title, scoring, clips, notes }
    }

    fn input(&self) -> ReportInput<'_> {
        ReportInput {
            title: self.title,
            model: &self.scoring.model,
            axis: self.scoring.reading.front_end.axis(),
            clips: &self.clips,
            program_version: env!("CARGO_PKG_VERSION"),
            notes: &self.notes,
        }
    }

    /// Renders the page and writes it whole.
    pub(super) fn write_page(&self, path: &Path) -> anyhow::Result<()> {
        let page = auscult_report::render(&self.input());
        Ok(auscult_files::write_atomically(path, page.as_bytes())?)
    }

    fn json(&self) -> anyhow::Result<String> {
        Ok(auscult_report::to_json(&self.input())?)
    }
}

/// Indices of the anomalous clips with the highest scores, as many as a report shows in detail.
fn furthest(clips: &[CheckedClip]) -> Vec<usize> {
    let score = |index: &usize| clips[*index].score().unwrap_or(f64::NEG_INFINITY);
    let mut anomalous: Vec<usize> =
        (0..clips.len()).filter(|&index| clips[index].is_anomalous()).collect();
    anomalous.sort_by(|a, b| score(b).total_cmp(&score(a)));
    anomalous.truncate(MOST_DETAILS);
    anomalous
}

fn report_clip(clip: CheckedClip, truth: Option<String>, sound: Option<ReportSound>) -> ReportClip {
    let (scored, explanation) =
        clip.finding.map(|finding| (finding.scored, finding.explanation)).unzip();
    ReportClip {
        quality: clip.quality,
        remarks: clip.remarks,
        copy_of: clip.copy_of,
        domain: clip.domain,
        alarm: clip.alarm,
        scored,
        explanation: explanation.flatten(),
        truth,
        sound,
        ..ReportClip::of(clip.label, clip.start_seconds, clip.condition)
    }
}

/// The sound of a clip and of the reference closest to it, or why it cannot be heard.
fn sound(clip: &CheckedClip, scoring: &Scoring) -> Result<ReportSound, String> {
    if clip.location.is_live() {
        return Err(
            "standard input cannot be read twice, so it is not seen or heard here".to_owned()
        );
    }
    let samples = samples_at(&clip.location, clip.start_seconds, scoring)
        .ok_or("the recording is no longer there, so it is not seen or heard here")?;
    let explanation = clip.finding.as_ref().and_then(|finding| finding.explanation.as_ref());
    let nearest = explanation
        .and_then(|explanation| explanation.bands.first())
        .and_then(|band| band.reference.as_ref());
    Ok(ReportSound {
        sample_rate: scoring.reading.length.sample_rate(),
        samples,
        nearest: nearest.and_then(|reference| {
            let location = Location::File(reference.source.clone().into());
            samples_at(&location, reference.start_seconds, scoring)
        }),
        nearest_label: nearest.map(|reference| reference.source.clone()),
    })
}

/// The clip that starts there, if the file is still where it was.
fn samples_at(location: &Location, start_seconds: f64, scoring: &Scoring) -> Option<Vec<f32>> {
    let mut clips = ClipReader::open(location, scoring.reading.settings()).ok()?;
    let wanted = clips
        .find(|clip| clip.as_ref().is_ok_and(|clip| clip.start_seconds >= start_seconds - 1e-3));
    Some(wanted?.ok()?.samples)
}

//! Writes the HTML report of checked clips.

use std::path::Path;

use auscult_audio::{ClipReader, Location};
use auscult_core::Provenance;
use auscult_report::{MOST_DETAILS, ReportClip, ReportInput, ReportSound};

use super::scoring::{CheckedClip, Scoring};

/// Renders the report and writes it whole.
pub(super) fn write(
    path: &Path,
    title: &str,
    scoring: &Scoring,
    clips: Vec<CheckedClip>,
    truth: impl Fn(&CheckedClip) -> Option<String>,
) -> anyhow::Result<()> {
    let listed = furthest(&clips);
    let clips: Vec<ReportClip> = clips
        .into_iter()
        .enumerate()
        .map(|(index, clip)| {
            let truth = truth(&clip);
            report_clip(clip, truth, listed.contains(&index), scoring)
        })
        .collect();
    let page = auscult_report::render(&ReportInput {
        title,
        model: &scoring.model,
        axis: scoring.reading.front_end.axis(),
        clips: &clips,
        program_version: env!("CARGO_PKG_VERSION"),
        notes: &[],
    });
    Ok(auscult_store::write_atomically(path, page.as_bytes())?)
}

/// Indices of the anomalous clips with the highest scores, as many as a report shows in detail.
fn furthest(clips: &[CheckedClip]) -> Vec<usize> {
    let score = |index: &usize| {
        clips[*index]
            .finding
            .as_ref()
            .map_or(f64::NEG_INFINITY, |finding| finding.scored.score.value)
    };
    let mut anomalous: Vec<usize> =
        (0..clips.len()).filter(|&index| clips[index].is_anomalous()).collect();
    anomalous.sort_by(|a, b| score(b).total_cmp(&score(a)));
    anomalous.truncate(MOST_DETAILS);
    anomalous
}

fn report_clip(
    clip: CheckedClip,
    truth: Option<String>,
    with_sound: bool,
    scoring: &Scoring,
) -> ReportClip {
    let CheckedClip { label, start_seconds, condition, finding, samples } = clip;
    let (scored, explanation) =
        finding.map(|finding| (finding.scored, finding.explanation)).unzip();
    let explanation = explanation.flatten();
    let nearest = explanation.as_ref().and_then(|explanation| explanation.bands.first());
    let sound = samples.filter(|_| with_sound).map(|samples| ReportSound {
        sample_rate: scoring.reading.length.sample_rate(),
        samples,
        nearest: nearest.and_then(|band| sound_of(&band.reference, scoring)),
        nearest_label: nearest.map(|band| band.reference.source.clone()),
    });
    ReportClip { label, start_seconds, condition, scored, explanation, truth, sound }
}

/// The sound of a reference, if its file is still where it was.
fn sound_of(reference: &Provenance, scoring: &Scoring) -> Option<Vec<f32>> {
    let location = Location::File(reference.source.clone().into());
    let mut clips = ClipReader::open(&location, scoring.reading.settings()).ok()?;
    let wanted = clips.find(|clip| {
        clip.as_ref().is_ok_and(|clip| clip.start_seconds >= reference.start_seconds - 1e-3)
    });
    Some(wanted?.ok()?.samples)
}

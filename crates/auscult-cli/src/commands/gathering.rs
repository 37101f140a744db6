//! Normal recordings become references; what was skipped is told.

use std::collections::BTreeMap;

use auscult_audio::{Extent, Source};
use auscult_core::{ClipQuality, ClipVectors, Provenance, References, memory, quality::Remark};
use serde::Serialize;

use crate::{
    printer::{Printer, count},
    quality::{QualitySummary, QualityTally},
    reading::{self, FileOutcome, Reading, clip_name},
};

/// References and what was left out.
pub(super) struct Gathered {
    pub(super) references: References,
    pub(super) counts: Counts,
    pub(super) quality: Option<QualitySummary>,
    /// False if a stop was asked for.
    pub(super) read_all: bool,
}

/// How many clips came of it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Counts {
    pub(super) files: usize,
    pub(super) clips: usize,
    pub(super) skipped: usize,
    pub(super) copies: usize,
}

/// Reads normal recordings into references, telling what was skipped and why.
///
/// Exact copies of another reference are left out: a copy would be its own nearest neighbour, and
/// local density normalisation would divide by nothing.
pub(super) fn gather(
    sources: Vec<Source>,
    reading: &Reading,
    known: Option<&References>,
    printer: &Printer,
) -> anyhow::Result<Gathered> {
    let (front_end, clip_seconds) =
        (&reading.front_end, reading.settings().settings().clip_seconds);
    let mut references = References::new(front_end.views(), front_end.axis().len());
    let (mut counts, mut quality) = (Counts::default(), QualityTally::default());
    let mut seen: BTreeMap<String, String> = known
        .map(|known| {
            known.provenance().iter().map(|from| (from.digest.clone(), from.source.clone()))
        })
        .into_iter()
        .flatten()
        .collect();
    let read_all = reading::read_all(
        sources,
        reading,
        printer,
        |worker, _, clip, condition| {
            if !condition.is_usable() || clip.extent == Extent::CutByDamage {
                return Err(condition.to_string());
            }
            let extracted = worker.extractor.extract_into(&clip.samples, &mut worker.vectors);
            extracted.map_err(|error| error.to_string())?;
            let quality = worker.meter.measure(&clip.samples);
            Ok((worker.vectors.clone(), memory::digest(&clip.samples), quality))
        },
        |file| {
            remember(
                file,
                clip_seconds,
                &mut references,
                &mut seen,
                &mut counts,
                &mut quality,
                printer,
            )
        },
    )?;
    if references.is_empty() && read_all {
        let files = count(counts.files, "file");
        anyhow::ensure!(
            known.is_some() && counts.copies > 0,
            "no usable clip in {files}: nothing to learn from; record the machine while it runs"
        );
    }
    Ok(Gathered { references, counts, quality: quality.summary(), read_all })
}

/// More copies than these are only counted.
const MOST_COPIES_TOLD: usize = 10;

type Extracted = Result<(ClipVectors, String, Option<ClipQuality>), String>;

fn remember(
    file: FileOutcome<Extracted>,
    clip_seconds: f64,
    references: &mut References,
    seen: &mut BTreeMap<String, String>,
    counts: &mut Counts,
    tally: &mut QualityTally,
    printer: &Printer,
) -> anyhow::Result<()> {
    counts.files += usize::from(!file.goes_on);
    let label = &file.source.label;
    for clip in file.clips {
        let name = clip_name(label, clip.start_seconds);
        match clip.result {
            // The problem below says what happened to the rest of the file.
            Err(_) if clip.extent == Extent::CutByDamage => {}
            Err(reason) => {
                counts.skipped += 1;
                printer.problem(format!("skipped {name}: {reason}"));
            }
            Ok((_, digest, _)) if seen.contains_key(&digest) => {
                counts.copies += 1;
                if counts.copies > MOST_COPIES_TOLD {
                    continue;
                }
                printer.note(match &seen[&digest] {
                    first if *first == name => format!("left out {name}: it is there already"),
                    first => format!("left out {name}: it is the same sound as {first}"),
                });
            }
            Ok((vectors, digest, quality)) => {
                let remarks: Vec<Remark> = quality
                    .iter()
                    .flat_map(|it| it.shortness(clip_seconds).into_iter().chain(it.remarks()))
                    .collect();
                let level_dbfs = quality.map(|quality| quality.level_dbfs);
                tally.add(&name, level_dbfs, &remarks, None, printer);
                seen.insert(digest.clone(), name);
                counts.clips += 1;
                let provenance = Provenance {
                    source: label.clone(),
                    start_seconds: clip.start_seconds,
                    visit: file.source.visit.clone(),
                    domain: file.source.domain.clone(),
                    digest,
                    level_dbfs,
                };
                references.push(&vectors, provenance)?;
            }
        }
    }
    if let Some(problem) = file.problem {
        counts.skipped += 1;
        printer.problem(format!("skipped {problem}"));
    }
    Ok(())
}

//! Normal clips with their samples: a bounded number, spread evenly over the visits.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use auscult_audio::{Extent, Source};
use auscult_core::{Control, Event, FrontEndSettings, Provenance, memory, record::clip_name};

use super::NormalClip;
use crate::{
    Error, Reading, Result,
    reading::{JudgedClip, Piece, ReadAll, Threads, Worker},
};

/// The clips of a study.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) clips: Vec<NormalClip>,
    /// Usable clips there were, without copies.
    pub(super) found: usize,
    /// Files and clips that could not be used.
    pub(super) skipped: usize,
}

/// A usable clip that has been read but not kept.
struct Candidate {
    source: Arc<Source>,
    digest: String,
}

/// Reads at most `most` clips.
///
/// Files are read twice: once to know which clips there are, once to keep the chosen ones, so that memory holds no more
/// than those.
pub(super) fn gather(
    sources: Vec<Source>,
    reading: &Reading,
    most: usize,
    control: &Control,
) -> Result<Gathered> {
    let (found, skipped) = survey(sources, reading, control)?;
    let chosen = choose(&found, most);
    let digests: BTreeSet<String> =
        chosen.iter().map(|&index| found[index].digest.clone()).collect();
    let mut sources: Vec<Source> =
        chosen.iter().map(|&index| (*found[index].source).clone()).collect();
    sources.dedup();
    let mut left = digests.clone();
    let work = move |_: &mut Worker, _: &Source, clip: &JudgedClip| {
        let digest = memory::digest(&clip.samples);
        digests.contains(&digest).then(|| (clip.samples.clone(), digest))
    };
    let mut clips = Vec::with_capacity(chosen.len());
    let mut pieces = read_all(sources, reading, control, work)?;
    for piece in pieces.by_ref() {
        let Piece::Clip(clip) = piece else { continue };
        let Some((samples, digest)) = clip.result else { continue };
        // A copy of a clip comes once.
        if left.remove(&digest) {
            let from = Provenance {
                start_seconds: clip.start_seconds,
                visit: clip.source.visit.clone(),
                domain: clip.source.domain.clone(),
                digest,
                ..Provenance::of(clip.source.label.clone())
            };
            clips.push(NormalClip { samples, from });
        }
    }
    if pieces.is_cancelled() {
        return Err(Error::Cancelled);
    }
    Ok(Gathered { clips, found: found.len(), skipped })
}

/// Every usable clip once, and how many files and clips were not usable.
fn survey(
    sources: Vec<Source>,
    reading: &Reading,
    control: &Control,
) -> Result<(Vec<Candidate>, usize)> {
    let (mut found, mut seen, mut skipped, mut files) = (Vec::new(), BTreeSet::new(), 0, 0);
    let rules = reading.rules();
    let work = move |_: &mut Worker, _: &Source, clip: &JudgedClip| {
        let is_usable = rules.learns_from(clip.condition, clip.extent);
        is_usable.then(|| memory::digest(&clip.samples))
    };
    let mut pieces = read_all(sources, reading, control, work)?;
    for piece in pieces.by_ref() {
        match piece {
            Piece::Clip(clip) => match clip.result {
                Some(digest) if seen.insert(digest.clone()) => {
                    found.push(Candidate { source: clip.source, digest });
                }
                Some(_) => {}
                // How the recording ended says what happened.
                None if clip.extent == Extent::CutByDamage => {}
                None => {
                    skipped += 1;
                    let name = clip_name(&clip.source.label, clip.start_seconds);
                    let condition = clip.condition;
                    control.report(Event::Problem(&format!("skipped {name}: {condition}")));
                }
            },
            Piece::End(end) => {
                files += 1;
                if let Some(problem) = end.problem {
                    skipped += 1;
                    control.report(Event::Problem(&format!("skipped {problem}")));
                }
            }
        }
    }
    if pieces.is_cancelled() {
        return Err(Error::Cancelled);
    }
    if found.is_empty() {
        return Err(Error::NothingToLearn { files });
    }
    Ok((found, skipped))
}

fn read_all<'a, T: Send + 'a>(
    sources: Vec<Source>,
    reading: &Reading,
    control: &Control,
    work: impl Fn(&mut Worker, &Source, &JudgedClip) -> T + Send + Sync + 'a,
) -> Result<ReadAll<'a, T>> {
    // Nothing is computed yet; any front end will do.
    let front_end = FrontEndSettings::default().build(reading.length())?;
    let threads = Arc::new(Threads::default());
    Ok(reading.read_all(&front_end, sources, &threads, control, work))
}

/// Indices of at most `most` clips, ascending: as many of each visit as possible, evenly spaced.
fn choose(found: &[Candidate], most: usize) -> Vec<usize> {
    let mut visits: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (index, clip) in found.iter().enumerate() {
        visits.entry(clip.source.visit.as_deref()).or_default().push(index);
    }
    let mut visits: Vec<Vec<usize>> = visits.into_values().collect();
    // What a short visit leaves goes to the longer ones.
    visits.sort_by_key(Vec::len);
    let (count, mut left) = (visits.len(), most);
    let mut chosen = Vec::new();
    for (done, visit) in visits.iter().enumerate() {
        let quota = visit.len().min(left / (count - done));
        left -= quota;
        chosen.extend((0..quota).map(|index| visit[index * visit.len() / quota]));
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use auscult_audio::Location;

    use super::*;

    fn found(visits: &[(&str, usize)]) -> Vec<Candidate> {
        let clip = |visit: &str| {
            let mut source = Source::new(Location::StandardInput);
            source.visit = Some(visit.to_owned());
            Candidate { source: Arc::new(source), digest: String::new() }
        };
        visits.iter().flat_map(|&(visit, count)| (0..count).map(move |_| clip(visit))).collect()
    }

    #[test]
    fn visits_share_the_places_and_short_ones_leave_theirs() {
        assert_eq!(choose(&found(&[("a", 8), ("b", 8)]), 4), [0, 4, 8, 12]);
        assert_eq!(choose(&found(&[("a", 8), ("b", 1)]), 5), [0, 2, 4, 6, 8]);
        assert_eq!(choose(&found(&[("a", 2), ("b", 1)]), 9), [0, 1, 2]);
    }
}

//! A bounded number of clips with their samples, spread evenly over the visits.

use std::collections::{BTreeMap, BTreeSet};

use auscult::tuning::NormalClip;
use auscult_audio::{Extent, Source};
use auscult_core::{Provenance, memory};

use crate::{
    printer::{Printer, count},
    reading::{self, Reading, clip_name},
};

/// The clips taken.
pub(super) struct Taken {
    pub(super) clips: Vec<NormalClip>,
    /// Usable clips there were, without copies.
    pub(super) found: usize,
    /// Files and clips that could not be used.
    pub(super) skipped: usize,
}

/// A usable clip that has been heard but not kept.
struct Heard {
    source: Source,
    digest: String,
}

/// Reads at most `most` clips; `None` if a stop was asked for.
///
/// Files are read twice: once to know which clips there are, once to keep the chosen ones, so
/// that memory holds no more than those.
pub(super) fn take(
    sources: Vec<Source>,
    reading: &Reading,
    most: usize,
    printer: &Printer,
) -> anyhow::Result<Option<Taken>> {
    let Some((heard, skipped)) = listen(sources, reading, printer)? else { return Ok(None) };
    let chosen = choose(&heard, most);
    let digests: BTreeSet<&str> =
        chosen.iter().map(|&index| heard[index].digest.as_str()).collect();
    let mut sources: Vec<Source> =
        chosen.iter().map(|&index| heard[index].source.clone()).collect();
    sources.dedup();
    let mut left = digests.clone();
    let mut clips = Vec::with_capacity(chosen.len());
    let read_all = reading::read_all(
        sources,
        reading,
        printer,
        |_, _, clip, _| {
            let digest = memory::digest(&clip.samples);
            digests.contains(digest.as_str()).then(|| (clip.samples.clone(), digest))
        },
        |file| {
            for clip in file.clips {
                let Some((samples, digest)) = clip.result else { continue };
                // A copy of a clip comes once.
                if left.remove(digest.as_str()) {
                    let from = Provenance {
                        start_seconds: clip.start_seconds,
                        visit: file.source.visit.clone(),
                        domain: file.source.domain.clone(),
                        digest,
                        ..Provenance::of(file.source.label.clone())
                    };
                    clips.push(NormalClip { samples, from });
                }
            }
            Ok(())
        },
    )?;
    Ok(read_all.then_some(Taken { clips, found: heard.len(), skipped }))
}

/// Every usable clip once, and how many files and clips were not usable.
fn listen(
    sources: Vec<Source>,
    reading: &Reading,
    printer: &Printer,
) -> anyhow::Result<Option<(Vec<Heard>, usize)>> {
    let (mut heard, mut seen, mut skipped) = (Vec::new(), BTreeSet::new(), 0);
    let read_all = reading::read_all(
        sources,
        reading,
        printer,
        |_, _, clip, condition| {
            if condition.is_usable() && clip.extent != Extent::CutByDamage {
                Ok(memory::digest(&clip.samples))
            } else {
                Err(condition.to_string())
            }
        },
        |file| {
            for clip in file.clips {
                match clip.result {
                    Ok(digest) if seen.insert(digest.clone()) => {
                        heard.push(Heard { source: file.source.clone(), digest });
                    }
                    Ok(_) => {}
                    Err(_) if clip.extent == Extent::CutByDamage => {}
                    Err(reason) => {
                        skipped += 1;
                        let name = clip_name(&file.source.label, clip.start_seconds);
                        printer.problem(format!("skipped {name}: {reason}"));
                    }
                }
            }
            if let Some(problem) = file.problem {
                skipped += 1;
                printer.problem(format!("skipped {problem}"));
            }
            Ok(())
        },
    )?;
    anyhow::ensure!(
        !heard.is_empty() || !read_all,
        "no usable clip in what was read ({} skipped); record the machine while it runs",
        count(skipped, "file or clip")
    );
    Ok(read_all.then_some((heard, skipped)))
}

/// Indices of at most `most` clips, ascending: as many of each visit as possible, evenly spaced.
fn choose(heard: &[Heard], most: usize) -> Vec<usize> {
    let mut visits: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (index, clip) in heard.iter().enumerate() {
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

    fn heard(visits: &[(&str, usize)]) -> Vec<Heard> {
        let clip = |visit: &str| {
            let mut source = Source::new(Location::StandardInput);
            source.visit = Some(visit.to_owned());
            Heard { source, digest: String::new() }
        };
        visits.iter().flat_map(|&(visit, count)| (0..count).map(move |_| clip(visit))).collect()
    }

    #[test]
    fn visits_share_the_places_and_short_ones_leave_theirs() {
        assert_eq!(choose(&heard(&[("a", 8), ("b", 8)]), 4), [0, 4, 8, 12]);
        assert_eq!(choose(&heard(&[("a", 8), ("b", 1)]), 5), [0, 2, 4, 6, 8]);
        assert_eq!(choose(&heard(&[("a", 2), ("b", 1)]), 9), [0, 1, 2]);
    }
}

//! Whether a score is that of a whole published set.

use super::SectionResult;
use crate::{
    datasets::{DatasetKind, Set, Year},
    words::got_of,
};

/// Identities of MIMII at one signal-to-noise ratio: four machines of four.
const MIMII_IDS: usize = 16;

/// What of a published set is not there, so that its score is not that of the set; `None` if all
/// that is known is there. A folder is as whole as it is.
pub(super) fn partial(
    dataset: DatasetKind,
    set: &str,
    sections: &[&SectionResult],
) -> Option<String> {
    match dataset {
        DatasetKind::Dcase(year) => {
            let Some(part) = Set::ALL.into_iter().find(|part| part.name() == set) else {
                return Some(format!(
                    "machines that {dataset} does not have: not its official score"
                ));
            };
            let found = of_year(year, part, sections)?;
            Some(format!("{found}: not the official score of the set"))
        }
        DatasetKind::Mimii if sections.len() != MIMII_IDS => {
            let count = sections.len();
            Some(format!("{count} of {MIMII_IDS} machine ids: not the score of the whole set"))
        }
        DatasetKind::Mimii | DatasetKind::Folder => None,
    }
}

/// `1 of 7 machines, 20 of 200 test clips`; clips are those of the sections that are there.
fn of_year(year: Year, part: Set, sections: &[&SectionResult]) -> Option<String> {
    let mut wanted = 0;
    let (mut there, mut clips, mut known_clips) = (0, 0, Some(0));
    for &machine in year.machines(part) {
        let test = year.known(part, machine).and_then(|known| known.test);
        for &section in year.sections(part, machine) {
            wanted += 1;
            let is_it = |found: &&&SectionResult| {
                found.machine == machine && found.section == section && !found.clips.is_empty()
            };
            let Some(found) = sections.iter().find(is_it) else { continue };
            there += 1;
            clips += found.clips.len();
            known_clips = known_clips.zip(test).map(|(sum, test)| sum + test.iter().sum::<usize>());
        }
    }
    // One section a machine since 2023.
    let unit = if wanted == year.machines(part).len() { "machines" } else { "sections" };
    let mut lacking = Vec::new();
    if there != wanted {
        lacking.push(format!("{there} of {wanted} {unit}"));
    }
    if let Some(known) = known_clips.filter(|&known| known != clips) {
        lacking.push(got_of(clips, known, "test clips"));
    }
    (!lacking.is_empty()).then(|| lacking.join(", "))
}

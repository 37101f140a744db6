//! Whether a score is that of a whole published set.

use super::SectionResult;
use crate::{
    counts::found_of,
    datasets::{DatasetKind, Set, Year},
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

/// `1 of 7 machines, 20 of 200 test clips`; clips are those of the sections that are there, and where
/// some have a label, only those count.
fn of_year(year: Year, part: Set, sections: &[&SectionResult]) -> Option<String> {
    let mut wanted = 0;
    let labelled =
        |found: &SectionResult| found.clips.iter().filter(|clip| clip.label.is_some()).count();
    let is_judged = sections.iter().any(|found| labelled(found) > 0);
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
            clips += if is_judged { labelled(found) } else { found.clips.len() };
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
        lacking.push(found_of(clips, known, "test clips"));
    }
    (!lacking.is_empty()).then(|| lacking.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{metrics::Label, run::TestClip};

    /// The fan of DCASE 2023's development set, of which this many test clips have a label.
    fn fan(labelled: usize) -> SectionResult {
        let clip = |at| TestClip {
            name: format!("{at}.wav"),
            label: (at < labelled).then_some(Label::Normal),
            domain: None,
        };
        SectionResult {
            fingerprint: String::new(),
            dataset: DatasetKind::Dcase(Year::Y2023),
            set: "dev".to_owned(),
            machine: "fan".to_owned(),
            section: "00".to_owned(),
            train: 1000,
            clips: (0..200).map(clip).collect(),
            systems: Vec::new(),
            diagnostics: Vec::new(),
            problems: Vec::new(),
        }
    }

    #[test]
    fn clips_without_a_label_are_missing_where_others_have_one() {
        let lacking = |labelled| of_year(Year::Y2023, Set::Development, &[&fan(labelled)]).unwrap();
        assert_eq!(lacking(200), "1 of 7 machines");
        assert_eq!(lacking(182), "1 of 7 machines, 182 of 200 test clips");
        assert_eq!(lacking(0), "1 of 7 machines", "nothing is judged, and that is said elsewhere");
    }
}

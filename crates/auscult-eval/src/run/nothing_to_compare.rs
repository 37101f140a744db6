//! Why two runs have nothing to compare.

use std::collections::{BTreeMap, BTreeSet};

use super::SectionResult;
use crate::datasets::DatasetKind;

/// Says what each of two runs is of, and why no clips of them can be compared in pairs.
pub fn nothing_to_compare(first: &[SectionResult], second: &[SectionResult]) -> String {
    let (ours, theirs) = (describe(first), describe(second));
    let both = format!("the first is of {ours}, the second of {theirs}");
    let shares = |key: fn(&SectionResult) -> String| {
        first.iter().any(|one| second.iter().any(|other| key(one) == key(other)))
    };
    let same = "run both on the same data";
    if !shares(|section| section.dataset.to_string()) {
        return format!(
            "{both}: clips are compared in pairs, and different data sets have none in common; {same}"
        );
    }
    if !shares(place) {
        return format!("{both}: they have no machine and section in common; {same}");
    }
    let clips = |sections: &[SectionResult], is_judged: bool| -> BTreeSet<String> {
        let of = |section: &SectionResult| {
            let place = place(section);
            let clips = section.clips.iter().filter(|clip| !is_judged || clip.label.is_some());
            clips.map(|clip| format!("{place} {}", clip.name)).collect::<Vec<_>>()
        };
        sections.iter().flat_map(of).collect()
    };
    let have_in_common =
        |is_judged| !clips(first, is_judged).is_disjoint(&clips(second, is_judged));
    if !have_in_common(false) {
        return format!(
            "{both}, and no test clip of one has the name of a test clip of the other; {same}"
        );
    }
    if !have_in_common(true) {
        let advice = first.first().map_or("", |section| section.dataset.advice_on_labels());
        return format!("{both}, and their test clips have no labels; {advice} and run again");
    }
    format!(
        "{both}, and on the clips both have scored there is no score: a section needs normal clips and anomalies, \
         a data set with domains both of them, and a system that could run"
    )
}

fn place(section: &SectionResult) -> String {
    format!("{} {} {} {}", section.dataset, section.set, section.machine, section.section)
}

/// `dcase2023 dev (fan 00, valve 00 and 5 others)`.
fn describe(sections: &[SectionResult]) -> String {
    const SHOWN: usize = 3;
    let mut parts: BTreeMap<(DatasetKind, &str), Vec<String>> = BTreeMap::new();
    for section in sections {
        parts.entry((section.dataset, &section.set)).or_default().push(section.name());
    }
    let part = |((kind, set), names): ((DatasetKind, &str), Vec<String>)| {
        let what = match kind {
            DatasetKind::Folder => "a folder or table".to_owned(),
            kind => format!("{kind} {set}").trim().to_owned(),
        };
        let shown: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !name.is_empty()).take(SHOWN).collect();
        let others = match names.len().saturating_sub(SHOWN) {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        if shown.is_empty() { what } else { format!("{what} ({}{others})", shown.join(", ")) }
    };
    let parts: Vec<String> = parts.into_iter().map(part).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(" and ") }
}

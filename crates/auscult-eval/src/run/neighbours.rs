//! Local scales of more neighbours than there are.

use std::collections::BTreeSet;

use auscult_core::plural;

use crate::{
    datasets::{Dataset, Group, Judging},
    metrics::Domain,
    systems::{BackEnd, Mixup, SystemSettings},
};

/// What to say where a local scale is to be made of more neighbours than a memory has other
/// references: all of them count then. `None` if there are enough everywhere.
pub fn too_many_neighbours(dataset: &Dataset, systems: &[SystemSettings]) -> Option<String> {
    let groups = dataset.groups();
    let mut most: Option<(usize, usize, String)> = None;
    let mut short = BTreeSet::new();
    for group in groups.iter().filter(|group| !group.test.is_empty()) {
        for system in systems {
            let wanted = system.most_neighbours();
            let Some(others) = smallest_memory(system, group).and_then(|len| len.checked_sub(1))
            else {
                continue;
            };
            // A memory of one has no neighbours at all, and that is reported elsewhere.
            if others == 0 || wanted <= others {
                continue;
            }
            let name = format!("{} {}", group.set, group.name()).trim().to_owned();
            short.insert(name.clone());
            if most.as_ref().is_none_or(|(other, fewest, _)| (wanted, *fewest) > (*other, others)) {
                most = Some((wanted, others, name));
            }
        }
    }
    let (wanted, others, name) = most?;
    let elsewhere = match short.len() - 1 {
        0 => String::new(),
        sections => format!("; too few also in {}", plural(sections, "other section")),
    };
    let place = if name.is_empty() { String::new() } else { format!(" in {name}") };
    Some(format!(
        "neighbours = {wanted}, but a reference has {others} others{place}: all of them count, as with \
         {others}{elsewhere}"
    ))
}

/// How many references the smallest memory of a system has; `None` if it compares with none.
fn smallest_memory(system: &SystemSettings, group: &Group<'_>) -> Option<usize> {
    let of = |domain| group.train.iter().filter(|clip| clip.domain == Some(domain)).count();
    match (system.back_end, system.mixup) {
        (BackEnd::Nearest, _) => Some(match group.judging {
            Judging::Split => group.train.len(),
            Judging::LeaveOneOut => group.train.len().saturating_sub(1),
        }),
        (BackEnd::GenRep, None | Some(Mixup::Nearest(0))) => {
            Some(of(Domain::Source).min(of(Domain::Target)))
        }
        // Mixtures make the memory of the target domain larger.
        (BackEnd::GenRep, Some(_)) => Some(of(Domain::Source)),
        _ => None,
    }
}

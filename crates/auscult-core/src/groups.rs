//! Which references leave together when one is left out.

use std::collections::BTreeMap;

use crate::{memory::Provenance, names::named_choices};

/// What is left out to learn how unseen normal sound scores.
///
/// Clips of one visit resemble each other, so leaving out single clips promises too few false
/// alarms. Each step down this list is a weaker promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// A whole visit at a time.
    Visits,
    /// A whole file at a time: there is only one visit.
    Files,
    /// One clip at a time: there is only one file.
    Clips,
}

named_choices!(Basis, "calibration basis", {
    Visits => "visits",
    Files => "files",
    Clips => "clips",
});

/// The group of every reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    basis: Basis,
    of: Vec<usize>,
    count: usize,
}

impl Groups {
    /// Groups by visit; a file that belongs to no visit is one of its own. With fewer than two
    /// visits by file, with one file by clip.
    pub fn of(provenance: &[Provenance]) -> Self {
        let visits = provenance.iter().any(|from| from.visit.is_some()).then(|| {
            Self::by_key(Basis::Visits, provenance, |from| match &from.visit {
                Some(visit) => (0, visit.as_str()),
                None => (1, from.source.as_str()),
            })
        });
        let enough = |groups: &Self| groups.count >= 2;
        visits
            .filter(enough)
            .or_else(|| {
                Some(Self::by_key(Basis::Files, provenance, |from| (0, from.source.as_str())))
                    .filter(enough)
            })
            .unwrap_or_else(|| Self::clips(provenance.len()))
    }

    /// Every reference on its own: plain leave-one-out.
    pub fn clips(count: usize) -> Self {
        Self { basis: Basis::Clips, of: (0..count).collect(), count }
    }

    /// Numbers the keys in order of appearance.
    fn by_key<'a>(
        basis: Basis,
        provenance: &'a [Provenance],
        key: impl Fn(&'a Provenance) -> (u8, &'a str),
    ) -> Self {
        let mut numbers = BTreeMap::new();
        let mut of = Vec::with_capacity(provenance.len());
        for from in provenance {
            let next = numbers.len();
            of.push(*numbers.entry(key(from)).or_insert(next));
        }
        Self { basis, count: numbers.len(), of }
    }

    /// What the groups are.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The group of each reference.
    pub fn members(&self) -> &[usize] {
        &self.of
    }

    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(source: &str, visit: Option<&str>) -> Provenance {
        Provenance { visit: visit.map(str::to_owned), ..Provenance::of(source) }
    }

    #[test]
    fn two_visits_are_left_out_as_visits() {
        let groups =
            Groups::of(&[from("a", Some("mon")), from("b", Some("tue")), from("c", Some("mon"))]);
        assert_eq!((groups.basis(), groups.members()), (Basis::Visits, [0, 1, 0].as_slice()));
    }

    #[test]
    fn one_visit_falls_back_to_files_and_one_file_to_clips() {
        let groups =
            Groups::of(&[from("a", Some("mon")), from("a", Some("mon")), from("b", Some("mon"))]);
        assert_eq!((groups.basis(), groups.members()), (Basis::Files, [0, 0, 1].as_slice()));
        let groups = Groups::of(&[from("a", None), from("a", None)]);
        assert_eq!((groups.basis(), groups.members()), (Basis::Clips, [0, 1].as_slice()));
    }
}

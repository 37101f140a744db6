//! Which references leave together when one is left out.

use std::collections::BTreeMap;

use crate::{Error, Result, memory::Provenance, names::named_choices};

/// How calibration scores are to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CalibrationScheme {
    /// Leave out visits if there are two, else files, else contiguous blocks of the one recording.
    #[default]
    Auto,
    /// Leave out visits.
    Visits,
    /// Leave out files.
    Files,
    /// Leave out contiguous blocks of each recording.
    Blocks,
    /// Leave out single clips.
    Clips,
    /// Keep every third visit (or file, or block) out of the memory and score it against the rest.
    Split,
}

named_choices!(CalibrationScheme, "calibration scheme", {
    Auto => "auto",
    Visits => "visits",
    Files => "files",
    Blocks => "blocks",
    Clips => "clips",
    Split => "split",
});

impl CalibrationScheme {
    /// Whether somebody chose what is left out, and so vouches for it.
    pub(crate) fn is_chosen(self) -> bool {
        !matches!(self, Self::Auto | Self::Split)
    }
}

/// What was left out to learn how unseen normal sound scores.
///
/// Clips of one visit resemble each other, so leaving out single clips promises too few false
/// alarms. Each step down this list is a weaker promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// A whole visit at a time.
    Visits,
    /// A whole file at a time.
    Files,
    /// A contiguous part of a recording at a time; its neighbours in time stay.
    Blocks,
    /// One clip at a time.
    Clips,
}

named_choices!(Basis, "calibration basis", {
    Visits => "visits",
    Files => "files",
    Blocks => "blocks",
    Clips => "clips",
});

/// The group of every reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    basis: Basis,
    of: Vec<usize>,
    count: usize,
}

/// How many blocks a recording is cut into.
const BLOCKS: usize = 10;

impl Groups {
    /// Groups by visit; what belongs to no named visit is one visit together. With fewer than two
    /// visits, or one that leaves a single reference behind, by file; with one file by blocks.
    pub fn of(provenance: &[Provenance]) -> Self {
        let candidates = [Self::visits(provenance), Self::files(provenance)];
        candidates.into_iter().find(Self::has_two).unwrap_or_else(|| Self::blocks(provenance))
    }

    /// The groups of a scheme; a split is made of the groups of `auto`.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if there are not two of them, for a split not three.
    pub fn by_scheme(scheme: CalibrationScheme, provenance: &[Provenance]) -> Result<Self> {
        let (groups, needed) = match scheme {
            CalibrationScheme::Auto => return Ok(Self::of(provenance)),
            CalibrationScheme::Visits => (Self::visits(provenance), 2),
            CalibrationScheme::Files => (Self::files(provenance), 2),
            CalibrationScheme::Blocks => (Self::blocks(provenance), 2),
            CalibrationScheme::Clips => (Self::clips(provenance.len()), 2),
            CalibrationScheme::Split => (Self::of(provenance), SPLIT),
        };
        if groups.count >= needed {
            return Ok(groups);
        }
        let allowed = format!("one that has at least {needed} {} to leave out", groups.basis);
        Err(Error::setting(
            "calibration scheme",
            allowed,
            format!("{scheme} (found {})", groups.count),
        ))
    }

    /// Every reference on its own: plain leave-one-out.
    pub fn clips(count: usize) -> Self {
        Self { basis: Basis::Clips, of: (0..count).collect(), count }
    }

    fn visits(provenance: &[Provenance]) -> Self {
        if provenance.iter().all(|from| from.visit.is_none()) {
            return Self { basis: Basis::Visits, of: vec![0; provenance.len()], count: 0 };
        }
        Self::by_key(Basis::Visits, provenance, |from| match &from.visit {
            Some(visit) => (0, visit.as_str()),
            // Nobody knows how many visits these are from; to be sure, one.
            None => (1, ""),
        })
    }

    fn files(provenance: &[Provenance]) -> Self {
        Self::by_key(Basis::Files, provenance, |from| (0, from.source.as_str()))
    }

    /// Contiguous tenths of each file, in the order its clips are in.
    fn blocks(provenance: &[Provenance]) -> Self {
        let files = Self::files(provenance);
        let mut sizes = vec![0_usize; files.count];
        for &file in &files.of {
            sizes[file] += 1;
        }
        let mut seen = vec![0_usize; files.count];
        let mut numbers = BTreeMap::new();
        let mut of = Vec::with_capacity(provenance.len());
        for &file in &files.of {
            let block = seen[file] / sizes[file].div_ceil(BLOCKS);
            seen[file] += 1;
            let next = numbers.len();
            of.push(*numbers.entry((file, block)).or_insert(next));
        }
        Self { basis: Basis::Blocks, count: numbers.len(), of }
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

    /// Whether there are two groups, and what is left of the memory without any of them is more than
    /// one reference.
    fn has_two(&self) -> bool {
        let mut sizes = vec![0_usize; self.count.max(1)];
        for &group in &self.of {
            sizes[group] += 1;
        }
        let largest = sizes.into_iter().max().unwrap_or(0);
        self.count >= 2 && (self.of.len() <= 3 || self.of.len() - largest > 1)
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

    /// Visits if there are two, else two halves in input order: what a member's scores wander
    /// between.
    pub(crate) fn visits_or_halves(provenance: &[Provenance]) -> Self {
        let visits = Self::visits(provenance);
        if visits.has_two() {
            return visits;
        }
        let half = provenance.len() / 2;
        let of = (0..provenance.len()).map(|index| usize::from(index >= half)).collect();
        Self { basis: Basis::Blocks, of, count: 2 }
    }

    /// Whole groups that leave together: one a fold, or about a tenth a fold where there are more
    /// than `most`.
    pub(crate) fn folds(&self, most: usize) -> impl Iterator<Item = Fold> {
        let folds = self.count.min(most);
        (0..folds).map(move |fold| {
            let (out, remaining) =
                (0..self.of.len()).partition(|&index| self.of[index] % folds == fold);
            Fold { out, remaining }
        })
    }

    /// The references a split keeps out of the memory, and the others.
    pub(crate) fn split(&self) -> (Vec<usize>, Vec<usize>) {
        (0..self.of.len()).partition(|&index| self.of[index] % SPLIT == SPLIT - 1)
    }
}

/// References that leave together, and those that stay.
pub(crate) struct Fold {
    pub(crate) out: Vec<usize>,
    pub(crate) remaining: Vec<usize>,
}

/// Where left-out scores need fits of their own, at most this many are made.
pub(crate) const MOST_FOLDS: usize = 10;

/// Every third group is reserved for calibration in a split.
const SPLIT: usize = 3;

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
    fn what_has_no_visit_is_one_visit_and_too_large_a_visit_is_none() {
        let mixed =
            [from("a", None), from("b", None), from("c", Some("mon")), from("d", Some("mon"))];
        let groups = Groups::of(&mixed);
        assert_eq!((groups.basis(), groups.members()), (Basis::Visits, [0, 0, 1, 1].as_slice()));
        let mut lopsided: Vec<Provenance> =
            (0..9).map(|file| from(&file.to_string(), Some("mon"))).collect();
        lopsided.push(from("last", Some("tue")));
        assert_eq!(Groups::of(&lopsided).basis(), Basis::Files);
    }

    #[test]
    fn one_visit_falls_back_to_files_and_one_file_to_blocks() {
        let groups =
            Groups::of(&[from("a", Some("mon")), from("a", Some("mon")), from("b", Some("mon"))]);
        assert_eq!((groups.basis(), groups.members()), (Basis::Files, [0, 0, 1].as_slice()));
        let one_file = vec![from("a", None); 25];
        let groups = Groups::of(&one_file);
        assert_eq!((groups.basis(), groups.count()), (Basis::Blocks, 9));
        assert_eq!(groups.members()[..4], [0, 0, 0, 1]);
    }

    #[test]
    fn a_scheme_that_is_not_possible_is_refused_with_the_reason() {
        let error =
            Groups::by_scheme(CalibrationScheme::Visits, &[from("a", None), from("b", None)])
                .unwrap_err();
        assert_eq!(
            error.to_string(),
            "calibration scheme must be one that has at least 2 visits to leave out, got visits (found 0)"
        );
    }

    #[test]
    fn a_split_keeps_every_third_group_out() {
        let provenance: Vec<Provenance> =
            ["a", "b", "c", "d"].map(|name| from(name, None)).to_vec();
        let groups = Groups::by_scheme(CalibrationScheme::Split, &provenance).unwrap();
        assert_eq!(groups.split(), (vec![2], vec![0, 1, 3]));
    }
}

//! The recipe of a tree.

use super::layout::{Layout, Split, TreeFile};
use super::{dcase, visits};
use crate::error::{Error, Result, check_range};
use crate::machines::kinds::list;
use crate::machines::{ClipRecipe, Domain, Fault, Machine, STATE_COUNT};

/// One count for each domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerDomain {
    /// In the source domain.
    pub source: u32,
    /// In the target domain.
    pub target: u32,
}

impl PerDomain {
    fn of(self, domain: Domain) -> u32 {
        match domain {
            Domain::Source => self.source,
            Domain::Target => self.target,
        }
    }
}

/// Everything a tree depends on: the same recipe gives the same bytes.
///
/// Counts are for each machine. Clips go through the operating states in turn and
/// through the visits in order; test clips come from visits that are not in training.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeRecipe {
    /// The machines, each at most once.
    pub machines: Vec<Machine>,
    /// How files are named and arranged.
    pub layout: Layout,
    /// Normal clips to learn from.
    pub train: PerDomain,
    /// Normal clips to test with.
    pub test_normal: PerDomain,
    /// Faulty clips to test with.
    pub test_anomalous: PerDomain,
    /// Visits that the training clips of a domain are spread over, 1 to 24; the test
    /// clips have as many of their own.
    pub visits: u32,
    /// The faults to use, as far as a machine can have them; empty for all of its faults.
    pub faults: Vec<Fault>,
    /// How severe the faults are, in `(0, 1]`.
    pub severity: f64,
    /// See [`ClipRecipe::snr_db`].
    pub snr_db: f64,
    /// See [`ClipRecipe::seconds`].
    pub seconds: f64,
    /// See [`ClipRecipe::sample_rate`].
    pub sample_rate: u32,
    /// See [`ClipRecipe::seed`].
    pub seed: u64,
}

impl Default for TreeRecipe {
    /// All machines in the DCASE layout: 78 clips each, 13 minutes, 25 MB.
    fn default() -> Self {
        let clip = ClipRecipe::new(Machine::Fan);
        Self {
            machines: Machine::ALL.to_vec(),
            layout: Layout::Dcase,
            train: PerDomain { source: 36, target: 6 },
            test_normal: PerDomain { source: 12, target: 6 },
            test_anomalous: PerDomain { source: 12, target: 6 },
            visits: 4,
            faults: Vec::new(),
            severity: 0.5,
            snr_db: clip.snr_db,
            seconds: clip.seconds,
            sample_rate: clip.sample_rate,
            seed: clip.seed,
        }
    }
}

impl TreeRecipe {
    /// Checks every number, and that every machine can have one of the faults.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Machines`], [`Error::OutOfRange`] or [`Error::FaultOfMachine`],
    /// whichever is found first.
    pub fn check(&self) -> Result<()> {
        let repeated = |index: usize| self.machines[..index].contains(&self.machines[index]);
        if self.machines.is_empty() || (0..self.machines.len()).any(repeated) {
            let got = self.machines.iter().map(|machine| machine.name()).collect();
            return Err(Error::Machines { got });
        }
        // Two digits for all four groups of visits, four digits for clips.
        check_range("visits", self.visits.into(), (1..=24).contains(&self.visits), "1..=24")?;
        for counts in [self.train, self.test_normal, self.test_anomalous] {
            for count in [counts.source, counts.target] {
                check_range("number of clips", count.into(), count <= 4000, "0..=4000")?;
            }
        }
        self.machines.iter().try_for_each(|&machine| self.check_machine(machine))
    }

    fn check_machine(&self, machine: Machine) -> Result<()> {
        let Some(&fault) = self.faults_of(machine).first() else {
            return Err(Error::FaultOfMachine {
                machine: machine.name(),
                got: list(&self.faults, Fault::name),
                allowed: list(machine.faults(), Fault::name),
            });
        };
        ClipRecipe { fault: Some((fault, self.severity)), ..self.clip(machine) }.check()
    }

    /// The files of the tree in the order they are written, paths relative to its folder.
    ///
    /// # Errors
    ///
    /// Returns the error of [`check`](Self::check) if the recipe is not valid.
    pub fn files(&self) -> Result<Vec<TreeFile>> {
        self.check()?;
        let recipes = self.machines.iter().flat_map(|&machine| self.clips(machine));
        Ok(match self.layout {
            Layout::Dcase => dcase::place(recipes),
            Layout::Visits => visits::place(recipes),
        })
    }

    /// The clips of one machine: training, then normal, then faulty ones.
    fn clips(&self, machine: Machine) -> Vec<(Split, ClipRecipe)> {
        let faults = self.faults_of(machine);
        let mut clips = Vec::new();
        for domain in Domain::ALL {
            let counts = [self.train, self.test_normal, self.test_anomalous];
            let [train, normal, anomalous] = counts.map(|counts| counts.of(domain));
            let clip = |split, index, count| {
                (split, self.clip_of_visit(machine, domain, split, index, count))
            };
            clips.extend((0..train).map(|index| clip(Split::Train, index, train)));
            clips.extend((0..normal).map(|index| clip(Split::Test, index, normal)));
            clips.extend((0..anomalous).map(|index| {
                let (split, recipe) = clip(Split::Test, index, anomalous);
                let fault = faults[index as usize % faults.len()];
                // Other takes than the normal clips of the visit.
                let take = recipe.take + normal;
                (split, ClipRecipe { fault: Some((fault, self.severity)), take, ..recipe })
            }));
        }
        clips
    }

    /// Clip `index` of `count`: the state goes round, the visit goes on.
    fn clip_of_visit(
        &self,
        machine: Machine,
        domain: Domain,
        split: Split,
        index: u32,
        count: u32,
    ) -> ClipRecipe {
        // No visit is shared: source training, target training, source test, target test.
        let group = 2 * (split as u32) + domain as u32;
        let visit = 1 + group * self.visits + index * self.visits / count;
        // Faults go round too; the division keeps states and faults from marching in step.
        let state = (index + index / STATE_COUNT as u32) as usize % STATE_COUNT;
        ClipRecipe { state, domain, visit, take: index, ..self.clip(machine) }
    }

    fn clip(&self, machine: Machine) -> ClipRecipe {
        ClipRecipe {
            snr_db: self.snr_db,
            seconds: self.seconds,
            sample_rate: self.sample_rate,
            seed: self.seed,
            ..ClipRecipe::new(machine)
        }
    }

    fn faults_of(&self, machine: Machine) -> Vec<Fault> {
        let wanted = |fault: &Fault| self.faults.is_empty() || self.faults.contains(fault);
        machine.faults().iter().copied().filter(wanted).collect()
    }
}

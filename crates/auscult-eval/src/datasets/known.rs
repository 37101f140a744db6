//! What is known about each DCASE year: machines, sections, counts, records.

use serde::Serialize;

/// A year of DCASE Task 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "a year is a year")]
pub enum Year {
    Y2020,
    Y2021,
    Y2022,
    Y2023,
    Y2024,
    Y2025,
    Y2026,
}

/// The two parts of a challenge's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Set {
    /// Development: labels are public.
    #[serde(rename = "dev")]
    Development,
    /// Evaluation: labels come from the evaluator.
    #[serde(rename = "eval")]
    Evaluation,
}

impl Set {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Development, Self::Evaluation];

    /// `dev` or `eval`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Development => "dev",
            Self::Evaluation => "eval",
        }
    }
}

/// How many clips a section is known to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Known {
    /// Training clips of the source domain (all of them, where there are no domains).
    pub train_source: usize,
    /// Training clips of the target domain.
    pub train_target: usize,
    /// Test clips: source normal, source anomalous, target normal, target anomalous.
    pub test: Option<[usize; 4]>,
}

const SEVEN_2021: &[&str] = &["fan", "gearbox", "pump", "slider", "valve", "ToyCar", "ToyTrain"];
const SEVEN: &[&str] = &["bearing", "fan", "gearbox", "slider", "valve", "ToyCar", "ToyTrain"];
const SIX_2020: &[&str] = &["fan", "pump", "slider", "valve", "ToyCar", "ToyConveyor"];

impl Year {
    /// Zenodo records: development, additional training, evaluation test.
    pub(super) fn records(self) -> [u32; 3] {
        match self {
            Self::Y2020 => [3_678_171, 3_727_685, 3_841_772],
            Self::Y2021 => [4_562_016, 4_660_992, 4_884_786],
            Self::Y2022 => [6_355_122, 6_462_969, 6_586_456],
            Self::Y2023 => [7_882_613, 7_830_345, 7_860_847],
            Self::Y2024 => [10_902_294, 11_259_435, 11_363_076],
            Self::Y2025 => [15_097_779, 15_392_814, 15_519_362],
            Self::Y2026 => [19_336_329, 20_151_556, 20_437_238],
        }
    }

    /// Every year.
    pub const ALL: [Self; 7] =
        [Self::Y2020, Self::Y2021, Self::Y2022, Self::Y2023, Self::Y2024, Self::Y2025, Self::Y2026];

    /// The year.
    pub fn number(self) -> u16 {
        match self {
            Self::Y2020 => 2020,
            Self::Y2021 => 2021,
            Self::Y2022 => 2022,
            Self::Y2023 => 2023,
            Self::Y2024 => 2024,
            Self::Y2025 => 2025,
            Self::Y2026 => 2026,
        }
    }

    /// The machine types of a part.
    pub fn machines(self, set: Set) -> &'static [&'static str] {
        match (self, set) {
            (Self::Y2020, _) => SIX_2020,
            (Self::Y2021, _) => SEVEN_2021,
            (Self::Y2022, _) | (Self::Y2023 | Self::Y2024 | Self::Y2025, Set::Development) => SEVEN,
            (Self::Y2023, Set::Evaluation) => {
                &["bandsaw", "grinder", "shaker", "ToyDrone", "ToyNscale", "ToyTank", "Vacuum"]
            }
            (Self::Y2024, Set::Evaluation) => &[
                "3DPrinter",
                "AirCompressor",
                "BrushlessMotor",
                "HairDryer",
                "HoveringDrone",
                "RoboticArm",
                "Scanner",
                "ToothBrush",
                "ToyCircuit",
            ],
            (Self::Y2025, Set::Evaluation) => &[
                "AutoTrash",
                "BandSealer",
                "CoffeeGrinder",
                "HomeCamera",
                "Polisher",
                "ScrewFeeder",
                "ToyPet",
                "ToyRCCar",
            ],
            (Self::Y2026, Set::Development) => {
                &["ToyCar", "ToyCarEmu", "bearingEmu", "fan", "gearboxEmu", "sliderEmu", "valveEmu"]
            }
            (Self::Y2026, Set::Evaluation) => {
                &["BlowerDustCollector", "Sander", "SewingMachine", "ToothBrush", "ToyDrone"]
            }
        }
    }

    /// The sections of a machine type in a part.
    pub fn sections(self, set: Set, machine: &str) -> &'static [&'static str] {
        match (self, set, machine) {
            (Self::Y2020, Set::Development, "ToyCar") => &["01", "02", "03", "04"],
            (Self::Y2020, Set::Development, "ToyConveyor") => &["01", "02", "03"],
            (Self::Y2020, Set::Development, _) => &["00", "02", "04", "06"],
            (Self::Y2020, Set::Evaluation, "ToyCar") => &["05", "06", "07"],
            (Self::Y2020, Set::Evaluation, "ToyConveyor") => &["04", "05", "06"],
            (Self::Y2020, Set::Evaluation, _) => &["01", "03", "05"],
            (Self::Y2021 | Self::Y2022, Set::Development, _) => &["00", "01", "02"],
            (Self::Y2021 | Self::Y2022, Set::Evaluation, _) => &["03", "04", "05"],
            _ => &["00"],
        }
    }

    /// The part a machine and section belong to; `None` if they are not of this year.
    pub fn set_of(self, machine: &str, section: &str) -> Option<Set> {
        Set::ALL.into_iter().find(|&set| {
            self.machines(set).contains(&machine) && self.sections(set, machine).contains(&section)
        })
    }

    /// Whether clips have domains.
    pub fn has_domains(self) -> bool {
        self != Self::Y2020
    }

    /// The known counts of a section, from the lists of the baselines and of `ASDKit`; `None` where
    /// they were not seen.
    pub fn known(self, set: Set, machine: &str) -> Option<Known> {
        let test = match (self, set, machine) {
            // Not the even numbers that descriptions give.
            (Self::Y2023, Set::Evaluation, "bandsaw") => Some([67, 40, 60, 33]),
            (Self::Y2023, Set::Evaluation, "grinder") => Some([107, 27, 36, 30]),
            (Self::Y2023, Set::Evaluation, "shaker") => Some([49, 53, 52, 46]),
            (Self::Y2023 | Self::Y2024, _, _) => Some([50; 4]),
            _ => None,
        };
        match self {
            Self::Y2021 => Some(Known { train_source: 1000, train_target: 3, test }),
            Self::Y2022 | Self::Y2023 | Self::Y2024 => {
                Some(Known { train_source: 990, train_target: 10, test })
            }
            Self::Y2020 | Self::Y2025 | Self::Y2026 => None,
        }
    }

    /// Test clips of all evaluation ids of a machine type together, where that is known.
    pub fn known_evaluation_total(self, machine: &str) -> Option<usize> {
        match (self, machine) {
            (Self::Y2020, "fan") => Some(1342),
            (Self::Y2020, "pump") => Some(777),
            (Self::Y2020, "slider") => Some(834),
            (Self::Y2020, "valve") => Some(940),
            (Self::Y2020, "ToyCar") => Some(1545),
            (Self::Y2020, "ToyConveyor") => Some(1665),
            _ => None,
        }
    }

    /// How many classes (machine, section, attributes) the training clips have, where known.
    pub fn known_classes(self) -> Option<usize> {
        match self {
            Self::Y2020 => Some(41),
            Self::Y2023 => Some(167),
            Self::Y2024 => Some(141),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dcase_2020_has_41_machine_ids() {
        let count = |set| -> usize {
            Year::Y2020
                .machines(set)
                .iter()
                .map(|machine| Year::Y2020.sections(set, machine).len())
                .sum()
        };
        assert_eq!((count(Set::Development), count(Set::Evaluation)), (23, 18));
    }

    #[test]
    fn parts_are_told_by_section_before_2023_and_by_machine_since() {
        assert_eq!(Year::Y2020.set_of("ToyCar", "01"), Some(Set::Development));
        assert_eq!(Year::Y2020.set_of("fan", "01"), Some(Set::Evaluation));
        assert_eq!(Year::Y2022.set_of("fan", "04"), Some(Set::Evaluation));
        assert_eq!(Year::Y2023.set_of("Vacuum", "00"), Some(Set::Evaluation));
        assert_eq!(Year::Y2023.set_of("pump", "00"), None);
    }

    #[test]
    fn totals_of_2023_and_2024_are_those_of_the_lists() {
        for (year, train, test) in [(Year::Y2023, 14_000, 2_800), (Year::Y2024, 16_000, 3_200)] {
            let all = Set::ALL.into_iter().flat_map(|set| {
                year.machines(set).iter().map(move |machine| year.known(set, machine).unwrap())
            });
            let all: Vec<Known> = all.collect();
            let trained: usize =
                all.iter().map(|known| known.train_source + known.train_target).sum();
            let tested: usize = all.iter().flat_map(|known| known.test.unwrap()).sum();
            assert_eq!((trained, tested), (train, test));
        }
    }
}

//! Encoders that a protocol has trained before it scores: the paper's Table 4.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::systems::SystemSettings;

/// What systems of fine-tuned encoders call their front end in a protocol.
pub const FINE_TUNED: &str = "fine-tuned";

/// How encoders are trained before systems score with them: one encoder a seed and data set.
///
/// Nothing in this crate trains; who runs the protocol does, and brings the front ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FineTuning {
    /// The encoder that is trained, by name.
    pub encoder: String,
    /// One trial a seed; tables have the mean over them and its standard deviation.
    pub seeds: Vec<u64>,
    /// What is distinguished.
    #[serde(default)]
    pub labels: LabelsOf,
    /// The same for single data sets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels_for: BTreeMap<String, LabelsOf>,
    /// The layer that is taken, for single data sets; the encoder's own choice for others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub layer_for: BTreeMap<String, String>,
    /// Numbers of the training that are not the recipe's, by the names that `settings.json` of a training has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
    /// The same for single data sets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings_for: BTreeMap<String, BTreeMap<String, Value>>,
}

/// What training clips are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelsOf {
    /// Machine and section.
    Sections,
    /// Machine, section and attributes.
    #[default]
    Attributes,
}

impl FineTuning {
    /// Refuses a training without trials, or with the same trial twice.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut seeds = self.seeds.clone();
        seeds.sort_unstable();
        seeds.dedup();
        if seeds.is_empty() || seeds.len() != self.seeds.len() {
            return Err(format!(
                "fine_tuning: seeds must be one or more numbers, each once, got {:?}",
                self.seeds
            ));
        }
        Ok(())
    }

    /// A system as one for each trial; itself if it does not take a fine-tuned encoder.
    pub(crate) fn trials(&self, system: &SystemSettings) -> Vec<SystemSettings> {
        if system.front_end != FINE_TUNED {
            return vec![system.clone()];
        }
        let trial = |seed: &u64| SystemSettings {
            name: format!("{}, seed {seed}", system.name),
            trial_of: system.name.clone(),
            front_end: Self::front_end(*seed),
            ..system.clone()
        };
        self.seeds.iter().map(trial).collect()
    }

    /// What the front end of a trial is called.
    pub fn front_end(seed: u64) -> String {
        format!("{FINE_TUNED}-{seed}")
    }

    /// The seed of the trial a front end is of; `None` of any other.
    pub fn seed_of(front_end: &str) -> Option<u64> {
        front_end.strip_prefix(FINE_TUNED)?.strip_prefix('-')?.parse().ok()
    }

    /// What is distinguished on a data set.
    pub fn labels(&self, dataset: &str) -> LabelsOf {
        self.labels_for.get(dataset).copied().unwrap_or(self.labels)
    }

    /// The numbers of the training on a data set that are not the recipe's.
    pub fn settings(&self, dataset: &str) -> BTreeMap<String, Value> {
        let mut settings = self.settings.clone();
        settings.extend(self.settings_for.get(dataset).cloned().unwrap_or_default());
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;

    const TRIALS: &str = "name = 'a'\ntitle = 'b'\ndatasets = ['folder']\n[fine_tuning]\n\
        encoder = 'ced'\nseeds = [1, 2]\nsettings = { steps = 5 }\n\
        settings_for = { dcase2020 = { frequency_mask = 40 } }\nlabels_for = { dcase2020 = 'sections' }\n\
        [[system]]\nname = 'x'\nfront_end = 'fine-tuned'\n[[system]]\nname = 'y'\n";

    #[test]
    fn a_fine_tuned_system_is_one_for_each_seed() {
        let protocol = Protocol::parse(TRIALS).unwrap();
        let names: Vec<&str> = protocol.systems.iter().map(|system| &*system.name).collect();
        assert_eq!(names, ["x, seed 1", "x, seed 2", "y"]);
        assert_eq!(FineTuning::seed_of(&protocol.systems[1].front_end), Some(2));
        assert_eq!(FineTuning::seed_of("log-mel"), None);
        let fine_tuning = protocol.fine_tuning.unwrap();
        assert_eq!(fine_tuning.labels("dcase2020"), LabelsOf::Sections);
        assert_eq!(fine_tuning.labels("folder"), LabelsOf::Attributes);
        assert_eq!(fine_tuning.settings("dcase2020")["frequency_mask"], 40);
        assert_eq!(fine_tuning.settings("folder").len(), 1);
    }

    #[test]
    fn trials_that_are_missing_or_there_twice_are_refused() {
        for (from, to, message) in [
            ("seeds = [1, 2]", "seeds = [1, 1]", "each once, got [1, 1]"),
            ("seeds = [1, 2]", "seeds = []", "one or more"),
        ] {
            let error = Protocol::parse(&TRIALS.replace(from, to)).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        let without = TRIALS.split("[fine_tuning]").next().unwrap().to_owned()
            + "[[system]]\nname = 'x'\nfront_end = 'fine-tuned'\n";
        let error = Protocol::parse(&without).unwrap_err();
        assert!(error.contains("needs [fine_tuning]"), "{error}");
    }
}

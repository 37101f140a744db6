//! Machines and budgets that were added while running: `machines.toml` in the data folder, beside the configuration.

use std::{collections::BTreeMap, path::Path};

use auscult::alarm::AlarmBudget;
use serde::{Deserialize, Serialize};

use super::{Problem, Site, SiteProblems, check};
use crate::error::{Error, Result};

/// The file within a data folder.
pub const ADDED_FILE: &str = "machines.toml";

/// What was added, as it is written: the machines have the keys of `[[machine]]` in a configuration.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Added {
    /// Alarm budgets by machine, also of machines of the configuration.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub alarms: BTreeMap<String, AlarmBudget>,
    /// Machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub machine: Vec<toml::Table>,
}

impl Added {
    /// Reads what was added to a data folder; nothing if there is no such file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or understood.
    pub fn read(folder: &Path) -> Result<Self, SiteProblems> {
        let path = folder.join(ADDED_FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(problem(&path, error.to_string())),
        };
        toml::from_str(&text).map_err(|error| problem(&path, error.message().to_owned()))
    }

    /// Writes what was added to a data folder, whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = toml::to_string(self).map_err(|error| Error::Refused(error.to_string()))?;
        let head = "# Added while running. `auscult serve` writes this file; [[machine]] is as in site.toml.\n";
        let path = folder.join(ADDED_FILE);
        Ok(auscult::files::write_atomically(&path, format!("{head}{text}").as_bytes())?)
    }

    /// Whether a machine was added here.
    pub fn has(&self, machine: &str) -> bool {
        self.machine.iter().any(|table| name_of(table) == Some(machine))
    }
}

/// The name of a machine as it is written.
fn name_of(machine: &toml::Table) -> Option<&str> {
    machine.get("name").and_then(toml::Value::as_str)
}

fn problem(path: &Path, text: String) -> SiteProblems {
    SiteProblems { path: path.to_owned(), problems: vec![Problem { line: None, text }] }
}

impl Site {
    /// This configuration with what was added to a data folder.
    ///
    /// # Errors
    ///
    /// If what was added cannot be used together with the rest, and why.
    pub fn with_added(mut self, added: &Added, folder: &Path) -> Result<Self, SiteProblems> {
        let path = folder.join(ADDED_FILE);
        let file = Added { machine: added.machine.clone(), ..Added::default() };
        if !file.machine.is_empty() {
            let text = toml::to_string(&file).map_err(|error| problem(&path, error.to_string()))?;
            self.machines = check::check_added(&text, &path, &self)?;
        }
        for (name, budget) in &added.alarms {
            // A machine that is gone may come back, and its budget with it.
            let Some(machine) = self.machines.iter_mut().find(|machine| machine.name == *name)
            else {
                continue;
            };
            if machine.alarm.is_some() {
                let text = format!(
                    "machine {name:?}: a budget chooses a rule, and [machine.alarm] names one; keep one of them"
                );
                return Err(problem(&path, text));
            }
            machine.budget = Some(*budget);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site::parse("[[machine]]\nname = \"pump-7\"", Path::new("site.toml")).unwrap()
    }

    #[test]
    fn what_was_added_stands_beside_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Added::read(folder.path()).unwrap(), Added::default());
        let mut machine = toml::Table::new();
        machine.insert("name".to_owned(), "fan-2".into());
        let budget: AlarmBudget = "2 alarms per month".parse().unwrap();
        let added = Added {
            machine: vec![machine.clone()],
            alarms: BTreeMap::from([("pump-7".to_owned(), budget)]),
        };
        added.write(folder.path()).unwrap();
        let read = Added::read(folder.path()).unwrap();
        assert_eq!(read, added);
        assert!(read.has("fan-2") && !read.has("pump-7"));
        let site = site().with_added(&read, folder.path()).unwrap();
        assert_eq!(site.machines.len(), 2);
        assert_eq!(site.machine("pump-7").unwrap().budget, Some(budget));
    }

    #[test]
    fn what_cannot_stand_together_is_refused() {
        let folder = Path::new("data");
        for (key, value) in [("name", "PUMP-7"), ("name", "../x"), ("nonsense", "x")] {
            let mut machine = toml::Table::new();
            machine.insert("name".to_owned(), "fan-2".into());
            machine.insert(key.to_owned(), value.into());
            let added = Added { machine: vec![machine], ..Added::default() };
            let problems = site().with_added(&added, folder).unwrap_err();
            assert!(problems.to_string().contains("machines.toml"), "{problems}");
        }
    }
}

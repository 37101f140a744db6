//! 8b. Models of many machines from one manifest.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
};

use auscult::{Control, Event, Learn, Machine, Sources};
use serde::Serialize;

use crate::{Error, Result, models::EXTENSION};

/// Learns a model for each machine of a manifest.
#[derive(Debug)]
pub struct FitArchive<'a> {
    /// A manifest with a column `machine`.
    pub manifest: &'a Path,
    /// The folder that models go to: a file `MACHINE.auscult` for each.
    pub out: &'a Path,
    /// Whether models that are there already are learnt again.
    pub replace: bool,
    /// How to learn; each machine is learnt on one thread.
    pub learn: &'a Learn,
    /// Machines at a time.
    pub jobs: NonZeroUsize,
    /// Who is told of every machine, and who may stop it.
    pub control: &'a Control,
}

/// What became of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedMachine {
    /// The machine.
    pub machine: String,
    /// Its model file; `None` if there is none.
    pub model: Option<PathBuf>,
    /// Clips in its memory.
    pub references: usize,
    /// Its visits.
    pub visits: usize,
    /// Clips and recordings that were left out.
    pub left_out: usize,
    /// Whether the model was there already.
    pub is_skipped: bool,
    /// Why it could not be learnt.
    pub error: Option<String>,
}

impl FitArchive<'_> {
    /// Learns every machine that has no model yet. May be stopped and run again. A machine that cannot be learnt is told,
    /// and the others go on.
    ///
    /// # Errors
    ///
    /// If the manifest cannot be used, models cannot be written, or the work was stopped.
    pub fn run(&self) -> Result<Vec<FittedMachine>> {
        let sources = Sources::of([self.manifest])?;
        let problems: Vec<String> = sources.problems().iter().map(ToString::to_string).collect();
        if !problems.is_empty() {
            let (count, first) = (problems.len() as u64, problems.into_iter().take(5).collect());
            return Err(Error::BadRows { path: self.manifest.to_owned(), count, first });
        }
        let machines = sources.by_machine();
        if machines.contains_key(&None) {
            return Err(Error::NoMachines { path: self.manifest.to_owned() });
        }
        fs::create_dir_all(self.out)
            .map_err(|source| Error::Io { path: self.out.to_owned(), source })?;
        self.control.report(Event::Started { what: "machines", total: machines.len(), name: "" });
        let count = machines.len();
        let waiting = Mutex::new(machines.into_iter().enumerate());
        let done = Mutex::new(Vec::new());
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        thread::scope(|scope| {
            for _ in 0..self.jobs.get().min(count) {
                scope.spawn(|| {
                    while let Some((index, (machine, sources))) = next() {
                        if self.control.is_cancelled() {
                            return;
                        }
                        let fitted = self.one(machine.unwrap_or_default(), sources);
                        self.control.report(Event::Advanced);
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((index, fitted));
                    }
                });
            }
        });
        self.control.report(Event::Finished);
        if self.control.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, fitted)| fitted).collect()
    }

    fn one(&self, machine: String, sources: Sources) -> Result<FittedMachine> {
        let failed = |machine: String, error: String| FittedMachine {
            machine,
            model: None,
            references: 0,
            visits: 0,
            left_out: 0,
            is_skipped: false,
            error: Some(error),
        };
        if !is_file_name(&machine) {
            let error = format!(
                "{machine:?} cannot be the name of a file; use letters, digits, -, _ and dots"
            );
            return Ok(failed(machine, error));
        }
        let path = self.out.join(format!("{machine}.{EXTENSION}"));
        let is_skipped = path.exists() && !self.replace;
        let learned = if is_skipped {
            Machine::open_with(&path, &self.learn.front_ends)
        } else {
            let (jobs, control) = (Some(NonZeroUsize::MIN), self.control.quiet());
            let learn = Learn { jobs, control, ..self.learn.clone() };
            Machine::learn(sources, &learn)
        };
        let fitted = match learned {
            Ok(fitted) => fitted,
            Err(auscult::Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => return Ok(failed(machine, error.to_string())),
        };
        if !is_skipped {
            fitted.save(&path)?;
        }
        let learned = fitted.learned();
        Ok(FittedMachine {
            machine,
            model: Some(path),
            references: learned.references,
            visits: learned.visits.len(),
            left_out: learned.left_out.len(),
            is_skipped,
            error: None,
        })
    }
}

/// Whether a machine's name is one that every file system takes as a file's.
fn is_file_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_. +".contains(letter);
    !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_not_file_names() {
        assert!(["pump-7", "Lüfter 3", "fan_1.2"].into_iter().all(is_file_name));
        assert!(!["", ".", "..", "a/b", "a\\b", "/x", "a\0b"].into_iter().any(is_file_name));
    }
}

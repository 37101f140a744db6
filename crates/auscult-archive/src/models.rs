//! 3. One model for all clips, or one for each machine.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use auscult::{FrontEnds, Machine};

use crate::{Error, Plan, Result, Shard, reference::hash_of};

/// The extension of model files.
pub const EXTENSION: &str = "auscult";

/// Machines that are kept open at a time.
const MOST_OPEN: usize = 64;

/// The models that clips are scored by.
#[derive(Debug)]
pub struct Models(Kind);

#[derive(Debug)]
enum Kind {
    One(Arc<Machine>),
    Folder(Folder),
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    front_ends: FrontEnds,
    files: BTreeMap<String, PathBuf>,
    /// The machines that were used last, the latest at the end.
    open: Mutex<Vec<(String, Arc<Machine>)>>,
}

impl Models {
    /// A model file for all clips, or a folder with a file `NAME.auscult` for each machine.
    ///
    /// # Errors
    ///
    /// If the file is not a model, or the folder has none.
    pub fn open(path: &Path, front_ends: &FrontEnds) -> Result<Self> {
        if !path.is_dir() {
            return Ok(Self::one(Machine::open_with(path, front_ends)?));
        }
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(path).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            let is_model = file.extension().is_some_and(|extension| extension == EXTENSION);
            if let (true, Some(name)) = (is_model, file.file_stem().and_then(|name| name.to_str()))
            {
                files.insert(name.to_owned(), file);
            }
        }
        if files.is_empty() {
            return Err(Error::NoModels { folder: path.to_owned() });
        }
        let (path, front_ends) = (path.to_owned(), front_ends.clone());
        Ok(Self(Kind::Folder(Folder { path, front_ends, files, open: Mutex::default() })))
    }

    /// One machine for all clips.
    pub fn one(machine: Machine) -> Self {
        Self(Kind::One(Arc::new(machine)))
    }

    /// The machine that judges a clip, or why there is none.
    ///
    /// # Errors
    ///
    /// If no machine, or one without a usable model, is named where there are several.
    pub fn of(&self, machine: Option<&str>) -> std::result::Result<Arc<Machine>, String> {
        match &self.0 {
            Kind::One(machine) => Ok(Arc::clone(machine)),
            Kind::Folder(folder) => folder.of(machine),
        }
    }

    /// Whether clips must say which machine they are of.
    pub fn are_several(&self) -> bool {
        matches!(self.0, Kind::Folder(_))
    }

    /// Whether these models can score what is planned.
    ///
    /// # Errors
    ///
    /// [`Error::NoMachines`] if the manifest does not say which machine is meant, and there are several.
    pub fn check(&self, plan: &Plan) -> Result<()> {
        if self.are_several() && !plan.has_machines() {
            return Err(Error::NoMachines { path: plan.manifest().to_owned() });
        }
        Ok(())
    }

    /// Identifies all models that a shard needs; a single one by its own hash.
    pub(crate) fn hash_for(&self, shard: &Shard) -> String {
        let Kind::Folder(folder) = &self.0 else {
            return self.of(None).map_or_else(|reason| reason, |it| it.hash().to_string());
        };
        let named = shard.machines().into_iter().map(|name| match folder.of(Some(name)) {
            Ok(machine) => format!("{name}\n{}", machine.hash()),
            Err(reason) => format!("{name}\n{reason}"),
        });
        hash_of(named.collect::<Vec<_>>().join("\n").as_bytes())
    }
}

impl Folder {
    fn of(&self, name: Option<&str>) -> std::result::Result<Arc<Machine>, String> {
        let Some(name) = name else {
            return Err(
                "the manifest does not say which machine it is of; fill in the column machine"
                    .to_owned(),
            );
        };
        let lock = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut open = lock();
            if let Some(place) = open.iter().position(|(other, _)| other == name) {
                let found = open.remove(place);
                let machine = Arc::clone(&found.1);
                open.push(found);
                return Ok(machine);
            }
        }
        let Some(file) = self.files.get(name) else {
            let folder = self.path.display();
            return Err(format!(
                "unknown machine {name:?}: there is no {name}.{EXTENSION} in {folder}"
            ));
        };
        let machine = Machine::open_with(file, &self.front_ends);
        let machine = Arc::new(machine.map_err(|error| format!("{}: {error}", file.display()))?);
        let mut open = lock();
        open.push((name.to_owned(), Arc::clone(&machine)));
        if open.len() > MOST_OPEN {
            open.remove(0);
        }
        Ok(machine)
    }
}

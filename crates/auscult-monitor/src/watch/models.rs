//! The models of a machine: which file is open, which version judges, and how another one takes over.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use auscult::{FrontEnds, Machine, alarm::AlarmSettings, calibration::NormalRuns};

use super::{
    engine::EngineRules,
    event::ModelStamp,
    rule::{self, Ruled},
    status::{ModelStatus, RuleStatus},
};
use crate::{
    data::DataFolder,
    error::{Error, Result},
    history::{ModelRow, NewModel, Writer},
    site::MachineSpec,
};

/// A model that is open.
#[derive(Debug, Clone)]
pub struct OpenModel {
    /// The machine.
    pub machine: Arc<Machine>,
    /// Its version.
    pub row: ModelRow,
}

impl OpenModel {
    /// What events say of it.
    pub fn stamp(&self) -> ModelStamp {
        ModelStamp {
            version: self.row.version,
            hash: self.machine.hash().to_string(),
            threshold: self.machine.model().threshold(),
        }
    }

    /// What status says of it.
    pub fn status(&self) -> ModelStatus {
        ModelStatus {
            version: self.row.version,
            hash: self.machine.hash().to_string(),
            references: self.machine.model().references().provenance().len(),
            threshold: self.machine.model().threshold(),
            promised: self.machine.standing(None).is_promised(),
        }
    }

    /// What raises an alarm, and what is promised.
    pub fn rule(&self, spec: &MachineSpec) -> RuleStatus {
        rule::status(spec, self.machine.model(), self.row.planned.as_ref())
    }

    /// How runs of the healthy machine score.
    pub fn normal_runs(&self) -> Option<NormalRuns> {
        NormalRuns::of(self.machine.model().calibration())
    }
}

/// The open models of a machine: one for all operating states, or one each.
#[derive(Debug, Default)]
pub struct Models {
    open: BTreeMap<Option<String>, OpenModel>,
    /// A version of the history that should judge and cannot be opened, and why.
    broken: Option<(i64, String)>,
}

impl Models {
    /// Opens what the configuration names and the history has; a file that is new becomes a version, and so does one that is to be
    /// watched with another alarm rule.
    ///
    /// # Errors
    ///
    /// If a model cannot be opened, or cannot keep the alarm budget that the configuration names.
    pub fn open(
        spec: &MachineSpec,
        id: i64,
        data: &DataFolder,
        writer: &Writer,
        front_ends: &FrontEnds,
        now: f64,
    ) -> Result<Self> {
        let mut models = Self::default();
        for found in Found::all(spec, id, data, writer, front_ends)? {
            match found {
                Found::Current(current) => {
                    let (row, machine) = *current;
                    let state = row.operating_state.clone();
                    models.open.insert(state, OpenModel { machine: Arc::new(machine), row });
                }
                Found::New(new) => {
                    let (ruled, new) = *new;
                    let state = new.operating_state.clone();
                    let model = adopt(ruled, new, spec, id, data, writer, now)?;
                    models.open.insert(state, model);
                }
                Found::Broken(version, reason) => {
                    tracing::error!(machine = spec.name, "{reason}");
                    models.broken = Some((version, reason));
                }
            }
        }
        Ok(models)
    }

    /// Whether everything that would judge can be opened, and keeps the alarm budget that the configuration names.
    ///
    /// # Errors
    ///
    /// As [`Models::open`].
    pub fn check(
        spec: &MachineSpec,
        id: i64,
        data: &DataFolder,
        writer: &Writer,
        front_ends: &FrontEnds,
    ) -> Result<()> {
        Found::all(spec, id, data, writer, front_ends).map(drop)
    }

    /// The version that should judge and cannot be opened, and why.
    pub fn broken(&self) -> Option<&(i64, String)> {
        self.broken.as_ref()
    }

    /// The model for an operating state, or the one for all.
    pub fn of_state(&self, state: Option<&str>) -> Option<&OpenModel> {
        let of_state = state.and_then(|state| self.open.get(&Some(state.to_owned())));
        of_state.or_else(|| self.open.get(&None)).or_else(|| self.open.values().next())
    }

    /// Whether there is none, and none should be.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.broken.is_none()
    }

    /// Puts another model in the place of the one for its operating state.
    pub fn replace(&mut self, model: OpenModel) {
        self.broken = None;
        self.open.insert(model.row.operating_state.clone(), model);
    }

    /// Forgets all of them: the machine is learnt again.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A model that is to judge a machine.
enum Found {
    /// A version that judges already.
    Current(Box<(ModelRow, Machine)>),
    /// One that becomes a version.
    New(Box<(Ruled, NewModel)>),
    /// A version that cannot be opened, and why.
    Broken(i64, String),
}

impl Found {
    fn all(
        spec: &MachineSpec,
        id: i64,
        data: &DataFolder,
        writer: &Writer,
        front_ends: &FrontEnds,
    ) -> Result<Vec<Self>> {
        let known = writer.call(move |history| history.models(id))?;
        let current = |state: Option<&String>| {
            let of_state = known.iter().filter(|row| row.operating_state.as_ref() == state);
            of_state.filter(|row| row.valid_to.is_none()).max_by_key(|row| row.version)
        };
        let named = spec.model.iter().map(|path| (None, path));
        let of_states = spec.states.iter().map(|(state, path)| (Some(state), path));
        let mut found = Vec::new();
        for (state, path) in named.chain(of_states) {
            let machine = open_file(path, spec, front_ends)?;
            let of_state = |row: &&ModelRow| row.operating_state.as_ref() == state;
            let configured = known.iter().filter(of_state).rfind(|row| row.origin == "configured");
            // The file that was taken last may have been improved on since. Another one takes over, and so does the same one
            // after a new baseline.
            let is_known = configured.is_some_and(|row| row.came_from() == &**machine.hash());
            if let Some(row) = current(state).filter(|_| is_known) {
                found.push(Self::version(row, spec, data, front_ends)?);
                continue;
            }
            let ruled = Ruled::plan(machine, None, spec, front_ends);
            let ruled = ruled.map_err(|error| promise(error, spec, path))?;
            let note = format!("from {}", path.display());
            let mut new = NewModel::of(&ruled.machine, String::new(), "configured", note);
            new.operating_state = state.cloned();
            found.push(Self::New(Box::new((ruled, new))));
        }
        if spec.model.is_none()
            && let Some(row) = current(None)
        {
            found.push(Self::version(row, spec, data, front_ends)?);
        }
        Ok(found)
    }

    fn version(
        row: &ModelRow,
        spec: &MachineSpec,
        data: &DataFolder,
        front_ends: &FrontEnds,
    ) -> Result<Self> {
        let path = data.file(&row.file);
        let machine = match open_file(&path, spec, front_ends) {
            Ok(machine) => machine,
            Err(error) => {
                let (name, version) = (&spec.name, row.version);
                let reason = format!(
                    "not judged, because version {version} cannot be opened: {error}; copy the file back from a backup and \
                     start again, go back to another version (auscult watch rollback {name}), or learn anew (auscult watch \
                     baseline {name})"
                );
                return Ok(Self::Broken(version, reason));
            }
        };
        // A promise that cannot be kept is the configuration's mistake.
        let ruled = Ruled::keep_or_plan(machine, row.planned.clone(), spec, front_ends);
        let (ruled, is_kept) = ruled.map_err(|error| promise(error, spec, &path))?;
        if is_kept {
            return Ok(Self::Current(Box::new((row.clone(), ruled.machine))));
        }
        let note = format!("version {} with another alarm rule", row.version);
        let mut new = NewModel::of(&ruled.machine, String::new(), "planned", note);
        new.operating_state.clone_from(&row.operating_state);
        Ok(Self::New(Box::new((ruled, new))))
    }
}

/// Opens a model file as it is.
pub(super) fn open_file(
    path: &Path,
    spec: &MachineSpec,
    front_ends: &FrontEnds,
) -> Result<Machine> {
    Machine::open_with(path, front_ends).map_err(|error| Error::Model {
        machine: spec.name.clone(),
        path: path.to_owned(),
        source: Box::new(error),
    })
}

/// Opens a model file that the configuration names, as a monitor would that has no history, and says what raises alarms.
pub(crate) fn check_file(
    path: &Path,
    spec: &MachineSpec,
    front_ends: &FrontEnds,
) -> Result<RuleStatus> {
    let machine = open_file(path, spec, front_ends)?;
    let ruled = Ruled::plan(machine, None, spec, front_ends);
    Ok(ruled.map_err(|error| promise(error, spec, path))?.status(spec))
}

/// A budget that a model cannot keep is told with the file.
fn promise(error: Error, spec: &MachineSpec, path: &Path) -> Error {
    match error {
        Error::NotPromised { reason, instead } => Error::Promise {
            machine: spec.name.clone(),
            path: path.to_owned(),
            reason: format!("{reason}; {instead}"),
        },
        error => error,
    }
}

/// Keeps a model in the data folder as a new version that judges from now on.
pub(super) fn adopt(
    ruled: Ruled,
    mut new: NewModel,
    spec: &MachineSpec,
    id: i64,
    data: &DataFolder,
    writer: &Writer,
    now: f64,
) -> Result<OpenModel> {
    let Ruled { machine, plan } = ruled;
    new.planned = plan;
    let count = writer.call(move |history| history.models(id))?.len();
    new.file = format!("models/{}/{:04}.auscult", spec.name, count + 1);
    let path = data.file(&new.file);
    if let Some(folder) = path.parent() {
        let made = std::fs::create_dir_all(folder);
        made.map_err(Error::io(format!("cannot make {}", folder.display())))?;
    }
    machine.save(&path)?;
    let row = writer.call(move |history| history.add_model(id, &new, now))?;
    Ok(OpenModel { machine: Arc::new(machine), row })
}

/// The rules of a machine: those of the configuration, else those of its model, else the usual ones.
pub(super) fn rules(spec: &MachineSpec, model: Option<&OpenModel>) -> Result<EngineRules> {
    let of_model = || model.and_then(|model| model.machine.model().settings().alarm);
    let settings = spec.alarm.or_else(of_model).unwrap_or_default();
    let settings = AlarmSettings { no_data_after_seconds: spec.no_data_after, ..settings };
    Ok(EngineRules { alarm: settings.check()?, remind_seconds: spec.remind })
}

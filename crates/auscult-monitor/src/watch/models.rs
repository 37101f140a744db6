//! The models of a machine: which file is open, which version judges, and how another one takes over.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use auscult::{
    FrontEnds, Machine, Model,
    alarm::{AlarmBudget, AlarmSettings, BudgetPlan, Period},
    calibration::NormalRuns,
};

use super::{engine::EngineRules, event::ModelStamp, status::ModelStatus};
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
    /// Opens what the configuration names and the history has; a file that is new becomes a version.
    ///
    /// # Errors
    ///
    /// If a model cannot be opened, or cannot keep the alarm budget.
    pub fn open(
        spec: &MachineSpec,
        id: i64,
        data: &DataFolder,
        writer: &Writer,
        front_ends: &FrontEnds,
        now: f64,
    ) -> Result<Self> {
        let mut models = Self::default();
        let named = spec.model.iter().map(|path| (None, path));
        let of_states = spec.states.iter().map(|(state, path)| (Some(state.clone()), path));
        for (state, path) in named.chain(of_states) {
            let machine = open_file(path, spec, front_ends)?;
            let known = writer.call(move |history| history.models(id))?;
            let of_state = || known.iter().filter(|row| row.operating_state == state);
            let configured = of_state().rfind(|row| row.origin == "configured");
            // The file that was taken last may have been improved on since. Another one takes over, and so does the same one
            // after a new baseline.
            if configured.is_some_and(|row| row.hash == **machine.hash())
                && of_state().any(|row| row.valid_to.is_none())
            {
                models.open_current(state.as_ref(), spec, id, data, writer, front_ends)?;
            } else {
                let note = format!("from {}", path.display());
                let mut new = NewModel::of(&machine, String::new(), "configured", note);
                new.operating_state.clone_from(&state);
                let model = adopt(machine, new, spec, id, data, writer, now)?;
                models.open.insert(state, model);
            }
        }
        if spec.model.is_none() {
            models.open_current(None, spec, id, data, writer, front_ends)?;
        }
        Ok(models)
    }

    fn open_current(
        &mut self,
        state: Option<&String>,
        spec: &MachineSpec,
        id: i64,
        data: &DataFolder,
        writer: &Writer,
        front_ends: &FrontEnds,
    ) -> Result<()> {
        let wanted = state.cloned();
        let row = writer.call(move |history| history.current_model(id, wanted.as_deref()))?;
        let Some(row) = row else { return Ok(()) };
        match open_file(&data.file(&row.file), spec, front_ends) {
            Ok(machine) => {
                let machine = Arc::new(machine);
                self.open.insert(state.cloned(), OpenModel { machine, row });
            }
            // A promise that cannot be kept is the configuration's mistake.
            Err(error @ Error::Promise { .. }) => return Err(error),
            Err(error) => {
                let (name, version) = (&spec.name, row.version);
                let reason = format!(
                    "not judged, because version {version} cannot be opened: {error}; copy the file back from a backup and \
                     start again, go back to another version (auscult watch rollback {name}), or learn anew (auscult watch \
                     baseline {name})"
                );
                tracing::error!(machine = name, "{reason}");
                self.broken = Some((version, reason));
            }
        }
        Ok(())
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

/// Opens a model file, with the rule that keeps the machine's budget.
pub(crate) fn open_file(
    path: &Path,
    spec: &MachineSpec,
    front_ends: &FrontEnds,
) -> Result<Machine> {
    let named = |error: auscult::Error| Error::Model {
        machine: spec.name.clone(),
        path: path.to_owned(),
        source: Box::new(error),
    };
    let machine = Machine::open_with(path, front_ends).map_err(named)?;
    let Some(budget) =
        spec.budget.filter(|budget| machine.model().settings().alarm_budget != Some(*budget))
    else {
        return Ok(machine);
    };
    let calibrate = auscult::Calibrate { budget: Some(budget), ..auscult::Calibrate::default() };
    match machine.calibrate(&calibrate).map_err(named)? {
        (machine, Some(plan)) if plan.is_kept() => Ok(machine),
        (machine, Some(plan)) => Err(Error::Promise {
            machine: spec.name.clone(),
            path: path.to_owned(),
            reason: format!("{}; {}", not_kept(&plan), possible(machine.model(), &plan)),
        }),
        (machine, None) => Ok(machine),
    }
}

/// Keeps a model in the data folder as a new version that judges from now on.
pub(super) fn adopt(
    machine: Machine,
    mut new: NewModel,
    spec: &MachineSpec,
    id: i64,
    data: &DataFolder,
    writer: &Writer,
    now: f64,
) -> Result<OpenModel> {
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

/// What is missing for a budget, in a sentence.
pub(super) fn not_kept(plan: &BudgetPlan) -> String {
    let why = plan.shortfall.as_ref().map(|shortfall| format!(": {shortfall}"));
    format!("no alarm rule keeps the budget of {} yet{}", plan.budget, why.unwrap_or_default())
}

/// What could be promised instead.
fn possible(model: &Model, plan: &BudgetPlan) -> String {
    let rate = |budget: &AlarmBudget| budget.alarms / budget.period.seconds();
    let budgets = [Period::Year, Period::Month, Period::Week, Period::Day]
        .map(|period| AlarmBudget { alarms: 1.0, period });
    let is_kept = |budget: &&AlarmBudget| {
        let other = BudgetPlan::new(model, **budget, plan.hop_seconds, plan.clear);
        rate(budget) > rate(&plan.budget) && other.is_ok_and(|other| other.is_kept())
    };
    match budgets.iter().find(is_kept) {
        Some(budget) => format!("{budget} can be promised now"),
        None => "not even 1 alarm per day can be promised now; without `alarms` the rule is 3 of 5 clips".to_owned(),
    }
}

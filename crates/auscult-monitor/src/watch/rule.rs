//! Which rule raises a machine's alarms: the one the configuration names, the model's own, or one that is planned for a budget.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use auscult::{
    FrontEnds, Machine, Model,
    alarm::{AlarmBudget, AlarmSettings, BudgetPlan, Period},
    core::FalseAlarmRate,
};
use serde::{Deserialize, Serialize};

use super::status::RuleStatus;
use crate::{
    error::{Error, Result},
    site::MachineSpec,
};

/// What is planned for where nobody says how many false alarms are acceptable: few enough that each is looked at.
pub const USUAL_BUDGET: AlarmBudget = AlarmBudget { alarms: 1.0, period: Period::Month };

/// How the rule of a version was planned, and what the model had before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RulePlan {
    /// The fingerprint of the model that it was planned for.
    pub of: String,
    /// The budget it was planned for.
    pub budget: AlarmBudget,
    /// Time from one clip to the next.
    pub hop_seconds: f64,
    /// Alarms in the budget's period that are to be expected of normal sound like that of the visits.
    pub expected: f64,
    /// Why the budget is aimed at only; `None` if it is promised.
    pub missing: Option<String>,
    /// The strictest budget that can be promised instead.
    pub possible: Option<AlarmBudget>,
    own_rate: FalseAlarmRate,
    own_alarm: Option<AlarmSettings>,
    own_budget: Option<AlarmBudget>,
}

/// A model with the rule that it is watched with.
#[derive(Debug)]
pub struct Ruled {
    /// The machine.
    pub machine: Machine,
    /// How its rule was planned; `None` if it was not.
    pub plan: Option<RulePlan>,
}

/// What a model says of its rate and its rule itself.
struct Own {
    rate: FalseAlarmRate,
    alarm: Option<AlarmSettings>,
    budget: Option<AlarmBudget>,
}

impl Own {
    fn of(model: &Model, plan: Option<&RulePlan>) -> Self {
        if let Some(plan) = plan {
            return Self { rate: plan.own_rate, alarm: plan.own_alarm, budget: plan.own_budget };
        }
        let settings = model.settings();
        let (rate, alarm) = (settings.false_alarm_rate, settings.alarm);
        Self { rate, alarm, budget: settings.alarm_budget }
    }

    /// What is to be planned for, if anything.
    fn wanted(&self, spec: &MachineSpec) -> Option<AlarmBudget> {
        match (spec.alarm, spec.budget, self.alarm) {
            (Some(_), ..) | (None, None, Some(_)) => None,
            (None, Some(budget), Some(_)) if self.budget == Some(budget) => None,
            (None, budget, _) => Some(budget.unwrap_or(USUAL_BUDGET)),
        }
    }

    /// Time from one clip to the next: as the configuration says, as the model's rule was chosen for, or without a pause.
    fn hop_seconds(&self, spec: &MachineSpec, model: &Model) -> f64 {
        let of_rule = || self.alarm.and_then(|alarm| alarm.hop_seconds);
        spec.every.or_else(of_rule).unwrap_or(model.settings().clip.seconds)
    }
}

impl Ruled {
    /// A version as it is, if its rule is what the configuration wants; otherwise with another one.
    ///
    /// # Errors
    ///
    /// As [`Ruled::plan`].
    pub fn keep_or_plan(
        machine: Machine,
        plan: Option<RulePlan>,
        spec: &MachineSpec,
        front_ends: &FrontEnds,
    ) -> Result<(Self, bool)> {
        let own = Own::of(machine.model(), plan.as_ref());
        let is_kept = match (own.wanted(spec), &plan) {
            (None, None) => true,
            (Some(budget), Some(plan)) => {
                let hop_seconds = own.hop_seconds(spec, machine.model());
                // A budget that somebody names is promised or refused.
                plan.budget == budget
                    && (plan.hop_seconds - hop_seconds).abs() < 1e-6
                    && (plan.missing.is_none() || spec.budget.is_none())
            }
            _ => false,
        };
        if is_kept {
            return Ok((Self { machine, plan }, true));
        }
        Ok((Self::plan(machine, plan.as_ref(), spec, front_ends)?, false))
    }

    /// A model with the rule that the configuration wants. `before` says how the rule it has was planned.
    ///
    /// # Errors
    ///
    /// [`Error::NotPromised`] if the configuration names a budget that cannot be promised.
    pub fn plan(
        machine: Machine,
        before: Option<&RulePlan>,
        spec: &MachineSpec,
        front_ends: &FrontEnds,
    ) -> Result<Self> {
        let own = Own::of(machine.model(), before);
        let Some(budget) = own.wanted(spec) else {
            if before.is_none() {
                return Ok(Self { machine, plan: None });
            }
            let model = machine.model().clone().with_false_alarm_rate(own.rate);
            let model = match (own.alarm, own.budget) {
                (Some(alarm), Some(budget)) => model.with_alarm_for(budget, alarm)?,
                (alarm, _) => model.with_alarm(alarm)?,
            };
            return Ok(Self { machine: Machine::from_model(model, front_ends)?, plan: None });
        };
        let hop_seconds = own.hop_seconds(spec, machine.model());
        let model = machine.model().clone().with_false_alarm_rate(own.rate);
        let key = Key {
            model: Arc::clone(machine.hash()),
            rate: own.rate,
            budget,
            hop_seconds,
            is_named: spec.budget.is_some(),
        };
        let decision = if let Some(decision) = key.known() {
            decision
        } else {
            let decision = decide(&model, budget, hop_seconds, key.is_named)?;
            key.remember(decision)
        };
        let Decision { rate, alarm, expected, missing, possible } = decision;
        let model = model.with_false_alarm_rate(rate);
        let model = match &missing {
            None => model.with_alarm_for(budget, alarm)?,
            Some(_) => model.with_alarm(Some(alarm))?,
        };
        let plan = RulePlan {
            of: before.map_or_else(|| machine.hash().to_string(), |before| before.of.clone()),
            budget,
            hop_seconds,
            expected,
            missing,
            possible,
            own_rate: own.rate,
            own_alarm: own.alarm,
            own_budget: own.budget,
        };
        Ok(Self { machine: Machine::from_model(model, front_ends)?, plan: Some(plan) })
    }

    /// What raises an alarm, and what is promised.
    pub fn status(&self, spec: &MachineSpec) -> RuleStatus {
        status(spec, self.machine.model(), self.plan.as_ref())
    }
}

/// What comes of a budget for a model.
#[derive(Debug, Clone)]
struct Decision {
    rate: FalseAlarmRate,
    alarm: AlarmSettings,
    expected: f64,
    missing: Option<String>,
    possible: Option<AlarmBudget>,
}

/// The rule that keeps a budget, and where none can be promised the one that comes nearest, unless somebody named the budget.
fn decide(
    model: &Model,
    budget: AlarmBudget,
    hop_seconds: f64,
    is_named: bool,
) -> Result<Decision> {
    let clear = AlarmSettings::default().clear;
    let plan = BudgetPlan::new(model, budget, hop_seconds, clear)?;
    if let Some((choice, alarm)) = plan.chosen.zip(plan.alarm()) {
        let (rate, expected) = (choice.rate, choice.alarms);
        let alarm = ends_once(alarm, rate, hop_seconds);
        return Ok(Decision { rate, alarm, expected, missing: None, possible: None });
    }
    let possible = possible(model, &plan);
    let why = plan.shortfall.as_ref().map(ToString::to_string);
    let why = why.unwrap_or_else(|| "left-out sound contradicts it".to_owned());
    let nearest = BudgetPlan::unpromised(model, budget, hop_seconds, clear)?;
    match nearest.filter(|_| !is_named) {
        Some((choice, alarm)) => {
            let (rate, expected) = (choice.rate, choice.alarms);
            let alarm = ends_once(alarm, rate, hop_seconds);
            Ok(Decision { rate, alarm, expected, missing: Some(why), possible })
        }
        None => Err(refusal(&plan, &why, possible)),
    }
}

/// The most normal clips in a row that end the alarm of a planned rule, and the longest time they may take.
const MOST_CLEAR: f64 = 60.0;
const LONGEST_CLEAR_SECONDS: f64 = 3_600.0;

/// How likely the next clips of a machine that is well must be to end its alarm.
const CHANCE_TO_CLEAR: f64 = 0.1;

/// The rule, with an alarm that ends after so many normal clips that an unusual day is one alarm and not ten. A longer end never raises
/// more alarms, so what was planned with a short one holds.
#[must_use]
pub fn ends_once(alarm: AlarmSettings, rate: FalseAlarmRate, hop_seconds: f64) -> AlarmSettings {
    let likely = CHANCE_TO_CLEAR.ln() / (-f64::from(rate)).ln_1p();
    let clips = likely.min(MOST_CLEAR).min(LONGEST_CLEAR_SECONDS / hop_seconds);
    AlarmSettings { clear: alarm.clear.max(clips as usize), ..alarm }
}

/// What a decision depends on.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    model: Arc<str>,
    rate: FalseAlarmRate,
    budget: AlarmBudget,
    hop_seconds: f64,
    is_named: bool,
}

/// The last decisions: a thousand machines may share a model, and a decision takes a moment.
static DECISIONS: Mutex<VecDeque<(Key, Decision)>> = Mutex::new(VecDeque::new());

/// How many are remembered.
const MOST_DECISIONS: usize = 64;

impl Key {
    fn known(&self) -> Option<Decision> {
        let known = DECISIONS.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(key, _)| key == self).map(|(_, decision)| decision.clone())
    }

    fn remember(self, decision: Decision) -> Decision {
        let mut known = DECISIONS.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MOST_DECISIONS {
            known.pop_front();
        }
        known.push_back((self, decision.clone()));
        decision
    }
}

/// What raises the alarms of a machine, and what is promised about them.
pub(super) fn status(spec: &MachineSpec, model: &Model, plan: Option<&RulePlan>) -> RuleStatus {
    let settings = model.settings();
    let rule = spec.alarm.or(settings.alarm).unwrap_or_default();
    let rate = settings.false_alarm_rate;
    let own_budget = settings.alarm_budget.filter(|_| spec.alarm.is_none());
    let clips = format!("{} of {} clips", rule.raise, rule.window);
    let end = format!("an alarm ends after {} normal ones in a row", rule.clear);
    let (budget, missing) = match plan {
        Some(plan) => (Some(plan.budget), plan.missing.clone()),
        None => (own_budget, None),
    };
    let text = match (plan, &missing) {
        (Some(plan), None) => format!(
            "{clips}, of which {rate} may be anomalous: at most {} is promised, with a clip every {}; {end}",
            plan.budget,
            seconds(plan.hop_seconds)
        ),
        (Some(plan), Some(missing)) => {
            let instead = match plan.possible {
                Some(budget) => format!("{budget} can be promised"),
                None => "not even 1 alarm per day can be promised".to_owned(),
            };
            format!(
                "{clips}, of which {rate} may be anomalous: {} is aimed at, with a clip every {}, and cannot be promised ({}). \
                 {}. For now {instead}; {end}",
                plan.budget,
                seconds(plan.hop_seconds),
                expectation(plan),
                capitalized(missing)
            )
        }
        (None, _) if spec.alarm.is_some() => format!("{clips}, as the configuration says; {end}"),
        (None, _) => match own_budget {
            Some(budget) => format!("{clips}, the model's own rule for at most {budget}; {end}"),
            None => format!("{clips}, the model's own rule; {end}"),
        },
    };
    RuleStatus {
        raise: rule.raise,
        window: rule.window,
        rate: rate.into(),
        budget: budget.map(|budget| budget.to_string()),
        promised: budget.is_some() && missing.is_none(),
        missing,
        text,
    }
}

/// How many alarms are to be expected.
fn expectation(plan: &RulePlan) -> String {
    let period = plan.budget.period;
    if plan.expected <= plan.budget.alarms {
        "sound like that of the visits should keep it".to_owned()
    } else {
        format!("about {:.1} alarms per {period} are to be expected", plan.expected)
    }
}

/// A sentence's first letter.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A length of time as people say it.
fn seconds(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds} s") } else { format!("{:.0} min", seconds / 60.0) }
}

/// What is missing for a budget that the configuration names, and what could be promised.
fn refusal(plan: &BudgetPlan, why: &str, possible: Option<AlarmBudget>) -> Error {
    let instead = match possible {
        Some(budget) => format!("{budget} can be promised now"),
        None => "not even 1 alarm per day can be promised now".to_owned(),
    };
    Error::NotPromised {
        reason: format!("no alarm rule keeps the budget of {} yet: {why}", plan.budget),
        instead: format!(
            "{instead}; without `alarms` the monitor takes the rule that comes nearest to {USUAL_BUDGET}"
        ),
    }
}

/// The strictest budget that can be promised instead.
fn possible(model: &Model, plan: &BudgetPlan) -> Option<AlarmBudget> {
    let rate = |budget: &AlarmBudget| budget.alarms / budget.period.seconds();
    let budgets = [Period::Year, Period::Month, Period::Week, Period::Day]
        .map(|period| AlarmBudget { alarms: 1.0, period });
    let is_kept = |budget: &AlarmBudget| {
        let other = BudgetPlan::new(model, *budget, plan.hop_seconds, plan.clear);
        rate(budget) > rate(&plan.budget) && other.is_ok_and(|other| other.is_kept())
    };
    budgets.into_iter().find(is_kept)
}

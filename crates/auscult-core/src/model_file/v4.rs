//! Headers of version 4: alarm rules with their budgets, and ensembles. What version 1 to 3 can hold
//! is the same as there.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    Content,
    container::{from_text, to_text},
    wire::{Alarm, Header},
};
use crate::{ModelSettings, Result, alarm::AlarmBudget};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetedAlarm {
    rule: Alarm,
    /// As text, such as `1 alarm per month`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<AlarmBudget>,
}

impl BudgetedAlarm {
    pub(super) fn of(settings: &ModelSettings) -> Option<Self> {
        let budget = settings.alarm_budget;
        settings.alarm.map(|rule| Self { rule: rule.into(), budget })
    }

    pub(super) fn put_into(mut content: Content, alarm: Option<Self>) -> Content {
        if let Some(Self { rule, budget }) = alarm {
            content.settings.alarm = Some(rule.into());
            content.settings.alarm_budget = budget;
        }
        content
    }
}

pub(super) fn header(content: Content) -> Result<Box<RawValue>> {
    let alarm = BudgetedAlarm::of(&content.settings);
    to_text(&Header::<_>::new(content, alarm))
}

pub(super) fn content(header: &RawValue) -> Result<Content> {
    let (content, alarm) = from_text::<Header<BudgetedAlarm>>(header)?.content();
    Ok(BudgetedAlarm::put_into(content, alarm))
}

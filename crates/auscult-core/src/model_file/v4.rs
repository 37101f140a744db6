//! Headers of version 4: alarm rules with their budgets, and ensembles. What version 1 to 3 can hold
//! is the same as there.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    Content,
    container::{from_text, to_text},
    wire::{Alarm, Header},
};
use crate::{Result, alarm::AlarmBudget};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetedAlarm {
    rule: Alarm,
    /// As text, such as `1 alarm per month`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<AlarmBudget>,
}

pub(super) fn header(content: Content) -> Result<Box<RawValue>> {
    let budget = content.settings.alarm_budget;
    let alarm = content.settings.alarm.map(|rule| BudgetedAlarm { rule: rule.into(), budget });
    to_text(&Header::new(content, alarm))
}

pub(super) fn content(header: &RawValue) -> Result<Content> {
    let (mut content, alarm) = from_text::<Header<BudgetedAlarm>>(header)?.content();
    if let Some(BudgetedAlarm { rule, budget }) = alarm {
        content.settings.alarm = Some(rule.into());
        content.settings.alarm_budget = budget;
    }
    Ok(content)
}

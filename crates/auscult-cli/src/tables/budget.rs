//! How an alarm budget can be kept.

use auscult::alarm::BudgetPlan;

use super::{Align, Table};
use crate::printer::count;

/// The rules to choose from, the one that was chosen, and what left-out sound did with it.
pub(crate) fn describe(plan: &BudgetPlan) -> String {
    let mut table = Table::new(&[
        ("M of N", Align::Left),
        ("clip rate", Align::Right),
        ("alarms", Align::Right),
        ("needs clips", Align::Right),
        ("alarm after", Align::Right),
    ]);
    for choice in &plan.choices {
        table.row([
            format!("{} of {}", choice.raise, choice.window),
            choice.rate.to_string(),
            format!("{:.2}", choice.alarms),
            choice.calibration_clips.to_string(),
            format!("{} s", choice.seconds_to_alarm),
        ]);
    }
    let assumed = match plan.dependence {
        Some(_) => "if normal clips resemble those around them as the left-out ones do",
        None => "if normal clips err independently, which single clips cannot show",
    };
    let head = format!(
        "\nat most {} with a clip every {} s; alarms are per {} {assumed}\n",
        plan.budget, plan.hop_seconds, plan.period
    );
    let passed_over = match &plan.passed_over[..] {
        [] => String::new(),
        rules => format!(
            "passed over, because left-out clips raise more alarms than the budget has: {}\n",
            rules.join(", ")
        ),
    };
    head + &table.render() + &passed_over + &choice(plan)
}

fn choice(plan: &BudgetPlan) -> String {
    let (Some(choice), Some(replay)) = (&plan.chosen, &plan.replay) else {
        let why = plan.shortfall.as_ref().map(ToString::to_string);
        let why = why.unwrap_or_else(|| "the replay failed".to_owned());
        return format!("at most {} cannot be promised yet: {why}\n", plan.budget);
    };
    let beyond = if replay.alarms as f64 > plan.allowed_alarms() {
        "more than the budget has, in too short a time to contradict it; "
    } else {
        ""
    };
    format!(
        "chosen: {} of {} clips at a clip rate of {}: that share of single clips may be called anomalous, an alarm \
         needs {} of them among {}\nreplayed {}, one visit after the other: {} in {:.1} h of sound, where at most {} \
         allows {:.2}; {beyond}so short a replay shows only that alarms are not much more frequent than that\n",
        choice.raise,
        choice.window,
        choice.rate,
        choice.raise,
        choice.window,
        count(replay.clips, "left-out clip"),
        count(replay.alarms, "alarm"),
        replay.seconds / 3600.0,
        plan.budget,
        plan.allowed_alarms(),
    )
}

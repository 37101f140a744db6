//! `auscult calibrate`: what a model can promise, and what it would take to promise more.

use auscult::{Calibrate, CalibrationScheme, Promise, alarm::BudgetPlan, files::ModelLock};

use crate::{
    Outcome,
    args::CalibrateArguments,
    context::Context,
    tables::{calibration::CalibrationTable, promise},
};

pub(crate) fn run(arguments: &CalibrateArguments, context: &Context) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        !(arguments.save && arguments.scheme == Some(CalibrationScheme::Split)),
        "a split takes every third visit out of the memory for good, so it is not saved; look at it without --save, \
         or fit again with --calibration split"
    );
    let printer = &context.printer;
    let lock = arguments.save.then(|| ModelLock::acquire(&arguments.model)).transpose()?;
    let before = auscult::files::load(&arguments.model)?;
    let settings = before.settings();
    let promise = Promise {
        rate: arguments.false_alarm_rate.unwrap_or(settings.false_alarm_rate),
        confidence: arguments.confidence.or(settings.confidence),
    };
    let calibrate = Calibrate {
        scheme: arguments.scheme,
        promise: Some(promise),
        budget: arguments.at_most,
        hop_seconds: arguments.hop_seconds,
        clear: arguments.clear,
    };
    let (model, plan) = calibrate.apply(&before)?;
    let is_kept = plan.as_ref().is_none_or(BudgetPlan::is_kept);
    if settings.alarm.is_some() && model.settings().alarm.is_none() {
        printer.note(
            "the alarm rule was chosen for another rate or calibration and is left out; --at-most chooses a new one",
        );
    }
    let table = CalibrationTable::new(&model, plan);
    if arguments.json {
        printer.line(serde_json::to_string_pretty(&table)?)?;
    } else {
        printer.text(&table.describe())?;
    }
    if arguments.json || table.promised {
        promise::warn(&model, printer);
    }
    let name = arguments.model.display();
    match lock {
        Some(_) if !is_kept => {
            printer.problem(format!(
                "nothing was saved: no alarm rule keeps the budget; {name} was not changed"
            ));
            return Ok(Outcome::Incomplete);
        }
        Some(lock) => {
            lock.save(&model)?;
            printer.note(format!("saved in {name}"));
        }
        None => {}
    }
    Ok(Outcome::Done)
}

//! `auscult calibrate`: what a model can promise, and what it would take to promise more.

use auscult_core::{
    CalibrationScheme, FalseAlarmRate, Model, Promise,
    calibration::{
        gamma::{GammaFit, GammaForm},
        tail::{ExtrapolatedThreshold, extrapolate},
    },
};
use auscult_files::ModelLock;
use serde::Serialize;

use super::{
    budget::BudgetFacts,
    summary::{promise_words, shortcoming, warn_about_calibration},
};
use crate::{
    Outcome,
    args::CalibrateArguments,
    printer::{Printer, count, strong},
};

pub(crate) fn run(arguments: &CalibrateArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        !(arguments.save && arguments.scheme == Some(CalibrationScheme::Split)),
        "a split takes every third visit out of the memory for good, so it is not saved; look at it without --save, \
         or fit again with --calibration split"
    );
    let lock = arguments.save.then(|| ModelLock::acquire(&arguments.model)).transpose()?;
    let mut model = auscult_files::load(&arguments.model)?;
    let is_other_scheme =
        arguments.scheme.is_some_and(|scheme| scheme != model.settings().calibration);
    if let Some(scheme) = arguments.scheme {
        model = model.with_calibration(scheme)?;
    }
    let promise = Promise {
        rate: arguments.false_alarm_rate.unwrap_or(model.settings().false_alarm_rate),
        confidence: arguments.confidence.or(model.settings().confidence),
    };
    let is_other_rate =
        arguments.false_alarm_rate.is_some_and(|rate| rate != model.settings().false_alarm_rate);
    let mut model = model.with_promise(promise);
    if (is_other_rate || is_other_scheme) && model.settings().alarm.is_some() {
        printer.note(
            "the alarm rule was chosen for another rate or calibration and is left out; --at-most chooses a new one",
        );
        model = model.with_alarm(None)?;
    }
    let hop_seconds = arguments.hop_seconds.unwrap_or(model.settings().clip.seconds);
    let budget = arguments
        .at_most
        .map(|budget| BudgetFacts::new(&model, budget, hop_seconds, arguments.clear))
        .transpose()?;
    if let Some(budget) = &budget {
        model = budget.apply(model)?;
    }
    let facts = Facts::new(&model, budget);
    if arguments.json {
        printer.line(serde_json::to_string_pretty(&facts)?)?;
    } else {
        printer.text(&facts.describe())?;
    }
    if arguments.json || facts.promised {
        warn_about_calibration(&model, printer);
    }
    let is_kept = facts.budget.as_ref().is_none_or(BudgetFacts::is_kept);
    match lock {
        Some(_) if !is_kept => {
            let name = arguments.model.display();
            printer.problem(format!(
                "nothing was saved: no alarm rule keeps the budget; {name} is as it was"
            ));
            return Ok(Outcome::Incomplete);
        }
        Some(lock) => {
            lock.save(&model)?;
            printer.note(format!("saved in {}", arguments.model.display()));
        }
        None => {}
    }
    Ok(Outcome::Done)
}

/// Everything the command tells.
#[derive(Debug, Serialize)]
struct Facts {
    /// In words.
    #[serde(skip)]
    asked_for: String,
    #[serde(skip)]
    rate: FalseAlarmRate,
    false_alarm_rate: f64,
    confidence: Option<f64>,
    promised: bool,
    /// What the promise rests on beside left-out visits.
    condition: Option<String>,
    /// Why it is not promised.
    missing: Option<String>,
    /// Promised or provisional.
    threshold: Option<f64>,
    basis: &'static str,
    clips: usize,
    effective_clips: f64,
    needed_clips: usize,
    /// Shown only where nothing can be promised.
    extrapolated: Option<ExtrapolatedThreshold>,
    dcase_gamma_90_percent: [Option<f64>; 2],
    domains: Vec<DomainFacts>,
    budget: Option<BudgetFacts>,
}

/// One domain on its own.
#[derive(Debug, Serialize)]
struct DomainFacts {
    domain: String,
    clips: usize,
    effective_clips: f64,
    threshold: Option<f64>,
    promised: bool,
}

impl Facts {
    fn new(model: &Model, budget: Option<BudgetFacts>) -> Self {
        let (calibration, promise) = (model.calibration(), model.settings().promise());
        let standing = model.standing();
        let condition = standing.condition(calibration.basis());
        let gamma = |form| GammaFit::new(calibration.scores(), form).ok()?.quantile(0.9).ok();
        let domain = |domain: &str| {
            let judge = model.judge_of_domain(domain)?;
            Some(DomainFacts {
                domain: domain.to_owned(),
                clips: judge.calibration().scores().len(),
                effective_clips: judge.calibration().effective_count(),
                threshold: judge.threshold(),
                promised: judge.standing().is_promised(),
            })
        };
        Self {
            asked_for: format!("at most {} false alarms", promise_words(model)),
            rate: promise.rate,
            false_alarm_rate: promise.rate.into(),
            confidence: promise.confidence.map(f64::from),
            promised: standing.is_promised(),
            condition,
            missing: shortcoming(standing),
            threshold: model.threshold(),
            basis: calibration.basis().name(),
            clips: calibration.scores().len(),
            effective_clips: calibration.effective_count(),
            needed_clips: promise.calibration_floor(),
            extrapolated: if standing.is_promised() {
                None
            } else {
                extrapolate(calibration, promise.rate)
            },
            dcase_gamma_90_percent: [GammaForm::TwoParameters, GammaForm::ThreeParameters]
                .map(gamma),
            domains: calibration.domain_names().into_iter().filter_map(domain).collect(),
            budget,
        }
    }

    /// A threshold and whether it is more than provisional.
    fn show(&self, threshold: Option<f64>, promised: bool) -> String {
        match threshold {
            None => "none".to_owned(),
            Some(threshold) if promised => format!("{threshold:.4}"),
            Some(threshold) => {
                format!("{threshold:.4}, provisional; expect more than {} false alarms", self.rate)
            }
        }
    }

    fn describe(&self) -> String {
        let show = |threshold: Option<f64>| {
            threshold.map_or_else(|| "none".to_owned(), |threshold| format!("{threshold:.4}"))
        };
        let condition = self.condition.as_ref().map(|condition| format!(", {condition}"));
        let kept = format!("kept{}", condition.unwrap_or_default());
        let mut rows = vec![
            ("asked for", self.asked_for.clone()),
            (
                "calibration",
                format!(
                    "{} normal clips, leaving out {}; worth {:.0} independent ones, {} needed",
                    self.clips,
                    self.basis,
                    self.effective_clips.floor(),
                    self.needed_clips
                ),
            ),
            ("threshold", self.show(self.threshold, self.promised)),
            ("promise", self.missing.clone().unwrap_or(kept)),
        ];
        if let Some(tail) = &self.extrapolated {
            rows.push(("extrapolated", format!(
                "{:.4} (90 % interval {:.4} to {:.4}), from the {} largest scores; an assumption, not a promise",
                tail.threshold, tail.low, tail.high, tail.exceedances
            )));
        }
        let [two, three] = self.dcase_gamma_90_percent;
        rows.push(("DCASE gamma", format!(
            "90 % point {} (2 parameters), {} (3 parameters); for parity with the baselines, not a promise",
            show(two), show(three)
        )));
        for domain in &self.domains {
            rows.push((
                "domain",
                format!(
                    "{}: threshold {}, {} worth {:.0}",
                    domain.domain,
                    self.show(domain.threshold, domain.promised),
                    count(domain.clips, "clip"),
                    domain.effective_clips.floor()
                ),
            ));
        }
        let line = |(name, value): &(&str, String)| {
            format!("{}{}{value}\n", strong(name), " ".repeat(14 - name.len()))
        };
        let text: String = rows.iter().map(line).collect();
        text + &self.budget.as_ref().map(BudgetFacts::describe).unwrap_or_default()
    }
}

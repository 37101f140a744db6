//! `auscult calibrate`: what a model can promise, and what it would take to promise more.

use auscult_core::{
    CalibrationScheme, Model, Promise, Standing,
    calibration::{
        gamma::{GammaFit, GammaForm},
        tail::{ExtrapolatedThreshold, extrapolate},
    },
};
use auscult_store::ModelLock;
use serde::Serialize;

use super::{
    budget::BudgetFacts,
    summary::{shortcoming, warn_about_calibration},
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
    let mut model = auscult_store::load(&arguments.model)?;
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
    if is_other_rate && model.settings().alarm.is_some() {
        printer.note("the alarm rule was chosen for another rate and is left out; --at-most chooses a new one");
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
    false_alarm_rate: f64,
    confidence: Option<f64>,
    promised: bool,
    /// Why it is not.
    missing: Option<String>,
    /// Promised.
    threshold: Option<f64>,
    /// Used meanwhile, where nothing can be promised.
    provisional_threshold: Option<f64>,
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
    provisional_threshold: Option<f64>,
}

/// A threshold as the promised or the provisional one that it is.
fn by_standing(threshold: Option<f64>, standing: Standing) -> (Option<f64>, Option<f64>) {
    if standing.is_promised() { (threshold, None) } else { (None, threshold) }
}

impl Facts {
    fn new(model: &Model, budget: Option<BudgetFacts>) -> Self {
        let (calibration, promise) = (model.calibration(), model.settings().promise());
        let (threshold, provisional_threshold) = by_standing(model.threshold(), model.standing());
        let gamma = |form| GammaFit::new(calibration.scores(), form).ok()?.quantile(0.9).ok();
        let domain = |domain: &str| {
            let judge = model.judge_of_domain(domain)?;
            let (threshold, provisional_threshold) =
                by_standing(judge.threshold(), judge.standing());
            Some(DomainFacts {
                domain: domain.to_owned(),
                clips: judge.calibration().scores().len(),
                effective_clips: judge.calibration().effective_count(),
                threshold,
                provisional_threshold,
            })
        };
        let sure = promise.confidence.map(|confidence| format!(", {confidence} sure"));
        Self {
            asked_for: format!("at most {} false alarms{}", promise.rate, sure.unwrap_or_default()),
            false_alarm_rate: promise.rate.into(),
            confidence: promise.confidence.map(f64::from),
            promised: model.standing().is_promised(),
            missing: shortcoming(model.standing()),
            threshold,
            provisional_threshold,
            basis: calibration.basis().name(),
            clips: calibration.scores().len(),
            effective_clips: calibration.effective_count(),
            needed_clips: promise.calibration_floor(),
            extrapolated: threshold
                .map_or_else(|| extrapolate(calibration, promise.rate), |_| None),
            dcase_gamma_90_percent: [GammaForm::TwoParameters, GammaForm::ThreeParameters]
                .map(gamma),
            domains: calibration.domain_names().into_iter().filter_map(domain).collect(),
            budget,
        }
    }

    fn describe(&self) -> String {
        let show = |threshold: Option<f64>| {
            threshold.map_or_else(|| "none".to_owned(), |threshold| format!("{threshold:.4}"))
        };
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
            ("threshold", show(self.threshold)),
            ("promise", self.missing.clone().unwrap_or_else(|| "kept".to_owned())),
        ];
        if self.provisional_threshold.is_some() {
            let provisional = show(self.provisional_threshold);
            rows.push((
                "provisional",
                format!("{provisional}, used until then; expect more false alarms"),
            ));
        }
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
                    domain.provisional_threshold.map_or_else(
                        || show(domain.threshold),
                        |provisional| format!("{provisional:.4} (provisional)")
                    ),
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

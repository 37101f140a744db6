//! What a model can promise.

use auscult::{
    FalseAlarmRate, Model,
    alarm::BudgetPlan,
    calibration::{
        gamma::{GammaFit, GammaForm},
        tail::{ExtrapolatedThreshold, extrapolate},
    },
};
use serde::Serialize;

use super::{
    budget,
    promise::{rate, shortcoming},
};
use crate::printer::{count, strong};

/// Everything the command prints.
#[derive(Debug, Serialize)]
pub(crate) struct CalibrationTable {
    /// As a sentence.
    #[serde(skip)]
    wanted: String,
    #[serde(skip)]
    rate: FalseAlarmRate,
    false_alarm_rate: f64,
    confidence: Option<f64>,
    pub(crate) promised: bool,
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
    pub(crate) budget: Option<BudgetPlan>,
}

/// One domain on its own.
#[derive(Debug, Serialize)]
struct DomainFacts {
    domain: String,
    clips: usize,
    effective_clips: f64,
    threshold: Option<f64>,
    promised: bool,
    /// Why it is not promised.
    missing: Option<String>,
}

impl CalibrationTable {
    pub(crate) fn new(model: &Model, budget: Option<BudgetPlan>) -> Self {
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
                missing: shortcoming(judge.standing()),
            })
        };
        Self {
            wanted: format!("at most {} false alarms", rate(model)),
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

    pub(crate) fn describe(&self) -> String {
        let show = |threshold: Option<f64>| {
            threshold.map_or_else(|| "none".to_owned(), |threshold| format!("{threshold:.4}"))
        };
        let condition = self.condition.as_ref().map(|condition| format!(", {condition}"));
        let kept = format!("kept{}", condition.unwrap_or_default());
        let mut rows = vec![
            ("wanted", self.wanted.clone()),
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
            rows.extend(domain.missing.clone().map(|missing| ("", missing)));
        }
        let line = |(name, value): &(&str, String)| {
            format!("{}{}{value}\n", strong(name), " ".repeat(14 - name.len()))
        };
        let text: String = rows.iter().map(line).collect();
        text + &self.budget.as_ref().map(budget::describe).unwrap_or_default()
    }
}

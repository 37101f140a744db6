//! An alarm budget: from "at most one alarm a month" to a rate and M of N, for `fit` and `calibrate`.

use auscult_core::{
    Model, Promise,
    alarm::{AlarmBudget, AlarmSettings, Choice, Replay},
};
use serde::Serialize;

use crate::{
    printer::count,
    table::{Align, Table},
};

/// The alarm a choice stands for, with clips every `hop_seconds`.
fn alarm(raise: usize, window: usize, clear: usize, hop_seconds: f64) -> AlarmSettings {
    let standard = AlarmSettings::default();
    // One clip that comes late is not yet a silent sensor.
    let no_data_after_seconds = standard.no_data_after_seconds.max(3.0 * hop_seconds);
    let hop_seconds = Some(hop_seconds);
    AlarmSettings { raise, window, clear, no_data_after_seconds, hop_seconds, ..standard }
}

/// How an alarm budget can be kept.
#[derive(Debug, Serialize)]
pub(super) struct BudgetFacts {
    budget: String,
    period: &'static str,
    hop_seconds: f64,
    clear: usize,
    choices: Vec<Choice>,
    /// The most sensitive choice that today's calibration can promise.
    chosen: Option<Choice>,
    /// Why none can be promised.
    lack: Option<String>,
    /// What left-out sound did with the chosen one.
    replay: Option<Replay>,
    /// Rules that could be promised, and raise too many alarms on left-out sound.
    passed_over: Vec<String>,
    /// Alarms the budget allows in the time of the replay.
    #[serde(skip)]
    allowed: f64,
}

impl BudgetFacts {
    pub(super) fn new(
        model: &Model,
        budget: AlarmBudget,
        hop_seconds: f64,
        clear: usize,
    ) -> anyhow::Result<Self> {
        alarm(1, 1, clear, hop_seconds).check()?;
        let confidence = model.settings().confidence;
        let choices = budget.choices(hop_seconds, clear, confidence)?;
        let promise = |choice: &Choice| Promise { rate: choice.rate, confidence };
        let recordings = model.left_out_recordings();
        let replay = |choice: &Choice| {
            let threshold = model.calibration().promised_threshold(promise(choice))?;
            let rules = alarm(choice.raise, choice.window, clear, hop_seconds).check().ok()?;
            Some(Replay::new(&recordings, threshold, rules, hop_seconds, budget.period))
        };
        // The most sensitive first.
        let mut promised: Vec<&Choice> = choices
            .iter()
            .filter(|choice| model.standing_of(promise(choice)).is_promised())
            .collect();
        promised.sort_by(|a, b| {
            f64::from(b.rate).total_cmp(&f64::from(a.rate)).then(a.raise.cmp(&b.raise))
        });
        let replayed: Vec<(&Choice, Replay)> =
            promised.into_iter().filter_map(|choice| Some((choice, replay(choice)?))).collect();
        let kept = replayed.iter().find(|(_, replay)| !replay.contradicts(budget));
        let passed_over = replayed
            .iter()
            .take_while(|(_, replay)| replay.contradicts(budget))
            .map(|(choice, _)| format!("{} of {}", choice.raise, choice.window))
            .collect();
        let easiest = choices.iter().min_by_key(|choice| choice.calibration_clips);
        let lack = match (kept, replayed.first(), easiest) {
            (Some(_), ..) => None,
            (None, Some((_, replay)), _) => Some(format!(
                "left-out clips raise more alarms than this budget has ({} in {}), because clips of one visit err \
                 together; allow more alarms, or record more visits",
                replay.alarms,
                count(replay.clips, "clip")
            )),
            (None, None, Some(easiest)) => {
                model.standing_of(promise(easiest)).lack().map(|lack| lack.to_string())
            }
            (None, None, None) => Some("no rule keeps this budget with clips so often".to_owned()),
        };
        let (chosen, replay) = kept.map(|&(choice, replay)| (*choice, replay)).unzip();
        Ok(Self {
            lack,
            budget: budget.to_string(),
            period: budget.period.name(),
            hop_seconds,
            clear,
            allowed: replay
                .map_or(0.0, |replay| budget.alarms * replay.seconds / budget.period.seconds()),
            chosen,
            choices,
            replay,
            passed_over,
        })
    }

    /// Whether there is a rule that keeps the budget.
    pub(super) fn is_kept(&self) -> bool {
        self.chosen.is_some()
    }

    /// The model with the chosen rate and rule; as it was if none can be promised.
    pub(super) fn apply(&self, model: Model) -> anyhow::Result<Model> {
        let Some(choice) = &self.chosen else { return Ok(model) };
        let alarm = alarm(choice.raise, choice.window, self.clear, self.hop_seconds);
        Ok(model.with_false_alarm_rate(choice.rate).with_alarm(Some(alarm))?)
    }

    pub(super) fn describe(&self) -> String {
        let mut table = Table::new(&[
            ("M of N", Align::Left),
            ("clip rate", Align::Right),
            ("alarms", Align::Right),
            ("needs clips", Align::Right),
            ("alarm after", Align::Right),
        ]);
        for choice in &self.choices {
            table.row([
                format!("{} of {}", choice.raise, choice.window),
                choice.rate.to_string(),
                format!("{:.2}", choice.alarms),
                choice.calibration_clips.to_string(),
                format!("{} s", choice.seconds_to_alarm),
            ]);
        }
        let head = format!(
            "\nat most {} with a clip every {} s; alarms are per {} if normal clips err independently\n",
            self.budget, self.hop_seconds, self.period
        );
        let choice = match (&self.chosen, &self.replay) {
            (Some(choice), Some(replay)) => format!(
                "chosen: {} of {} clips at a clip rate of {}: so many single clips may be called anomalous, an alarm \
                 needs {} of them among {}\nreplayed {}, {:.1} h at this pace, one visit after the other: {}; \
                 {}more than {:.0} a {} are ruled out (95 % confidence), fewer are possible\n",
                choice.raise,
                choice.window,
                choice.rate,
                choice.raise,
                choice.window,
                count(replay.clips, "left-out clip"),
                replay.seconds / 3600.0,
                count(replay.alarms, "alarm"),
                self.against_budget(replay),
                replay.most_per_period,
                self.period
            ),
            _ => format!(
                "none of these can be promised yet: {}\n",
                self.lack.as_deref().unwrap_or("the replay failed")
            ),
        };
        let passed_over = match &self.passed_over[..] {
            [] => String::new(),
            rules => format!(
                "passed over, because left-out clips raise more alarms than the budget has: {}\n",
                rules.join(", ")
            ),
        };
        head + &table.render() + &passed_over + &choice
    }

    /// What is remarkable about the number of alarms in a replay.
    fn against_budget(&self, replay: &Replay) -> &'static str {
        if replay.alarms as f64 > self.allowed {
            "more than the budget has, in too short a time to contradict it; "
        } else {
            ""
        }
    }
}

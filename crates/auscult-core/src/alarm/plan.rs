//! Which alarm rule keeps a budget, checked against left-out sound.

use serde::Serialize;

use super::{AlarmBudget, AlarmSettings, Choice, Dependence, Replay};
use crate::{
    Calibration, CalibrationScheme, Confidence, FalseAlarmRate, Model, Promise, Result, Standing,
    calibration::Lack,
};

/// How an alarm budget can be kept by a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetPlan {
    /// The budget; JSON has it as `1 alarm per month`.
    pub budget: AlarmBudget,
    /// The span its alarms are counted in.
    pub period: &'static str,
    /// Time from one clip to the next.
    pub hop_seconds: f64,
    /// Normal clips in a row that clear an alarm.
    pub clear: usize,
    /// How left-out clips depend on each other; `None` if too few follow each other, and then they are taken as independent.
    pub dependence: Option<Dependence>,
    /// Every rule that keeps the budget if normal clips depend on each other like that.
    pub choices: Vec<Choice>,
    /// The most sensitive one that the calibration can promise and left-out sound does not contradict.
    pub chosen: Option<Choice>,
    /// Why there is none.
    #[serde(rename = "lack", serialize_with = "as_optional_text")]
    pub shortfall: Option<BudgetShortfall>,
    /// What left-out sound did with the chosen rule.
    pub replay: Option<Replay>,
    /// Rules that could be promised and raise too many alarms on left-out sound, as `3 of 5`.
    pub passed_over: Vec<String>,
}

/// Why no rule keeps a budget.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BudgetShortfall {
    /// Left-out clips raise more alarms than the budget has.
    Contradicted(Replay),
    /// Too few normal clips or visits for the rate the easiest rule needs.
    Calibration(Lack),
    /// Clips come so often that no rule is rare enough.
    NoRule,
}

impl std::fmt::Display for BudgetShortfall {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Contradicted(replay) => {
                let plural = if replay.clips == 1 { "" } else { "s" };
                write!(
                    formatter,
                    "left-out clips raise more alarms than this budget has ({} in {} clip{plural}), because clips of \
                     one visit err together; allow more alarms, or record more visits",
                    replay.alarms, replay.clips
                )
            }
            Self::Calibration(lack) => lack.fmt(formatter),
            Self::NoRule => formatter.write_str("no rule keeps this budget with clips this often"),
        }
    }
}

#[expect(clippy::ref_option, reason = "serde hands out references")]
fn as_optional_text<S: serde::Serializer>(
    text: &Option<impl ToString>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    text.as_ref().map(ToString::to_string).serialize(serializer)
}

/// What is known of unseen normal sound.
#[derive(Debug, Clone, Copy)]
pub struct LeftOutSound<'a> {
    /// Scores of left-out clips.
    pub calibration: &'a Calibration,
    /// How they were left out.
    pub scheme: CalibrationScheme,
    /// The same scores, recording by recording, in the order they were recorded in.
    pub recordings: &'a [Vec<f64>],
    /// How sure promises must be.
    pub confidence: Option<Confidence>,
}

impl BudgetPlan {
    /// Looks for the most sensitive rule that keeps `budget` with a clip every `hop_seconds`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Setting`] if the pace or `clear` is out of range.
    pub fn new(model: &Model, budget: AlarmBudget, hop_seconds: f64, clear: usize) -> Result<Self> {
        let left_out = LeftOutSound {
            calibration: model.calibration(),
            scheme: model.settings().calibration,
            recordings: &model.left_out_recordings(),
            confidence: model.settings().confidence,
        };
        Self::of(left_out, budget, hop_seconds, clear)
    }

    /// As [`BudgetPlan::new`], for scores of any origin.
    ///
    /// # Errors
    ///
    /// As [`BudgetPlan::new`].
    pub fn of(
        left_out: LeftOutSound<'_>,
        budget: AlarmBudget,
        hop_seconds: f64,
        clear: usize,
    ) -> Result<Self> {
        rule(1, 1, clear, hop_seconds).check()?;
        let LeftOutSound { calibration, scheme, recordings, confidence } = left_out;
        let dependence = Dependence::of(recordings);
        let choices = match dependence {
            Some(dependence) => budget.choices_for(dependence, hop_seconds, clear, confidence)?,
            None => budget.choices(hop_seconds, clear, confidence)?,
        };
        let promise = |choice: &Choice| Promise { rate: choice.rate, confidence };
        let replay = |choice: &Choice| {
            let threshold = calibration.promised_threshold(promise(choice))?;
            let rules = rule(choice.raise, choice.window, clear, hop_seconds).check().ok()?;
            Some(Replay::new(recordings, threshold, rules, hop_seconds, budget.period))
        };
        let standing = |choice: &Choice| Standing::of(calibration, promise(choice), scheme);
        let is_promised = |choice: &&Choice| standing(choice).is_promised();
        let mut promised: Vec<&Choice> = choices.iter().filter(is_promised).collect();
        // The most sensitive first; a long rule waits long, so only where no other can be promised, and then the shortest.
        promised.sort_by(|a, b| match (a.is_long(), b.is_long()) {
            (false, false) => {
                f64::from(b.rate).total_cmp(&f64::from(a.rate)).then(a.raise.cmp(&b.raise))
            }
            (a_is_long, b_is_long) => a_is_long.cmp(&b_is_long).then(a.raise.cmp(&b.raise)),
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
        let shortfall = match (kept, replayed.first(), easiest) {
            (Some(_), ..) => None,
            (None, Some((_, replay)), _) => Some(BudgetShortfall::Contradicted(*replay)),
            (None, None, Some(easiest)) => {
                standing(easiest).lack().map(BudgetShortfall::Calibration)
            }
            (None, None, None) => Some(BudgetShortfall::NoRule),
        };
        let (chosen, replay) = kept.map(|&(choice, replay)| (*choice, replay)).unzip();
        let period = budget.period.name();
        Ok(Self {
            budget,
            period,
            hop_seconds,
            clear,
            dependence,
            choices,
            chosen,
            shortfall,
            replay,
            passed_over,
        })
    }

    /// For a budget that cannot be promised, with the model's own false-alarm rate: the shortest rule that keeps it on simulated
    /// sound and is not contradicted by left-out clips; where there is none, the one that raises the fewest alarms.
    ///
    /// # Errors
    ///
    /// As [`BudgetPlan::new`].
    pub fn unpromised(
        model: &Model,
        budget: AlarmBudget,
        hop_seconds: f64,
        clear: usize,
    ) -> Result<Option<(Choice, AlarmSettings)>> {
        let left_out = LeftOutSound {
            calibration: model.calibration(),
            scheme: model.settings().calibration,
            recordings: &model.left_out_recordings(),
            confidence: model.settings().confidence,
        };
        let rate = model.settings().false_alarm_rate;
        Self::unpromised_of(left_out, rate, budget, hop_seconds, clear)
    }

    /// As [`BudgetPlan::unpromised`], for scores of any origin.
    ///
    /// # Errors
    ///
    /// As [`BudgetPlan::new`].
    pub fn unpromised_of(
        left_out: LeftOutSound<'_>,
        rate: FalseAlarmRate,
        budget: AlarmBudget,
        hop_seconds: f64,
        clear: usize,
    ) -> Result<Option<(Choice, AlarmSettings)>> {
        let LeftOutSound { calibration, recordings, confidence, .. } = left_out;
        let promise = Promise { rate, confidence };
        let dependence = Dependence::of(recordings).unwrap_or(Dependence::INDEPENDENT);
        let rules = budget.rules_at(promise, dependence, hop_seconds, clear)?;
        let threshold = calibration.threshold(promise);
        let is_contradicted = |choice: &Choice| {
            let rules = rule(choice.raise, choice.window, clear, hop_seconds).check();
            threshold.zip(rules.ok()).is_some_and(|(threshold, rules)| {
                let replay = Replay::new(recordings, threshold, rules, hop_seconds, budget.period);
                replay.contradicts(budget)
            })
        };
        let keeps = |choice: &&Choice| choice.alarms <= budget.alarms && !is_contradicted(choice);
        let kept = rules.iter().find(keeps);
        let fewest = || rules.iter().min_by(|a, b| a.alarms.total_cmp(&b.alarms));
        Ok(kept
            .or_else(fewest)
            .map(|choice| (*choice, rule(choice.raise, choice.window, clear, hop_seconds))))
    }

    /// Whether there is a rule that keeps the budget.
    pub fn is_kept(&self) -> bool {
        self.chosen.is_some()
    }

    /// Alarms the budget allows in the time of the replay.
    pub fn allowed_alarms(&self) -> f64 {
        let period = self.budget.period.seconds();
        self.replay.map_or(0.0, |replay| self.budget.alarms * replay.seconds / period)
    }

    /// The model with the chosen rate and rule; unchanged if none can be promised.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Setting`] if the rule is out of range, which a chosen one never is.
    pub fn apply(&self, model: Model) -> Result<Model> {
        let (Some(choice), Some(alarm)) = (&self.chosen, self.alarm()) else { return Ok(model) };
        model.with_false_alarm_rate(choice.rate).with_alarm_for(self.budget, alarm)
    }

    /// The chosen rule.
    pub fn alarm(&self) -> Option<AlarmSettings> {
        let choice = self.chosen?;
        Some(rule(choice.raise, choice.window, self.clear, self.hop_seconds))
    }
}

/// The alarm a choice stands for, with clips every `hop_seconds`.
fn rule(raise: usize, window: usize, clear: usize, hop_seconds: f64) -> AlarmSettings {
    let standard = AlarmSettings::default();
    // One clip that comes late is not yet a silent sensor.
    let no_data_after_seconds = standard.no_data_after_seconds.max(3.0 * hop_seconds);
    let hop_seconds = Some(hop_seconds);
    AlarmSettings { raise, window, clear, no_data_after_seconds, hop_seconds, ..standard }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Basis, calibration::CalibrationClip};

    fn plan(visits: &[Vec<f64>]) -> (BudgetPlan, Choice) {
        let clips = visits.iter().enumerate().flat_map(|(group, scores)| {
            let clip = move |&score: &f64| CalibrationClip { score, group, domain: None };
            scores.iter().map(clip)
        });
        let calibration = Calibration::of_clips(Basis::Visits, clips.collect());
        let left_out = LeftOutSound {
            calibration: &calibration,
            scheme: CalibrationScheme::Auto,
            recordings: visits,
            confidence: None,
        };
        let budget: AlarmBudget = "1/month".parse().unwrap();
        let plan = BudgetPlan::of(left_out, budget, 10.0, 5).unwrap();
        let rate = FalseAlarmRate::default();
        let found = BudgetPlan::unpromised_of(left_out, rate, budget, 10.0, 5).unwrap();
        (plan, found.unwrap().0)
    }

    /// Clips of a visit that have this share of their variance in common.
    fn visits(count: usize, clips: usize, shared: f64) -> Vec<Vec<f64>> {
        let mut random = crate::random::Random::of(7, &[]);
        let mut noise = || (0..12).map(|_| random.share()).sum::<f64>() - 6.0;
        let visit = |_| {
            let day = noise();
            let clip = |_| (shared.sqrt() * day + (1.0 - shared).sqrt() * noise()).exp();
            (0..clips).map(clip).collect()
        };
        (0..count).map(visit).collect()
    }

    #[test]
    fn what_cannot_be_promised_gets_the_shortest_rule_that_should_keep_the_budget() {
        let (plan, alone) = plan(&visits(2, 12, 0.0));
        assert!(!plan.is_kept(), "{plan:?}");
        // 3 of 5 at 5 % would be six alarms a day.
        assert!((4..=9).contains(&alone.raise), "{alone:?}");
        assert!(alone.alarms <= 1.0 && f64::from(alone.rate) == 0.05, "{alone:?}");
    }

    #[test]
    fn clips_that_err_together_get_the_rule_with_the_fewest_alarms() {
        let (plan, alike) = plan(&visits(3, 30, 0.9));
        assert!(!plan.is_kept(), "{plan:?}");
        let shorter = |choice: &Choice| choice.raise < alike.raise;
        let rules = plan.budget.rules_at(
            Promise { rate: alike.rate, confidence: None },
            plan.dependence.unwrap(),
            10.0,
            5,
        );
        let rules = rules.unwrap();
        assert!(rules.iter().all(|rule| rule.alarms >= alike.alarms || shorter(rule)), "{rules:?}");
        assert!(alike.raise >= 6, "{alike:?}");
    }
}

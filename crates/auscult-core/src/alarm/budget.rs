//! From "at most one alarm a month" to a false-alarm rate and M of N.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    AlarmMachine, AlarmRules, AlarmSettings, AlarmState, Dependence, Observation,
    dependence::SimulatedSound,
};
use crate::{Confidence, Error, FalseAlarmRate, Promise, Result, names::named_choices};

/// A span people count alarms in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// 24 hours.
    Day,
    /// 7 days.
    Week,
    /// 365.25 / 12 days.
    Month,
    /// 365.25 days.
    Year,
}

named_choices!(Period, "period", {
    Day => "day",
    Week => "week",
    Month => "month",
    Year => "year",
});

impl Period {
    /// Its length.
    pub fn seconds(self) -> f64 {
        let days = match self {
            Self::Day => 1.0,
            Self::Week => 7.0,
            Self::Month => 365.25 / 12.0,
            Self::Year => 365.25,
        };
        days * 86_400.0
    }
}

/// How many false alarms are acceptable; serialised as text such as `1 alarm per month`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AlarmBudget {
    /// Alarms ...
    pub alarms: f64,
    /// ... in this span of running time.
    pub period: Period,
}

impl std::fmt::Display for AlarmBudget {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = if (self.alarms - 1.0).abs() < 1e-12 { "" } else { "s" };
        write!(formatter, "{} alarm{plural} per {}", self.alarms, self.period)
    }
}

impl std::str::FromStr for AlarmBudget {
    type Err = Error;

    /// Takes `1 alarm per month`, `2 alarms a week` or `1/month`.
    fn from_str(text: &str) -> Result<Self> {
        let unclear =
            || Error::setting("alarm budget", "such as \"1 alarm per month\" or 2/week", text);
        let parts: Vec<&str> = text.split([' ', '/']).filter(|part| !part.is_empty()).collect();
        let ([alarms, "alarm" | "alarms", "per" | "a", period] | [alarms, period]) = parts[..]
        else {
            return Err(unclear());
        };
        let alarms: f64 = alarms.parse().map_err(|_| unclear())?;
        Self { alarms, period: period.parse()? }.check()
    }
}

impl TryFrom<String> for AlarmBudget {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<AlarmBudget> for String {
    fn from(budget: AlarmBudget) -> Self {
        budget.to_string()
    }
}

/// One way to keep a budget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Choice {
    /// The false-alarm rate of a clip.
    pub rate: FalseAlarmRate,
    /// Anomalous clips that raise an alarm ...
    pub raise: usize,
    /// ... among this many of the last ones.
    pub window: usize,
    /// Alarms in the budget's period, if normal clips depend on each other as was assumed.
    pub alarms: f64,
    /// Calibration clips the rate needs.
    pub calibration_clips: usize,
    /// How soon a machine that sounds wrong in every clip raises an alarm.
    pub seconds_to_alarm: f64,
}

/// The rules worth choosing from.
const RULES: [(usize, usize); 8] = [(1, 1), (2, 2), (2, 3), (3, 3), (3, 4), (3, 5), (4, 5), (4, 6)];

/// Longer ones, for clips that resemble each other so much that the others would need a rate nobody can promise.
const LONG_RULES: [(usize, usize); 7] =
    [(6, 8), (9, 12), (14, 18), (20, 24), (27, 30), (40, 45), (56, 60)];

/// Rates above this make the verdict of a clip meaningless.
const LARGEST_RATE: f64 = 0.2;

impl AlarmBudget {
    /// Refuses a number of alarms that is not above 0.
    pub(crate) fn check(self) -> Result<Self> {
        if self.alarms.is_finite() && self.alarms > 0.0 {
            return Ok(self);
        }
        Err(Error::setting("alarms in a budget", "above 0", self.alarms))
    }

    /// For each rule the largest rate that keeps the budget with clips every `hop_seconds` that err independently, and what
    /// a promise of that rate, with a confidence or without, needs.
    ///
    /// A larger rate finds smaller faults; a longer rule waits longer. A rule that cannot keep the
    /// budget with any rate above one in a million is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if the hop is not above 0 seconds.
    pub fn choices(
        self,
        hop_seconds: f64,
        clear: usize,
        confidence: Option<Confidence>,
    ) -> Result<Vec<Choice>> {
        let clips = self.clips(hop_seconds)?;
        let choice = |(raise, window)| {
            let settings = AlarmSettings { raise, window, clear, ..AlarmSettings::default() };
            let rules = settings.check().ok()?;
            let chain = Chain::of(&rules);
            let alarms = |rate: f64| clips * chain.alarms_per_clip(rate);
            let rate = largest_rate(|rate| alarms(rate) <= self.alarms)?;
            Choice::new((raise, window), rate, alarms(rate), confidence, hop_seconds)
        };
        Ok(RULES.into_iter().filter_map(choice).collect())
    }

    /// As [`AlarmBudget::choices`], for clips that depend on each other, and with longer rules, too: simulated normal sound of some
    /// ten periods keeps the budget.
    ///
    /// # Errors
    ///
    /// As [`AlarmBudget::choices`].
    pub fn choices_for(
        self,
        dependence: Dependence,
        hop_seconds: f64,
        clear: usize,
        confidence: Option<Confidence>,
    ) -> Result<Vec<Choice>> {
        let simulation = self.simulation(dependence, hop_seconds, LARGEST_RATE)?;
        let choice = |(raise, window): (usize, usize)| {
            let Simulation { sound, periods, most } = &simulation;
            let alarms = |rate: f64| sound.alarms((raise, window, clear), rate, *most);
            let rate = largest_rate(|rate| alarms(rate) <= *most)?;
            let expected = alarms(rate) as f64 / periods;
            Choice::new((raise, window), rate, expected, confidence, hop_seconds)
        };
        Ok(RULES.into_iter().chain(LONG_RULES).filter_map(choice).collect())
    }

    /// Every rule with this rate, the shortest first, and the alarms it raises on simulated normal sound, whether that keeps the
    /// budget or not.
    ///
    /// # Errors
    ///
    /// As [`AlarmBudget::choices`].
    pub fn rules_at(
        self,
        promise: Promise,
        dependence: Dependence,
        hop_seconds: f64,
        clear: usize,
    ) -> Result<Vec<Choice>> {
        let rate = f64::from(promise.rate);
        let Simulation { sound, periods, .. } = self.simulation(dependence, hop_seconds, rate)?;
        let choice = |(raise, window): (usize, usize)| {
            let alarms =
                sound.alarms((raise, window, clear), rate, usize::MAX - 1) as f64 / periods;
            Choice::new((raise, window), rate, alarms, promise.confidence, hop_seconds)
        };
        let mut rules: Vec<(usize, usize)> = RULES.into_iter().chain(LONG_RULES).collect();
        rules.sort_by_key(|&(raise, window)| (window, raise));
        Ok(rules.into_iter().filter_map(choice).collect())
    }

    /// Normal sound of some ten periods.
    fn simulation(
        self,
        dependence: Dependence,
        hop_seconds: f64,
        largest_rate: f64,
    ) -> Result<Simulation> {
        let clips = self.clips(hop_seconds)?;
        let count = (SIMULATED_PERIODS * clips).clamp(FEWEST_SIMULATED, MOST_SIMULATED) as usize;
        let day = (Period::Day.seconds() / hop_seconds).ceil().min(count as f64) as usize;
        let sound = SimulatedSound::new(dependence, day, count, largest_rate);
        let periods = sound.clips() as f64 / clips;
        let most = (self.alarms * periods).floor() as usize;
        Ok(Simulation { sound, periods, most })
    }

    /// Clips in the period.
    fn clips(self, hop_seconds: f64) -> Result<f64> {
        if !(hop_seconds.is_finite() && hop_seconds > 0.0) {
            return Err(Error::setting("hop", "above 0 seconds", hop_seconds));
        }
        Ok(self.period.seconds() / hop_seconds)
    }
}

/// Simulated normal sound, and how many alarms keep the budget on it.
struct Simulation {
    sound: SimulatedSound,
    periods: f64,
    most: usize,
}

/// How many periods are simulated, with the fewest and the most clips.
const SIMULATED_PERIODS: f64 = 10.0;
const FEWEST_SIMULATED: f64 = 500_000.0;
const MOST_SIMULATED: f64 = 4_000_000.0;

impl Choice {
    fn new(
        (raise, window): (usize, usize),
        rate: f64,
        alarms: f64,
        confidence: Option<Confidence>,
        hop_seconds: f64,
    ) -> Option<Self> {
        let rate = FalseAlarmRate::try_from(rate).ok()?;
        let calibration_clips = Promise { rate, confidence }.calibration_floor();
        let seconds_to_alarm = raise as f64 * hop_seconds;
        Some(Self { rate, raise, window, alarms, calibration_clips, seconds_to_alarm })
    }

    /// Whether it is one of the rules for clips that resemble each other.
    pub(super) fn is_long(&self) -> bool {
        LONG_RULES.contains(&(self.raise, self.window))
    }
}

/// The largest rate that is fine, from one in a million to the largest sensible one.
fn largest_rate(is_fine: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut low, mut high) = (1e-6_f64.ln(), LARGEST_RATE.ln());
    if is_fine(LARGEST_RATE) {
        return Some(LARGEST_RATE);
    }
    if !is_fine(low.exp()) {
        return None;
    }
    // Far finer than the two digits that are kept.
    for _ in 0..16 {
        let middle = f64::midpoint(low, high);
        if is_fine(middle.exp()) { low = middle } else { high = middle }
    }
    // Two digits, rounded down: nobody sets a rate of 0.7134 %.
    let digits = 10_f64.powf(1.0 - low.exp().log10().floor());
    Some((low.exp() * digits).floor() / digits)
}

/// How often a rule raises an alarm when each clip is anomalous with probability `rate`, on its own.
///
/// The stationary rate of the state machine without delays: its states are the last verdicts, the
/// normal clips in a row, and whether the alarm is raised.
pub fn alarms_per_clip(rules: &AlarmRules, rate: f64) -> f64 {
    Chain::of(rules).alarms_per_clip(rate)
}

/// The state machine of a rule as a Markov chain.
struct Chain {
    /// Where an anomalous and a normal clip lead from each state, and whether that raises an alarm.
    steps: Vec<[(usize, bool); 2]>,
    /// The state before the first clip.
    first: usize,
}

impl Chain {
    fn of(rules: &AlarmRules) -> Self {
        /// Last verdicts as bits, how many of them there are, normals in a row, raised.
        type State = (u64, usize, usize, bool);
        let settings = rules.settings();
        let next = |(bits, len, normals, raised): State, anomalous: bool| -> (State, bool) {
            let mask = if settings.window == 64 { u64::MAX } else { (1 << settings.window) - 1 };
            let bits = ((bits << 1) | u64::from(anomalous)) & mask;
            let len = (len + 1).min(settings.window);
            let normals = if anomalous { 0 } else { (normals + 1).min(settings.clear) };
            if raised {
                let ends = normals >= settings.clear;
                let to = if ends { (0, 0, normals, false) } else { (bits, len, normals, true) };
                return (to, false);
            }
            let raises = bits.count_ones() as usize >= settings.raise;
            ((bits, len, normals, raises), raises)
        };
        let first: State = (0, 0, 0, false);
        let (mut known, mut waiting) = (BTreeSet::from([first]), vec![first]);
        while let Some(state) = waiting.pop() {
            for anomalous in [true, false] {
                let (to, _) = next(state, anomalous);
                if known.insert(to) {
                    waiting.push(to);
                }
            }
        }
        let states: Vec<State> = known.into_iter().collect();
        let place = |state: &State| states.partition_point(|other| other < state);
        let step = |state: &State| {
            [true, false].map(|anomalous| {
                let (to, raises) = next(*state, anomalous);
                (place(&to), raises)
            })
        };
        Self { steps: states.iter().map(step).collect(), first: place(&first) }
    }

    fn alarms_per_clip(&self, rate: f64) -> f64 {
        let mut share = vec![0.0; self.steps.len()];
        let mut moved = share.clone();
        share[self.first] = 1.0;
        let mut alarms = 0.0;
        // Long enough for any window here to forget how it began; alarms are rare and short.
        let (warm_up, steps) = (200, 400);
        for step in 0..steps {
            moved.fill(0.0);
            for (probability, ways) in share.iter().zip(&self.steps) {
                for ((to, raises), chance) in ways.iter().zip([rate, 1.0 - rate]) {
                    if *raises && step >= warm_up {
                        alarms += probability * chance;
                    }
                    moved[*to] += probability * chance;
                }
            }
            std::mem::swap(&mut share, &mut moved);
        }
        alarms / f64::from(steps - warm_up)
    }
}

/// What happened when left-out normal sound was played through an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Replay {
    /// Clips played.
    pub clips: usize,
    /// Time they stand for.
    pub seconds: f64,
    /// Alarms raised.
    pub alarms: usize,
    /// The most alarms in the period that are compatible with that, with 95 % confidence, if alarms
    /// come independently.
    pub most_per_period: f64,
}

impl Replay {
    /// Plays recordings of left-out normal scores through the state machine, one after the other: a
    /// visit may be shorter than the rule is long.
    pub fn new(
        recordings: &[Vec<f64>],
        threshold: f64,
        rules: AlarmRules,
        hop_seconds: f64,
        period: Period,
    ) -> Self {
        let (mut clips, mut alarms) = (0, 0);
        let mut machine = AlarmMachine::new(rules);
        for &score in recordings.iter().flatten() {
            let observation =
                if score > threshold { Observation::Anomalous } else { Observation::Normal };
            let change = machine.observe(clips as f64 * hop_seconds, observation);
            alarms += usize::from(change.is_some_and(|change| change.to == AlarmState::Alarm));
            clips += 1;
        }
        let seconds = clips as f64 * hop_seconds;
        let most = poisson_upper(alarms) * period.seconds() / seconds;
        Self { clips, seconds, alarms, most_per_period: most }
    }

    /// Whether that number of alarms has a probability below 5 % within the budget: then clips err
    /// together, and the rule must not count on their independence.
    pub fn contradicts(&self, budget: AlarmBudget) -> bool {
        let expected = budget.alarms * self.seconds / budget.period.seconds();
        self.alarms > 0 && 1.0 - at_most(self.alarms - 1, expected) < 0.05
    }
}

/// The probability of `count` or fewer when a Poisson count has this mean.
fn at_most(count: usize, mean: f64) -> f64 {
    let (mut term, mut sum) = ((-mean).exp(), 0.0);
    for k in 0..=count {
        sum += term;
        term *= mean / (k + 1) as f64;
    }
    sum
}

/// The largest mean of a Poisson count that still gives `count` or fewer with 5 % probability.
fn poisson_upper(count: usize) -> f64 {
    let (mut low, mut high) = (0.0, 10.0 + 3.0 * count as f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if at_most(count, middle) > 0.05 { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(raise: usize, window: usize, clear: usize) -> AlarmRules {
        AlarmSettings { raise, window, clear, ..AlarmSettings::default() }.check().unwrap()
    }

    #[test]
    fn one_of_one_that_clears_at_once_alarms_on_every_run() {
        // An alarm begins with each anomalous clip that follows a normal one.
        let rate = 0.1;
        assert!((alarms_per_clip(&rules(1, 1, 1), rate) - rate * (1.0 - rate)).abs() < 1e-12);
    }

    #[test]
    fn the_chain_agrees_with_the_state_machine() {
        let (rules, rate) = (rules(2, 4, 3), 0.15);
        let mut machine = AlarmMachine::new(rules);
        let (mut alarms, clips, mut state) = (0, 400_000, 1_u64);
        for clip in 0..clips {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let anomalous = ((state >> 11) as f64) < rate * (1_u64 << 53) as f64;
            let observation = if anomalous { Observation::Anomalous } else { Observation::Normal };
            let change = machine.observe(f64::from(clip), observation);
            alarms += u32::from(change.is_some_and(|change| change.to == AlarmState::Alarm));
        }
        let (simulated, exact) =
            (f64::from(alarms) / f64::from(clips), alarms_per_clip(&rules, rate));
        assert!((simulated - exact).abs() < 0.03 * exact, "{simulated} {exact}");
    }

    #[test]
    fn budgets_read_as_people_write_them() {
        for text in ["1 alarm per month", "1/month", "1 alarms a month"] {
            let budget: AlarmBudget = text.parse().unwrap();
            assert_eq!((budget.alarms, budget.period), (1.0, Period::Month), "{text}");
        }
        for text in ["", "never", "0/day", "-1/day", "1 alarm per century", "inf/day"] {
            assert!(text.parse::<AlarmBudget>().is_err(), "{text}");
        }
    }

    #[test]
    fn budgets_are_serialised_as_text() {
        for text in ["1 alarm per month", "0.3 alarms per week"] {
            let budget: AlarmBudget = text.parse().unwrap();
            let json = serde_json::to_string(&budget).unwrap();
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<AlarmBudget>(&json).unwrap(), budget);
        }
        assert!(serde_json::from_str::<AlarmBudget>(r#""0 alarms per day""#).is_err());
    }

    #[test]
    fn every_choice_keeps_the_budget() {
        let budget: AlarmBudget = "1/month".parse().unwrap();
        let choices = budget.choices(10.0, 5, None).unwrap();
        assert!(choices.len() > 3);
        for choice in &choices {
            assert!(choice.alarms <= 1.0 && choice.alarms > 0.5, "{choice:?}");
        }
        let sure = budget.choices(10.0, 5, Some("90%".parse().unwrap())).unwrap();
        assert_eq!(choices[0].rate, sure[0].rate);
        assert!(sure[0].calibration_clips > choices[0].calibration_clips, "{sure:?}");
    }

    #[test]
    fn a_replay_speaks_against_a_budget_it_could_not_keep() {
        // Every visit has an anomalous stretch; each alone is shorter than the rule.
        let visits = vec![vec![2.0; 2]; 30];
        let replay = Replay::new(&visits, 1.0, rules(3, 3, 1), 10.0, Period::Day);
        assert_eq!(replay.alarms, 1, "it never ends");
        assert!(replay.contradicts("1/month".parse().unwrap()));
        assert!(!replay.contradicts("1000/day".parse().unwrap()));
        let quiet = Replay::new(&[vec![0.0; 60]], 1.0, rules(3, 3, 1), 10.0, Period::Day);
        assert!(!quiet.contradicts("1/year".parse().unwrap()));
    }

    #[test]
    fn no_alarm_in_a_short_replay_proves_little() {
        let quiet = vec![vec![0.0; 360]];
        let replay = Replay::new(&quiet, 1.0, rules(3, 5, 5), 10.0, Period::Day);
        // The rule of three: 3 / 1 h = 72 a day.
        assert!((replay.most_per_period - 71.9).abs() < 0.1, "{replay:?}");
    }
}

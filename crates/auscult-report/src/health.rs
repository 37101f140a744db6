//! Is it well, and since when: the state of the machine from the verdicts of its clips.

use std::ops::Range;

use auscult::{
    Verdict,
    alarm::{AlarmMachine, AlarmSettings, AlarmState, Observation},
};
use serde::Serialize;

use crate::{Report, visits::Visits};

/// What a machine needs from its people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum State {
    /// Nothing.
    Normal,
    /// A look: something was unusual, nothing could be judged, or the recordings have changed as a whole.
    Alert,
    /// A visit: enough clips in a row are unusual.
    Alarm,
}

impl State {
    /// The word of it, as in the page's `data-state`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Alert => "alert",
            Self::Alarm => "alarm",
        }
    }

    /// The sign beside the word; no state is shown by colour alone.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Normal => "\u{25cf}",
            Self::Alert => "\u{25c6}",
            Self::Alarm => "\u{25b2}",
        }
    }
}

/// Why a machine has the state it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Every clip is as it should be, or unusual ones are as rare as promised.
    Well,
    /// An alarm is raised: at the first clip, by clips from the second on.
    Raised { at: usize, began: usize },
    /// An alarm was raised and has ended.
    Ended { at: usize, ended: usize },
    /// The last clips have unusual ones among them, the first of them here.
    Recent { began: usize },
    /// More clips are unusual than chance makes.
    Frequent { began: usize },
    /// No clip has a verdict.
    NotJudged,
}

/// The state of a machine over its clips.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Health {
    pub(crate) state: State,
    pub(crate) why: Why,
    /// Parts of [`Visits::order`] in which an alarm stood.
    pub(crate) alarms: Vec<Range<usize>>,
    /// The rule behind alarms.
    pub(crate) rule: AlarmSettings,
    /// Whether the rule is the model's; the usual one otherwise.
    pub(crate) is_own_rule: bool,
}

/// Unusual clips are frequent if there are at least [`FEWEST`] and chance makes that many no more often than this.
const SELDOM: f64 = 0.001;
const FEWEST: usize = 3;

impl Health {
    pub(crate) fn of(report: &Report<'_>, visits: &Visits) -> Self {
        let own_rule = report.model.settings().alarm;
        let rule = own_rule.unwrap_or_default();
        let states = states(report, visits, rule);
        let alarms = alarms(&states);
        let why = reason(report, visits, &states, &alarms);
        let state = match why {
            Why::Well => State::Normal,
            Why::Raised { .. } => State::Alarm,
            Why::Ended { .. } | Why::Recent { .. } | Why::Frequent { .. } | Why::NotJudged => {
                State::Alert
            }
        };
        let least = report.changed.as_ref().map_or(State::Normal, |_| State::Alert);
        Self { state: state.max(least), why, alarms, rule, is_own_rule: own_rule.is_some() }
    }
}

/// The state after each clip, in the order of [`Visits::order`]: as the run says, or by the usual rule.
fn states(report: &Report<'_>, visits: &Visits, rule: AlarmSettings) -> Vec<AlarmState> {
    let clips = || visits.order.iter().map(|&at| &report.clips[at]);
    if clips().any(|clip| clip.alarm.is_some()) {
        return clips().map(|clip| clip.alarm.unwrap_or(AlarmState::NoData)).collect();
    }
    let Ok(rules) = rule.check() else { return vec![AlarmState::NoData; visits.order.len()] };
    let mut machine = AlarmMachine::new(rules);
    let replay = clips().enumerate().map(|(at, clip)| {
        // Clips count, not the pauses between them.
        machine.observe(at as f64, Observation::of(clip.condition, clip.verdict()));
        machine.state()
    });
    replay.collect()
}

/// The runs of clips at which an alarm stood; a stopped machine does not end it.
fn alarms(states: &[AlarmState]) -> Vec<Range<usize>> {
    let mut alarms: Vec<Range<usize>> = Vec::new();
    let mut is_raised = false;
    for (at, state) in states.iter().enumerate() {
        match state {
            AlarmState::Alarm if is_raised => {}
            AlarmState::Alarm => alarms.push(at..at + 1),
            AlarmState::Normal | AlarmState::Alert => is_raised = false,
            _ => {}
        }
        is_raised |= *state == AlarmState::Alarm;
        if is_raised && let Some(last) = alarms.last_mut() {
            last.end = at + 1;
        }
    }
    alarms
}

fn reason(
    report: &Report<'_>,
    visits: &Visits,
    states: &[AlarmState],
    alarms: &[Range<usize>],
) -> Why {
    let verdict = |position: &usize| report.clips[visits.order[*position]].verdict();
    let is_anomalous = |position: &usize| verdict(position) == Some(Verdict::Anomalous);
    let all = 0..visits.order.len();
    let judged = all
        .clone()
        .filter(|at| matches!(verdict(at), Some(Verdict::Normal | Verdict::Anomalous)))
        .count();
    if judged == 0 {
        return Why::NotJudged;
    }
    let clip = |position: usize| visits.order[position];
    // Unusual clips belong together until as many normal ones as end an alarm come between them.
    let window = report.model.settings().alarm.unwrap_or_default().window;
    let began = |position: usize| {
        let mut began = position;
        while let Some(earlier) = (began.saturating_sub(window)..began).find(is_anomalous) {
            began = earlier;
        }
        clip(began)
    };
    if let Some(last) = alarms.last() {
        return if last.end == states.len() {
            Why::Raised { at: clip(last.start), began: began(last.start) }
        } else {
            Why::Ended { at: clip(last.start), ended: clip(last.end) }
        };
    }
    let anomalous = all.clone().filter(is_anomalous).count();
    let last = states.iter().rfind(|state| matches!(state, AlarmState::Normal | AlarmState::Alert));
    let rate = f64::from(report.model.settings().promise().rate);
    match (last, all.clone().rfind(is_anomalous), all.clone().find(is_anomalous)) {
        (Some(AlarmState::Alert), Some(latest), _) => Why::Recent { began: began(latest) },
        (_, _, Some(first))
            if anomalous >= FEWEST && chance_of_at_least(anomalous, judged, rate) < SELDOM =>
        {
            Why::Frequent { began: clip(first) }
        }
        _ => Why::Well,
    }
}

/// How often chance makes at least `found` of `all` independent clips anomalous, each with this rate.
fn chance_of_at_least(found: usize, all: usize, rate: f64) -> f64 {
    let (mut chance, mut sum) = ((1.0 - rate).powf(all as f64), 0.0);
    for count in 0..found {
        sum += chance;
        chance *= (all - count) as f64 / (count + 1) as f64 * rate / (1.0 - rate);
    }
    (1.0 - sum).max(0.0)
}

#[cfg(test)]
mod tests {
    use auscult::ClipCondition;

    use super::*;
    use crate::testing::{Sample, clip_with, sample};

    /// A machine whose clips are anomalous (`!`), normal (`.`), silent (`_`) or undecided (`?`).
    fn machine(clips: &str) -> Sample {
        let clip = |verdict: char| match verdict {
            '!' => clip_with(9.0, Verdict::Anomalous),
            '?' => clip_with(1.0, Verdict::Undecided),
            '_' => {
                let mut silent = clip_with(0.0, Verdict::Normal);
                (silent.scored, silent.condition) = (None, ClipCondition::Silent);
                silent
            }
            _ => clip_with(1.0, Verdict::Normal),
        };
        Sample { clips: clips.chars().map(clip).collect(), ..sample() }
    }

    fn health(clips: &str) -> Health {
        let sample = machine(clips);
        let report = sample.input();
        Health::of(&report, &Visits::of(&report.clips))
    }

    #[test]
    fn three_of_five_unusual_clips_are_an_alarm_since_the_first_of_them() {
        let health = health("........!.!!!");
        assert_eq!(health.state, State::Alarm);
        assert_eq!(health.why, Why::Raised { at: 11, began: 8 });
        assert_eq!((health.alarms.len(), &health.alarms[0]), (1, &(11..13)));
        assert!(!health.is_own_rule);
    }

    #[test]
    fn an_alarm_that_ended_is_still_worth_a_look() {
        let health = health("...!!!.......");
        assert_eq!(health.state, State::Alert);
        assert_eq!(health.why, Why::Ended { at: 5, ended: 10 });
    }

    #[test]
    fn a_stopped_machine_does_not_end_its_alarm() {
        assert_eq!(health("...!!!__").state, State::Alarm);
    }

    #[test]
    fn one_odd_clip_long_ago_is_chance_and_a_fresh_one_is_watched() {
        assert_eq!(health("!......................").why, Why::Well);
        assert_eq!(health(".......................!.").why, Why::Recent { began: 23 });
    }

    #[test]
    fn many_scattered_clips_are_more_than_chance() {
        let health = health(&"!.....!.....".repeat(6));
        assert_eq!((health.state, health.why), (State::Alert, Why::Frequent { began: 0 }));
    }

    #[test]
    fn nothing_judged_is_never_called_well() {
        for clips in ["", "???", "___"] {
            assert_eq!((health(clips).state, health(clips).why), (State::Alert, Why::NotJudged));
        }
    }

    #[test]
    fn changed_raises_a_state_and_never_lowers_one() {
        for clips in ["....", "...!!!", "...!!!.......", "???"] {
            let sample = machine(clips);
            let changed = crate::testing::changed(&[], "");
            let report = sample.input();
            let visits = Visits::of(&report.clips);
            let before = Health::of(&report, &visits).state;
            let after = Health::of(&report.with_changed(Some(changed)), &visits).state;
            assert_eq!(after, before.max(State::Alert), "{clips}");
        }
    }

    #[test]
    fn chance_is_that_of_a_binomial() {
        let all: f64 = 0.05;
        assert!((chance_of_at_least(1, 20, all) - (1.0 - 0.95_f64.powi(20))).abs() < 1e-12);
        assert!((chance_of_at_least(0, 20, all) - 1.0).abs() < 1e-12);
        assert!(chance_of_at_least(20, 20, all) < 1e-12);
    }
}

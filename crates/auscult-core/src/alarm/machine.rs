//! The state machine.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{AlarmRules, Latch};
use crate::{ClipCondition, Verdict, names::named_choices};

/// What one clip said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Observation {
    /// The machine sounds normal.
    Normal,
    /// It does not.
    Anomalous,
    /// The machine does not run: silence.
    NotRunning,
    /// The microphone or its cable is broken: constant or impossible samples.
    SensorFault,
    /// The model cannot decide yet.
    Learning,
}

named_choices!(Observation, "observation", {
    Normal => "normal",
    Anomalous => "anomalous",
    NotRunning => "not-running",
    SensorFault => "sensor-fault",
    Learning => "learning",
});

impl Observation {
    /// What a clip's condition and verdict amount to.
    pub fn of(condition: ClipCondition, verdict: Option<Verdict>) -> Self {
        match (condition, verdict) {
            (ClipCondition::Silent, _) => Self::NotRunning,
            (ClipCondition::Usable, Some(verdict)) => match verdict {
                Verdict::Normal => Self::Normal,
                Verdict::Anomalous => Self::Anomalous,
                Verdict::Undecided => Self::Learning,
            },
            _ => Self::SensorFault,
        }
    }
}

/// The state of a machine as the alarm sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AlarmState {
    /// Nothing was observed yet, or not for a while.
    NoData,
    /// The model cannot decide yet.
    Learning,
    /// All is well.
    Normal,
    /// Something sounds unusual, not long enough for an alarm.
    Alert,
    /// Something sounds unusual for long enough.
    Alarm,
    /// The machine does not run.
    NotRunning,
    /// The microphone or its cable is broken.
    SensorFault,
}

named_choices!(AlarmState, "alarm state", {
    NoData => "no-data",
    Learning => "learning",
    Normal => "normal",
    Alert => "alert",
    Alarm => "alarm",
    NotRunning => "not-running",
    SensorFault => "sensor-fault",
});

/// A change of state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition {
    /// When.
    pub at: f64,
    /// The state before.
    pub from: AlarmState,
    /// The state after.
    pub to: AlarmState,
    /// Whether people should be notified: not while the alarm is shelved.
    pub is_announced: bool,
}

/// Turns observations into states.
///
/// # Examples
///
/// ```
/// use auscult_core::alarm::{AlarmMachine, AlarmSettings, AlarmState, Observation};
///
/// let rules = AlarmSettings { raise: 2, window: 3, clear: 2, ..Default::default() }.check()?;
/// let mut alarm = AlarmMachine::new(rules);
/// let observations = [Observation::Anomalous, Observation::Normal, Observation::Anomalous];
/// for (clip, observation) in observations.into_iter().enumerate() {
///     alarm.observe(10.0 * clip as f64, observation);
/// }
/// assert_eq!(alarm.state(), AlarmState::Alarm);
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AlarmMachine {
    rules: AlarmRules,
    memory: AlarmMemory,
}

/// What an alarm has to remember to go on after a restart, under the same rules or under others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlarmMemory {
    state: AlarmState,
    /// The last verdicts, newest last; true is anomalous.
    verdicts: VecDeque<bool>,
    normals_in_a_row: usize,
    /// Since when the raising or the clearing condition holds.
    raising_since: Option<f64>,
    clearing_since: Option<f64>,
    is_raised: bool,
    is_acknowledged: bool,
    shelved_until: Option<f64>,
    last_observed: Option<f64>,
}

impl Default for AlarmMemory {
    /// Of an alarm that has observed nothing.
    fn default() -> Self {
        Self {
            state: AlarmState::NoData,
            verdicts: VecDeque::new(),
            normals_in_a_row: 0,
            raising_since: None,
            clearing_since: None,
            is_raised: false,
            is_acknowledged: false,
            shelved_until: None,
            last_observed: None,
        }
    }
}

impl AlarmMachine {
    /// A machine that has observed nothing.
    pub fn new(rules: AlarmRules) -> Self {
        Self::resume(rules, AlarmMemory::default())
    }

    /// A machine that goes on from what it remembered; a shorter window forgets the oldest verdicts.
    pub fn resume(rules: AlarmRules, mut memory: AlarmMemory) -> Self {
        let too_many = memory.verdicts.len().saturating_sub(rules.settings().window);
        memory.verdicts.drain(..too_many);
        Self { rules, memory }
    }

    /// What it has to remember to go on after a restart.
    pub fn memory(&self) -> &AlarmMemory {
        &self.memory
    }

    /// The rules it follows.
    pub fn rules(&self) -> &AlarmRules {
        &self.rules
    }

    /// The state now.
    pub fn state(&self) -> AlarmState {
        self.memory.state
    }

    /// Whether the alarm is raised, also while the machine stands still or cannot be heard.
    pub fn is_raised(&self) -> bool {
        self.memory.is_raised
    }

    /// Whether somebody has acknowledged the alarm that is raised.
    pub fn is_acknowledged(&self) -> bool {
        self.memory.is_raised && self.memory.is_acknowledged
    }

    /// Whether the alarm is shelved at this time.
    pub fn is_shelved(&self, at: f64) -> bool {
        self.memory.shelved_until.is_some_and(|until| at < until)
    }

    /// Until when the alarm is shelved.
    pub fn shelved_until(&self) -> Option<f64> {
        self.memory.shelved_until
    }

    /// Takes in what one clip said; the state changed if something is returned.
    pub fn observe(&mut self, at: f64, observation: Observation) -> Option<Transition> {
        self.memory.last_observed = Some(at);
        match observation {
            Observation::Normal | Observation::Anomalous => {
                self.remember(observation == Observation::Anomalous);
                self.weigh(at);
                self.enter(at, self.sounding_state())
            }
            // What a machine does when it does not run says nothing about its health: verdicts
            // from before stand still, and a raised alarm stays raised underneath.
            Observation::NotRunning => self.enter(at, AlarmState::NotRunning),
            Observation::SensorFault => self.enter(at, AlarmState::SensorFault),
            Observation::Learning => self.enter(at, AlarmState::Learning),
        }
    }

    /// Lets time pass: delays run out, data may be missing. Call it whenever convenient.
    pub fn tick(&mut self, at: f64) -> Option<Transition> {
        if self.memory.shelved_until.is_some_and(|until| at >= until) {
            self.memory.shelved_until = None;
        }
        let patience = self.rules.settings().no_data_after_seconds;
        if self.memory.last_observed.is_some_and(|last| at - last > patience) {
            return self.enter(at, AlarmState::NoData);
        }
        if self.is_sounding() {
            self.weigh(at);
            return self.enter(at, self.sounding_state());
        }
        None
    }

    /// The first time at which [`tick`](Self::tick) changes the state if nothing is observed until then.
    ///
    /// Whoever ticks at these times gets the same transitions at the same times, however seldom they look.
    pub fn next_deadline(&self) -> Option<f64> {
        let settings = self.rules.settings();
        let no_data = (self.memory.state != AlarmState::NoData)
            .then_some(self.memory.last_observed)
            .flatten()
            .map(|last| first_after(last, settings.no_data_after_seconds));
        let delay = if !self.is_sounding() {
            None
        } else if !self.memory.is_raised {
            self.memory.raising_since.map(|since| first_at(since, settings.on_delay_seconds))
        } else if self.may_end() {
            self.memory.clearing_since.map(|since| first_at(since, settings.off_delay_seconds))
        } else {
            None
        };
        [no_data, delay].into_iter().flatten().reduce(f64::min)
    }

    /// Somebody has seen the alarm. A latching alarm can end from now on.
    pub fn acknowledge(&mut self, at: f64) -> Option<Transition> {
        self.memory.is_acknowledged = self.memory.is_raised;
        self.tick(at)
    }

    /// Changes are not announced until this time.
    pub fn shelve(&mut self, until: f64) {
        self.memory.shelved_until = Some(until);
    }

    /// Changes are announced again.
    pub fn unshelve(&mut self) {
        self.memory.shelved_until = None;
    }

    /// The caller's clock was set: everything that was measured by it moves along. Until when the alarm is shelved was
    /// said by a person and stays.
    pub fn shift_clock(&mut self, seconds: f64) {
        let memory = &mut self.memory;
        for time in
            [&mut memory.raising_since, &mut memory.clearing_since, &mut memory.last_observed]
        {
            *time = time.map(|time| time + seconds);
        }
    }

    fn is_sounding(&self) -> bool {
        matches!(self.memory.state, AlarmState::Normal | AlarmState::Alert | AlarmState::Alarm)
    }

    fn remember(&mut self, anomalous: bool) {
        let window = self.rules.settings().window;
        let memory = &mut self.memory;
        if memory.verdicts.len() == window {
            memory.verdicts.pop_front();
        }
        memory.verdicts.push_back(anomalous);
        memory.normals_in_a_row = if anomalous { 0 } else { memory.normals_in_a_row + 1 };
    }

    fn may_end(&self) -> bool {
        self.rules.settings().latch == Latch::SelfClearing || self.memory.is_acknowledged
    }

    /// Raises or clears the alarm if its condition has lasted long enough.
    fn weigh(&mut self, at: f64) {
        let (settings, may_end) = (*self.rules.settings(), self.may_end());
        let memory = &mut self.memory;
        let anomalous = memory.verdicts.iter().filter(|&&anomalous| anomalous).count();
        let since = |holds: bool, since: Option<f64>| holds.then(|| since.unwrap_or(at));
        memory.raising_since = since(anomalous >= settings.raise, memory.raising_since);
        let is_clear = memory.normals_in_a_row >= settings.clear;
        memory.clearing_since = since(is_clear, memory.clearing_since);
        let lasted =
            |since: Option<f64>, delay: f64| since.is_some_and(|since| at - since >= delay);
        if memory.is_raised {
            if may_end && lasted(memory.clearing_since, settings.off_delay_seconds) {
                memory.is_raised = false;
                memory.is_acknowledged = false;
                memory.verdicts.clear();
                memory.raising_since = None;
            }
        } else if lasted(memory.raising_since, settings.on_delay_seconds) {
            memory.is_raised = true;
            memory.is_acknowledged = false;
            // What speaks for its end counts from now on, not from whenever somebody looks again.
            memory.clearing_since = is_clear.then_some(at);
        }
    }

    /// The state of a machine whose clips can be judged.
    fn sounding_state(&self) -> AlarmState {
        if self.memory.is_raised {
            AlarmState::Alarm
        } else if self.memory.verdicts.contains(&true) {
            AlarmState::Alert
        } else {
            AlarmState::Normal
        }
    }

    fn enter(&mut self, at: f64, to: AlarmState) -> Option<Transition> {
        let from = std::mem::replace(&mut self.memory.state, to);
        let is_announced = !self.is_shelved(at);
        (from != to).then_some(Transition { at, from, to, is_announced })
    }
}

/// The first time that is `delay` or more after `since`, whatever the rounding.
fn first_at(since: f64, delay: f64) -> f64 {
    let mut at = since + delay;
    while at - since < delay {
        at = at.next_up();
    }
    at
}

/// The first time that is more than `delay` after `since`.
fn first_after(since: f64, delay: f64) -> f64 {
    let mut at = since + delay;
    while at - since <= delay {
        at = at.next_up();
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::alarm::AlarmSettings;

    fn rules(settings: AlarmSettings) -> AlarmRules {
        settings.check().unwrap()
    }

    fn observe_all(alarm: &mut AlarmMachine, from: f64, letters: &str) -> f64 {
        let mut at = from;
        for letter in letters.chars() {
            let observation = match letter {
                'a' => Observation::Anomalous,
                's' => Observation::NotRunning,
                'f' => Observation::SensorFault,
                'l' => Observation::Learning,
                _ => Observation::Normal,
            };
            alarm.observe(at, observation);
            at += 10.0;
        }
        at
    }

    #[test]
    fn three_of_five_raise_and_five_clear() {
        let mut alarm = AlarmMachine::new(rules(AlarmSettings::default()));
        assert_eq!(alarm.state(), AlarmState::NoData);
        let at = observe_all(&mut alarm, 0.0, "nanan");
        assert_eq!(alarm.state(), AlarmState::Alert);
        let at = observe_all(&mut alarm, at, "a");
        assert_eq!(alarm.state(), AlarmState::Alarm);
        let at = observe_all(&mut alarm, at, "nnnn");
        assert_eq!(alarm.state(), AlarmState::Alarm);
        observe_all(&mut alarm, at, "n");
        assert_eq!(alarm.state(), AlarmState::Normal);
    }

    #[test]
    fn a_latched_alarm_waits_for_somebody() {
        let settings = AlarmSettings {
            raise: 1,
            window: 1,
            clear: 1,
            latch: Latch::Latching,
            ..Default::default()
        };
        let mut alarm = AlarmMachine::new(rules(settings));
        let at = observe_all(&mut alarm, 0.0, "annnn");
        assert_eq!(alarm.state(), AlarmState::Alarm);
        let ended = alarm.acknowledge(at).unwrap();
        assert_eq!((ended.from, ended.to), (AlarmState::Alarm, AlarmState::Normal));
    }

    #[test]
    fn a_stop_or_a_broken_microphone_does_not_forget_an_alarm() {
        let settings = AlarmSettings { raise: 1, window: 1, clear: 2, ..Default::default() };
        let mut alarm = AlarmMachine::new(rules(settings));
        let at = observe_all(&mut alarm, 0.0, "as");
        assert_eq!(alarm.state(), AlarmState::NotRunning);
        let at = observe_all(&mut alarm, at, "fn");
        assert_eq!(alarm.state(), AlarmState::Alarm);
        observe_all(&mut alarm, at, "n");
        assert_eq!(alarm.state(), AlarmState::Normal);
    }

    #[test]
    fn delays_hold_an_alarm_back_until_time_has_passed() {
        let settings = AlarmSettings {
            raise: 1,
            window: 1,
            clear: 1,
            on_delay_seconds: 15.0,
            off_delay_seconds: 5.0,
            ..Default::default()
        };
        let mut alarm = AlarmMachine::new(rules(settings));
        alarm.observe(0.0, Observation::Anomalous);
        assert_eq!(alarm.state(), AlarmState::Alert);
        assert!(alarm.tick(14.9).is_none());
        assert_eq!(alarm.tick(15.0).unwrap().to, AlarmState::Alarm);
        alarm.observe(20.0, Observation::Normal);
        assert_eq!(alarm.state(), AlarmState::Alarm);
        assert_eq!(alarm.tick(25.0).unwrap().to, AlarmState::Normal);
    }

    #[test]
    fn shelving_silences_until_it_expires() {
        let settings = AlarmSettings { raise: 1, window: 1, clear: 1, ..Default::default() };
        let mut alarm = AlarmMachine::new(rules(settings));
        alarm.shelve(15.0);
        assert!(!alarm.observe(0.0, Observation::Anomalous).unwrap().is_announced);
        alarm.observe(10.0, Observation::Normal);
        assert!(alarm.observe(20.0, Observation::Anomalous).unwrap().is_announced);
    }

    #[test]
    fn silence_on_the_line_is_no_data() {
        let mut alarm = AlarmMachine::new(rules(AlarmSettings::default()));
        alarm.observe(0.0, Observation::Normal);
        assert!(alarm.tick(60.0).is_none());
        assert_eq!(alarm.tick(60.1).unwrap().to, AlarmState::NoData);
    }

    fn settings() -> impl Strategy<Value = AlarmSettings> {
        (1..9_usize, 0..8_usize, 1..6_usize, any::<bool>()).prop_map(
            |(window, raise, clear, latching)| AlarmSettings {
                window,
                raise: 1 + raise % window,
                clear,
                latch: if latching { Latch::Latching } else { Latch::SelfClearing },
                ..AlarmSettings::default()
            },
        )
    }

    proptest! {
        #[test]
        fn an_alarm_is_only_raised_by_m_anomalous_clips_in_the_last_n(
            settings in settings(), verdicts in prop::collection::vec(any::<bool>(), 1..60),
        ) {
            let mut alarm = AlarmMachine::new(rules(settings));
            for (index, &anomalous) in verdicts.iter().enumerate() {
                let observation = if anomalous { Observation::Anomalous } else { Observation::Normal };
                let change = alarm.observe(index as f64, observation);
                if change.is_some_and(|change| change.to == AlarmState::Alarm) {
                    let window = &verdicts[(index + 1).saturating_sub(settings.window)..=index];
                    prop_assert!(window.iter().filter(|&&anomalous| anomalous).count() >= settings.raise);
                }
            }
        }

        #[test]
        fn normal_sound_alone_never_leaves_normal(settings in settings(), clips in 1..100_usize) {
            let mut alarm = AlarmMachine::new(rules(settings));
            for clip in 0..clips {
                alarm.observe(clip as f64, Observation::Normal);
                prop_assert_eq!(alarm.state(), AlarmState::Normal);
            }
        }

        #[test]
        fn deadlines_are_when_ticks_change_something_and_memory_goes_on(
            settings in settings(), delay in 0.0..200.0_f64,
            verdicts in prop::collection::vec((any::<bool>(), 0.1..90.0_f64), 1..40),
        ) {
            let settings = AlarmSettings { on_delay_seconds: delay, off_delay_seconds: delay, ..settings };
            // One is ticked all the time, the other only at its deadlines and restarted after every clip.
            let (mut often, mut seldom) = (AlarmMachine::new(rules(settings)), AlarmMachine::new(rules(settings)));
            let (mut at, mut states, mut expected) = (1.7e9, Vec::new(), Vec::new());
            for (anomalous, gap) in verdicts {
                let observation = if anomalous { Observation::Anomalous } else { Observation::Normal };
                expected.extend(often.observe(at, observation).map(|change| change.to));
                states.extend(seldom.observe(at, observation).map(|change| change.to));
                let json = serde_json::to_string(seldom.memory()).unwrap();
                seldom = AlarmMachine::resume(rules(settings), serde_json::from_str(&json).unwrap());
                let next = at + gap;
                for step in 1..=2_000 {
                    let time = at + gap * f64::from(step) / 2_000.0;
                    // Two deadlines may lie between two steps.
                    if let Some(deadline) = often.next_deadline().filter(|&deadline| deadline < time) {
                        expected.extend(often.tick(deadline).map(|change| change.to));
                    }
                    expected.extend(often.tick(time).map(|change| change.to));
                }
                while let Some(deadline) = seldom.next_deadline().filter(|&deadline| deadline <= next) {
                    let change = seldom.tick(deadline);
                    prop_assert!(change.is_some());
                    states.extend(change.map(|change| change.to));
                }
                at = next;
            }
            prop_assert_eq!(states, expected);
        }

        #[test]
        fn an_alarm_that_ends_later_is_never_raised_more_often(
            settings in settings(), longer in 0..20_usize, verdicts in prop::collection::vec(any::<bool>(), 1..200),
        ) {
            let raised = |clear: usize| {
                let mut alarm = AlarmMachine::new(rules(AlarmSettings { clear, latch: Latch::SelfClearing, ..settings }));
                let observe = |(index, &anomalous): (usize, &bool)| {
                    let observation = if anomalous { Observation::Anomalous } else { Observation::Normal };
                    alarm.observe(index as f64, observation)
                };
                let changes = verdicts.iter().enumerate().filter_map(observe);
                changes.filter(|change| change.to == AlarmState::Alarm).count()
            };
            prop_assert!(raised(settings.clear + longer) <= raised(settings.clear));
        }

        #[test]
        fn anomalous_sound_alone_raises_after_m_clips(settings in settings()) {
            let mut alarm = AlarmMachine::new(rules(settings));
            for clip in 1..=settings.raise {
                prop_assert_ne!(alarm.state(), AlarmState::Alarm);
                alarm.observe(clip as f64, Observation::Anomalous);
            }
            prop_assert_eq!(alarm.state(), AlarmState::Alarm);
        }

        #[test]
        fn a_latched_alarm_never_ends_unacknowledged(
            settings in settings(), verdicts in prop::collection::vec(any::<bool>(), 1..60),
        ) {
            let mut alarm = AlarmMachine::new(rules(AlarmSettings { latch: Latch::Latching, ..settings }));
            let mut raised = false;
            for (index, anomalous) in verdicts.into_iter().enumerate() {
                alarm.observe(index as f64, if anomalous { Observation::Anomalous } else { Observation::Normal });
                prop_assert!(!raised || alarm.state() == AlarmState::Alarm);
                raised |= alarm.state() == AlarmState::Alarm;
            }
        }
    }
}

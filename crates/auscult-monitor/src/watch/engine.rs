//! 5. The engine of a machine: observations, commands and time in, events out.
//!
//! It has no clock and reads nothing: the same inputs at the same times give the same events, which is how history is
//! replayed. What it must remember over a restart is [`EngineMemory`].

use std::collections::VecDeque;

use auscult::{
    alarm::{AlarmMachine, AlarmMemory, AlarmRules, AlarmSettings, AlarmState, Observation},
    calibration::{Drift, NormalRuns},
};
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    event::{Event, EventDetails, EventKind, ModelStamp},
    input::{ClipInput, Command, Input},
};
use crate::clock::utc;

/// What an engine must remember over a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineMemory {
    /// How many inputs it has had.
    pub step: u64,
    /// How many events it has made.
    events: u64,
    /// Its time never goes back, except when the clock does.
    pub time: f64,
    /// Since when the state is what it is.
    pub since: f64,
    alarm: AlarmMemory,
    #[serde(default, deserialize_with = "drift_if_known")]
    drift: Option<Drift>,
    /// The last anomalous clips: their steps and when they began.
    anomalous: VecDeque<(u64, f64)>,
    last_anomalous: Option<ClipInput>,
    /// Whether drift was told.
    pub is_drifting: bool,
    /// Why people are not told.
    pub shelf: Option<String>,
    /// Why it is not judged.
    pub out_of_service: Option<String>,
    /// What an outside system says.
    pub tag: Option<String>,
    /// The model that judges.
    pub model: Option<ModelStamp>,
    /// Whether there is sound, and what is wrong if there is none.
    pub source: Option<String>,
    /// When people were last told of the alarm.
    last_told: Option<f64>,
    /// What went wrong since the machine was last normal.
    #[serde(default)]
    troubles: Vec<AlarmState>,
}

/// What was heard of drift, if this program understands it: another version may weigh it differently, and then it is
/// watched anew.
fn drift_if_known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Drift>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(deserializer)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

impl EngineMemory {
    /// Of an engine that has heard nothing until now.
    pub fn new(now: f64) -> Self {
        Self {
            step: 0,
            events: 0,
            time: now,
            since: now,
            alarm: AlarmMemory::default(),
            drift: None,
            anomalous: VecDeque::new(),
            last_anomalous: None,
            is_drifting: false,
            shelf: None,
            out_of_service: None,
            tag: None,
            model: None,
            source: None,
            last_told: None,
            troubles: Vec::new(),
        }
    }
}

/// How many clips an event names.
const MOST_CLIPS: usize = 64;

/// Rules as they are written down.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RulesRecord {
    /// When an alarm is raised.
    pub alarm: AlarmSettings,
    /// How often one that nobody has acknowledged is told again.
    pub remind_seconds: Option<f64>,
}

impl RulesRecord {
    /// Makes the rules usable.
    ///
    /// # Errors
    ///
    /// If a setting is out of range.
    pub fn check(self) -> auscult::core::Result<EngineRules> {
        Ok(EngineRules { alarm: self.alarm.check()?, remind_seconds: self.remind_seconds })
    }
}

/// The rules of one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineRules {
    /// When an alarm is raised.
    pub alarm: AlarmRules,
    /// How often one that nobody has acknowledged is told again.
    pub remind_seconds: Option<f64>,
}

impl EngineRules {
    /// As they are written down.
    pub fn record(&self) -> RulesRecord {
        RulesRecord { alarm: *self.alarm.settings(), remind_seconds: self.remind_seconds }
    }

    /// In words: `3 of 5 raise, 5 clear`.
    pub fn text(&self) -> String {
        let it = self.alarm.settings();
        let (on, off) = (it.on_delay_seconds, it.off_delay_seconds);
        let delays = if on > 0.0 || off > 0.0 {
            format!(", delays {on} s and {off} s")
        } else {
            String::new()
        };
        format!(
            "{} of {} raise, {} clear{delays}, {}, no data after {} s",
            it.raise, it.window, it.clear, it.latch, it.no_data_after_seconds
        )
    }
}

/// The engine of one machine.
#[derive(Debug, Clone)]
pub struct Engine {
    machine: String,
    rules: EngineRules,
    alarm: AlarmMachine,
    memory: EngineMemory,
}

impl Engine {
    /// An engine that goes on from what it remembered.
    pub fn resume(machine: impl Into<String>, rules: EngineRules, memory: EngineMemory) -> Self {
        let alarm = AlarmMachine::resume(rules.alarm, memory.alarm.clone());
        Self { machine: machine.into(), rules, alarm, memory }
    }

    /// What it must remember over a restart.
    pub fn memory(&self) -> EngineMemory {
        EngineMemory { alarm: self.alarm.memory().clone(), ..self.memory.clone() }
    }

    /// The state now.
    pub fn state(&self) -> AlarmState {
        self.alarm.state()
    }

    /// What it remembers, apart from the alarm.
    pub fn facts(&self) -> &EngineMemory {
        &self.memory
    }

    /// The rules in force.
    pub fn rules(&self) -> &EngineRules {
        &self.rules
    }

    /// Whether somebody has acknowledged the alarm that is raised.
    pub fn is_acknowledged(&self) -> bool {
        self.alarm.is_acknowledged()
    }

    /// Until when it is shelved.
    pub fn shelved_until(&self) -> Option<f64> {
        self.alarm.shelved_until()
    }

    /// Watches for a change of the whole from now on, against what is normal for this model.
    pub fn watch_drift(&mut self, normal: Option<NormalRuns>) {
        self.memory.drift = normal.map(|normal| {
            let clips = normal.group_size();
            Drift::new(normal, clips)
        });
    }

    /// No model judges from now on. A machine that is learnt anew was repaired, and its old alarm with it; otherwise an alarm
    /// stands underneath.
    fn leave_judging(&mut self, at: f64, is_learning: bool) {
        let (before, shelf) = (self.alarm.state(), self.alarm.shelved_until());
        if is_learning {
            self.alarm = AlarmMachine::new(self.rules.alarm);
            self.memory.anomalous.clear();
            self.memory.last_anomalous = None;
            if before != AlarmState::NoData {
                self.alarm.observe(at, Observation::Learning);
            }
        } else {
            // As if nothing were ever heard again.
            self.alarm.tick(f64::INFINITY);
        }
        if let Some(until) = shelf {
            self.alarm.shelve(until);
        }
    }

    fn set_rules(&mut self, rules: RulesRecord) {
        // Only rules that were checked are ever written down.
        if let Ok(rules) = rules.check() {
            self.alarm = AlarmMachine::resume(rules.alarm, self.alarm.memory().clone());
            self.rules = rules;
            // What holds under the new rules holds from now on, not from whenever somebody looks.
            self.alarm.tick(self.memory.time);
        }
    }

    /// Whether a change of the whole is watched for.
    pub fn watches_drift(&self) -> bool {
        self.memory.drift.is_some()
    }

    /// Lets time pass: whatever becomes due until then happens at its own time, however late it is noticed.
    pub fn advance(&mut self, to: f64) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some((at, due)) = self.next_due().filter(|&(at, _)| at <= to) {
            let at = at.max(self.memory.time);
            self.memory.time = at;
            match due {
                Due::Shelf => {
                    self.alarm.unshelve();
                    self.memory.shelf = None;
                    events
                        .push(self.remark(EventKind::Command, "no longer shelved: its time is up"));
                    if self.alarm.is_raised() {
                        events.push(self.remind("the alarm still stands"));
                    }
                }
                Due::Reminder => events.push(self.remind("nobody has acknowledged the alarm")),
                Due::Alarm => {
                    let before = self.alarm.state();
                    let was_due = self.next_due();
                    self.alarm.tick(at);
                    events.extend(self.entered(before, None));
                    // Whatever was due has happened; if it ever had not, it would be due for ever.
                    if self.next_due() == was_due {
                        break;
                    }
                }
            }
        }
        self.memory.time = self.memory.time.max(to);
        events
    }

    /// Takes in one more input at this time.
    pub fn apply(&mut self, at: f64, input: &Input) -> Vec<Event> {
        let mut events = self.advance(at.max(self.memory.time));
        let at = self.memory.time;
        self.memory.step += 1;
        match input {
            Input::Clip(clip) => self.hear(at, clip, &mut events),
            Input::Command(command) => self.obey(at, command, &mut events),
            Input::Model { model, reason, rules, is_learning } => {
                let before = self.alarm.state();
                self.set_rules(*rules);
                self.memory.model.clone_from(model);
                self.memory.is_drifting = false;
                events.push(self.remark(EventKind::Model, reason));
                if model.is_some() {
                    events.extend(self.entered(before, None));
                } else {
                    self.leave_judging(at, *is_learning);
                    let entered = self.entered(before, None);
                    events.extend(entered.map(|event| Event { reason: reason.clone(), ..event }));
                }
            }
            Input::Rules { rules } => {
                let before = self.alarm.state();
                self.set_rules(*rules);
                let reason = format!("the rule is now: {}", self.rules.text());
                events.push(self.remark(EventKind::Rules, &reason));
                events.extend(self.entered(before, None));
            }
            Input::Source { is_alive, text } => {
                self.memory.source = (!is_alive).then(|| text.clone());
                events.push(self.remark(EventKind::Source, text));
            }
            Input::Clock { seconds } => {
                self.alarm.shift_clock(*seconds);
                let memory = &mut self.memory;
                memory.time += seconds;
                memory.since += seconds;
                memory.last_told = memory.last_told.map(|time| time + seconds);
                if let Some(drift) = &mut memory.drift {
                    drift.shift_clock(*seconds);
                }
                let direction = if *seconds < 0.0 { "back" } else { "forward" };
                let reason = format!("the clock was set {direction} by {:.0} s", seconds.abs());
                events.push(self.remark(EventKind::Clock, &reason));
            }
        }
        events
    }

    /// A clip that says nothing takes its place in the order, and time passes.
    pub fn skip(&mut self, at: f64) -> Vec<Event> {
        let events = self.advance(at.max(self.memory.time));
        self.memory.step += 1;
        events
    }

    fn hear(&mut self, at: f64, clip: &ClipInput, events: &mut Vec<Event>) {
        if clip.observation == Observation::Anomalous {
            if self.memory.anomalous.len() == MOST_CLIPS {
                self.memory.anomalous.pop_front();
            }
            self.memory.anomalous.push_back((self.memory.step, clip.began));
            self.memory.last_anomalous = Some(clip.clone());
        }
        let judged = matches!(clip.observation, Observation::Normal | Observation::Anomalous);
        if let (true, Some(score), Some(drift)) = (judged, clip.score, &mut self.memory.drift) {
            drift.observe(clip.began, score);
            let is_drifting = drift.is_drifting();
            if is_drifting != self.memory.is_drifting {
                self.memory.is_drifting = is_drifting;
                let reason = if is_drifting {
                    "the normal has moved: the sound differs as a whole, more than visits of the healthy machine do; \
                     check microphone and load, and if the machine is well, accept the change or learn a new baseline"
                } else {
                    "the sound is as usual again"
                };
                events.push(self.remark(EventKind::Drift, reason));
            }
        }
        if self.memory.out_of_service.is_some() {
            return;
        }
        let before = self.alarm.state();
        self.alarm.observe(at, clip.observation);
        events.extend(self.entered(before, Some(clip)));
        if self.alarm.state() == AlarmState::Normal {
            self.memory.anomalous.clear();
            self.memory.last_anomalous = None;
        }
    }

    fn obey(&mut self, at: f64, command: &Command, events: &mut Vec<Event>) {
        let before = self.alarm.state();
        let (reason, who) = match command {
            Command::Acknowledge { who } => {
                self.alarm.acknowledge(at);
                ("the alarm was acknowledged".to_owned(), who)
            }
            Command::Shelve { until, reason, who } => {
                self.alarm.shelve(*until);
                self.memory.shelf = Some(reason.clone());
                (format!("shelved until {}: {reason}", utc(*until)), who)
            }
            Command::Unshelve { who } => {
                self.alarm.unshelve();
                self.memory.shelf = None;
                ("no longer shelved".to_owned(), who)
            }
            Command::OutOfService { reason, who } => {
                self.memory.out_of_service = Some(reason.clone());
                (format!("out of service: {reason}"), who)
            }
            Command::InService { who } => {
                self.memory.out_of_service = None;
                ("back in service".to_owned(), who)
            }
            Command::AcceptDrift { who } => {
                if let Some(drift) = &mut self.memory.drift {
                    drift.accept();
                }
                self.memory.is_drifting = false;
                ("the change was looked at and accepted".to_owned(), who)
            }
            Command::Tag { state } => {
                self.memory.tag = Some(state.clone());
                // Said by another system every few seconds: a fact, not news.
                return;
            }
        };
        let mut event = self.remark(EventKind::Command, &reason);
        event.details.who = Some(who.clone());
        events.push(event);
        events.extend(self.entered(before, None));
    }

    /// An event if the state is no longer what it was.
    fn entered(&mut self, before: AlarmState, clip: Option<&ClipInput>) -> Option<Event> {
        let to = self.alarm.state();
        if before == to {
            return None;
        }
        self.memory.since = self.memory.time;
        let cause = self.memory.last_anomalous.clone().filter(|_| is_worrying(to));
        let reason = match (to, cause.as_ref().or(clip)) {
            (AlarmState::NoData, _) => match &self.memory.source {
                Some(problem) => format!("no sound: {problem}"),
                None => "no sound has arrived".to_owned(),
            },
            (AlarmState::Normal, _) if is_worrying(before) => "sounds normal again".to_owned(),
            (AlarmState::Normal, _) => "sounds normal".to_owned(),
            (_, Some(clip)) => clip.reason.clone(),
            (_, None) => format!("{to} after {before}"),
        };
        let mut event = self.event(EventKind::State, before, &reason);
        if to == AlarmState::Normal {
            event.details.ends = std::mem::take(&mut self.memory.troubles);
        } else if is_trouble(to) && !self.memory.troubles.contains(&to) {
            self.memory.troubles.push(to);
        }
        if let Some(clip) = cause {
            event.details.clips = self.memory.anomalous.iter().map(|(step, _)| *step).collect();
            // Sound that is sent faster than it plays is ahead of the clock.
            let began = self.memory.anomalous.front().map(|(_, began)| *began);
            event.details.since = began.map(|began| began.min(self.memory.time));
            event.details.score = clip.score;
            event.details.p_value = clip.p_value;
            event.details.heard = clip.heard;
            event.details.differs_most = clip.differs_most;
            event.details.bands = clip.bands;
            event.details.nearest = clip.nearest;
        } else if clip.is_some() {
            event.details.clips = vec![self.memory.step];
        }
        if to == AlarmState::Alarm {
            self.memory.last_told = Some(self.memory.time);
        }
        Some(event)
    }

    fn remind(&mut self, reason: &str) -> Event {
        self.memory.last_told = Some(self.memory.time);
        let began = self.memory.anomalous.front().map(|(_, began)| *began);
        let since = began.map_or(self.memory.since, |began| began.min(self.memory.time));
        let heard = self.memory.last_anomalous.as_ref().map(|clip| clip.reason.clone());
        let heard = heard.map_or(String::new(), |heard| format!(": {heard}"));
        let mut event = self.remark(EventKind::Reminder, &format!("{reason}{heard}"));
        event.details.since = Some(since);
        event
    }

    /// An event that does not change the state by itself.
    fn remark(&mut self, kind: EventKind, reason: &str) -> Event {
        self.event(kind, self.alarm.state(), reason)
    }

    fn event(&mut self, kind: EventKind, from: AlarmState, reason: &str) -> Event {
        self.memory.events += 1;
        let at = self.memory.time;
        let is_quiet = self.alarm.is_shelved(at) || self.memory.out_of_service.is_some();
        Event {
            id: format!("{}-{}", self.machine, self.memory.events),
            machine: self.machine.clone(),
            unix_seconds: at,
            kind,
            from,
            to: self.alarm.state(),
            reason: reason.to_owned(),
            is_announced: !is_quiet,
            details: EventDetails {
                step: self.memory.step,
                model: self.memory.model.clone(),
                rule: Some(self.rules.text()),
                ..EventDetails::default()
            },
        }
    }

    /// What happens next if nothing is heard, and when.
    fn next_due(&self) -> Option<(f64, Due)> {
        let shelf = self.alarm.shelved_until().map(|until| (until, Due::Shelf));
        let is_service = self.memory.out_of_service.is_none();
        let alarm = self.alarm.next_deadline().filter(|_| is_service).map(|at| (at, Due::Alarm));
        let needs_reminder = self.alarm.state() == AlarmState::Alarm
            && !self.alarm.is_acknowledged()
            && self.alarm.shelved_until().is_none()
            && is_service;
        let reminder = self.rules.remind_seconds.filter(|_| needs_reminder);
        let reminder = reminder
            .zip(self.memory.last_told)
            .map(|(seconds, last)| (last + seconds.max(1.0), Due::Reminder));
        [shelf, alarm, reminder].into_iter().flatten().min_by(|(a, _), (b, _)| a.total_cmp(b))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Shelf,
    Alarm,
    Reminder,
}

fn is_trouble(state: AlarmState) -> bool {
    is_worrying(state) || matches!(state, AlarmState::SensorFault | AlarmState::NoData)
}

fn is_worrying(state: AlarmState) -> bool {
    matches!(state, AlarmState::Alert | AlarmState::Alarm)
}

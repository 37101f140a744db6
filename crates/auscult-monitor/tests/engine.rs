//! The engine: the same inputs give the same events, whatever happens to the process in between.

#![expect(clippy::unwrap_used, reason = "helpers of tests, too, fail by panicking")]

use auscult::alarm::{AlarmSettings, AlarmState, Observation};
use auscult_monitor::watch::{
    ClipInput, Command, Engine, EngineMemory, Event, EventKind, Input, RulesRecord,
};
use proptest::prelude::*;

const BEGIN: f64 = 1.78e9;

fn rules() -> RulesRecord {
    let alarm = AlarmSettings { raise: 2, window: 3, clear: 2, ..AlarmSettings::default() };
    RulesRecord { alarm, remind_seconds: Some(600.0) }
}

fn engine() -> Engine {
    Engine::resume("pump", rules().check().unwrap(), EngineMemory::new(BEGIN))
}

fn clip(observation: Observation, began: f64) -> Input {
    Input::Clip(ClipInput {
        observation,
        began,
        score: Some(1.5),
        p_value: Some(0.01),
        reason: format!("{observation} clip"),
        heard: None,
        differs_most: None,
        bands: Vec::new(),
        nearest: None,
    })
}

fn states(events: &[Event]) -> Vec<AlarmState> {
    events.iter().filter(|it| it.kind == EventKind::State).map(|it| it.to).collect()
}

/// Clips every ten seconds, a letter each.
fn hear(engine: &mut Engine, from: f64, letters: &str) -> (Vec<Event>, f64) {
    let (mut events, mut at) = (Vec::new(), from);
    for letter in letters.chars() {
        let observation = match letter {
            'a' => Observation::Anomalous,
            's' => Observation::NotRunning,
            'f' => Observation::SensorFault,
            'l' => Observation::Learning,
            _ => Observation::Normal,
        };
        events.extend(engine.apply(at + 10.0, &clip(observation, at)));
        at += 10.0;
    }
    (events, at)
}

#[test]
fn an_alarm_names_its_clips_and_since_when() {
    let mut engine = engine();
    let (events, _) = hear(&mut engine, BEGIN, "nnaa");
    assert_eq!(states(&events), [AlarmState::Normal, AlarmState::Alert, AlarmState::Alarm]);
    let alarm = events.last().unwrap();
    assert_eq!(alarm.details.clips, [3, 4]);
    assert_eq!(alarm.details.since, Some(BEGIN + 20.0));
    assert_eq!((alarm.id.as_str(), alarm.reason.as_str()), ("pump-3", "anomalous clip"));
    assert!(alarm.is_announced);
    let (events, _) = hear(&mut engine, BEGIN + 40.0, "nn");
    assert_eq!(events.last().unwrap().reason, "sounds normal again");
}

#[test]
fn a_stopped_machine_and_a_dead_microphone_are_not_alarms() {
    let mut engine = engine();
    let (events, _) = hear(&mut engine, BEGIN, "nssff");
    let expected = [AlarmState::Normal, AlarmState::NotRunning, AlarmState::SensorFault];
    assert_eq!(states(&events), expected);
}

#[test]
fn silence_on_the_line_is_told_at_its_own_time() {
    let mut engine = engine();
    let (_, at) = hear(&mut engine, BEGIN, "n");
    let events = engine.advance(at + 1_000_000.0);
    assert_eq!(states(&events), [AlarmState::NoData]);
    assert!((events[0].unix_seconds - at - 60.0).abs() < 1e-3, "{}", events[0].unix_seconds - at);
}

#[test]
fn reminders_come_until_somebody_acknowledges() {
    let mut engine = engine();
    let (_, mut at) = hear(&mut engine, BEGIN, "aa");
    let mut reminders = 0;
    for _ in 0..200 {
        let (events, later) = hear(&mut engine, at, "a");
        reminders += events.iter().filter(|it| it.kind == EventKind::Reminder).count();
        at = later;
    }
    assert_eq!(reminders, 3, "2,000 s at one every 600 s");
    engine.apply(at, &Input::Command(Command::Acknowledge { who: "me".to_owned() }));
    let (events, _) = hear(&mut engine, at, &"a".repeat(200));
    assert!(events.iter().all(|it| it.kind != EventKind::Reminder));
}

#[test]
fn shelving_is_silent_expires_by_itself_and_then_says_what_still_stands() {
    let mut engine = engine();
    let shelve = Command::Shelve {
        until: BEGIN + 100.0,
        reason: "new seals".to_owned(),
        who: "me".to_owned(),
    };
    engine.apply(BEGIN, &Input::Command(shelve));
    let (events, at) = hear(&mut engine, BEGIN, "aaaaa");
    assert!(states(&events).contains(&AlarmState::Alarm));
    assert!(events.iter().all(|event| !event.is_announced), "{events:?}");
    let (events, _) = hear(&mut engine, at, "aaaaaa");
    let told: Vec<&Event> = events.iter().filter(|event| event.is_announced).collect();
    assert_eq!(told[0].reason, "no longer shelved: its time is up");
    assert_eq!((told[1].kind, told[1].unix_seconds), (EventKind::Reminder, BEGIN + 100.0));
}

#[test]
fn out_of_service_is_not_judged() {
    let mut engine = engine();
    let (_, at) = hear(&mut engine, BEGIN, "n");
    let out = Command::OutOfService { reason: "overhaul".to_owned(), who: "me".to_owned() };
    engine.apply(at, &Input::Command(out));
    let (events, at) = hear(&mut engine, at, &"a".repeat(20));
    assert_eq!(states(&events), []);
    engine.apply(at, &Input::Command(Command::InService { who: "me".to_owned() }));
    let (events, _) = hear(&mut engine, at, "aa");
    assert!(states(&events).contains(&AlarmState::Alarm));
}

#[test]
fn a_clock_that_is_set_back_does_not_stop_time() {
    let mut engine = engine();
    let (_, at) = hear(&mut engine, BEGIN, "n");
    let events = engine.apply(at, &Input::Clock { seconds: -3_600.0 });
    assert_eq!(events[0].reason, "the clock was set back by 3600 s");
    let later = at - 3_600.0;
    let (_, later) = hear(&mut engine, later, "nn");
    assert_eq!(engine.facts().time, later);
    assert_eq!(states(&engine.advance(later + 61.0)), [AlarmState::NoData]);
}

#[test]
fn what_another_version_remembered_of_drift_is_forgotten_and_the_rest_is_not() {
    let mut engine = engine();
    hear(&mut engine, BEGIN, "naa");
    let mut memory = serde_json::to_value(engine.memory()).unwrap();
    memory["drift"] = serde_json::json!({ "wisdom": 7 });
    let memory: EngineMemory = serde_json::from_value(memory).unwrap();
    let resumed = Engine::resume("pump", *engine.rules(), memory);
    assert_eq!(resumed.state(), AlarmState::Alarm);
    assert!(!resumed.watches_drift());
}

fn inputs() -> impl Strategy<Value = Vec<(f64, Input)>> {
    let observation = prop::sample::select(vec![
        Observation::Normal,
        Observation::Anomalous,
        Observation::NotRunning,
        Observation::SensorFault,
        Observation::Learning,
    ]);
    let who = || "me".to_owned();
    let command = prop_oneof![
        Just(Command::Acknowledge { who: who() }),
        (0.0..5_000.0_f64).prop_map(move |until| Command::Shelve {
            until: BEGIN + until,
            reason: "x".to_owned(),
            who: "me".to_owned()
        }),
        Just(Command::Unshelve { who: who() }),
        Just(Command::OutOfService { reason: "x".to_owned(), who: who() }),
        Just(Command::InService { who: who() }),
    ];
    let input = prop_oneof![
        8 => observation.prop_map(|observation| clip(observation, BEGIN)),
        1 => command.prop_map(Input::Command),
        1 => Just(Input::Source { is_alive: false, text: "gone".to_owned() }),
        1 => (1_usize..4).prop_map(|raise| Input::Rules { rules: RulesRecord {
            alarm: AlarmSettings { raise, on_delay_seconds: 25.0, ..AlarmSettings::default() },
            remind_seconds: None,
        } }),
    ];
    prop::collection::vec((0.0..200.0_f64, input), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// One engine lives; the other is restarted after every input and looked at only then.
    #[test]
    fn replay_equals_live(inputs in inputs(), ticks in 1..20_u32) {
        let (mut live, mut played) = (engine(), engine());
        let (mut expected, mut events) = (Vec::new(), Vec::new());
        let mut at = BEGIN;
        for (gap, input) in &inputs {
            for tick in 1..=ticks {
                expected.extend(live.advance(at + gap * f64::from(tick) / f64::from(ticks)));
            }
            at += gap;
            expected.extend(live.apply(at, input));
            events.extend(played.apply(live.facts().time, input));
            let memory = serde_json::to_string(&played.memory()).unwrap();
            let rules = *played.rules();
            played = Engine::resume("pump", rules, serde_json::from_str(&memory).unwrap());
        }
        prop_assert_eq!(&events, &expected);
        prop_assert_eq!(live.memory(), played.memory());
        // In order, counted without a gap, and never back in time.
        for (index, event) in events.iter().enumerate() {
            prop_assert_eq!(&event.id, &format!("pump-{}", index + 1));
        }
        prop_assert!(events.windows(2).all(|it| it[0].unix_seconds <= it[1].unix_seconds));
    }
}

//! The demonstration plant shows what the manual says: two machines drift, and that is no alarm.

#![expect(clippy::unwrap_used, reason = "helpers of tests, too, fail by panicking")]

use std::sync::Arc;

use auscult::FrontEnds;
use auscult_monitor::{
    clock::Clock,
    data::DataFolder,
    history::{EventQuery, History, Writer},
    news::ListeningIn,
    sources::{Plant, plant_site},
    watch::{Event, EventKind, Scorers, Sound, Surroundings, Watch},
};

const DAY: f64 = 86_400.0;

/// What happens to a machine of the plant until the end of a day, clip by clip.
fn events_of(name: &str, days: u32) -> Vec<Event> {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::stopped(Plant::BEGIN);
    let history = History::open(folder.path()).unwrap();
    let (writer, thread) = Writer::start(history, clock.clone(), Box::new(|_| ())).unwrap();
    let around = Surroundings {
        clock: clock.clone(),
        data: DataFolder::new(folder.path()),
        writer: writer.clone(),
        front_ends: FrontEnds::standard(),
        sinks: Arc::new(|_| Vec::new()),
        listening_in: ListeningIn::default(),
    };
    let site = plant_site();
    let index = site.machines.iter().position(|machine| machine.name == name).unwrap();
    let mut watch = Watch::open(site.machines[index].clone(), around).unwrap();
    let mut scorers = Scorers::default();
    let clips = (f64::from(days) * DAY / Plant::EVERY) as u32;
    for clip in 0..clips {
        let at = Plant::BEGIN + Plant::EVERY * f64::from(clip + 1);
        clock.set(at);
        watch.tick().unwrap();
        let Some(samples) = Plant::sound(index, at) else { continue };
        let sound = Sound { samples, sample_rate: 16_000, arrived: at, stands_alone: true };
        if let Some(lesson) = watch.hear(&sound, &mut scorers).unwrap() {
            watch.fitted(lesson.learn(&FrontEnds::standard())).unwrap();
        }
    }
    watch.settle().unwrap();
    let history = History::read(folder.path()).unwrap();
    let events = history.events(&EventQuery::default()).unwrap();
    writer.stop();
    thread.join().unwrap();
    events
}

fn day_of(events: &[Event], is_it: impl Fn(&Event) -> bool) -> Option<f64> {
    let event = events.iter().find(|event| is_it(event))?;
    Some((event.unix_seconds - Plant::BEGIN) / DAY)
}

#[test]
fn two_machines_drift_within_two_minutes_and_that_is_no_alarm() {
    for name in ["fan-2", "valve-1"] {
        let events = events_of(name, 15);
        let drift = day_of(&events, |event| event.kind == EventKind::Drift);
        assert!(drift.is_some_and(|day| day > 7.0), "{name}: {drift:?}");
        let alarm = day_of(&events, |event| event.to.name() == "alarm");
        assert_eq!(alarm, None, "{name}");
    }
}

#[test]
fn the_leak_is_an_alarm_and_a_machine_that_is_well_is_none() {
    let events = events_of("pump-1", 11);
    let is_alarm = |event: &Event| event.to.name() == "alarm";
    let leak = day_of(&events, is_alarm);
    assert!(leak.is_some_and(|day| (6.5..11.0).contains(&day)), "{leak:?}");
    let bands = &events.iter().find(|event| is_alarm(event)).unwrap().details.bands;
    assert!(bands[0].low_hertz > 2_000.0 && bands[0].decibels > 4.0, "a hiss: {bands:?}");
    let events = events_of("fan-1", 15);
    assert_eq!(day_of(&events, |event| event.to.name() == "alarm"), None);
    assert_eq!(day_of(&events, |event| event.kind == EventKind::Drift), None);
}

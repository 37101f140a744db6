//! One machine from its first clip on: learning, versions of its model, commands, restarts.

#![expect(clippy::unwrap_used, reason = "helpers of tests, too, fail by panicking")]

use std::{path::PathBuf, sync::Arc, thread::JoinHandle};

use auscult::FrontEnds;
use auscult_monitor::{
    Error,
    clock::Clock,
    data::DataFolder,
    history::{EventQuery, History, Writer},
    news::ListeningIn,
    site::{MachineSpec, Site},
    watch::{
        Command, Event, EventKind, MachineStatus, Request, Scorers, Sound, Surroundings, Watch,
    },
};
use auscult_testing::{ClipRecipe, Fault, Machine};

const BEGIN: f64 = 1_780_272_000.0;
const DAY: f64 = 86_400.0;

/// Where a machine is watched; the clock is set by whoever uses it.
struct Hall {
    folder: tempfile::TempDir,
    around: Surroundings,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Hall {
    fn drop(&mut self) {
        self.around.writer.stop();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Hall {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::stopped(BEGIN);
        let history = History::open(folder.path()).unwrap();
        let (writer, thread) = Writer::start(history, clock.clone(), Box::new(|_| ())).unwrap();
        let around = Surroundings {
            clock,
            data: DataFolder::new(folder.path()),
            writer,
            front_ends: FrontEnds::standard(),
            sinks: Arc::new(|_| Vec::new()),
            listening_in: ListeningIn::default(),
        };
        Self { folder, around, thread: Some(thread) }
    }

    fn spec(model: Option<PathBuf>) -> MachineSpec {
        let text = "[[machine]]\nname = \"fan\"\npreset = \"paper\"\nclip = \"1s\"\n[machine.learn]\nvisits = 3\nclips = 24\n\
            visit = \"day\"\n";
        let mut site = Site::parse(text, &PathBuf::from("site.toml")).unwrap();
        MachineSpec { model, ..site.machines.remove(0) }
    }

    fn open(&self, model: Option<PathBuf>) -> Watch {
        Watch::open(Self::spec(model), self.around.clone()).unwrap()
    }

    fn status(&self, watch: &Watch) -> MachineStatus {
        watch.settle().unwrap();
        History::read(self.folder.path()).unwrap().statuses().unwrap().remove(0)
    }

    fn events(&self, watch: &Watch) -> Vec<Event> {
        watch.settle().unwrap();
        History::read(self.folder.path()).unwrap().events(&EventQuery::default()).unwrap()
    }

    /// A clip every minute; a model is made as soon as one can be.
    fn hear(&self, watch: &mut Watch, day: u32, takes: std::ops::Range<u32>, is_faulty: bool) {
        let mut scorers = Scorers::default();
        for take in takes {
            let at = BEGIN + DAY * f64::from(day) + 60.0 * f64::from(take);
            self.around.clock.set(at);
            let fault = is_faulty.then_some((Fault::BearingImpulses, 1.0));
            let recipe = ClipRecipe {
                visit: 1 + day % 3,
                take,
                fault,
                seconds: 1.0,
                ..ClipRecipe::new(Machine::Fan)
            };
            let samples = recipe.render().unwrap();
            let sound = Sound { samples, sample_rate: 16_000, arrived: at, stands_alone: true };
            if let Some(lesson) = watch.hear(&sound, &mut scorers).unwrap() {
                watch.fitted(lesson.learn(&self.around.front_ends)).unwrap();
            }
        }
    }

    /// A machine that has just been learnt.
    fn learnt(&self) -> Watch {
        let mut watch = self.open(None);
        (0..3).for_each(|day| self.hear(&mut watch, day, 0..8, false));
        assert_eq!(self.status(&watch).model.unwrap().version, 1);
        watch
    }
}

fn me() -> String {
    "me".to_owned()
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    let Err(Error::Refused(reason)) = outcome else { panic!("not refused: {outcome:?}") };
    reason
}

#[test]
fn a_new_baseline_is_learning_at_once_and_the_configured_model_takes_over_again() {
    let hall = Hall::new();
    drop(hall.learnt());
    let file = hall.folder.path().join("pump.auscult");
    std::fs::copy(hall.folder.path().join("models/fan/0001.auscult"), &file).unwrap();
    let mut watch = hall.open(Some(file.clone()));
    hall.hear(&mut watch, 3, 0..2, false);
    assert_eq!(hall.status(&watch).state, "normal");
    let refused = refusal(watch.decide(Request::Baseline { who: me() }));
    assert!(refused.contains("take `model` out"), "{refused}");
    drop(watch);

    let mut watch = hall.open(None);
    watch.decide(Request::Baseline { who: me() }).unwrap();
    let status = hall.status(&watch);
    assert_eq!((status.state.as_str(), status.model), ("learning", None));
    assert!(status.reason.contains("learning anew, says me"), "{}", status.reason);
    let (change, _) = watch.decide(Request::Rollback { version: Some(1), who: me() }).unwrap();
    assert!(!change.text.contains("instead of"), "{}", change.text);
    assert!(hall.status(&watch).reason.contains("back to version 1"));
    watch.decide(Request::Baseline { who: me() }).unwrap();
    drop(watch);

    let mut watch = hall.open(Some(file));
    assert!(hall.status(&watch).learning.is_none());
    hall.hear(&mut watch, 4, 0..2, false);
    assert_eq!(hall.status(&watch).state, "normal");
}

#[test]
fn a_version_that_is_gone_is_a_problem_of_its_machine_only() {
    let hall = Hall::new();
    drop(hall.learnt());
    std::fs::remove_file(hall.folder.path().join("models/fan/0001.auscult")).unwrap();
    let mut watch = hall.open(None);
    let status = hall.status(&watch);
    assert_eq!(status.state, "no-data");
    assert!(status.reason.contains("version 1 cannot be opened"), "{}", status.reason);
    hall.hear(&mut watch, 3, 0..2, false);
    let status = hall.status(&watch);
    assert_eq!((status.state.as_str(), status.learning.is_none()), ("no-data", true));
    assert!(status.reason.contains("auscult watch baseline fan"), "{}", status.reason);
    watch.decide(Request::Baseline { who: me() }).unwrap();
    hall.hear(&mut watch, 4, 0..2, false);
    assert_eq!(hall.status(&watch).learning.unwrap().clips, 2);
}

#[test]
fn commands_that_would_change_nothing_are_refused() {
    let hall = Hall::new();
    let mut watch = hall.learnt();
    hall.hear(&mut watch, 3, 0..2, false);
    let now = hall.around.clock.now();
    let shelve = |seconds: f64| Command::Shelve { until: now + seconds, reason: me(), who: me() };
    for (command, expected) in [
        (Command::Acknowledge { who: me() }, "no alarm to acknowledge"),
        (Command::Unshelve { who: me() }, "is not shelved"),
        (Command::InService { who: me() }, "is in service"),
        (Command::AcceptDrift { who: me() }, "has not drifted"),
        (Command::Tag { state: "banana".to_owned() }, "\"banana\" is not a state of fan"),
        (shelve(0.0), "for a second at least"),
        (shelve(9_999.0 * DAY), "for a year at most"),
    ] {
        let refused = refusal(watch.obey(command));
        assert!(refused.contains(expected), "{refused}");
    }
    let backwards = Request::DeleteSound { from: now, to: now - 1.0, who: me() };
    assert!(refusal(watch.decide(backwards)).contains("is not before"));
    hall.hear(&mut watch, 3, 2..8, true);
    watch.obey(Command::Acknowledge { who: me() }).unwrap();
    assert!(refusal(watch.obey(Command::Acknowledge { who: me() })).contains("already"));
    assert!(hall.events(&watch).iter().filter(|it| it.kind == EventKind::Command).count() == 1);
    // What is answered is about the command, also if something else became due.
    watch.obey(shelve(600.0)).unwrap();
    hall.around.clock.set(now + DAY);
    let request = Request::Shelve { seconds: 60.0, reason: "again".to_owned(), who: me() };
    let (change, _) = watch.decide(request).unwrap();
    assert!(change.text.contains("shelved until") && change.text.contains("again"), "{change:?}");
}

#[test]
fn what_is_out_of_service_is_not_learnt_from() {
    let hall = Hall::new();
    let mut watch = hall.open(None);
    hall.hear(&mut watch, 0, 0..2, false);
    watch.obey(Command::OutOfService { reason: "overhaul".to_owned(), who: me() }).unwrap();
    hall.hear(&mut watch, 0, 2..6, true);
    let status = hall.status(&watch);
    assert_eq!(status.out_of_service.as_deref(), Some("overhaul"));
    assert_eq!(status.learning.unwrap().clips, 2);
    drop(watch);
    let mut watch = hall.open(None);
    assert_eq!(hall.status(&watch).out_of_service.as_deref(), Some("overhaul"));
    watch.obey(Command::InService { who: me() }).unwrap();
    hall.hear(&mut watch, 0, 6..8, false);
    let status = hall.status(&watch);
    assert_eq!((status.out_of_service, status.learning.unwrap().clips), (None, 4));
}

#[test]
fn a_clock_that_was_set_back_while_nobody_watched_is_told_and_time_goes_on() {
    let hall = Hall::new();
    let mut watch = hall.learnt();
    hall.hear(&mut watch, 3, 0..2, false);
    drop(watch);
    hall.around.clock.set(hall.around.clock.now() - 3.0 * DAY);
    let mut watch = hall.open(None);
    hall.hear(&mut watch, 0, 2..8, true);
    let events = hall.events(&watch);
    let set = events.iter().position(|event| event.kind == EventKind::Clock).unwrap();
    assert_eq!(events[set].reason, "the clock was set back by 259200 s");
    assert!(events.len() > set + 1, "the alarm comes after it, although its time is earlier");
    let numbers = events.iter().map(|event| event.id.rsplit('-').next().unwrap().parse::<u64>());
    assert!(numbers.map(Result::unwrap).is_sorted());
}

//! One machine from its first clip on: learning, versions of its model, commands, restarts.

#![expect(clippy::unwrap_used, reason = "helpers of tests, too, fail by panicking")]

use std::{path::PathBuf, sync::Arc, thread::JoinHandle};

use auscult::FrontEnds;
use auscult_monitor::{
    Error,
    clock::Clock,
    data::DataFolder,
    history::{EventQuery, History, ModelRow, Writer},
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

    fn spec(more: &str) -> MachineSpec {
        let text = format!(
            "[[machine]]\nname = \"fan\"\npreset = \"paper\"\nclip = \"1s\"\n{more}\n[machine.learn]\nvisits = 3\nclips = 24\n\
             visit = \"day\"\n"
        );
        let mut site = Site::parse(&text, &PathBuf::from("site.toml")).unwrap();
        site.machines.remove(0)
    }

    fn open(&self, model: Option<PathBuf>) -> Watch {
        Watch::open(MachineSpec { model, ..Self::spec("") }, self.around.clone()).unwrap()
    }

    /// With more lines in its configuration.
    fn open_with(&self, more: &str) -> Result<Watch, Error> {
        Watch::open(Self::spec(more), self.around.clone())
    }

    fn models(&self, watch: &Watch) -> Vec<ModelRow> {
        watch.settle().unwrap();
        History::read(self.folder.path()).unwrap().models(watch.id()).unwrap()
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
    hall.hear(&mut watch, 3, 2..70, true);
    watch.obey(Command::Acknowledge { who: me() }).unwrap();
    assert!(refusal(watch.obey(Command::Acknowledge { who: me() })).contains("already"));
    assert!(hall.events(&watch).iter().filter(|it| it.kind == EventKind::Command).count() == 1);
    // What is answered is about the command, also if something else became due.
    let until = hall.around.clock.now() + 600.0;
    watch.obey(Command::Shelve { until, reason: me(), who: me() }).unwrap();
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

#[test]
fn without_a_word_one_alarm_a_month_is_aimed_at_and_said_not_to_be_promised() {
    let hall = Hall::new();
    let mut watch = hall.learnt();
    let rule = hall.status(&watch).rule.unwrap();
    assert_eq!((rule.budget.as_deref(), rule.promised), (Some("1 alarm per month"), false));
    // 3 of 5 of a clip a second would be hundreds of alarms a month.
    assert!(rule.raise > 3, "{rule:?}");
    assert!(rule.missing.is_some() && rule.text.contains("cannot be promised"), "{rule:?}");
    let clips = rule.window as u32;
    hall.hear(&mut watch, 3, 0..clips, false);
    assert_ne!(hall.status(&watch).state, "alarm");
    hall.hear(&mut watch, 3, clips..2 * clips, true);
    assert_eq!(hall.status(&watch).state, "alarm", "a fault is an alarm all the same");
    drop(watch);
    // A restart plans nothing anew.
    let watch = hall.open(None);
    assert_eq!(hall.models(&watch).len(), 1);
    assert_eq!(hall.status(&watch).rule.unwrap(), rule);
}

#[test]
fn what_visits_carry_is_promised_and_another_pace_or_budget_is_another_version() {
    let hall = Hall::new();
    drop(hall.learnt());
    let own = {
        let watch = hall.open_with("alarm.raise = 3").unwrap();
        let rule = hall.status(&watch).rule.unwrap();
        let own =
            "3 of 5 clips, as the configuration says; an alarm ends after 5 normal ones in a row";
        assert_eq!(rule.text, own);
        assert_eq!((rule.rate, rule.budget), (0.05, None), "the model's own rate is back");
        hall.models(&watch).pop().unwrap()
    };
    // A clip in six hours: 122 a month.
    let watch = hall.open_with("every = \"6h\"").unwrap();
    let rule = hall.status(&watch).rule.unwrap();
    assert!(rule.promised && rule.missing.is_none(), "{rule:?}");
    assert!(rule.text.contains("at most 1 alarm per month is promised"), "{rule:?}");
    let models = hall.models(&watch);
    let (version, planned) = (models.len(), models.last().unwrap().planned.clone().unwrap());
    assert_eq!(
        (planned.hop_seconds, &models.last().unwrap().origin),
        (21_600.0, &"planned".into())
    );
    assert_eq!(models[0].came_from(), own.came_from(), "the same references");
    drop(watch);
    let watch = hall.open_with("every = \"6h\"").unwrap();
    assert_eq!(hall.models(&watch).len(), version, "nothing is planned twice");
    drop(watch);
    // What somebody names is promised or refused.
    let refused = hall.open_with("alarms = \"1/year\"").unwrap_err();
    assert!(matches!(refused, Error::Promise { .. }), "{refused}");
    assert!(refused.to_string().contains("no alarm rule keeps the budget"), "{refused}");
    let watch = hall.open_with("every = \"6h\"\nalarms = \"2 alarms per month\"").unwrap();
    let rule = hall.status(&watch).rule.unwrap();
    assert_eq!((rule.budget.as_deref(), rule.promised), (Some("2 alarms per month"), true));
    assert_eq!(hall.models(&watch).len(), version + 1);
}

#[test]
fn only_the_sound_that_may_be_kept_is_written() {
    let sounds = |hall: &Hall| -> Vec<String> {
        let below = |name: &str| files_below(&hall.folder.path().join(name));
        ["learning/fan", "sound/fan"]
            .into_iter()
            .filter(|name| below(name) > 0)
            .map(str::to_owned)
            .collect()
    };
    for (keep, learning, watching) in [
        ("none", vec![], vec![]),
        ("alarms", vec!["learning/fan"], vec!["learning/fan", "sound/fan"]),
    ] {
        let hall = Hall::new();
        let mut watch = hall.open_with(&format!("keep = \"{keep}\"\nalarm.raise = 3")).unwrap();
        (0..3).for_each(|day| hall.hear(&mut watch, day, 0..8, false));
        assert_eq!(hall.status(&watch).model.unwrap().version, 1);
        hall.hear(&mut watch, 3, 0..5, false);
        assert_eq!(sounds(&hall), learning, "{keep}: normal clips are not written");
        hall.hear(&mut watch, 3, 5..12, true);
        assert_eq!(hall.status(&watch).state, "alarm");
        assert_eq!(sounds(&hall), watching, "{keep}: an alarm");
        let alarm =
            hall.events(&watch).into_iter().find(|event| event.to.name() == "alarm").unwrap();
        assert_eq!(alarm.details.sound.is_some(), keep == "alarms");
    }
}

/// How many files there are in a folder and those in it.
fn files_below(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { files_below(&entry.path()) } else { 1 }).sum()
}

#[test]
fn each_operating_state_has_its_model_and_off_is_not_running() {
    let hall = Hall::new();
    let mut watch = hall.learnt();
    // The very first clip began before midnight.
    let visit = visits_of(&hall).remove(1);
    let request = Request::Forget { visits: vec![visit], preview: false, who: me() };
    watch.decide(request).unwrap();
    drop(watch);
    let file = |name: &str| hall.folder.path().join(name);
    for (version, name) in [(1, "usual.auscult"), (2, "slow.auscult")] {
        std::fs::copy(file(&format!("models/fan/000{version}.auscult")), file(name)).unwrap();
    }
    let mut spec = Hall::spec("");
    spec.model = Some(file("usual.auscult"));
    spec.states.insert("slow".to_owned(), file("slow.auscult"));
    let mut watch = Watch::open(spec, hall.around.clone()).unwrap();
    let references = |watch: &Watch| hall.status(watch).model.unwrap().references;
    hall.hear(&mut watch, 3, 0..2, false);
    assert_eq!(references(&watch), 24);
    watch.obey(Command::Tag { state: "slow".to_owned() }).unwrap();
    hall.hear(&mut watch, 3, 2..4, false);
    assert_eq!(references(&watch), 16);
    watch.obey(Command::Tag { state: "off".to_owned() }).unwrap();
    hall.hear(&mut watch, 3, 4..6, true);
    assert_eq!(hall.status(&watch).state, "not-running");
    watch.obey(Command::Tag { state: "on".to_owned() }).unwrap();
    hall.hear(&mut watch, 3, 6..8, false);
    assert_eq!((hall.status(&watch).state.as_str(), references(&watch)), ("normal", 24));
}

/// The visits that the machine was learnt from.
fn visits_of(hall: &Hall) -> Vec<String> {
    let folder = hall.folder.path().join("learning/fan/round-1");
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

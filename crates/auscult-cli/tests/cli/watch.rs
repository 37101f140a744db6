//! `auscult watch` as a plant meets it: folders, streams, commands, messages, crashes.

use std::{
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use auscult_testing::{ClipRecipe, Fault};

use crate::support::{Sandbox, clip, wav_of};

/// A monitor that is killed when the test ends.
pub(crate) struct Watching<'a> {
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) child: Child,
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl<'a> Watching<'a> {
    pub(crate) fn start(sandbox: &'a Sandbox) -> Self {
        let log =
            std::fs::File::options().create(true).append(true).open(sandbox.path("log")).unwrap();
        let child = sandbox
            .command(["watch", "site.toml", "--data", "data"])
            .env("AUSCULT_TEST_SECRET", "Jefe")
            .env("USER", "ada")
            .stderr(Stdio::from(log))
            .spawn()
            .unwrap();
        let watching = Self { sandbox, child };
        watching.wait_for("the socket", || sandbox.path("data/control.sock").exists());
        watching
    }

    /// Waits until something is so; a minute is long, also on a busy machine.
    pub(crate) fn wait_for(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            let log = std::fs::read_to_string(self.sandbox.path("log")).unwrap_or_default();
            assert!(began.elapsed() < Duration::from_secs(60), "{what} does not come\n{log}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn machine(&self, name: &str) -> serde_json::Value {
        let status = self.sandbox.run("watch status --data data --json").exits(0).stdout;
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        let machines = status["machines"].as_array().unwrap();
        machines.iter().find(|it| it["name"] == name).cloned().unwrap_or_default()
    }

    pub(crate) fn wait_for_state(&self, name: &str, state: &str) {
        self.wait_for(state, || self.machine(name)["state"] == state);
    }

    pub(crate) fn wait_for_clips(&self, name: &str, clips: u64) {
        self.wait_for(&format!("{clips} clips"), || self.machine(name)["clips"] == clips);
    }

    /// SIGTERM: it must end by itself, soon, with exit code 0.
    pub(crate) fn stop(mut self) {
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::TERM,
        )
        .unwrap();
        let began = Instant::now();
        let code = self.child.wait().unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        assert!(code.success(), "{code:?}");
    }
}

/// A second of a machine; faulty ones are far from normal.
pub(crate) fn recording(take: u32, is_faulty: bool) -> Vec<u8> {
    let fault = is_faulty.then_some((Fault::BearingImpulses, 1.0));
    wav_of(&ClipRecipe { visit: 1, take, fault, ..clip() })
}

pub(crate) fn events(sandbox: &Sandbox) -> Vec<serde_json::Value> {
    let lines = sandbox.run("watch events --data data --jsonl").exits(0).stdout;
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn states_of(events: &[serde_json::Value]) -> Vec<String> {
    let states = events.iter().filter(|event| event["kind"] == "state");
    states.map(|event| event["to"].as_str().unwrap().to_owned()).collect()
}

/// The least that a configuration may be: its alarm rule is planned.
pub(crate) const BARE: &str =
    "[[machine]]\nname = \"fan\"\nmodel = \"model.auscult\"\nfolder = \"in\"\n";

/// Three of five clips raise an alarm.
pub(crate) const SITE: &str =
    "[[machine]]\nname = \"fan\"\nmodel = \"model.auscult\"\nfolder = \"in\"\nalarm.raise = 3\n";

pub(crate) fn with_site(site: &str) -> Sandbox {
    let sandbox = Sandbox::with_model();
    std::fs::create_dir(sandbox.path("in")).unwrap();
    sandbox.write("site.toml", site);
    sandbox
}

#[test]
fn a_configuration_is_written_checked_and_refused_with_its_lines() {
    let sandbox = Sandbox::with_model();
    sandbox.run("watch --init new.toml").exits(0);
    assert!(sandbox.run("watch --init new.toml").exits(2).stderr.contains("must be a new file"));
    let refused = sandbox.run("watch --check new.toml").exits(2).stderr;
    assert!(refused.contains("new.toml:") && refused.contains("is not there"), "{refused}");
    std::fs::create_dir(sandbox.path("in")).unwrap();
    sandbox.write("site.toml", SITE);
    let fine = sandbox.run("watch --check site.toml").exits(0).stdout;
    assert!(fine.contains("an alarm is 3 of 5 clips, as the configuration says"), "{fine}");
    sandbox.write("site.toml", BARE);
    let fine = sandbox.run("watch --check site.toml").exits(0).stdout;
    assert!(fine.contains("fan: folder") && fine.contains("nothing wrong"), "{fine}");
    assert!(fine.contains("1 alarm per month is aimed at"), "{fine}");
    sandbox.write("site.toml", BARE.replace("model = \"model.auscult\"\n", ""));
    let fine = sandbox.run("watch --check site.toml").exits(0).stdout;
    assert!(fine.contains("an alarm will be planned for 1 alarm per month"), "{fine}");
    sandbox.write("site.toml", BARE.to_owned() + "alarms = \"1 alarm per year\"\n");
    let refused = sandbox.run("watch --check site.toml").exits(2).stderr;
    assert!(refused.contains("site.toml:5: the model"), "{refused}");
    assert!(refused.contains("no alarm rule keeps the budget"), "{refused}");
    assert!(refused.contains("can be promised now"), "{refused}");
    sandbox.write("site.toml", BARE.to_owned() + "[machine.alarm]\nraise = 9\n");
    assert!(sandbox.run("watch site.toml --data data").exits(2).stderr.contains("site.toml:5"));
    sandbox.write("site.toml", SITE.replace("model.auscult", "site.toml"));
    let refused = sandbox.run("watch site.toml --data data").exits(2).stderr;
    assert!(refused.contains("site.toml:3: the model"), "{refused}");
    let slow = "[[machine]]\nname = \"fan\"\nmodel = \"model.auscult\"\ntcp = \"127.0.0.1:7007\"\nsample_rate = 8000\n";
    sandbox.write("site.toml", slow);
    let refused = sandbox.run("watch --check site.toml").exits(2).stderr;
    assert!(refused.contains("site.toml:5: machine \"fan\": sample_rate = 8000 Hz"), "{refused}");
    assert!(refused.contains("was learnt from 16000 Hz"), "{refused}");
    assert!(sandbox.run("watch").exits(2).stderr.contains("--init"));
    assert!(sandbox.run("watch status --data nowhere").exits(2).stderr.contains("no history"));
    let refused = sandbox.run("watch acknowledge fan --data nowhere").exits(2).stderr;
    assert!(refused.contains("no monitor runs"), "{refused}");
}

#[test]
fn recordings_become_an_alarm_and_survive_a_restart_once() {
    let sandbox = with_site(SITE);
    sandbox.write("in/early.wav", recording(100, false));
    let watching = Watching::start(&sandbox);
    watching.wait_for_state("fan", "normal");
    for take in 0..3 {
        sandbox.write(&format!("in/odd {take}.wav"), recording(200 + take, true));
    }
    watching.wait_for_state("fan", "alarm");
    let refused = sandbox.run("watch site.toml --data data").exits(2).stderr;
    assert!(refused.contains("another monitor uses"), "{refused}");
    sandbox.run("watch acknowledge fan --data data").exits(0);
    assert_eq!(watching.machine("fan")["acknowledged"], true);
    watching.stop();
    let before = events(&sandbox);
    assert_eq!(states_of(&before), ["normal", "alert", "alarm"]);
    let alarm =
        before.iter().find(|event| event["to"] == "alarm" && event["kind"] == "state").unwrap();
    for key in
        ["id", "machine", "time", "from", "to", "reason", "rule", "clips", "sound", "nearest"]
    {
        assert!(!alarm[key].is_null(), "{key} in {alarm}");
    }
    // What feedback is given by stands in the table, too.
    let clips: Vec<String> =
        alarm["clips"].as_array().unwrap().iter().map(ToString::to_string).collect();
    let table = sandbox.run("watch events --data data").exits(0).stdout;
    assert!(table.contains(&format!("alarm    {} ", clips.join(","))), "{table}");
    assert!(sandbox.path("data").join(alarm["sound"].as_str().unwrap()).is_file());
    assert!(alarm["model"]["threshold"].is_number(), "{alarm}");

    // Again: nothing is scored twice, the alarm still stands, and what is new is heard.
    let watching = Watching::start(&sandbox);
    assert_eq!(watching.machine("fan")["state"], "alarm");
    for take in 0..5 {
        sandbox.write(&format!("in/fine {take}.wav"), recording(300 + take, false));
    }
    watching.wait_for_state("fan", "normal");
    watching.wait_for_clips("fan", 9);
    watching.stop();
    let replayed = sandbox.run("watch replay --data data").exits(0).stdout;
    assert!(replayed.contains("the same as in the history"), "{replayed}");
    let csv = sandbox.run("watch export --data data --csv").exits(0).stdout;
    assert!(csv.starts_with("machine,path,start_seconds,score,p_value"), "{csv}");
    assert_eq!(csv.lines().count(), 10);
    let lines = sandbox.run("watch export --data data --jsonl").exits(0).stdout;
    let clip: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert!(clip["promised"].is_boolean() && clip["remarks"].is_array(), "{clip}");
    assert!(clip["error"].is_null() && clip["copy_of"].is_null(), "{clip}");
    let json = sandbox.run("watch export --data data --json").exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["clips"].as_array().unwrap().len(), 9);
    sandbox.run("watch export --data data --parquet out.parquet").exits(0);
    sandbox.run("watch report fan --week --data data -o week.html").exits(0);
    let page = String::from_utf8(sandbox.read("week.html")).unwrap();
    assert!(page.contains("data-state="), "the page of the week");
    let clip = clips.last().unwrap();
    let next = format!("auscult watch feedback fan {clip} normal, then auscult watch accept fan");
    assert!(page.contains(&next) && !page.contains("not explained"), "{page}");
    assert!(page.contains(": alarm: does not sound normal"), "what happened");
    sandbox.run("watch report --week --data data").exits(0);
    let page = String::from_utf8(sandbox.read("week.html")).unwrap();
    assert!(page.contains("The last 7 days") && page.contains("<article class=\"machine"));
    sandbox.run("watch backup copy.db --data data").exits(0);
    assert!(
        sandbox.run("watch backup copy.db --data data").exits(2).stderr.contains("there already")
    );
}

#[test]
fn a_microphone_that_is_turned_down_is_not_the_machines_fault() {
    let sandbox = with_site(SITE);
    let watching = Watching::start(&sandbox);
    let turned_down = |take: u32| {
        let mut bytes = recording(take, false);
        // 16-bit samples follow the header: a quarter of their volume.
        for sample in bytes[44..].chunks_exact_mut(2) {
            let quieter = i16::from_le_bytes([sample[0], sample[1]]) / 4;
            sample.copy_from_slice(&quieter.to_le_bytes());
        }
        bytes
    };
    sandbox.write("in/0.wav", recording(100, false));
    watching.wait_for_state("fan", "normal");
    for take in 1..=4 {
        sandbox.write(&format!("in/{take}.wav"), turned_down(100 + take));
        watching.wait_for_clips("fan", u64::from(take) + 1);
    }
    let machine = watching.machine("fan");
    assert_eq!(machine["state"], "sensor-fault", "{machine}");
    assert!(machine["reason"].as_str().unwrap().contains("12 dB quieter"), "{machine}");
    for take in 5..=10 {
        sandbox.write(&format!("in/{take}.wav"), recording(100 + take, false));
        watching.wait_for_clips("fan", u64::from(take) + 1);
    }
    assert_eq!(watching.machine("fan")["state"], "normal");
    watching.stop();
    let states = states_of(&events(&sandbox));
    assert!(!states.contains(&"alarm".to_owned()), "{states:?}");
    let faults = states.iter().filter(|state| *state == "sensor-fault").count();
    assert_eq!(faults, 1, "it does not come and go: {states:?}");
}

#[test]
fn the_page_ends_with_the_newest_recording_not_with_today() {
    let sandbox = with_site(SITE);
    sandbox.write("in/fan_2020-06-01_09-00-00.wav", recording(100, false));
    let watching = Watching::start(&sandbox);
    watching.wait_for_clips("fan", 1);
    watching.stop();
    sandbox.run("watch report fan --week --data data -o week.html").exits(0);
    let page = String::from_utf8(sandbox.read("week.html")).unwrap();
    assert!(!page.contains("There are no clips in this report"), "an old recording is on the page");
}

#[test]
fn kill_at_any_moment_loses_nothing_and_tells_nothing_twice() {
    let sandbox = with_site(SITE);
    let mut written = 0;
    let mut state: u64 = 1;
    for _ in 0..8 {
        let mut watching = Watching::start(&sandbox);
        for _ in 0..12 {
            sandbox.write(
                &format!("in/{written:04}.wav"),
                recording(1_000 + written, written % 7 == 3),
            );
            written += 1;
        }
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(state >> 54));
        watching.child.kill().unwrap();
        watching.child.wait().unwrap();
    }
    let watching = Watching::start(&sandbox);
    watching.wait_for_clips("fan", u64::from(written));
    watching.stop();
    let csv = sandbox.run("watch export --data data --csv").exits(0).stdout;
    let mut paths: Vec<&str> =
        csv.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), written as usize, "every recording once");
    let events = events(&sandbox);
    let ids: std::collections::BTreeSet<String> =
        events.iter().map(|event| event["id"].to_string()).collect();
    assert_eq!(ids.len(), events.len());
    let replayed = sandbox.run("watch replay --data data").exits(0).stdout;
    assert!(replayed.contains("the same as in the history"), "{replayed}");
}

#[test]
fn hanging_up_reads_the_configuration_again_and_ends_nothing() {
    let sandbox = with_site(SITE);
    let watching = Watching::start(&sandbox);
    let log = || std::fs::read_to_string(sandbox.path("log")).unwrap();
    let process = rustix::process::Pid::from_child(&watching.child);
    rustix::process::kill_process(process, rustix::process::Signal::HUP).unwrap();
    watching.wait_for("the second reading", || log().contains("was read again"));
    sandbox.write("in/a.wav", recording(1, false));
    watching.wait_for_clips("fan", 1);
    let status = || sandbox.run("watch status --data data").exits(0).stdout;
    assert!(!status().contains("no monitor is running"), "{}", status());
    watching.stop();
    assert!(status().contains("no monitor is running"), "{}", status());
    let json = sandbox.run("watch status --data data --json").exits(0).stdout;
    assert!(json.contains("\"running\": false"), "{json}");
}

#[test]
fn a_broken_configuration_keeps_the_old_one_running() {
    let sandbox = with_site(SITE);
    let watching = Watching::start(&sandbox);
    sandbox.write("site.toml", "[[machine]]\nname = ");
    let log = || std::fs::read_to_string(sandbox.path("log")).unwrap();
    watching.wait_for("the complaint", || log().contains("the old one goes on"));
    sandbox.write("in/a.wav", recording(1, false));
    watching.wait_for_clips("fan", 1);
    std::fs::create_dir(sandbox.path("in2")).unwrap();
    let two = SITE.to_owned()
        + "\n[[machine]]\nname = \"fan-2\"\nmodel = \"model.auscult\"\nfolder = \"in2\"\n";
    sandbox.write("site.toml", two);
    watching.wait_for("the second machine", || !watching.machine("fan-2").is_null());
    sandbox.write("in2/a.wav", recording(1, false));
    watching.wait_for_clips("fan-2", 1);
    assert_eq!(watching.machine("fan")["clips"], 1, "the first one was not touched");
    sandbox.write("site.toml", SITE);
    watching.wait_for("the end of the second machine", || watching.machine("fan-2").is_null());
    let status = sandbox.run("watch status --data data").exits(0).stdout;
    assert!(status.contains("no longer watched, their history is kept: fan-2"), "{status}");
    let reload = || sandbox.run("watch reload --data data").exits(0).stdout;
    assert_eq!(reload(), "nothing has changed\n");
    sandbox.write("model.auscult", sandbox.read("model.auscult"));
    assert_eq!(reload(), "watching 1 machine\n", "another file stands in the model's place");
    sandbox.write("site.toml", SITE.replace("model = \"model.auscult\"\n", ""));
    watching.wait_for("the remark", || log().contains("names no model of fan any more"));
    watching.stop();
}

#[test]
fn a_machine_without_a_model_is_learnt_and_then_watched() {
    let site = "[[machine]]\nname = \"fan\"\nfolder = \"in\"\npreset = \"paper\"\nclip = \"1s\"\n\
        [machine.learn]\nvisits = 3\nclips = 24\nvisit = \"day\"\n";
    let sandbox = with_site(site);
    let watching = Watching::start(&sandbox);
    let record = |visit: u32, take: u32, fault: Option<(Fault, f64)>| {
        let recipe = ClipRecipe { visit, take, fault, ..clip() };
        let name = format!("in/2026-06-0{visit}_09-{:02}-{:02}.wav", take / 60, take % 60);
        sandbox.write(&name, wav_of(&recipe));
    };
    record(1, 0, None);
    watching.wait_for_state("fan", "learning");
    let learning = watching.machine("fan")["learning"]["text"].as_str().unwrap().to_owned();
    assert!(learning.contains("2 more visits and 23 more clips"), "{learning}");
    let refused = sandbox.run("watch baseline fan --data data").exits(2).stderr;
    assert!(refused.contains("being learnt already"), "{refused}");
    for visit in 1..=3 {
        for take in (0..8).filter(|take| (visit, *take) != (1, 0)) {
            record(visit, take, None);
        }
        watching.wait_for_clips("fan", u64::from(8 * visit));
    }
    watching.wait_for("a model", || !watching.machine("fan")["model"].is_null());
    // So few visits cannot promise one alarm a month; it is aimed at, and a fault is an alarm all the same.
    let rule = watching.machine("fan")["rule"].clone();
    assert_eq!((&rule["budget"], &rule["promised"]), (&"1 alarm per month".into(), &false.into()));
    let status = sandbox.run("watch status --data data").exits(0).stdout;
    assert!(status.contains("1 alarm per month is aimed at"), "{status}");
    let log = std::fs::read_to_string(sandbox.path("log")).unwrap();
    assert!(log.contains("1 alarm per month is aimed at"), "{log}");
    for take in 8..8 + rule["window"].as_u64().unwrap() as u32 {
        record(3, take, Some((Fault::BearingImpulses, 1.0)));
    }
    watching.wait_for_state("fan", "alarm");
    // Somebody says that it was normal: it waits, is accepted, and can be taken back.
    let alarm = events(&sandbox).into_iter().rfind(|event| event["kind"] == "state").unwrap();
    let step = alarm["clips"].as_array().unwrap().last().unwrap().to_string();
    let refused =
        sandbox.run(&format!("watch feedback fan {step} good --data data")).exits(2).stderr;
    assert!(refused.contains("is not one of normal, fault"), "{refused}");
    sandbox.run(&format!("watch feedback fan {step} normal --data data")).exits(0);
    let waiting = sandbox.run("watch waiting fan --data data").exits(0).stdout;
    assert!(waiting.contains(&step) && waiting.contains("normal, says"), "{waiting}");
    let preview = sandbox.run("watch accept fan --data data").exits(0).stdout;
    assert!(preview.contains("nothing was changed") && preview.contains("threshold"), "{preview}");
    assert_eq!(watching.machine("fan")["model"]["version"], 1);
    sandbox.run("watch accept fan --yes --data data").exits(0);
    assert_eq!(watching.machine("fan")["model"]["version"], 2);
    sandbox.run("watch rollback fan --data data").exits(0);
    assert_eq!(watching.machine("fan")["model"]["version"], 3);
    let models = sandbox.run("watch models fan --data data").exits(0).stdout;
    assert!(models.contains("back to version 1"), "{models}");
    sandbox.run("watch baseline fan --data data").exits(0);
    let fan = watching.machine("fan");
    assert!(fan["model"].is_null(), "{fan:#}");
    sandbox.run("watch rollback fan --to 1 --data data").exits(0);
    sandbox
        .run_words(&[
            "watch",
            "shelve",
            "fan",
            "--for",
            "4h",
            "--reason",
            "new seals",
            "--data",
            "data",
        ])
        .exits(0);
    assert_eq!(watching.machine("fan")["shelved"]["reason"], "new seals");
    sandbox.run("watch unshelve fan --data data").exits(0);
    watching.stop();
    let replayed = sandbox.run("watch replay --data data").exits(0).stdout;
    assert!(replayed.contains("the same as in the history"), "{replayed}");
}

#[test]
fn the_demonstration_ends_by_itself() {
    let sandbox = Sandbox::new();
    sandbox.run("watch --demo --data data --for 3s").exits(0);
    let status = sandbox.run("watch status --data data --json").exits(0).stdout;
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["machines"].as_array().unwrap().len(), 6);
    for key in ["name", "state", "since", "score", "p_value", "model", "source", "drift"] {
        assert!(status["machines"][0].get(key).is_some(), "{key}");
    }
    let refused = sandbox.run("watch --demo --data data --for 3s").exits(2).stderr;
    assert!(refused.contains("has a history already"), "{refused}");
}

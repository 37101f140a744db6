//! `auscult bench run` that is killed or interrupted in the middle, and taken up again.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, SystemTime},
};

use auscult_testing::{ClipRecipe, Machine};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Ran, Sandbox, clip, wav_of};

const LINE: &str = "bench run p.toml --data data --out run --samples 100 --jobs 1";

/// An encoder, so that a section takes long enough to be stopped in.
const PROTOCOL: &str = "name = 'p'\ntitle = 'P'\ndatasets = ['folder']\nclip_seconds = 1.0\n\
    [[system]]\nname = 'slow'\nfront_end = 'ced'\n[[system]]\nname = 'fast'\n";

/// 4 machines of 16 clips.
fn with_machines() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("p.toml", PROTOCOL);
    for (at, machine) in
        [Machine::Fan, Machine::Pump, Machine::Slider, Machine::Valve].into_iter().enumerate()
    {
        for take in 0..16 {
            let folder = ["train", "train", "test/normal", "test/anomaly"][take as usize / 4];
            let recipe = ClipRecipe { machine, visit: 1 + take / 4, take, ..clip() };
            sandbox.write(&format!("data/m{at}/{folder}/{take}.wav"), wav_of(&recipe));
        }
    }
    sandbox
}

/// Every file below a folder with the time it was written, those of atomic writes that were cut
/// off left out.
fn files(folder: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| !path.to_string_lossy().ends_with(".partial"))
        .flat_map(|path| match path.metadata() {
            Ok(facts) if facts.is_dir() => files(&path),
            Ok(facts) => BTreeMap::from([(path, facts.modified().unwrap())]),
            Err(_) => BTreeMap::new(),
        })
        .collect()
}

/// Finished work: vectors of clips and results of sections.
fn finished(sandbox: &Sandbox) -> BTreeMap<PathBuf, SystemTime> {
    let mut all = files(&sandbox.path("cache"));
    all.extend(files(&sandbox.path("run/sections")));
    all
}

/// Starts the run and sends a signal once it has finished a number of further pieces of work.
fn run_and_stop(sandbox: &Sandbox, pieces: usize, signal: Signal) -> Ran {
    let goal = finished(sandbox).len() + pieces;
    let mut command = sandbox.command(LINE.split(' '));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while finished(sandbox).len() < goal && is_running(&mut child) {
        std::thread::sleep(Duration::from_millis(1));
    }
    // It may have ended by itself.
    let _ = kill_process(Pid::from_child(&child), signal);
    let output = child.wait_with_output().unwrap();
    if signal == Signal::KILL && output.status.signal().is_some() {
        return Ran { code: None, stdout: String::new(), stderr: String::new() };
    }
    Ran::of(output)
}

fn is_running(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_none()
}

/// Results are written whole and at the end, sections whole and one after the other.
fn assert_nothing_is_half_written(sandbox: &Sandbox) {
    let sections = files(&sandbox.path("run/sections"));
    for path in sections.keys() {
        let text = fs::read_to_string(path).unwrap();
        let section: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(section["systems"].as_array().unwrap().len(), 2, "{}", path.display());
    }
    let mut beside = files(&sandbox.path("run"));
    beside.retain(|path, _| !sections.contains_key(path));
    // What the run is stands there from the beginning.
    assert!(beside.remove(&sandbox.path("run/run.json")).is_some());
    assert!(beside.is_empty(), "results of an unfinished run: {beside:?}");
}

/// Stops the run again and again, each time a little later, and lets it end; what it then has must
/// be what a run has that was never stopped.
fn stopped_again_and_again(signals: [Signal; 2], check: impl Fn(Ran)) {
    let sandbox = with_machines();
    sandbox.run(LINE).exits(0);
    fs::rename(sandbox.path("run"), sandbox.path("whole")).unwrap();
    fs::remove_dir_all(sandbox.path("cache")).unwrap();
    // The vectors of the encoder, what they are of, and the sections.
    let all = 4 * 16 + 1 + 4;
    let mut stops = 0;
    while stops < 4 {
        let before = finished(&sandbox);
        let ran = run_and_stop(&sandbox, all / 11, signals[stops % 2]);
        assert_ne!(ran.code, Some(0), "the run ended before it was stopped");
        check(ran);
        stops += 1;
        assert_nothing_is_half_written(&sandbox);
        let now = finished(&sandbox);
        assert!(now.len() > before.len(), "it went on");
        assert!(before.iter().all(|(path, time)| now.get(path) == Some(time)), "computed again");
        sandbox.run("bench submit run --out submission").exits(2).says("run is not a finished run: it has no results.json yet; continue it; the command that started it");
    }
    let before = finished(&sandbox);
    assert!(!files(&sandbox.path("run/sections")).is_empty() && before.len() < all);
    sandbox.run(LINE).exits(0);
    let now = finished(&sandbox);
    assert!(before.iter().all(|(path, time)| now.get(path) == Some(time)), "computed again");
    let names = |folder: &str| -> Vec<PathBuf> {
        let root = sandbox.path(folder);
        files(&root).keys().map(|path| path.strip_prefix(&root).unwrap().to_owned()).collect()
    };
    assert_eq!(names("run"), names("whole"));
    for name in names("run") {
        let read = |folder: &str| fs::read(sandbox.path(folder).join(&name)).unwrap();
        assert!(read("run") == read("whole"), "{} differs", name.display());
    }
}

#[test]
fn a_killed_run_is_taken_up_and_ends_like_one_that_was_not() {
    stopped_again_and_again([Signal::KILL; 2], |ran| assert_eq!(ran.code, None));
}

#[test]
fn an_interrupted_run_says_so_is_taken_up_and_ends_like_one_that_was_not() {
    stopped_again_and_again([Signal::INT, Signal::TERM], |ran| {
        let ran = ran
            .exits(2)
            .says("finishing the current clips, then stopping; Ctrl-C again stops at once");
        ran.says(
            "stopped; finished sections are kept in run and the same command goes on from there",
        );
    });
}

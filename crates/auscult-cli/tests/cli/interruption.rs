//! Ctrl-C, kill -9, closed pipes and full disks.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Ran, Sandbox, clip, rows, wav_of_samples};
use auscult_testing::ClipRecipe;

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

/// With `many/`: links to one recording of a minute, so that reading all of them takes a while.
fn with_much_to_read(sandbox: &Sandbox, count: usize) {
    let samples = ClipRecipe { seconds: 60.0, visit: 5, ..clip() }.render().unwrap();
    sandbox.write("minute.wav", wav_of_samples(&samples));
    std::fs::create_dir(sandbox.path("many")).unwrap();
    for index in 0..count {
        let link = sandbox.path(format!("many/{index:04}.wav"));
        std::fs::hard_link(sandbox.path("minute.wav"), link).unwrap();
    }
}

/// Asks the program to stop in the middle of its work.
fn run_and_interrupt(sandbox: &Sandbox, line: &str) -> Ran {
    run_and_interrupt_after(sandbox, line, Duration::from_millis(200))
}

fn run_and_interrupt_after(sandbox: &Sandbox, line: &str, wait: Duration) -> Ran {
    for attempt in 0..5 {
        let mut command = sandbox.command(line.split_whitespace());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(wait * 2_u32.pow(attempt));
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        // On a busy machine the program may not listen yet.
        if output.status.code().is_some() {
            return Ran::of(output);
        }
    }
    panic!("{line}: never started to listen");
}

#[test]
fn ctrl_c_during_score_keeps_the_finished_rows() {
    let sandbox = Sandbox::with_model();
    with_much_to_read(&sandbox, 800);
    let all = 800 * 60;
    let ran = run_and_interrupt(&sandbox, "score model.auscult many --json --jobs 1").exits(2);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let clips = document["clips"].as_array().unwrap();
    assert!(!clips.is_empty() && clips.len() < all, "{} clips", clips.len());
    let summary = &document["run"]["summary"];
    assert_eq!((&summary["is_cancelled"], &summary["is_complete"]), (&true.into(), &false.into()));
    ran.says("stopped before everything was read");
    let ran = run_and_interrupt(&sandbox, "score model.auscult many --csv --jobs 1").exits(2);
    let count = rows(&ran.stdout).len();
    assert!(count > 0 && count < all, "{count} rows");
}

#[test]
fn ctrl_c_during_fit_and_add_leaves_the_old_model() {
    let sandbox = Sandbox::with_model();
    with_much_to_read(&sandbox, 800);
    let before = sandbox.read("model.auscult");
    for line in [
        "fit --preset paper many -o model.auscult --clip-seconds 1",
        "model add model.auscult many",
    ] {
        run_and_interrupt(&sandbox, line).exits(2).says("model.auscult was not changed\n");
        assert_eq!(sandbox.read("model.auscult"), before, "{line}");
    }
}

/// Reading takes a moment and training, with this number of epochs, hours.
#[test]
fn ctrl_c_while_a_network_learns_stops_and_leaves_nothing_half_done() {
    let sandbox = Sandbox::with_model();
    let before = sandbox.read("model.auscult");
    let wait = Duration::from_secs(2);
    for calibration in ["visits", "split"] {
        let fit = format!(
            "fit normal -o model.auscult --clip-seconds 1 --method autoencoder --epochs 100000 \
             --calibration {calibration}"
        );
        let ran = run_and_interrupt_after(&sandbox, &fit, wait).exits(2);
        ran.says("stopped: no model was written, model.auscult was not changed");
        assert_eq!(sandbox.read("model.auscult"), before, "{calibration}");
    }
    sandbox.run("synth --out data --machine fan --seconds 1 --train 8 2 --test 2 2").exits(0);
    let eval = "bench eval --data data --dataset dcase2023 --clip-seconds 1 --back-end autoencoder \
                --epochs 100000";
    let ran = run_and_interrupt_after(&sandbox, eval, wait).exits(2);
    ran.says("stopped before the end; nothing was judged");
    let protocol = "name = 'long'\ntitle = 'Long'\ndatasets = ['dcase2023']\nclip_seconds = 1.0\n\
        [[system]]\nname = 'network'\nback_end = 'autoencoder'\nfront_end = 'log-mel-map'\n\
        convention = 'mimii'\nepochs = 100000\n";
    sandbox.write("long.toml", protocol);
    let run = "bench run long.toml --data data --dataset dcase2023 --out run";
    let ran = run_and_interrupt_after(&sandbox, run, wait).exits(2);
    ran.says("stopped; finished sections are kept in run");
    let sections = std::fs::read_dir(sandbox.path("run/sections")).map_or(0, Iterator::count);
    assert_eq!(sections, 0, "a section that was stopped half way is not kept as finished");
}

/// The exit code of a program that was asked to stop; a loaded machine may take a while.
#[track_caller]
fn ends_soon(mut child: Child) -> Option<i32> {
    for _ in 0..200 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    panic!("it was asked to stop ten seconds ago");
}

#[test]
fn one_signal_ends_a_program_that_waits_for_sound_and_keeps_its_results() {
    let sandbox = Sandbox::with_model();
    let line = "score model.auscult - --jsonl --output rows";
    let mut command = sandbox.command(line.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Sound for one row and a bit, and an open end that keeps the program waiting for more.
    let mut stdin = child.stdin.take().unwrap();
    let samples = ClipRecipe { seconds: 4.0, ..clip() }.render().unwrap();
    stdin.write_all(&wav_of_samples(&samples)[..60_000]).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(ends_soon(child), Some(2));
    let rows = String::from_utf8(sandbox.read("rows")).unwrap();
    assert!(rows.lines().count() == 1 && rows.contains("start_seconds"), "{rows}");
}

#[test]
fn one_signal_ends_a_program_that_waits_for_a_pipe() {
    let sandbox = Sandbox::with_model();
    let pipe = sandbox.path("pipe.wav");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for line in [
        "score model.auscult pipe.wav --csv",
        "fit --preset paper pipe.wav -o other.auscult",
        "score model.auscult normal --csv --output pipe.wav",
    ] {
        let mut command = sandbox.command(line.split_whitespace());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        assert!(child.try_wait().unwrap().is_none(), "{line}: it does not wait");
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(ends_soon(child), Some(2), "{line}");
    }
}

#[test]
fn asking_twice_stops_at_once() {
    let sandbox = Sandbox::with_model();
    let held = std::fs::File::open(sandbox.path("model.auscult")).unwrap();
    held.lock().unwrap();
    let line = "fit --preset paper normal -o model.auscult --clip-seconds 1";
    let mut command = sandbox.command(line.split_whitespace());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    // By now it waits for the model, which this test holds.
    std::thread::sleep(Duration::from_secs(2));
    interrupt(&child);
    let told = errors.find(|line| line.as_ref().unwrap().contains("again stops at once"));
    assert!(told.is_some());
    interrupt(&child);
    assert_eq!(ends_soon(child), Some(130));
    drop(held);
}

/// Kills the program at many moments of its run; after each, the model must be whole and one of
/// `states`, and nothing but hidden litter may lie beside it.
///
/// How long a run takes depends on what else the machine does, so its length is followed: a run that
/// was over before it was killed makes the next moments earlier, one that was not makes them later.
fn kill_at_many_moments(sandbox: &Sandbox, line: &str, states: [&[u8]; 2]) {
    let start = Instant::now();
    sandbox.write("model.auscult", states[0]);
    sandbox.run(line).exits(0);
    let mut whole_run = start.elapsed();
    let (mut killed, mut moment) = (0, 0);
    while killed < 40 {
        assert!(moment < 400, "only {killed} of {moment} were killed in time");
        sandbox.write("model.auscult", states[0]);
        let mut command = sandbox.command(line.split_whitespace());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Most moments near the end, where the file is written.
        let share = (f64::from(moment % 20 + 1) / 20.0).sqrt();
        std::thread::sleep(whole_run.mul_f64(share));
        child.kill().unwrap();
        let was_killed = child.wait().unwrap().code().is_none();
        killed += u32::from(was_killed);
        whole_run = whole_run.mul_f64(if was_killed { 1.05 } else { 0.85 });
        let found = sandbox.read("model.auscult");
        assert!(states.contains(&found.as_slice()), "moment {moment}: neither old nor new");
        if moment % 10 == 0 {
            sandbox.run("model verify model.auscult").exits(0);
        }
        moment += 1;
    }
    for entry in std::fs::read_dir(sandbox.path("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = ["model.auscult", "normal", "later"].contains(&name.as_str());
        assert!(known || name.ends_with(".partial") && name.starts_with('.'), "{name}");
    }
}

#[test]
fn kill_during_fit_leaves_the_old_model_or_the_new_one() {
    let sandbox = Sandbox::with_model();
    let old = sandbox.read("model.auscult");
    let line = "fit normal -o model.auscult --clip-seconds 1 --front-end lpc";
    sandbox.run(line).exits(0);
    let new = sandbox.read("model.auscult");
    kill_at_many_moments(&sandbox, line, [&old, &new]);
}

#[test]
fn kill_during_add_leaves_the_old_model_or_the_new_one() {
    let sandbox = Sandbox::with_recordings();
    sandbox.run("fit normal -o model.auscult --clip-seconds 1 --front-end lpc").exits(0);
    sandbox.record("later", 4..6, 8);
    let old = sandbox.read("model.auscult");
    let line = "model add model.auscult later";
    sandbox.run(line).exits(0);
    let new = sandbox.read("model.auscult");
    kill_at_many_moments(&sandbox, line, [&old, &new]);
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let sandbox = Sandbox::with_model();
    with_much_to_read(&sandbox, 40);
    for form in ["--csv", "--jsonl", "--json", ""] {
        let words = ["score", "model.auscult", "many", form];
        let mut command = sandbox.command(words.into_iter().filter(|word| !word.is_empty()));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{form}");
        // The files are copies of each other, which may be noted; nothing else is said.
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.lines().all(|line| line.contains(": copy: ")), "{form}: {stderr}");
    }
}

#[test]
fn a_closed_pipe_does_not_lose_a_change_of_a_model() {
    let sandbox = Sandbox::with_model();
    let mut command = sandbox.command("model forget model.auscult --index 0".split(' '));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let text = sandbox.run("inspect model.auscult").exits(0).stdout;
    assert!(text.contains("references   23"), "{text}");
}

#[test]
fn results_that_cannot_be_written_are_an_error() {
    let sandbox = Sandbox::with_model();
    for form in ["--csv", "--json", "--jsonl", "--bands"] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let Ok(full) = full else { panic!("this system has no /dev/full to test with") };
        let mut command = sandbox.command(["score", "model.auscult", "normal", form]);
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        Ran::of(output).exits(2).says("cannot write").says("No space left on device");
    }
    let ran = sandbox.run("score model.auscult normal --csv --output /dev/full").exits(2);
    ran.says("cannot write /dev/full").says("No space left on device");
}

/// A file system of 256 KiB, gone at the end of the test.
struct TinyDisk(std::path::PathBuf);

impl TinyDisk {
    fn mount(sandbox: &Sandbox) -> Option<Self> {
        let folder = sandbox.path("tiny");
        std::fs::create_dir(&folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(&folder);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then_some(Self(folder))
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_leaves_the_old_model() {
    let sandbox = Sandbox::with_model();
    sandbox.record("later", 4..9, 8);
    let Some(disk) = TinyDisk::mount(&sandbox) else {
        eprintln!("SKIPPED: a tiny disk cannot be mounted here; run as root to test a full disk");
        return;
    };
    std::fs::copy(sandbox.path("model.auscult"), disk.0.join("m.auscult")).unwrap();
    sandbox.write("tiny/scores", "old");
    let room = vec![0; 256 * 1024];
    let _ = std::fs::write(disk.0.join("filler"), room);
    let before = sandbox.read("model.auscult");
    for line in [
        "model add tiny/m.auscult later",
        "fit --preset paper normal later -o tiny/m.auscult --clip-seconds 1",
    ] {
        let ran = sandbox.run(line).exits(2);
        ran.says("cannot write tiny/m.auscult: No space left on device")
            .says("nothing was changed");
        assert_eq!(sandbox.read("tiny/m.auscult"), before);
    }
    for form in ["--csv", "--json", "--jsonl"] {
        let ran = sandbox.run(&format!("score model.auscult later {form} --output tiny/scores"));
        ran.exits(2).says("cannot write tiny/scores").says("No space left on device");
        assert_eq!(sandbox.read("tiny/scores"), b"old", "{form}");
    }
    assert_eq!(std::fs::read_dir(&disk.0).unwrap().count(), 3, "no litter");
}

#[test]
fn a_fitted_model_waits_for_whoever_changes_the_old_one() {
    let sandbox = Sandbox::with_model();
    let before = sandbox.read("model.auscult");
    let held = std::fs::File::open(sandbox.path("model.auscult")).unwrap();
    held.lock().unwrap();
    let line = "fit normal -o model.auscult --clip-seconds 1 --front-end lpc";
    let mut command = sandbox.command(line.split_whitespace());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    assert_eq!(sandbox.read("model.auscult"), before);
    drop(held);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_ne!(sandbox.read("model.auscult"), before);
}

#[test]
fn exit_codes_tell_what_was_not_done() {
    let sandbox = Sandbox::with_model();
    with_much_to_read(&sandbox, 40);
    for form in ["--csv", "--jsonl", "--json", "--bands"] {
        let words = ["score", "model.auscult", "many", "--fail-on-anomaly", form];
        let mut command = sandbox.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(2), "{form}");
    }
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let help = sandbox.command(["--help"]).stdout(full).status().unwrap();
    assert_eq!(help.code(), Some(2));
}

//! Ctrl-C, kill -9, closed pipes and full disks.

use std::{
    io::{BufRead, BufReader, Read},
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

#[test]
fn ctrl_c_during_score_keeps_the_finished_rows() {
    let sandbox = Sandbox::with_model();
    with_much_to_read(&sandbox, 400);
    for form in ["csv", "json"] {
        let line = ["score", "model.auscult", "many", &format!("--{form}"), "--jobs", "1"];
        let mut command = sandbox.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        if form == "csv" {
            // The header, and one row: it is at work.
            output.read_line(&mut text).unwrap();
            output.read_line(&mut text).unwrap();
        } else {
            std::thread::sleep(Duration::from_millis(300));
        }
        interrupt(&child);
        output.read_to_string(&mut text).unwrap();
        let ran = Ran { stdout: text, ..Ran::of(child.wait_with_output().unwrap()) };
        let ran = ran.exits(2).says("what is finished is kept");
        let count = match form {
            "csv" => rows(&ran.stdout).len(),
            _ => serde_json::from_str::<Vec<serde_json::Value>>(&ran.stdout).unwrap().len(),
        };
        assert!(count > 0 && count < 400 * 60, "{form}: {count} rows");
    }
}

#[test]
fn ctrl_c_during_fit_and_add_leaves_the_old_model() {
    let sandbox = Sandbox::with_model();
    with_much_to_read(&sandbox, 400);
    let before = sandbox.read("model.auscult");
    for line in ["fit many -o model.auscult --clip-seconds 1", "model add model.auscult many"] {
        let mut command = sandbox.command(line.split_whitespace());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        interrupt(&child);
        let ran = Ran::of(child.wait_with_output().unwrap()).exits(2);
        ran.says("model.auscult is as it was");
        assert_eq!(sandbox.read("model.auscult"), before, "{line}");
    }
}

#[test]
fn asking_twice_stops_at_once() {
    let sandbox = Sandbox::with_model();
    let mut command = sandbox.command(["score", "model.auscult", "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // An open end keeps the program waiting for sound.
    let _stdin = child.stdin.take();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    std::thread::sleep(Duration::from_millis(200));
    interrupt(&child);
    let told = errors.next().unwrap().unwrap();
    assert!(told.contains("Ctrl-C again stops at once"), "{told}");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// Kills the program at many moments of its run; after each, the model must be whole and one of
/// `states`, and nothing but hidden litter may lie beside it.
fn kill_at_many_moments(sandbox: &Sandbox, line: &str, states: [&[u8]; 2]) {
    let start = Instant::now();
    sandbox.write("model.auscult", states[0]);
    sandbox.run(line).exits(0);
    let whole_run = start.elapsed();
    let (mut killed, moments) = (0, 60);
    for moment in 0..moments {
        sandbox.write("model.auscult", states[0]);
        let mut command = sandbox.command(line.split_whitespace());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Most moments near the end, where the file is written.
        let share = 1.1 * (f64::from(moment) / f64::from(moments)).sqrt();
        std::thread::sleep(whole_run.mul_f64(share));
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        let found = sandbox.read("model.auscult");
        assert!(states.contains(&found.as_slice()), "moment {moment}: neither old nor new");
        if moment % 10 == 0 {
            sandbox.run("model verify model.auscult").exits(0);
        }
    }
    assert!(killed > 10, "only {killed} of {moments} were killed in time");
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
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{form}");
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
    ran.says("No space left on device");
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
    let room = vec![0; 256 * 1024];
    let _ = std::fs::write(disk.0.join("filler"), room);
    let before = sandbox.read("model.auscult");
    for line in
        ["model add tiny/m.auscult later", "fit normal later -o tiny/m.auscult --clip-seconds 1"]
    {
        let ran = sandbox.run(line).exits(2);
        ran.says("cannot write tiny/m.auscult: No space left on device")
            .says("nothing was changed");
        assert_eq!(sandbox.read("tiny/m.auscult"), before);
    }
    assert_eq!(std::fs::read_dir(&disk.0).unwrap().count(), 2, "no litter");
}

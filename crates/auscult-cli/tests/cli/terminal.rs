//! Colours and progress bars: on a terminal, never in a pipe.

use std::{fs::File, io::Read, process::Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{Sandbox, faulty_clip, wav_of};

/// A model, a faulty clip, and enough files for a progress bar.
fn plant() -> Sandbox {
    let sandbox = Sandbox::with_model();
    sandbox.write("check/odd.wav", wav_of(&faulty_clip()));
    sandbox
}

/// What the program shows on a terminal.
fn on_terminal(sandbox: &Sandbox, line: &str, variables: &[(&str, &str)]) -> String {
    let mut controller = {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        File::from(controller)
    };
    let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
    let terminal = File::options().read(true).write(true).open(name).unwrap();
    let mut command = sandbox.command(line.split_whitespace());
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    command.stdout(Stdio::from(terminal.try_clone().unwrap())).stderr(Stdio::from(terminal));
    let mut child = command.spawn().unwrap();
    // Our own ends must be closed for the terminal to end.
    drop(command);
    let reader = std::thread::spawn(move || {
        let mut shown = Vec::new();
        // A terminal whose other side is gone ends with an error.
        let _ = controller.read_to_end(&mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    });
    child.wait().unwrap();
    reader.join().unwrap()
}

#[test]
fn colours_are_on_terminals_only_and_obey_no_color() {
    let sandbox = plant();
    let line = "score model.auscult check normal";
    let shown = on_terminal(&sandbox, line, &[]);
    assert!(shown.contains("\u{1b}[1m") && shown.contains("\u{1b}[31m"), "{shown}");
    let plain = on_terminal(&sandbox, "score model.auscult check", &[("NO_COLOR", "1")]);
    assert!(plain.contains("anomalous") && !plain.contains('\u{1b}'), "{plain}");
    let piped = sandbox.run(line).exits(0);
    assert!(!piped.stdout.contains('\u{1b}') && !piped.stderr.contains('\u{1b}'));
}

/// A name that sets the title of a window, clears the screen, hides, and turns what follows around.
const HOSTILE: &str = "a\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[8m\u{202e}b.wav";

#[test]
fn names_cannot_steer_the_terminal_in_any_form() {
    let sandbox = Sandbox::with_recordings();
    let clip = std::fs::read(sandbox.path("normal/visit_1/0.wav")).unwrap();
    std::fs::remove_file(sandbox.path("normal/visit_1/0.wav")).unwrap();
    sandbox.write(&format!("normal/visit_1/{HOSTILE}"), &clip);
    sandbox.write("check/again.wav", &clip);
    let fit = "fit --preset paper normal -o model.auscult --clip-seconds 1";
    for line in [
        fit,
        "score model.auscult normal check",
        "score model.auscult normal --csv",
        "score model.auscult normal --jsonl",
        "explain model.auscult check/again.wav",
        "inspect model.auscult",
        "inspect model.auscult --json",
    ] {
        let shown = on_terminal(&sandbox, line, &[]);
        for escape in ["\u{1b}]", "\u{7}", "\u{1b}[2J", "\u{1b}[8m", "\u{202e}"] {
            assert!(!shown.contains(escape), "{line}: {escape:?} in {shown:?}");
        }
    }
    let piped = sandbox.run("score model.auscult normal --csv").exits(0).stdout;
    assert!(piped.contains(HOSTILE), "a program gets the name as it is");
}

#[test]
fn progress_is_shown_on_terminals_only() {
    let sandbox = plant();
    let line = "fit --preset paper normal -o again.auscult --clip-seconds 1";
    assert!(on_terminal(&sandbox, line, &[]).contains("/24 files"));
    let ran = sandbox.run(line).exits(0);
    assert!(!ran.stderr.contains("files,"), "no bar in a pipe: {}", ran.stderr);
}

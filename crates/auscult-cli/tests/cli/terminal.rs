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

#[test]
fn progress_is_shown_on_terminals_only() {
    let sandbox = plant();
    let line = "fit --preset paper normal -o again.auscult --clip-seconds 1";
    assert!(on_terminal(&sandbox, line, &[]).contains("/24 files"));
    let ran = sandbox.run(line).exits(0);
    assert!(!ran.stderr.contains("files,"), "no bar in a pipe: {}", ran.stderr);
}

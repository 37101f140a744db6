//! Where sound comes from while a plant is watched: folders, connections, standard input.

use std::{
    io::Write,
    net::{TcpListener, TcpStream},
    process::Stdio,
    time::Duration,
};

use auscult_testing::ClipRecipe;

use super::watch::{SITE, Watching, events, recording, with_site};
use crate::support::clip;

#[test]
fn garbage_half_files_and_another_rate_are_told_and_harm_nobody() {
    let sandbox = with_site(SITE);
    let watching = Watching::start(&sandbox);
    sandbox.write("in/a.wav", recording(1, false));
    watching.wait_for_clips("fan", 1);
    sandbox.write("in/b.wav", b"RIFF this is not sound at all");
    watching.wait_for_clips("fan", 2);
    let whole = recording(2, false);
    sandbox.write("in/c.wav", &whole[..whole.len() / 3]);
    // Nothing is judged of a recording that breaks off; that it does is told.
    watching.wait_for_clips("fan", 3);
    let recipe = ClipRecipe { sample_rate: 48_000, visit: 1, take: 2, ..clip() };
    let mut bytes = Vec::new();
    auscult_testing::wav::write(&mut bytes, &recipe.render().unwrap(), 48_000).unwrap();
    sandbox.write("in/d.wav", bytes);
    watching.wait_for_clips("fan", 4);
    sandbox.write("in/notes.txt", b"not a sound");
    // The synthetic machine at another rate is not quite the same machine.
    let state = watching.machine("fan")["state"].as_str().unwrap().to_owned();
    assert!(["normal", "alert"].contains(&state.as_str()), "{state}");
    watching.stop();
    let told = events(&sandbox).iter().any(|event| {
        event["kind"] == "source" && event["reason"].as_str().unwrap().contains("48000 Hz now")
    });
    assert!(told, "another sample rate is never silent");
    let csv = sandbox.run("watch export --data data --csv").exits(0).stdout;
    assert!(csv.contains("not-scored"), "{csv}");
}

#[test]
fn clips_with_the_same_time_have_sound_of_their_own() {
    let sandbox = with_site(&(SITE.to_owned() + "keep = \"all\"\n"));
    for take in 0..6 {
        sandbox.write(&format!("in/{take}.wav"), recording(take, false));
        let file =
            std::fs::File::options().write(true).open(sandbox.path(format!("in/{take}.wav")));
        let noon = std::time::UNIX_EPOCH + Duration::from_secs(1_780_000_000);
        file.unwrap().set_modified(noon).unwrap();
    }
    let watching = Watching::start(&sandbox);
    watching.wait_for_clips("fan", 6);
    watching.stop();
    let folders = std::fs::read_dir(sandbox.path("data/sound/fan")).unwrap().flatten();
    let files = folders.flat_map(|day| std::fs::read_dir(day.path()).unwrap()).count();
    assert_eq!(files, 6);
}

#[test]
fn a_folder_that_vanishes_is_told_and_taken_up_again() {
    let sandbox = with_site(SITE);
    let watching = Watching::start(&sandbox);
    sandbox.write("in/a.wav", recording(1, false));
    watching.wait_for_clips("fan", 1);
    std::fs::rename(sandbox.path("in"), sandbox.path("gone")).unwrap();
    watching.wait_for("the loss", || watching.machine("fan")["source"]["alive"] == false);
    std::fs::create_dir(sandbox.path("in")).unwrap();
    watching.wait_for("the return", || watching.machine("fan")["source"]["alive"] == true);
    sandbox.write("in/b.wav", recording(2, false));
    watching.wait_for_clips("fan", 2);
    watching.stop();
}

#[test]
fn a_recording_is_not_judged_while_somebody_writes_it() {
    let sandbox = with_site(SITE);
    let watching = Watching::start(&sandbox);
    let whole = recording(1, false);
    let mut writer = std::fs::File::create(sandbox.path("in/slow.wav")).unwrap();
    for part in whole.chunks(whole.len() / 2) {
        writer.write_all(part).unwrap();
        std::thread::sleep(Duration::from_millis(1_600));
        assert_eq!(watching.machine("fan")["clips"], 0, "it is still open");
    }
    drop(writer);
    watching.wait_for_state("fan", "normal");
    watching.wait_for_clips("fan", 1);
    watching.stop();
}

#[test]
fn samples_over_tcp_are_judged_and_a_lost_connection_is_a_state() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let site = format!(
        "[[machine]]\nname = \"fan\"\nmodel = \"model.auscult\"\ntcp = \"127.0.0.1:{port}\"\nsample_rate = 16000\n\
         no_data_after = \"2s\"\nalarm.raise = 3\n"
    );
    let sandbox = with_site(&site);
    let watching = Watching::start(&sandbox);
    let connect = || loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let mut stream = connect();
    for take in 0..3 {
        // A WAV file of ours has 44 bytes before its samples.
        stream.write_all(&recording(take, false)[44..]).unwrap();
    }
    watching.wait_for_clips("fan", 3);
    assert_eq!(watching.machine("fan")["state"], "normal");
    drop(stream);
    watching.wait_for_state("fan", "no-data");
    assert_eq!(watching.machine("fan")["source"]["alive"], false);
    let mut stream = connect();
    for take in 0..4 {
        stream.write_all(&recording(take, true)[44..]).unwrap();
    }
    watching.wait_for_state("fan", "alarm");
    drop(stream);
    watching.stop();
}

#[test]
fn samples_on_standard_input_are_judged_and_their_end_is_a_state() {
    let site = "[[machine]]\nname = \"fan\"\nmodel = \"model.auscult\"\nstdin = true\nsample_rate = 16000\n\
        no_data_after = \"2s\"\nalarm.raise = 3\n";
    let sandbox = with_site(site);
    let log = std::fs::File::create(sandbox.path("log")).unwrap();
    let mut child = sandbox
        .command(["watch", "site.toml", "--data", "data"])
        .stdin(Stdio::piped())
        .stderr(Stdio::from(log))
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let watching = Watching { sandbox: &sandbox, child };
    watching.wait_for("the socket", || sandbox.path("data/control.sock").exists());
    for take in 0..3 {
        stdin.write_all(&recording(take, false)[44..]).unwrap();
    }
    watching.wait_for_clips("fan", 3);
    assert_eq!(watching.machine("fan")["state"], "normal");
    drop(stdin);
    watching.wait_for_state("fan", "no-data");
    watching.stop();
}

//! Whole runs with CED-tiny on synthetic machines: learning, going on after a kill, bad input.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use auscult_core::{ClipSettings, ClipVectors, FrontEnd};
use auscult_encoders::{Checkpoint, Encoder, EncoderFrontEnd, EncoderSettings};
use auscult_finetune::{
    Adaptation, ClipOrigin, Compute, Error, FinetuneSettings, Finetuned, LabelledClips, LoraTarget,
    Result, RunEvent, RunPlace, finetune,
};
use auscult_testing::{ClipRecipe, Machine};

/// Clips of three machines.
struct Machines {
    labels: Vec<String>,
    sounds: Vec<Vec<f32>>,
    channel: &'static str,
}

const KINDS: [(Machine, &str); 3] =
    [(Machine::Fan, "fan"), (Machine::Pump, "pump"), (Machine::Valve, "valve")];

impl Machines {
    fn new(takes: u32) -> Self {
        let (mut labels, mut sounds) = (Vec::new(), Vec::new());
        for (machine, name) in KINDS {
            for take in 0..takes {
                let recipe = ClipRecipe {
                    seconds: 1.0,
                    take,
                    visit: 1 + take % 2,
                    ..ClipRecipe::new(machine)
                };
                labels.push(name.to_owned());
                sounds.push(recipe.render().unwrap());
            }
        }
        Self { labels, sounds, channel: "0" }
    }
}

impl LabelledClips for Machines {
    fn name(&self, clip: usize) -> String {
        format!("{} {clip}", self.labels[clip])
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn samples(&self, clip: usize) -> std::result::Result<Vec<f32>, String> {
        match self.sounds[clip].as_slice() {
            [] => Err("no such file".to_owned()),
            samples => Ok(samples.to_vec()),
        }
    }

    fn origin(&self) -> ClipOrigin {
        ClipOrigin { channel: self.channel.to_owned(), ..ClipOrigin::default() }
    }
}

fn ced_tiny() -> Checkpoint {
    Checkpoint::from_static(auscult_ced_tiny::WEIGHTS).unwrap()
}

fn place(folder: &Path) -> RunPlace {
    RunPlace {
        folder: folder.to_owned(),
        clip: ClipSettings { seconds: 1.0, ..ClipSettings::default() },
        at_most: None,
        compute: Compute::Cpu,
    }
}

/// Few steps of the recipe, on few clips.
fn quick(steps: usize) -> FinetuneSettings {
    FinetuneSettings {
        steps,
        batch: 6,
        accumulation: 2,
        warm_up: 2,
        time_mask: 10,
        frequency_mask: 8,
        largest_gradient: Some(200.0),
        checkpoint_every: 2,
        ..FinetuneSettings::default()
    }
}

fn lora() -> Adaptation {
    Adaptation::Lora { rank: 4, alpha: 8.0, targets: vec![LoraTarget::Query, LoraTarget::Value] }
}

fn run(clips: &Machines, settings: &FinetuneSettings, place: &RunPlace) -> Result<Finetuned> {
    finetune(&ced_tiny(), clips, settings, place, &mut |_| ControlFlow::Continue(()))
}

fn losses(run: &Finetuned) -> Vec<f64> {
    run.curve.iter().map(|facts| facts.loss).collect()
}

#[test]
fn an_encoder_learns_to_tell_machines_apart_and_is_used_as_any() {
    let folder = tempfile::tempdir().unwrap();
    let clips = Machines::new(6);
    let settings = FinetuneSettings { learning_rate: 5e-4, accumulation: 1, ..quick(16) };
    let done = run(&clips, &settings, &place(folder.path())).unwrap();
    assert!(done.is_complete && done.curve.len() == 16);
    let (first, last) = (done.curve[0], done.curve[15]);
    assert!(last.loss < first.loss / 2.0, "{} to {}", first.loss, last.loss);
    assert!(last.accuracy >= 0.9 && last.accuracy > first.accuracy, "{}", last.accuracy);
    for name in ["settings.json", "curve.csv", "curve.svg", "checkpoint.safetensors"] {
        assert!(folder.path().join(name).metadata().unwrap().len() > 100, "{name}");
    }
    let encoder = Encoder::load(&Checkpoint::open(&done.encoder).unwrap()).unwrap();
    let before = Encoder::load(&ced_tiny()).unwrap();
    assert_eq!(encoder.name(), "ced-tiny");
    assert_ne!(encoder.fingerprint(), before.fingerprint());
    let length = place(folder.path()).clip.check().unwrap();
    let vectors = |encoder: Encoder| {
        let encoder = Arc::new(encoder);
        let settings = EncoderSettings::for_encoder(&encoder);
        let front_end = EncoderFrontEnd::new(encoder, settings, length).unwrap();
        let mut vectors = ClipVectors::for_front_end(&front_end);
        front_end.extractor().extract_into(&clips.sounds[0], &mut vectors).unwrap();
        vectors
    };
    assert_ne!(vectors(encoder), vectors(before), "its tokens are others");
}

/// Not a test: what the killed process does.
#[test]
fn helper_that_is_killed() {
    let Ok(folder) = std::env::var("AUSCULT_TRAINING_KILLED") else { return };
    // Far slower than the killer looks.
    let mut slowly = |_: RunEvent<'_>| {
        std::thread::sleep(Duration::from_millis(300));
        ControlFlow::Continue(())
    };
    let settings = FinetuneSettings { adaptation: lora(), ..quick(7) };
    let clips = Machines::new(4);
    let _ = finetune(&ced_tiny(), &clips, &settings, &place(Path::new(&folder)), &mut slowly);
}

#[test]
fn a_killed_run_goes_on_with_the_same_numbers() {
    let [killed, whole] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "helper_that_is_killed"])
        .env("AUSCULT_TRAINING_KILLED", killed.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let checkpoint = killed.path().join("checkpoint.safetensors");
    let started = Instant::now();
    while !checkpoint.exists() && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    // SIGKILL: nothing is tidied up.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!killed.path().join("encoder.safetensors").exists(), "it was not done yet");
    let settings = FinetuneSettings { adaptation: lora(), ..quick(7) };
    let clips = Machines::new(4);
    let went_on = run(&clips, &settings, &place(killed.path())).unwrap();
    let at_once = run(&clips, &settings, &place(whole.path())).unwrap();
    assert!(went_on.continued_from >= 2, "from {}", went_on.continued_from);
    assert_eq!(losses(&went_on), losses(&at_once), "the same curve to the bit");
    let bytes = |run: &Finetuned| fs::read(&run.encoder).unwrap();
    assert!(bytes(&went_on) == bytes(&at_once), "the same encoder to the bit");
}

#[test]
fn a_run_ends_on_time_and_goes_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let clips = Machines::new(3);
    let settings = FinetuneSettings { adaptation: lora(), ..quick(3) };
    let hurried = RunPlace { at_most: Some(Duration::ZERO), ..place(folder.path()) };
    let first = run(&clips, &settings, &hurried).unwrap();
    assert!(!first.is_complete && first.curve.len() == 1);
    let path = folder.path().join("curve.csv");
    let text = fs::read_to_string(&path).unwrap();
    let (numbers, _) = text.trim_end().rsplit_once(',').unwrap();
    fs::write(&path, format!("{numbers},1000.000\n")).unwrap();
    let rest = run(&clips, &settings, &place(folder.path())).unwrap();
    assert!(rest.is_complete && rest.continued_from == 1 && rest.curve.len() == 3);
    assert!(rest.curve[1].seconds > 1000.0, "time goes on");
    // Done is done: nothing is trained twice.
    assert_eq!(run(&clips, &settings, &place(folder.path())).unwrap().continued_from, 3);
}

#[test]
fn a_checkpoint_of_something_else_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let clips = Machines::new(3);
    let settings = FinetuneSettings { adaptation: lora(), ..quick(2) };
    run(&clips, &settings, &place(folder.path())).unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let kept = fs::read(&path).unwrap();
    let refused = |settings: &FinetuneSettings, clips: &Machines, text: &str| {
        let error = run(clips, settings, &place(folder.path())).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(&FinetuneSettings { seed: 5, ..settings.clone() }, &clips, "it is of seed 0");
    refused(&quick(2), &clips, "adaptation");
    refused(&settings, &Machines::new(4), "class \"fan\" had 3 clips and has 4 now");
    let mut louder = Machines::new(3);
    louder.sounds[4].iter_mut().for_each(|sample| *sample *= 2.0);
    refused(&settings, &louder, "class \"pump\" sounds different");
    let stereo = Machines { channel: "mean", ..Machines::new(3) };
    refused(&settings, &stereo, "it is of channel 0, this run of mean");
    assert!(fs::read(&path).unwrap() == kept);
    fs::write(&path, &kept[..kept.len() / 2]).unwrap();
    refused(&settings, &clips, "damaged");
    fs::write(&path, auscult_ced_tiny::WEIGHTS).unwrap();
    refused(&settings, &clips, "it is not a checkpoint of a run");
}

#[test]
fn clips_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let settings = FinetuneSettings { adaptation: lora(), ..quick(2) };
    let with = |samples: Vec<f32>| {
        let mut clips = Machines::new(2);
        clips.sounds[1] = samples;
        run(&clips, &settings, &place(folder.path())).unwrap_err().to_string()
    };
    assert!(with(Vec::new()).contains("fan 1: no such file"));
    let short = with(vec![0.1; 100]);
    assert!(short.contains("fan 1: 100 samples; a patch needs 2560"), "{short}");
    let damaged = with(vec![f32::NAN; 16_000]);
    assert!(damaged.contains("fan 1: sample 0 is NaN"), "{damaged}");
    let silent = with(vec![0.0; 16_000]);
    assert!(silent.contains("1 of 6 clips cannot") && silent.contains("fan 1: it is silent"));
    let mut clips = Machines::new(12);
    clips.sounds[..11].fill(vec![0.0; 16_000]);
    let error = run(&clips, &settings, &place(folder.path())).unwrap_err().to_string();
    assert!(error.contains("fan 9") && !error.contains("fan 10"), "{error}");
    assert!(error.contains("11 of 36 clips") && error.ends_with("and 1 more"), "{error}");
    assert!(!folder.path().join("curve.csv").exists(), "nothing was trained");
    let mut one_class = Machines::new(2);
    one_class.labels.fill("fan".to_owned());
    let error = run(&one_class, &settings, &place(folder.path())).unwrap_err();
    assert!(matches!(error, Error::Labels { .. }), "{error}");
    let mut long = place(folder.path());
    long.clip.seconds = 20.0;
    let error = run(&Machines::new(2), &settings, &long).unwrap_err().to_string();
    assert!(error.contains("clip length must be 1 to 10.08 seconds for ced-tiny"), "{error}");
}

#[test]
fn one_folder_is_for_one_process_and_tells_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (clips, settings) = (Machines::new(2), short());
    let mut inner = None;
    let mut at_once = |event: RunEvent<'_>| {
        if matches!(event, RunEvent::Step(_)) && inner.is_none() {
            inner = Some(run(&clips, &settings, &place(folder.path())));
        }
        ControlFlow::Continue(())
    };
    finetune(&ced_tiny(), &clips, &settings, &place(folder.path()), &mut at_once).unwrap();
    let error = inner.unwrap().unwrap_err().to_string();
    assert!(error.contains("another training is at work in this folder"), "{error}");
    fs::remove_file(folder.path().join("settings.json")).unwrap();
    run(&clips, &settings, &place(folder.path())).unwrap();
    let kept = fs::read_to_string(folder.path().join("settings.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["classes"]["fan"]["clips"], 2);
    fs::remove_file(folder.path().join("curve.csv")).unwrap();
    let error = run(&clips, &settings, &place(folder.path())).unwrap_err().to_string();
    assert!(error.contains("curve.csv") && error.contains("begin again"), "{error}");
}

fn short() -> FinetuneSettings {
    FinetuneSettings { adaptation: lora(), accumulation: 1, ..quick(3) }
}

/// Not a test: what goes on with a run and may write small files only.
#[test]
fn helper_without_room() {
    let Ok(folder) = std::env::var("AUSCULT_TRAINING_NO_ROOM") else { return };
    let folder = Path::new(&folder);
    let settings = short();
    let said = run(&Machines::new(2), &settings, &place(&folder.join("run")));
    fs::write(folder.join("said.txt"), said.unwrap_err().to_string()).unwrap();
}

/// Trains one step with room for it; then gives the rest of the run's settings and clips.
fn first_step(folder: &Path) -> (FinetuneSettings, Machines, Vec<u8>) {
    let (settings, clips) = (short(), Machines::new(2));
    let hurried = RunPlace { at_most: Some(Duration::ZERO), ..place(folder) };
    assert!(!run(&clips, &settings, &hurried).unwrap().is_complete);
    let kept = fs::read(folder.join("checkpoint.safetensors")).unwrap();
    (settings, clips, kept)
}

/// After a failed save: the checkpoint was not changed, nothing is left behind, and with room again the
/// run goes on from it with the numbers of a run that never failed.
fn goes_on_after_a_failed_save(folder: &Path, kept: &[u8]) {
    assert!(fs::read(folder.join("checkpoint.safetensors")).unwrap() == kept);
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".partial"), "{name} was left behind");
    }
    let settings = short();
    let clips = Machines::new(2);
    let went_on = run(&clips, &settings, &place(folder)).unwrap();
    assert!(went_on.is_complete && went_on.continued_from == 1);
    let whole = tempfile::tempdir().unwrap();
    let at_once = run(&clips, &settings, &place(whole.path())).unwrap();
    assert_eq!(losses(&went_on), losses(&at_once));
}

/// The system refuses to let a file grow: as on a full disk, writing fails half way.
#[cfg(unix)]
#[test]
fn a_checkpoint_that_does_not_fit_leaves_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let (_, _, kept) = first_step(&folder.path().join("run"));
    let status = Command::new("sh")
        // Blocks of 512 or 1024 bytes; ignored, the signal becomes an error of writing.
        .args(["-c", "trap '' XFSZ; ulimit -f 64 && exec \"$0\" --exact helper_without_room"])
        .arg(std::env::current_exe().unwrap())
        .env("AUSCULT_TRAINING_NO_ROOM", folder.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let said = fs::read_to_string(folder.path().join("said.txt")).unwrap();
    assert!(said.contains("checkpoint.safetensors") && said.contains("File too large"), "{said}");
    goes_on_after_a_failed_save(&folder.path().join("run"), &kept);
}

/// A file system of 80 MB, gone at the end of the test.
#[cfg(target_os = "linux")]
struct SmallDisk(PathBuf);

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=80m", "tmpfs"]).arg(folder.path());
    if !mount.output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: a small disk cannot be mounted here; run as root to test a full disk");
        return;
    }
    let disk = SmallDisk(folder.path().to_owned());
    let run_folder = disk.0.join("run");
    let (settings, clips, kept) = first_step(&run_folder);
    // Writes until nothing fits any more.
    let filler = disk.0.join("filler");
    let _ = fs::write(&filler, vec![0; 80 << 20]);
    let error = run(&clips, &settings, &place(&run_folder)).unwrap_err().to_string();
    assert!(error.contains("No space left on device"), "{error}");
    fs::remove_file(&filler).unwrap();
    goes_on_after_a_failed_save(&run_folder, &kept);
}

/// Whatever cannot be written is named, and the last checkpoint stays.
#[test]
fn what_cannot_be_written_leaves_the_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let clips = Machines::new(3);
    let settings = FinetuneSettings { adaptation: lora(), ..quick(4) };
    let blocked: PathBuf = folder.path().join("curve.svg");
    let mut block = |event: RunEvent<'_>| {
        if matches!(event, RunEvent::Step(facts) if facts.step == 3) {
            fs::remove_file(&blocked).unwrap();
            fs::create_dir(&blocked).unwrap();
        }
        ControlFlow::Continue(())
    };
    let place = place(folder.path());
    let error = finetune(&ced_tiny(), &clips, &settings, &place, &mut block).unwrap_err();
    assert!(error.to_string().contains("curve.svg"), "{error}");
    fs::remove_dir(&blocked).unwrap();
    assert_eq!(run(&clips, &settings, &place).unwrap().continued_from, 2);
}

use crate::support::Sandbox;
#[cfg(feature = "training")]
use crate::support::wav_of_samples;

#[cfg(not(feature = "training"))]
#[test]
fn a_program_without_training_says_how_to_get_it() {
    Sandbox::new().run("train --data x --dataset folder --out run").exits(2).says(
        "built without training; the packages have it, or build it with: cargo build --release",
    );
}

#[cfg(not(feature = "training"))]
#[test]
fn the_table_of_fine_tuned_encoders_says_which_program_has_training() {
    let sandbox = Sandbox::new();
    sandbox.run("synth --out syn --machine fan --seconds 1 --train 6 2 --test 2 2").exits(0);
    let ran = sandbox
        .run("bench run table-4-small --data syn --dataset dcase2023 --clip-seconds 1 --out run")
        .exits(2)
        .says("built without training; the packages have it");
    assert!(ran.stdout.contains("| AdaBEAM, as it came |"), "{}", ran.stdout);
}

/// A table whose encoders are trained first, two trials of two steps.
#[cfg(feature = "training")]
const TRIALS: &str = "name = 'tuned'\ntitle = 'T'\ndatasets = ['dcase2023']\nclip_seconds = 1.0\n\
    [fine_tuning]\nencoder = 'ced'\nseeds = [1, 2]\nlabels = 'sections'\n\
    layer_for = { dcase2023 = 'layer-6' }\n[fine_tuning.settings]\nsteps = 2\nwarm_up = 1\nbatch = 4\n\
    accumulation = 1\nadaptation = { lora = { rank = 2, alpha = 2.0, targets = ['query'] } }\n\
    [[system]]\nname = 'BEAM'\nmethod = 'beam'\nfront_end = 'fine-tuned'\n\
    [[system]]\nname = 'BEAM, as it came'\nmethod = 'beam'\nfront_end = 'ced'\nprecision = 'f32'\n";

#[cfg(feature = "training")]
#[test]
fn encoders_of_a_table_are_trained_once_a_seed_and_kept() {
    let sandbox = with_machines();
    sandbox.write("tuned.toml", TRIALS);
    let line = "bench run tuned.toml --data syn --dataset dcase2023 --samples 0 --out run";
    let ran = sandbox.run(line).exits(0);
    assert!(ran.stdout.contains("| BEAM |") && ran.stdout.contains(" ± "), "{}", ran.stdout);
    let results = || -> serde_json::Value {
        serde_json::from_slice(&sandbox.read("run/results.json")).unwrap()
    };
    let found = results();
    let row = |system: &str| {
        let rows = found["rows"].as_array().unwrap();
        rows.iter().find(|row| row["system"] == system).unwrap().clone()
    };
    let score = |system: &str| row(system)["score"].as_f64().unwrap();
    let mean = f64::midpoint(score("BEAM, seed 1"), score("BEAM, seed 2"));
    assert!((score("BEAM") - mean).abs() < 1e-12);
    assert!(row("BEAM")["deviation"].is_f64() && row("BEAM, as it came")["deviation"].is_null());
    let encoder = |seed: u32| {
        let front_end = &found["facts"]["front_ends"][format!("fine-tuned-{seed} (dcase2023)")];
        assert_eq!(front_end["settings"]["layers"], serde_json::json!([6]));
        front_end["settings"]["fingerprint"].clone()
    };
    assert_ne!(encoder(1), encoder(2));
    // The same command trains nothing again, also where scores are missing.
    let files = |seed: u32| {
        let folder = sandbox.path(format!("run/encoders/dcase2023/seed-{seed}"));
        let state = folder.join("checkpoint.safetensors").metadata().unwrap().modified().unwrap();
        (state, std::fs::read(folder.join("encoder.safetensors")).unwrap())
    };
    let trained = (files(1), files(2));
    std::fs::remove_dir_all(sandbox.path("run/sections")).unwrap();
    sandbox.run(line).exits(0);
    assert_eq!(results()["rows"], found["rows"]);
    assert!((files(1), files(2)) == trained, "trained again");
}

#[cfg(feature = "training")]
#[test]
fn a_trained_encoder_is_used_by_every_command() {
    let sandbox = Sandbox::new();
    sandbox
        .run("synth --out syn --machine fan --machine pump --seconds 1 --train 6 2 --test 2 2")
        .exits(0);
    let train = "train --data syn --dataset dcase2023 --clip-seconds 1 --out run --steps 2 --batch 4 \
                 --accumulation 1 --warm-up 1 --lora 2 --json";
    let facts: serde_json::Value =
        serde_json::from_str(&sandbox.run(train).exits(0).stdout).unwrap();
    assert_eq!(facts["classes"], 2);
    assert_eq!(facts["steps"], 2);
    let again = sandbox.run(train).exits(0).stdout;
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["continued_from"], 2, "done is done");
    sandbox.run(&train.replace("--lora 2", "--lora 3")).exits(2).says("does not fit");
    let eval = "bench eval --data syn --dataset dcase2023 --clip-seconds 1 --front-end ced --json";
    let score = |line: &str| {
        let text = sandbox.run(line).exits(0).stdout;
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        found["front_end"]["settings"]["fingerprint"].clone()
    };
    let tuned = score(&format!("{eval} --encoder run/encoder.safetensors"));
    assert_ne!(tuned, score(eval));
    if cfg!(not(feature = "training-gpu")) {
        let line = format!("{train} --device gpu").replace("--out run", "--out other");
        sandbox.run(&line).exits(2).says("built without the feature for GPUs").says("training-gpu");
    }
    // Classes without clips.
    std::fs::create_dir_all(sandbox.path("syn/slider/train")).unwrap();
    sandbox.run(train).exits(2).says("slider holds no clips: its class would be empty");
    sandbox.run(&format!("{train} --machine fan --machine pump")).exits(0);
    std::fs::remove_dir_all(sandbox.path("syn/slider")).unwrap();
    let fans = sandbox.path("syn/fan");
    std::fs::rename(fans.join("train"), sandbox.path("hidden")).unwrap();
    sandbox.run(train).exits(2).says("class \"fan 00\" has no clips to train on");
    std::fs::rename(sandbox.path("hidden"), fans.join("train")).unwrap();
    let one = "train --data syn --dataset dcase2023 --machine fan --clip-seconds 1 --out one";
    sandbox.run(one).exits(2).says("one class only");
    sandbox
        .run(&format!("{train} --lora-targets nose").replace("--out run", "--out other"))
        .exits(2)
        .says("query, key, value, output, up or down");
}

#[cfg(feature = "training")]
const TRAIN: &str = "train --data syn --dataset dcase2023 --clip-seconds 1 --out run --steps 2 --batch 4 \
                     --accumulation 1 --lora 2";

#[cfg(feature = "training")]
fn with_machines() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .run("synth --out syn --machine fan --machine pump --seconds 1 --train 6 2 --test 2 2")
        .exits(0);
    sandbox
}

/// The training clips of a machine.
#[cfg(feature = "training")]
fn clips_of(sandbox: &Sandbox, machine: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(sandbox.path(format!("syn/{machine}/train"))).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[cfg(feature = "training")]
#[test]
fn a_run_goes_on_with_the_same_sound_only_and_says_where_it_stands() {
    let sandbox = with_machines();
    let stopped = sandbox.run(&format!("{TRAIN} --at-most-minutes 0")).exits(2);
    stopped
        .says("warm-up of 0 steps, a tenth of --steps")
        .says("the same command goes on from here");
    sandbox
        .run(&format!("{TRAIN} --channel mean"))
        .exits(2)
        .says("it is of channel 0, this run of mean");
    let settings: serde_json::Value =
        serde_json::from_slice(&sandbox.read("run/settings.json")).unwrap();
    assert_eq!(settings["origin"]["channel"], "0");
    assert_eq!(settings["origin"]["options"]["--data"], "syn");
    assert_eq!(settings["origin"]["options"]["--labels"], "sections");
    assert_eq!(settings["classes"]["fan 00"]["clips"], 8);
    let fans = clips_of(&sandbox, "fan");
    let kept = std::fs::read(&fans[0]).unwrap();
    std::fs::copy(&fans[1], &fans[0]).unwrap();
    sandbox.run(TRAIN).exits(2).says("class \"fan 00\" sounds different");
    std::fs::remove_file(&fans[0]).unwrap();
    sandbox.run(TRAIN).exits(2).says("class \"fan 00\" had 8 clips and has 7 now");
    std::fs::write(&fans[0], kept).unwrap();
    std::fs::rename(sandbox.path("syn"), sandbox.path("moved")).unwrap();
    let moved = TRAIN.replace("--data syn", "--data moved");
    let ran = sandbox.run(&moved).exits(0).says("run: the run goes on after step 1 of 2");
    assert!(ran.stdout.contains("the mean of the last 2 steps"), "{}", ran.stdout);
    sandbox.run(&moved).exits(0).says("run: the run is finished already, all 2 steps are done");
    let changed =
        format!("{moved} --machine fan --machine pump --labels attributes --least-clips 1");
    sandbox.run(&changed).exits(2).says("it is of --labels sections, no --machine");
    let eval = "bench eval --data moved --dataset dcase2023 --clip-seconds 1 --front-end ced";
    sandbox
        .run(&format!("{eval} --encoder run/checkpoint.safetensors"))
        .exits(2)
        .says("use encoder.safetensors in the same folder");
}

#[cfg(feature = "training")]
#[test]
fn what_cannot_be_trained_on_is_told_before_the_first_step() {
    let sandbox = with_machines();
    for (line, message) in [
        ("--warm-up 5", "warm-up must be 0 to 2, got 5"),
        ("--clip-seconds 0.5", "--clip-seconds must be 1 to 30, for ced 1 to 10.08, got 0.5"),
        ("--clip-seconds 20", "clip length must be 1 to 10.08 seconds for ced-tiny"),
        ("--margin 3", "margin must be 0 to 1.5, got 3"),
        ("--least-clips 9", "class \"fan 00\" has 8 clips, at least 9 are needed, and 1 other"),
        ("--out syn", "syn is the data themselves"),
        ("--out syn/fan/train", "syn/fan/train holds recordings"),
        ("--out syn/fan", "syn/fan holds recordings"),
    ] {
        let option = line.split_once(' ').unwrap().0;
        let given = ["--clip-seconds 1", "--out run"].into_iter().find(|it| it.starts_with(option));
        let train = given.map_or_else(|| TRAIN.to_owned(), |given| TRAIN.replace(given, ""));
        sandbox.run(&format!("{train} {line}")).exits(2).says(message);
    }
    let (fans, pumps) = (clips_of(&sandbox, "fan"), clips_of(&sandbox, "pump"));
    std::fs::write(&fans[1], b"").unwrap();
    std::fs::write(&fans[2], b"no sound").unwrap();
    std::fs::write(&pumps[0], wav_of_samples(&[0.1; 100])).unwrap();
    std::fs::write(&pumps[3], wav_of_samples(&vec![0.0; 16_000])).unwrap();
    let mut ran = sandbox.run(TRAIN).exits(2).says("a patch needs 2560").says("it is silent").says(
        "4 of 16 clips cannot be trained on; record them again, or take them out of the data",
    );
    for path in [&fans[1], &fans[2], &pumps[0], &pumps[3]] {
        ran = ran.says(path.file_name().unwrap().to_str().unwrap());
    }
    assert!(!ran.stderr.contains("syn/fan/train"), "each is named once: {}", ran.stderr);
    assert!(!sandbox.path("run/curve.csv").exists());
}

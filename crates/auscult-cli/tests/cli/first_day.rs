//! The first day with a machine: what people do without knowing an option.

use serde_json::Value;

use crate::support::{Sandbox, clip, faulty_clip, raw_wav, wav_of, wav_of_samples};
use auscult_testing::{ClipRecipe, golden};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// With `normal/` of six visits and `model.auscult` made from it.
fn six_visits() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..7, 8);
    sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 1").exits(0);
    sandbox
}

/// A run of a further visit, each clip changed.
fn record_run(sandbox: &Sandbox, folder: &str, change: impl Fn(&mut [f32])) {
    for take in 0..12 {
        let mut samples = ClipRecipe { visit: 20, take, ..clip() }.render().unwrap();
        change(&mut samples);
        sandbox.write(&format!("{folder}/{take:02}.wav"), wav_of_samples(&samples));
    }
}

/// Duller and with a reflection: the microphone stands elsewhere.
fn move_microphone(samples: &mut [f32]) {
    let dry = samples.to_vec();
    let mut smooth = 0.0;
    for (index, sample) in samples.iter_mut().enumerate() {
        smooth += 0.2 * (dry[index] - smooth);
        *sample = 3.0 * (smooth + index.checked_sub(37).map_or(0.0, |before| 0.5 * dry[before]));
    }
}

#[test]
fn a_run_that_differs_as_a_whole_is_called_changed_everywhere() {
    let sandbox = six_visits();
    record_run(&sandbox, "moved", move_microphone);
    let ran = sandbox.run("score model.auscult moved").exits(0);
    let changed = "changed: the recording or the machine has changed as a whole: most clips differ the same way (";
    assert!(ran.stdout.contains(changed), "{}", ran.stdout);
    assert!(ran.stdout.contains("tested at a level of 5 % against 6 visits)"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("\nwhat differs: ") && ran.stdout.contains("\nnext: listen to a few")
    );
    assert!(ran.stdout.contains("auscult model add MODEL PATH --visit NAME"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("of normal clips are called anomalous"), "{}", ran.stdout);

    let ran = sandbox.run("score model.auscult moved --json").exits(0).says("note: changed: ");
    let run = &json(&ran.stdout)["run"];
    let found = &run["changed"];
    assert_eq!(found["level"], 0.05);
    assert!(found["p_value"].as_f64().unwrap() <= 0.05);
    assert_eq!((&found["clips"], &found["compared_with"]), (&12.into(), &6.into()));
    let kinds: Vec<&str> = found["what_differs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"level") && kinds.contains(&"band"), "{found}");
    assert!(found["next_step"].as_str().unwrap().contains("check the microphone"));
    // Changed counts as anomalous for scripts, also where no single clip does.
    sandbox.run("score model.auscult moved --fail-on-anomaly").exits(1);
    let strict = "score model.auscult moved --fail-on-anomaly --false-alarm-rate 0.1%";
    let ran = sandbox.run(strict).exits(1);
    assert!(ran.stdout.contains("0 anomalous") && ran.stdout.contains(changed), "{}", ran.stdout);
    sandbox.run("report model.auscult moved -o page.html").exits(0).says("note: changed: ");
}

#[test]
fn a_normal_visit_is_not_called_changed_and_neither_are_a_few_faults() {
    let sandbox = six_visits();
    record_run(&sandbox, "quiet", |_| {});
    let ran = sandbox.run("score model.auscult quiet --json").exits(0);
    let run = &json(&ran.stdout)["run"];
    assert_eq!(run["changed"], Value::Null);
    assert!(run.get("changed").is_some(), "the key is always there");
    for take in 0..3 {
        let recipe = ClipRecipe { take, ..faulty_clip() };
        sandbox.write(&format!("quiet/faulty_{take}.wav"), wav_of(&recipe));
    }
    let ran = sandbox.run("score model.auscult quiet --json").exits(0);
    assert_eq!(json(&ran.stdout)["run"]["changed"], Value::Null);
    // A run of nothing but faults is never swallowed.
    for take in 0..8 {
        let recipe = ClipRecipe { take, ..faulty_clip() };
        sandbox.write(&format!("broken/{take}.wav"), wav_of(&recipe));
    }
    sandbox.run("score model.auscult broken --fail-on-anomaly").exits(1);
}

#[test]
fn one_visit_promises_nothing_when_another_day_contradicts_it() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..2, 30);
    let line = "fit --preset paper normal -o model.auscult --clip-seconds 1";
    let ran = sandbox.run(line).exits(0);
    // The whole text comes once, here, and with inspect.
    let ran = ran.says("record on other days, up to 18 more visits of ten clips or so");
    ran.says("nothing can be promised now");
    record_run(&sandbox, "today", move_microphone);
    let ran = sandbox.run("score model.auscult today").exits(0);
    assert!(
        ran.stdout.contains("against 30 files of one visit, so another day alone may be why)"),
        "{}",
        ran.stdout
    );
    let short = "verdicts are provisional: no second visit is known (auscult inspect says what to record)\n";
    assert!(ran.stdout.contains(short), "{}", ran.stdout);
    assert!(!ran.stdout.contains("at most 5 %"), "{}", ran.stdout);
    let ran = sandbox.run("inspect model.auscult").exits(0);
    assert!(ran.stdout.contains("up to 18 more visits"), "{}", ran.stdout);
}

#[test]
fn folders_that_can_only_be_labels_are_labels() {
    for (normal, faulty) in [("fan/normal", "fan/abnormal"), ("fan/id_00/OK", "fan/id_00/NG")] {
        let sandbox = Sandbox::new();
        for take in 0..6 {
            let recipe = ClipRecipe { take, ..clip() };
            sandbox.write(&format!("{normal}/{take}.wav"), wav_of(&recipe));
            let recipe = ClipRecipe { take, ..faulty_clip() };
            sandbox.write(&format!("{faulty}/{take}.wav"), wav_of(&recipe));
        }
        let ran = sandbox.run("fit --preset paper fan -o fan.auscult --json").exits(0);
        let ran = ran.says(&format!(
            "folder names are labels: learning from {normal}, leaving out {faulty}"
        ));
        let facts = json(&ran.stdout);
        assert_eq!((&facts["references"], &facts["left_out"]["anomalous"]), (&6.into(), &6.into()));
        // The same for patterns, for what a shell makes of them, and for the folders by name.
        let files: Vec<String> = [normal, faulty]
            .iter()
            .flat_map(|folder| (0..6).map(move |take| format!("{folder}/{take}.wav")))
            .collect();
        let pattern = format!("{}/*/*.wav", normal.rsplit_once('/').unwrap().0);
        for inputs in
            [pattern, "fan/**/*.wav".to_owned(), files.join(" "), format!("{normal} {faulty}")]
        {
            let ran = sandbox.run(&format!("fit --preset paper {inputs} -o fan.auscult --json"));
            let ran = ran.exits(0).says(&format!("leaving out {faulty}"));
            let facts = json(&ran.stdout);
            assert_eq!(
                (&facts["references"], &facts["visits"]),
                (&6.into(), &0.into()),
                "{inputs}"
            );
        }
        let ran =
            sandbox.run("fit --preset paper fan -o fan.auscult --label-folders ignore --json");
        assert_eq!(json(&ran.exits(0).stdout)["references"], 12);
        sandbox.write("fan/2024-05-03/7.wav", wav_of(&ClipRecipe { take: 7, ..clip() }));
        // A folder that is neither makes it doubtful.
        let ran = sandbox.run("fit --preset paper fan -o fan.auscult").exits(2);
        ran.says("--label-folders use");
        let ran = sandbox.run("fit --preset paper fan -o fan.auscult --label-folders use --json");
        let facts = json(&ran.exits(0).stdout);
        assert_eq!(
            (&facts["references"], &facts["left_out"]["unlabelled"]),
            (&6.into(), &1.into())
        );
    }
}

#[test]
fn labels_among_other_words_are_in_doubt() {
    let sandbox = Sandbox::new();
    for take in 0..6 {
        let recipe = ClipRecipe { take, ..clip() };
        sandbox.write(&format!("all/fan_normal/{take}.wav"), wav_of(&recipe));
        let recipe = ClipRecipe { take, ..faulty_clip() };
        sandbox.write(&format!("all/fan_abnormal/{take}.wav"), wav_of(&recipe));
    }
    let fit = "fit --preset paper all -o fan.auscult --json";
    let ran = sandbox.run(fit).exits(2);
    ran.says("the folders all/fan_abnormal, all/fan_normal look like labels")
        .says("--label-folders use");
    let facts = json(&sandbox.run(&format!("{fit} --label-folders use")).exits(0).stdout);
    assert_eq!((&facts["references"], &facts["left_out"]["anomalous"]), (&6.into(), &6.into()));
    let facts = json(&sandbox.run(&format!("{fit} --label-folders ignore")).exits(0).stdout);
    assert_eq!((&facts["references"], &facts["visits"]), (&12.into(), &2.into()));
    // Normal ones alone are visits: nothing says that they are labels.
    let ran = sandbox.run("fit --preset paper all/fan_normal -o fan.auscult --json").exits(0);
    assert_eq!(json(&ran.stdout)["references"], 6);
}

#[test]
fn visits_lie_below_a_folder_called_normal_and_what_lies_beside_it_is_in_doubt() {
    let sandbox = Sandbox::new();
    sandbox.record("pump/normal", 1..4, 4);
    let ran = sandbox.run("fit --preset paper pump -o pump.auscult --clip-seconds 1 --json");
    assert_eq!(json(&ran.exits(0).stdout)["visits"], 3);
    sandbox.write("pump/check/leak_0000.wav", wav_of(&faulty_clip()));
    let ran = sandbox.run("fit --preset paper pump -o other.auscult --clip-seconds 1").exits(2);
    ran.says("the folders pump/normal look like labels").says("--label-folders use");
    assert!(!sandbox.path("other.auscult").exists());
}

#[test]
fn clips_are_as_long_as_the_recordings_where_these_agree() {
    let sandbox = Sandbox::new();
    let record = |name: &str, seconds: f64, take: u32| {
        let recipe = ClipRecipe { seconds, take, ..clip() };
        sandbox.write(name, wav_of(&recipe));
    };
    (0..4).for_each(|take| record(&format!("short/{take}.wav"), 1.5, take));
    let fit = "fit --preset paper short -o short.auscult --json";
    let ran = sandbox.run(fit).exits(0).says("clips are 1.5 s long, as all recordings are");
    assert_eq!(json(&ran.stdout)["clip_seconds"], 1.5);
    let ran = sandbox.run(&format!("{fit} --clip-seconds 1")).exits(0);
    assert_eq!(json(&ran.stdout)["clip_seconds"], 1.0);
    assert!(!ran.stderr.contains("as all recordings are"), "{}", ran.stderr);
    // They do not agree: ten seconds, and one remark for all that are shorter.
    (0..4).for_each(|take| record(&format!("short/long_{take}.wav"), 6.0, take));
    let ran = sandbox.run(fit).exits(2);
    assert_eq!(json(&ran.stdout)["clip_seconds"], 10.0);
    assert_eq!(ran.stderr.matches("silence fills the clip up").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("(4 of 4 clips; this is the first)"), "{}", ran.stderr);
}

#[test]
fn sound_that_is_stored_in_another_way_is_not_blamed_on_the_machine() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..4, 8);
    sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 0.5").exits(0);
    let tone = std::fs::read(golden::testdata().join("audio/tone.mp3")).unwrap();
    sandbox.write("today/tone.mp3", tone);
    let bytes: Vec<u8> =
        clip().render().unwrap().iter().map(|sample| (128.0 + 127.0 * sample) as u8).collect();
    sandbox.write("today/8_bit.wav", raw_wav(1, 8, 1, &bytes));
    let ran = sandbox.run("score model.auscult today --json").exits(0);
    let clips = json(&ran.stdout)["clips"].clone();
    let of = |path: &str| {
        let found = clips.as_array().unwrap().iter().find(|clip| clip["path"] == path);
        found.unwrap_or_else(|| panic!("no {path} in {clips}")).clone()
    };
    let mp3 = of("today/tone.mp3");
    assert_eq!(mp3["recording"]["codec"], "mp3");
    assert!(mp3["remarks"].as_array().unwrap().contains(&"coding".into()), "{mp3}");
    assert!(mp3["reason"].as_str().unwrap().contains("MP3 instead of lossless"), "{mp3}");
    let few = of("today/8_bit.wav");
    assert_eq!(few["recording"]["bits"], 8);
    assert!(few["remarks"].as_array().unwrap().contains(&"coding".into()), "{few}");
    ran.says("do not blame the machine");
}

#[test]
fn a_first_visit_to_a_machine_says_what_is_missing() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..2, 3);
    let ran = sandbox.run("fit --preset fast normal -o model.auscult --clip-seconds 1").exits(0);
    ran.says(
        "no verdicts yet: a false-alarm rate of 5 % needs 19 normal clips that can be left out, and none can: a visit is left \
         out only where enough others stay (six, with the presets best and fast); record at least 19 more, on several visits",
    );
}

#[test]
fn hum_that_references_have_not_is_part_of_what_can_be_heard() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..4, 4);
    sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 1").exits(0);
    let mut samples = clip().render().unwrap();
    for (at, sample) in samples.iter_mut().enumerate() {
        let turn = std::f32::consts::TAU * 50.0 * at as f32 / 16_000.0;
        *sample += 0.1 * (turn.sin() + (2.0 * turn).sin() + (3.0 * turn).sin());
    }
    sandbox.write("today/hum.wav", wav_of_samples(&samples));
    let ran = sandbox.run("score model.auscult today --json").exits(0);
    let heard = json(&ran.stdout)["clips"][0]["heard"].as_str().unwrap().to_owned();
    assert!(heard.contains("hum at multiples of 50 Hz"), "{heard}");
}

#[test]
fn what_can_be_promised_now_is_said_for_every_domain_and_then_promised() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..7, 6);
    let row = |visit: u32, take: u32| {
        let domain = if take < 2 { "target" } else { "source" };
        format!("normal/visit_{visit}/{take}.wav,{visit},{domain}\n")
    };
    let rows: String = (1..7).flat_map(|visit| (0..6).map(move |take| row(visit, take))).collect();
    sandbox.write("list.csv", format!("path,visit,domain\n{rows}"));
    let fit = "fit --preset paper list.csv -o model.auscult --clip-seconds 1";
    let ran = sandbox.run(fit).exits(0);
    // The promise to all clips is not one to those of a domain.
    let line = |text: &str, of: &str| {
        let found = text.lines().find(|line| line.contains(of));
        found.unwrap_or_else(|| panic!("no {of} in {text}")).to_owned()
    };
    let target = line(&ran.stderr, "domain target: ");
    let ran = sandbox.run("inspect model.auscult").exits(0);
    assert!(target.ends_with(line(&ran.stdout, "domain target: ").trim()), "{target}");
    let (before, _) = target.split_once(" % can be promised now").unwrap();
    let rate = before.rsplit(' ').next().unwrap();
    let score = "score model.auscult normal/visit_1/0.wav --domain target";
    let ran = sandbox.run(score).exits(0);
    assert!(ran.stdout.contains("domain target: no verdicts yet"), "{}", ran.stdout);
    let ran = sandbox.run(&format!("{score} --false-alarm-rate {rate}%")).exits(0);
    let promised = format!("domain target: at most {rate} % of normal clips");
    assert!(ran.stdout.contains(&promised), "{}", ran.stdout);
}

#[test]
fn a_scheme_that_somebody_vouches_for_is_named_with_what_it_can_promise() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..2, 12);
    let ran = sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 1").exits(0);
    assert!(ran.stderr.contains("nothing can be promised now\n"), "{}", ran.stderr);
    let ran = sandbox.run("calibrate model.auscult --scheme files").exits(0);
    let now = "8 % can be promised now if files are as independent of each other as visits on other days \
               (--false-alarm-rate, with the same scheme)";
    assert!(ran.stdout.contains(now), "{}", ran.stdout);
    let ran = sandbox.run("calibrate model.auscult --scheme files --false-alarm-rate 8%").exits(0);
    assert!(ran.stdout.contains("kept, if files are as independent"), "{}", ran.stdout);
}

#[test]
fn every_verdict_comes_with_a_difference_in_decibels() {
    let sandbox = Sandbox::with_recordings();
    sandbox.write("odd.wav", wav_of(&faulty_clip()));
    for options in ["--preset paper", "--preset fast", "--front-end mfcc", "--front-end lpc"] {
        sandbox.run(&format!("fit {options} normal -o model.auscult --clip-seconds 1")).exits(0);
        let ran = sandbox.run("score model.auscult odd.wav --json").exits(0);
        let clip = json(&ran.stdout)["clips"][0].clone();
        let difference = &clip["difference"];
        assert_eq!(difference["decibels"].as_array().unwrap().len(), 26, "{options}: {clip}");
        assert_eq!(difference["hertz"].as_array().unwrap().len(), 27);
        assert!(difference["closest"].as_str().unwrap().starts_with("normal/visit_"));
        let heard = clip["heard"].as_str().unwrap();
        assert!(heard.contains(" dB at "), "{options}: {heard}");
        assert!(clip["reason"].as_str().unwrap().contains(heard), "{clip}");
    }
    let ran = sandbox.run("explain model.auscult odd.wav").exits(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[1].contains(" dB at "), "what can be heard comes first: {}", ran.stdout);
    assert!(lines[2].starts_with("third octaves against normal/visit_"), "{}", ran.stdout);
}

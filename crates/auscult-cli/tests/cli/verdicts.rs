//! Promises, domains, alarm budgets and input quality, through the program.

use serde_json::Value;

use crate::support::{Sandbox, clip, rows, wav_of_samples};

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// One second of the machine, changed.
pub(crate) fn changed(change: impl Fn(usize, f32) -> f32) -> Vec<u8> {
    let samples = clip().render().unwrap();
    let changed: Vec<f32> =
        samples.iter().enumerate().map(|(index, &sample)| change(index, sample)).collect();
    wav_of_samples(&changed)
}

#[test]
fn fit_tells_input_quality_and_the_references_to_listen_to() {
    let sandbox = Sandbox::with_recordings();
    sandbox.write("normal/visit_1/loud.wav", changed(|_, s| (s * 100.0).clamp(-1.0, 1.0)));
    let ran = sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 1").exits(0);
    let ran = ran.says("normal/visit_1/loud.wav: clipped: ");
    assert!(ran.stdout.contains("1 of 25 clips with remarks: 1 clipped"), "{}", ran.stdout);
    let listen = ran.stdout.split_once("please listen\n").unwrap().1;
    assert_eq!(listen.lines().count(), 10);
    assert!(listen.lines().next().unwrap().ends_with("normal/visit_1/loud.wav"), "{listen}");

    let ran =
        sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 1 --json").exits(0);
    let facts = json(&ran.stdout);
    assert_eq!(facts["quality"]["remarks"]["clipped"], 1);
    assert_eq!(facts["least_normal"][0]["path"], "normal/visit_1/loud.wav");
    let scores: Vec<f64> = facts["least_normal"]
        .as_array()
        .unwrap()
        .iter()
        .map(|clip| clip["left_out_score"].as_f64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

#[test]
fn score_gives_input_quality_clip_by_clip_and_in_summary() {
    let sandbox = Sandbox::with_model();
    sandbox.write("check/a_fine.wav", changed(|_, s| s * 0.97));
    sandbox.write("check/b_offset.wav", changed(|_, s| s + 0.1));
    sandbox.write("check/c_holes.wav", changed(|i, s| if i % 8_000 < 800 { 0.0 } else { s }));
    sandbox.write("check/d_fine_again.wav", changed(|_, s| s * 0.97));
    let ran = sandbox.run("score model.auscult check --csv --quality").exits(0);
    let ran = ran.says("check/b_offset.wav: offset: ");
    let ran =
        ran.says("check/c_holes.wav: dropouts: the signal stands still 2 times, 0.10 s in total");
    let ran = ran.says("check/d_fine_again.wav: copy: the same sound as check/a_fine.wav");
    let header = ran.stdout.lines().next().unwrap();
    assert!(
        header.starts_with("path,start_seconds,score,p_value,calibrated,verdict,seconds,")
            && header.ends_with(
                ",error,model_hash,heard,level_dbfs,peak_dbfs,clipped_share,offset,dropouts,dropout_seconds,mains_hertz,\
                 mains_share,bandwidth_hertz,remarks"
            ),
        "{header}"
    );
    let remarks: Vec<String> =
        rows(&ran.stdout).iter().map(|row| row.iter().next_back().unwrap().to_owned()).collect();
    assert_eq!(remarks, ["", "offset", "dropouts", "copy"]);

    let ran = sandbox.run("score model.auscult check").exits(0);
    let summary = "3 of 4 clips with remarks: 1 copy, 1 dropouts, 1 offset";
    assert!(ran.stdout.contains(summary), "{}", ran.stdout);

    let ran = sandbox.run("score model.auscult check --json").exits(0);
    let document = json(&ran.stdout);
    let clips = &document["clips"];
    assert!(clips[0]["quality"]["level_dbfs"].as_f64().unwrap() < 0.0);
    assert_eq!(clips[3]["copy_of"], "check/a_fine.wav");
    let ran = sandbox.run("score model.auscult normal/visit_1/0.wav --jsonl").exits(0);
    assert_eq!(json(&ran.stdout)["copy_of"], "the reference normal/visit_1/0.wav");
}

#[test]
fn sound_much_louder_than_the_references_is_remarked_on() {
    let sandbox = Sandbox::with_model();
    sandbox.write("check/quieter.wav", changed(|_, s| s * 0.1));
    sandbox.write("check/usual.wav", changed(|_, s| s * 0.98));
    let ran = sandbox.run("score model.auscult check --json").exits(0);
    let ran =
        ran.says("check/quieter.wav: loudness: ").says("dB quieter than the quietest reference");
    let document = json(&ran.stdout);
    let clips = &document["clips"];
    assert_eq!(clips[0]["remarks"][0], "loudness");
    assert_eq!(clips[1]["remarks"].as_array().unwrap().len(), 0);
}

#[test]
fn many_remarks_are_counted_not_listed() {
    let sandbox = Sandbox::with_model();
    for index in 0..12 {
        let shift = 0.1 + index as f32 * 0.01;
        sandbox.write(&format!("check/{index:02}.wav"), changed(|_, s| s + shift));
    }
    let ran = sandbox.run("score model.auscult check").exits(0);
    assert_eq!(ran.stderr.matches("offset: ").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("(12 of 12 clips; this is the first)"), "{}", ran.stderr);
    assert!(ran.stdout.contains("12 of 12 clips with remarks: 12 offset"), "{}", ran.stdout);
}

/// 24 references each of two domains, the second one more varied; the model knows both.
fn two_domains() -> Sandbox {
    let sandbox = Sandbox::with_recordings();
    let mut manifest = "path,visit,domain\n".to_owned();
    for visit in 1..4 {
        for take in 0..8 {
            let quiet = 0.5 + 0.1 * take as f32;
            let name = format!("other/{visit}_{take}.wav");
            let shift = visit as f32 * 7.0 + take as f32;
            sandbox.write(
                &name,
                changed(|i, s| s * quiet + 0.1 * (i as f32 * (0.5 + shift * 0.003)).sin()),
            );
            let source = format!("normal/visit_{visit}/{take}.wav,s{visit},source");
            manifest = [manifest, source, format!("\n{name},t{visit},target\n")].concat();
        }
    }
    sandbox.write("domains.csv", manifest);
    sandbox.run("fit --preset paper domains.csv -o model.auscult --clip-seconds 1").exits(0);
    sandbox
}

#[test]
fn clips_of_a_domain_are_judged_by_its_own_references() {
    let sandbox = two_domains();
    sandbox.write("new.wav", changed(|i, s| s + 0.05 * (i as f32 * 0.7).sin()));
    let all = sandbox.score("model.auscult new.wav");
    let source = sandbox.score("model.auscult new.wav --domain source");
    let target = sandbox.score("model.auscult new.wav --domain target");
    assert_eq!(all[0][2], source[0][2], "the score does not depend on the domain");
    assert_ne!(source[0][3], target[0][3], "the p-value does");
    sandbox.write("list.csv", "path,domain\nnew.wav,target\nnew.wav,elsewhere\n");
    let ran = sandbox.run("score model.auscult list.csv --csv").exits(0);
    let ran = ran.says("clips of domain elsewhere are judged by the threshold of all domains together; the model knows source, target");
    let listed = rows(&ran.stdout);
    assert_eq!((&listed[0][3], &listed[1][3]), (&target[0][3], &all[0][3]));
    let ran = sandbox.run("score model.auscult new.wav --domain elsewhere").exits(2);
    ran.says("no references of domain \"elsewhere\"; the model knows source, target");

    sandbox.run("report model.auscult list.csv --json report.json -o report.html").exits(0);
    let report = json(&String::from_utf8(sandbox.read("report.json")).unwrap());
    let domains: Vec<&Value> =
        report["model"]["thresholds"].as_array().unwrap().iter().map(|t| &t["domain"]).collect();
    assert_eq!(domains, [&Value::Null, &Value::from("target")]);
    assert!(
        String::from_utf8(sandbox.read("report.html")).unwrap().contains("Threshold of target")
    );
}

#[test]
fn a_domain_has_its_own_floor() {
    let sandbox = Sandbox::with_recordings();
    sandbox
        .run("fit --preset paper normal -o model.auscult --clip-seconds 1 --domain source")
        .exits(0);
    sandbox.write("few/a.wav", changed(|_, s| s * 0.5));
    sandbox.write("few/b.wav", changed(|_, s| s * 0.4));
    sandbox.run("model add model.auscult few --visit x --domain target").exits(0);
    let ran = sandbox.run("score model.auscult few/a.wav --domain target --jsonl").exits(0);
    assert_eq!(json(&ran.stdout)["verdict"], "undecided");
}

#[test]
fn an_alarm_budget_chooses_a_rule_and_the_model_keeps_it() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..26, 1);
    let line = "fit --preset paper normal -o model.auscult --clip-seconds 1 --json --at-most";
    let words: Vec<&str> = line.split(' ').chain(["40000 alarms per day"]).collect();
    let facts = json(&sandbox.run_words(&words).exits(0).stdout);
    let chosen = &facts["budget"]["chosen"];
    assert_eq!(facts["false_alarm_rate"], chosen["rate"]);
    assert!(facts["budget"]["replay"]["clips"].as_u64().unwrap() > 0);
    let model = json(&sandbox.run("inspect model.auscult --json").exits(0).stdout);
    assert_eq!(model["settings"]["alarm"]["raise"], chosen["raise"]);
    assert_eq!(model["settings"]["false_alarm_rate"], chosen["rate"]);
    let ran = sandbox.run("inspect model.auscult").exits(0);
    let rule = "clips raise it, 5 normal ones in a row clear it; chosen for a clip every 1 s";
    assert!(ran.stdout.contains(rule), "{}", ran.stdout);

    // A budget that 25 clips cannot promise changes nothing, and says so.
    let before = sandbox.read("model.auscult");
    let ran = sandbox.run("calibrate model.auscult --at-most 1/year --save").exits(2);
    assert!(
        ran.stdout
            .contains("at most 1 alarm per year cannot be promised yet: a false-alarm rate of")
    );
    assert!(ran.stdout.contains("and there are 25: record at least"), "{}", ran.stdout);
    ran.says("nothing was saved: no alarm rule keeps the budget");
    assert_eq!(before, sandbox.read("model.auscult"));
    let ran = sandbox
        .run("fit --preset paper normal -o strict.auscult --clip-seconds 1 --at-most 1/year")
        .exits(2);
    ran.says("no model was written: no alarm rule keeps the budget");
    assert!(!sandbox.path("strict.auscult").exists());
    // What 25 clips can promise on average they cannot promise with confidence.
    let words = ["calibrate", "model.auscult", "--at-most", "40000/day", "--confidence", "99.9%"];
    let words: Vec<&str> = words.into_iter().chain(["--save"]).collect();
    let ran = sandbox.run_words(&words).exits(2);
    assert!(ran.stdout.contains("with 99.9 % confidence needs"), "{}", ran.stdout);
    assert_eq!(before, sandbox.read("model.auscult"));
    // A rule chosen for one rate does not outlive it.
    let ran = sandbox.run("calibrate model.auscult --false-alarm-rate 10% --save").exits(0);
    ran.says("the alarm rule was chosen for another rate or calibration and is left out");
    let model = json(&sandbox.run("inspect model.auscult --json").exits(0).stdout);
    assert_eq!(model["settings"].get("alarm"), None);
    let ran = sandbox
        .run("fit --preset paper normal -o m --at-most 1/day --false-alarm-rate 1%")
        .exits(2);
    ran.says("cannot be used with");
}

#[test]
fn absurd_rates_and_budgets_are_refused_before_any_work() {
    let sandbox = Sandbox::with_recordings();
    for rate in ["0", "1", "-1", "100%", "0%", "-5%", "NaN", "inf", "5 %%", "", "none"] {
        let option = format!("--false-alarm-rate={rate}");
        let ran = sandbox.run_words(&["fit", "normal", "-o", "model.auscult", &option]).exits(2);
        assert!(ran.stderr.contains("--false-alarm-rate"), "{rate}: {ran:#?}");
        assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
        assert!(!sandbox.path("model.auscult").exists(), "{rate}");
    }
    for budget in ["0 alarms per month", "-1/day", "1 alarm per century", "", "often", "NaN/day"] {
        let option = format!("--at-most={budget}");
        let ran = sandbox.run_words(&["fit", "normal", "-o", "model.auscult", &option]).exits(2);
        assert!(ran.stderr.contains("--at-most"), "{budget}: {ran:#?}");
        assert!(!sandbox.path("model.auscult").exists(), "{budget}");
    }
    for confidence in ["0", "1", "100%", "-0.5", "NaN"] {
        let option = format!("--confidence={confidence}");
        let ran = sandbox.run_words(&["fit", "normal", "-o", "model.auscult", &option]).exits(2);
        assert!(ran.stderr.contains("--confidence"), "{confidence}: {ran:#?}");
    }
}

#[test]
fn one_visit_and_one_recording_are_said_to_be_weaker() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..2, 24);
    let ran = sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 1").exits(0);
    ran.says("verdicts are provisional: no second visit is known");
    let long: Vec<f32> = (0..24)
        .flat_map(|take| auscult_testing::ClipRecipe { take, ..clip() }.render().unwrap())
        .collect();
    sandbox.write("long.wav", wav_of_samples(&long));
    let ran = sandbox.run("fit --preset paper long.wav -o long.auscult --clip-seconds 1").exits(0);
    ran.says("verdicts are provisional: all references come from one recording");
}

#[test]
fn without_visits_nothing_is_promised_anywhere_unless_somebody_vouches() {
    let why = "verdicts are provisional: no second visit is known";
    let sandbox = Sandbox::new();
    for visit in 1..25 {
        let recipe = auscult_testing::ClipRecipe { visit, ..clip() };
        sandbox.write(&format!("normal/{visit}.wav"), wav_of_samples(&recipe.render().unwrap()));
    }
    let facts =
        sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 1 --json").exits(0);
    assert_eq!(json(&facts.stdout)["promised"], false);
    let ran = sandbox.run("score model.auscult normal").exits(0);
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
    assert!(!ran.stdout.contains("at most 5 %"), "{}", ran.stdout);
    sandbox.run("score model.auscult normal --csv").exits(0).says(why);
    let ran = sandbox.run("score model.auscult normal/1.wav --jsonl").exits(0).says(why);
    assert_eq!(json(&ran.stdout)["promised"], false);
    let ran = sandbox.run("explain model.auscult normal/1.wav --json").exits(0).says(why);
    assert_eq!(json(&ran.stdout)["clips"][0]["promised"], false);
    let ran = sandbox.run("inspect model.auscult").exits(0);
    assert!(ran.stdout.contains(", provisional (for at most 5 % false alarms)"), "{}", ran.stdout);
    let calibrated = json(&sandbox.run("calibrate model.auscult --json").exits(0).stdout);
    assert_eq!(calibrated["promised"], false);
    assert!(calibrated["threshold"].as_f64().unwrap() > 0.0);
    // One clip with a name does not make ninety visits of the others.
    let named = auscult_testing::ClipRecipe { visit: 30, ..clip() };
    sandbox.write("day2/a.wav", wav_of_samples(&named.render().unwrap()));
    std::fs::copy(sandbox.path("model.auscult"), sandbox.path("mixed.auscult")).unwrap();
    let ran = sandbox.run("model add mixed.auscult day2 --visit day2").exits(0);
    ran.says("verdicts are provisional");
    sandbox.run("calibrate model.auscult --at-most 40000/day --save").exits(2);
    sandbox.run("report model.auscult normal -o page.html --json facts.json").exits(0).says(why);
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("The threshold is provisional: no second visit is known"));
    assert!(page.contains("No rate is promised yet"));
    let facts = json(&String::from_utf8(sandbox.read("facts.json")).unwrap());
    assert_eq!(facts["model"]["thresholds"][0]["promised"], false);

    let ran = sandbox.run("calibrate model.auscult --scheme files --save").exits(0);
    ran.says("files were left out, as you chose: the promise holds if files are as independent");
    let ran = sandbox.run("score model.auscult normal").exits(0);
    let promised = "at most 5 % of normal clips are called anomalous, if files are as independent";
    assert!(ran.stdout.contains(promised), "{}", ran.stdout);
    sandbox.run("report model.auscult normal -o page.html").exits(0);
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("The promise was made on condition that they are as independent"));
}

#[test]
fn old_results_stay_until_there_are_new_ones() {
    let sandbox = Sandbox::with_model();
    sandbox.write("broken.wav", "no sound");
    for (line, name) in [
        ("--csv --output old", "old"),
        ("--jsonl --output old", "old"),
        ("--json --output old", "old"),
        ("--parquet old", "old"),
    ] {
        sandbox.write(name, "old results");
        for input in ["broken.wav", "nowhere*.wav"] {
            sandbox.run(&format!("score model.auscult {input} {line}")).exits(2);
            assert_eq!(sandbox.read(name), b"old results", "{line} {input}");
        }
    }
    sandbox.run("report model.auscult broken.wav -o old").exits(2).says("no report was written");
    assert_eq!(sandbox.read("old"), b"old results");
    let ran = sandbox.run("features broken.wav --npz old").exits(2);
    ran.says("no clip had features, so nothing was written");
    assert_eq!(sandbox.read("old"), b"old results");
}

#[test]
fn a_split_is_shown_and_not_saved() {
    let sandbox = Sandbox::with_model();
    let before = sandbox.read("model.auscult");
    sandbox.run("calibrate model.auscult --scheme split").exits(0);
    let ran = sandbox.run("calibrate model.auscult --scheme split --save").exits(2);
    ran.says("takes every third visit out of the memory for good");
    assert_eq!(before, sandbox.read("model.auscult"));
}

#[test]
fn the_alarm_rule_is_applied_to_clips_in_order() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..26, 1);
    let line = "fit --preset paper normal -o model.auscult --clip-seconds 1 --at-most";
    let words: Vec<&str> = line.split(' ').chain(["5000 alarms per day"]).collect();
    sandbox.run_words(&words).exits(0);
    let model = json(&sandbox.run("inspect model.auscult --json").exits(0).stdout);
    let raise = model["settings"]["alarm"]["raise"].as_u64().unwrap() as usize;
    assert!(raise > 1, "{model:#}");
    for index in 0..8 {
        let step = 1.3 + 0.01 * index as f32;
        sandbox.write(
            &format!("check/{index}.wav"),
            changed(|i, s| s + 0.3 * (i as f32 * step).sin()),
        );
    }
    let ran = sandbox.run("score model.auscult check").exits(0);
    let alarm = format!("clips, in the order given): alarm at check/{}.wav", raise - 1);
    assert!(ran.stdout.contains(&alarm), "{}", ran.stdout);
    let document = json(&sandbox.run("score model.auscult check --json").exits(0).stdout);
    let states = &document["clips"];
    assert_eq!(
        (&states[0]["alarm"], &states[raise - 1]["alarm"]),
        (&"alert".into(), &"alarm".into())
    );
    let ran = sandbox.run("score model.auscult normal").exits(0);
    assert!(ran.stdout.contains("in the order given): no alarm"), "{}", ran.stdout);
    let ran = sandbox.run("score model.auscult check --false-alarm-rate 5%").exits(0);
    assert!(ran.stdout.contains("alarm rule: not applied, it was chosen for the model's own rate"));
    sandbox.run("report model.auscult check -o page.html").exits(0);
    assert!(String::from_utf8(sandbox.read("page.html")).unwrap().contains(&alarm));
}

#[test]
fn a_short_recording_is_remarked_on_and_less_than_half_a_clip_is_not_scored() {
    let sandbox = Sandbox::with_model();
    let samples = clip().render().unwrap();
    sandbox.write("check/most.wav", wav_of_samples(&samples[..12_000]));
    sandbox.write("check/less.wav", wav_of_samples(&samples[..7_000]));
    let ran = sandbox.run("score model.auscult check --json").exits(2);
    let ran = ran.says("check/most.wav: short: 0.8 s of sound, silence fills the clip up to 1.0 s");
    let ran = ran.says("not scored check/less.wav: too short: 7000 samples, at least 8000");
    let document = json(&ran.stdout);
    let clips = &document["clips"];
    assert_eq!(clips[0]["verdict"], "too-short");
    assert_eq!(clips[1]["remarks"][0], "short");
    let ran =
        sandbox.run("fit --preset paper check/most.wav -o short.auscult --clip-seconds 1").exits(0);
    ran.says("check/most.wav: short: ");
}

#[test]
fn results_never_replace_what_they_were_made_from() {
    let sandbox = Sandbox::with_model();
    sandbox.write("list.csv", "path\nnormal/visit_1/0.wav\n");
    let sound = "normal/visit_1/0.wav";
    for (line, kept, why) in [
        ("report model.auscult normal -o normal/visit_1/0.wav", sound, "exists and is a recording"),
        (
            "report model.auscult normal --json model.auscult",
            "model.auscult",
            "this command reads it",
        ),
        ("features normal --npy normal/visit_1/0.wav", sound, "exists and is a recording"),
        ("features normal --npz model.auscult", "model.auscult", "exists and is a model"),
        ("score model.auscult normal --csv --output normal/visit_1/0.wav", sound, "is a recording"),
        (
            "score model.auscult list.csv --csv --output list.csv",
            "list.csv",
            "this command reads it",
        ),
        ("score model.auscult normal --parquet model.auscult", "model.auscult", "reads it"),
        ("encoder convert ced-tiny -o model.auscult", "model.auscult", "exists and is a model"),
    ] {
        let before = sandbox.read(kept);
        sandbox.run(line).exits(2).says(why);
        assert_eq!(before, sandbox.read(kept), "{line}");
    }
    // Whatever it is called: a recording is known by its first bytes.
    for name in ["no_extension", "hard_link.csv"] {
        std::fs::hard_link(sandbox.path(sound), sandbox.path(name)).unwrap();
        let before = sandbox.read(sound);
        let line = format!("score model.auscult normal --csv --output {name}");
        sandbox.run(&line).exits(2).says("exists and is a recording");
        assert_eq!(before, sandbox.read(sound), "{name}");
    }
    let ran = sandbox.run("report model.auscult normal -o one.html --json one.html").exits(2);
    ran.says("--output and --json name the same file");
    // Its own old results are another matter.
    sandbox.run("score model.auscult normal --csv --output scores.csv").exits(0);
    sandbox.run("score model.auscult normal --csv --output scores.csv").exits(0);
}

#[test]
fn identical_clips_count_once_and_promise_nothing() {
    let sandbox = Sandbox::new();
    for index in 0..30 {
        sandbox.write(&format!("normal/{index:02}.wav"), changed(|_, s| s));
    }
    let ran = sandbox.run("fit --preset paper normal -o model.auscult --clip-seconds 1").exits(0);
    assert!(ran.stdout.contains("29 left out as copies"), "{}", ran.stdout);
    ran.says("no verdicts yet");
    let ran = sandbox.run("score model.auscult normal/00.wav --jsonl").exits(0);
    assert_eq!(json(&ran.stdout)["verdict"], "undecided");
    assert_eq!(json(&ran.stdout)["score"], 0.0);
    let ran = sandbox.run("calibrate model.auscult --json").exits(0);
    assert_eq!(json(&ran.stdout)["threshold"], Value::Null);
    sandbox.run("report model.auscult normal -o report.html").exits(0);
}

#[test]
fn references_that_all_score_zero_still_give_a_model_and_a_page() {
    // With LPC a gain changes nothing: every reference is at no distance from the others.
    let sandbox = Sandbox::new();
    for index in 0..24 {
        let gain = 0.5 + 0.02 * index as f32;
        sandbox.write(&format!("normal/v{}/{index:02}.wav", index % 6), changed(|_, s| s * gain));
    }
    sandbox.run("fit normal -o model.auscult --clip-seconds 1 --front-end lpc").exits(0);
    sandbox.run("calibrate model.auscult --at-most 1/day").exits(0);
    let ran = sandbox.run("score model.auscult normal/v0/00.wav --jsonl").exits(0);
    assert_eq!(json(&ran.stdout)["verdict"], "normal");
    sandbox.run("report model.auscult normal -o report.html --json -").exits(0);
}

#[test]
fn a_manifest_with_unknown_visits_is_used_and_said_to_be_weaker() {
    let sandbox = Sandbox::with_recordings();
    let rows: Vec<String> = (1..4)
        .flat_map(|visit| (0..8).map(move |take| format!("normal/visit_{visit}/{take}.wav,")))
        .collect();
    sandbox.write("list.csv", format!("path,visit\n{}\n", rows.join("\n")));
    let ran = sandbox.run("fit --preset paper list.csv -o model.auscult --clip-seconds 1").exits(0);
    ran.says("verdicts are provisional: no second visit is known");
    // Asking for visits that are not known is refused, and nothing is written.
    let line = "fit --preset paper list.csv -o other.auscult --clip-seconds 1 --calibration visits";
    let ran = sandbox.run(line).exits(2);
    assert!(ran.stderr.contains("visit"), "{ran:#?}");
    assert!(!sandbox.path("other.auscult").exists());
    // A domain column that is not there is no domain.
    let ran = sandbox.run("score model.auscult list.csv --csv --domain target").exits(2);
    ran.says("the model knows no domains");
}

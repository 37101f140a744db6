use crate::support::{Sandbox, clip, faulty_clip, wav_of};
use auscult_testing::ClipRecipe;

const QUICK: &str = "--method autoencoder --clip-seconds 1 --epochs 12 --folds 2";

/// Three visits to learn from, a healthy and a faulty clip to check.
fn plant() -> Sandbox {
    let sandbox = Sandbox::with_recordings();
    sandbox.write("check/faulty.wav", wav_of(&faulty_clip()));
    sandbox.write("check/healthy.wav", wav_of(&ClipRecipe { visit: 3, take: 90, ..clip() }));
    sandbox
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_network_is_a_model_like_any_other() {
    let sandbox = plant();
    for line in
        ["", "--error-score mahalanobis --network mimii", "--calibration split --storage f16"]
    {
        sandbox.run(&format!("fit normal -o m.auscult {QUICK} {line}")).exits(0);
        sandbox.run("model verify m.auscult").exits(0);
        sandbox.run("calibrate m.auscult").exits(0);
        assert_eq!(sandbox.score("m.auscult check").len(), 2, "{line}");
        let facts = json(&sandbox.run("inspect m.auscult --json").exits(0).stdout);
        assert_eq!(facts["model_file_version"], 6);
        assert_eq!(facts["bands"].as_array().unwrap().len(), 8);
        let references = if line.contains("split") { 8 } else { 24 };
        assert_eq!(facts["references"], references, "{line}");
        let text = sandbox.run("inspect m.auscult").exits(0).stdout;
        assert!(text.contains("autoencoder (") && text.len() < 4000, "{text}");
    }
}

/// Enough to tell a fault, on a network without batch normalisation, which needs longer.
const LEARNT: &str = "--network mimii --epochs 300";

#[test]
fn what_is_faulty_is_reproduced_worse_and_the_reasons_are_in_hertz() {
    let sandbox = plant();
    let fit = format!("fit normal -o m.auscult {QUICK} {LEARNT}").replace("--epochs 12", "");
    sandbox.run(&fit).exits(0);
    let rows = sandbox.score("m.auscult check");
    let score = |row: usize| rows[row][2].parse::<f64>().unwrap();
    assert!(score(0) > score(1), "faulty {} against healthy {}", score(0), score(1));
    let foreign = sandbox.run("score m.auscult check --encoder x.safetensors").exits(2);
    foreign.says(
        "the weights in x.safetensors have no effect: the model's autoencoder is not an encoder; leave out --encoder",
    );
    let text = sandbox.run("explain m.auscult check/faulty.wav").exits(0).stdout;
    assert!(text.contains("times its normal error") && text.contains("Hz"), "{text}");
    assert!(!text.contains("reference"), "nothing is compared: {text}");
    let reasons = json(&sandbox.run("explain m.auscult check --json").exits(0).stdout);
    assert!(!reasons.to_string().contains("\"reference\""), "{reasons}");
    sandbox.run("report m.auscult check -o page.html").exits(0);
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("How badly the network reproduces each clip"));
    for untrue in ["remembers", "cleaner company", "<th scope=\"row\">Distance", "memory"] {
        assert!(!page.contains(untrue), "{untrue}");
    }
}

/// Folds have fewer clips; with fewer steps, too, their errors would be several times as large.
#[test]
fn networks_of_folds_learn_as_much_as_the_models_own() {
    let sandbox = Sandbox::new();
    sandbox
        .run("synth --out syn --machine pump --layout visits --seconds 2 --train 24 0 --test 2 0")
        .exits(0);
    let fit = "fit syn/pump/normal -o m.auscult --method autoencoder --network mimii --epochs 300 \
               --clip-seconds 2 --folds 2 --json";
    let ran = sandbox.run(fit).exits(0);
    assert!(!ran.stderr.contains("the threshold is loose"), "{}", ran.stderr);
    let threshold = json(&ran.stdout)["threshold"].as_f64().unwrap();
    let rows = sandbox.score("m.auscult syn/pump/normal");
    let mut scores: Vec<f64> = rows.iter().map(|row| row[2].parse().unwrap()).collect();
    scores.sort_by(f64::total_cmp);
    let median = scores[scores.len() / 2];
    assert!(threshold < 2.0 * median, "{threshold} against {median}");
}

#[test]
fn a_threshold_far_above_what_was_learnt_is_told() {
    let sandbox = plant();
    // Two machines as two visits: each is strange to the network of the other.
    let sandbox_fan = "synth --out syn --machine fan --machine valve --layout visits --seconds 1 \
                       --train 8 0 --test 2 0 --visits 1";
    sandbox.run(sandbox_fan).exits(0);
    for machine in ["fan", "valve"] {
        let from = sandbox.path(format!("syn/{machine}/normal/visit_01"));
        std::fs::create_dir_all(sandbox.path("mixed")).unwrap();
        std::fs::rename(from, sandbox.path(format!("mixed/{machine}"))).unwrap();
    }
    let fit = format!("fit mixed -o m.auscult {QUICK} {LEARNT}").replace("--epochs 12", "");
    sandbox.run(&fit).exits(0).says("the threshold is loose: clips a network never heard score");
}

#[test]
fn the_same_seed_gives_the_same_file_on_any_number_of_threads() {
    let sandbox = plant();
    for (name, jobs) in [("a", 1), ("b", 2)] {
        sandbox.run(&format!("fit normal -o {name}.auscult {QUICK} --jobs {jobs}")).exits(0);
    }
    assert_eq!(sandbox.read("a.auscult"), sandbox.read("b.auscult"));
}

#[test]
fn clips_it_was_not_trained_on_may_be_added() {
    let sandbox = plant();
    sandbox.run(&format!("fit normal -o m.auscult {QUICK}")).exits(0);
    sandbox.record("more", 7..8, 3);
    let note = "note: the network was not trained again, only the calibration changed; fit again for a network of \
                these recordings";
    sandbox.run("model add m.auscult more").exits(0).says(note);
    let facts = json(&sandbox.run("inspect m.auscult --json").exits(0).stdout);
    assert_eq!(facts["references"], 27);
    sandbox.score("m.auscult check");
    sandbox.run("model forget m.auscult --index 0").exits(0).says(note);
}

#[test]
fn what_a_network_cannot_use_is_refused() {
    let sandbox = plant();
    for (line, message) in [
        ("--method autoencoder --band-width 4", "an autoencoder compares nothing; leave it out"),
        ("--method autoencoder --epochs 0", "epochs must be 1 to 100000, got 0"),
        ("--method autoencoder --folds 1", "folds must be at least 2, got 1"),
        ("--method autoencoder --error-score rmse", "mahalanobis-official"),
        ("--method autoencoder --network deep", "dcase, mimii or idnn"),
        (
            "--method autoencoder --encoder x.safetensors",
            "the weights in x.safetensors have no effect: an autoencoder is not an encoder; give --front-end ced, \
             beats or eat, or leave out --encoder",
        ),
        (
            "--method adabeam --encoder x.safetensors",
            "log-mel is not an encoder; give --front-end ced, beats or eat",
        ),
        (
            "--preset fast --method autoencoder",
            "--method cannot be given beside --preset fast, which chooses it",
        ),
        ("--method autoencoder --clip-seconds 0.1", "clip length must be at least 0.13 seconds"),
        ("--method knn", "known: global, beam, adabeam, autoencoder"),
    ] {
        let length = if line.contains("--clip-seconds") { "" } else { "--clip-seconds 1" };
        let fit = format!("fit normal -o m.auscult {length} {line}");
        sandbox.run(&fit).exits(2).says(message);
    }
    let fit = "fit normal/visit_1/0.wav -o m.auscult --method autoencoder --clip-seconds 1";
    sandbox.run(fit).exits(2).says("at least 2");
    assert!(!sandbox.path("m.auscult").exists());
}

#[test]
fn it_stands_beside_the_others_in_bench() {
    let sandbox = Sandbox::new();
    for take in 0..12 {
        let folder = if take < 8 { "train" } else { "test/normal" };
        let recipe = ClipRecipe { visit: 1 + take / 4, take, ..clip() };
        sandbox.write(&format!("data/pump/{folder}/{take}.wav"), wav_of(&recipe));
    }
    for take in 0..4 {
        let recipe = ClipRecipe { take, ..faulty_clip() };
        sandbox.write(&format!("data/pump/test/anomaly/{take}.wav"), wav_of(&recipe));
    }
    let eval = "bench eval --data data --dataset folder --clip-seconds 1 --json \
                --back-end autoencoder --error-score";
    let auc = |line: &str| {
        let got = json(&sandbox.run(&format!("{eval} {line}")).exits(0).stdout);
        got["auc"].as_f64().unwrap()
    };
    assert!(auc(&format!("mse {LEARNT}")) > 0.9);
    let other = "bench eval --data data --dataset folder --clip-seconds 1 --encoder x.safetensors";
    sandbox.run(other).exits(2).says("the weights in x.safetensors have no effect: log-mel is not");
    let other = format!("{other} --back-end autoencoder");
    sandbox.run(&other).exits(2).says("have no effect: an autoencoder is not an encoder");
    for score in ["mahalanobis", "mahalanobis-official"] {
        assert!((0.0..=1.0).contains(&auc(&format!("{score} --epochs 5"))), "{score}");
    }
    let protocol = "name = 'both'\ntitle = 'Both'\ndatasets = ['folder']\nclip_seconds = 1.0\n\
        [[system]]\nname = 'network'\nback_end = 'autoencoder'\nfront_end = 'log-mel-map'\n\
        convention = 'mimii'\nepochs = 2\n[[system]]\nname = 'beam'\nmethod = 'beam'\n";
    sandbox.write("both.toml", protocol);
    let line = "bench run both.toml --data data --dataset folder --out run";
    let foreign = sandbox.run(&format!("{line} --encoder x.safetensors")).exits(2);
    foreign.says(
        "have no effect: no front end here is an encoder of their kind and size; leave out --encoder",
    );
    let table = sandbox.run(line).exits(0);
    assert!(table.stdout.contains("network") && table.stdout.contains("beam"));
}

#[test]
fn a_training_too_short_to_mean_something_is_noted_by_fit_and_by_bench() {
    let sandbox = plant();
    let note = |epochs: usize| {
        format!(
            "training steps are few, and below 1000 scores say little; give more recordings, or more epochs than \
             {epochs}\n"
        )
    };
    sandbox.run(&format!("fit normal -o m.auscult {QUICK}")).exits(0).says(&note(12));
    for take in 0..6 {
        let folder = ["train", "train", "train", "train", "test/normal", "test/anomaly"][take];
        let recipe = ClipRecipe { take: take as u32, ..clip() };
        sandbox.write(&format!("data/pump/{folder}/{take}.wav"), wav_of(&recipe));
    }
    let eval = "bench eval --data data --dataset folder --clip-seconds 1 --back-end autoencoder --network mimii";
    let ran = sandbox.run(&format!("{eval} --epochs 2 --json")).exits(0);
    assert_eq!(ran.stderr.matches(&note(2)).count(), 1, "{ran:#?}");
    ran.says("pump: ");
    let ran = sandbox.run(&format!("{eval} --epochs 1100 --json")).exits(0);
    assert!(!ran.stderr.contains("training steps"), "{ran:#?}");
}

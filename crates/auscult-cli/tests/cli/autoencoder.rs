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
        assert_eq!(facts["model_file_version"], 3);
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
    let text = sandbox.run("explain m.auscult check/faulty.wav").exits(0).stdout;
    assert!(text.contains("times its normal error") && text.contains("Hz"), "{text}");
    assert!(!text.contains("reference"), "nothing is compared: {text}");
    sandbox.run("report m.auscult check -o page.html").exits(0);
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
fn clips_it_never_heard_may_be_added() {
    let sandbox = plant();
    sandbox.run(&format!("fit normal -o m.auscult {QUICK}")).exits(0);
    sandbox.record("more", 7..8, 3);
    sandbox.run("model add m.auscult more").exits(0);
    let facts = json(&sandbox.run("inspect m.auscult --json").exits(0).stdout);
    assert_eq!(facts["references"], 27);
    sandbox.score("m.auscult check");
}

#[test]
fn what_a_network_cannot_use_is_refused() {
    let sandbox = plant();
    for (line, message) in [
        ("--method autoencoder --band-width 4", "an autoencoder compares nothing; leave it out"),
        ("--method autoencoder --epochs 0", "epochs must be 1 to 100000, got 0"),
        ("--method autoencoder --folds 1", "folds must be at least 2, got 1"),
        ("--method autoencoder --error-score rmse", "mahalanobis-official"),
        ("--method autoencoder --network deep", "dcase or mimii"),
        ("--method knn", "known: global, beam, adabeam, autoencoder"),
    ] {
        let fit = format!("fit normal -o m.auscult --clip-seconds 1 {line}");
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
    for score in ["mahalanobis", "mahalanobis-official"] {
        assert!((0.0..=1.0).contains(&auc(&format!("{score} --epochs 5"))), "{score}");
    }
    let protocol = "name = 'both'\ntitle = 'Both'\ndatasets = ['folder']\nclip_seconds = 1.0\n\
        [[system]]\nname = 'network'\nback_end = 'autoencoder'\nfront_end = 'log-mel-map'\n\
        convention = 'mimii'\nepochs = 2\n[[system]]\nname = 'beam'\nmethod = 'beam'\n";
    sandbox.write("both.toml", protocol);
    let table = sandbox.run("bench run both.toml --data data --dataset folder --out run").exits(0);
    assert!(table.stdout.contains("network") && table.stdout.contains("beam"));
}

#[test]
fn a_training_too_short_to_mean_something_is_told_by_fit_and_by_bench() {
    let sandbox = plant();
    let told = "training steps are few, and below 500 scores say little; give more recordings, or more --epochs";
    sandbox.run(&format!("fit normal -o m.auscult {QUICK}")).exits(0).says(told);
    for take in 0..6 {
        let folder = ["train", "train", "train", "train", "test/normal", "test/anomaly"][take];
        let recipe = ClipRecipe { take: take as u32, ..clip() };
        sandbox.write(&format!("data/pump/{folder}/{take}.wav"), wav_of(&recipe));
    }
    let eval = "bench eval --data data --dataset folder --clip-seconds 1 --back-end autoencoder --network mimii";
    let ran = sandbox.run(&format!("{eval} --epochs 2 --json")).exits(0);
    assert_eq!(ran.stderr.matches(told).count(), 1, "{ran:#?}");
    ran.says("pump: ");
    let ran = sandbox.run(&format!("{eval} --epochs 600 --json")).exits(0);
    assert!(!ran.stderr.contains("training steps"), "{ran:#?}");
}

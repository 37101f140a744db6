use crate::support::Sandbox;

#[cfg(not(feature = "training"))]
#[test]
fn a_program_without_training_says_how_to_get_it() {
    Sandbox::new()
        .run("train --data x --dataset folder --out run")
        .exits(2)
        .says("built without training; build it with: cargo build --release -p auscult-cli");
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

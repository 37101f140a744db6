//! Encoders as front ends, their weights, and several front ends at once.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    thread,
};

use auscult_testing::ClipRecipe;

use crate::support::{Ran, Sandbox, clip, faulty_clip, wav_of};

/// Runs a line with pulled encoders in `encoders/` of the sandbox.
fn run(sandbox: &Sandbox, line: &str) -> Ran {
    let mut command = sandbox.command(line.split_whitespace());
    Ran::of(command.env("AUSCULT_ENCODERS", sandbox.path("encoders")).output().unwrap())
}

fn with_check() -> Sandbox {
    let sandbox = Sandbox::with_recordings();
    sandbox.write("check/normal.wav", wav_of(&ClipRecipe { take: 50, ..clip() }));
    sandbox.write("check/odd.wav", wav_of(&faulty_clip()));
    sandbox
}

#[test]
fn ced_works_without_a_network() {
    let sandbox = with_check();
    let ran = run(&sandbox, "fit normal -o m --clip-seconds 1 --front-end ced").exits(0);
    assert!(ran.stdout.contains("front end   ced-tiny (layer 8), 4 bands"), "{ran:#?}");
    let ran = run(&sandbox, "score m check").exits(0);
    assert!(ran.stdout.contains("1 anomalous, 1 normal"), "{ran:#?}");
    let ran = run(&sandbox, "explain m check/odd.wav").exits(0);
    assert!(ran.stdout.contains("Hz"), "{ran:#?}");
    let ran = run(&sandbox, "inspect m --json").exits(0);
    let facts: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let front_end = &facts["settings"]["front_end"];
    assert_eq!(front_end["name"], "ced");
    assert_eq!(front_end["settings"]["encoder"], "ced-tiny");
    assert_eq!(front_end["settings"]["layers"], serde_json::json!([8]));
    assert_eq!(front_end["settings"]["preprocessing"], "stft-512-160-64-mel-decibels");
    assert_eq!(front_end["settings"]["fingerprint"].as_str().unwrap().len(), 32);
    run(&sandbox, "model verify m").exits(0);
}

#[test]
fn threads_do_not_change_a_bit_of_the_model() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..3, 3);
    run(&sandbox, "fit normal -o one --clip-seconds 1 --front-end ced --jobs 1").exits(0);
    run(&sandbox, "fit normal -o three --clip-seconds 1 --front-end ced --jobs 3").exits(0);
    assert_eq!(sandbox.read("one"), sandbox.read("three"));
}

#[test]
fn layers_and_rows_are_chosen() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..3, 3);
    let line = "fit normal -o m --clip-seconds 1 --front-end ced --layer 4,12 --rows-per-band 2";
    let ran = run(&sandbox, line).exits(0);
    assert!(ran.stdout.contains("ced-tiny (layer 4,12), 4 bands"), "{ran:#?}");
    let ran = run(&sandbox, "explain m normal/visit_1/0.wav").exits(0);
    assert!(ran.stdout.contains("layer 4") || ran.stdout.contains("layer 12"), "{ran:#?}");
}

#[test]
fn what_encoders_cannot_do_is_refused() {
    let sandbox = Sandbox::with_recordings();
    for (options, reason) in [
        ("--front-end ced --layer 14", "to 12 or 13 (the normalised output) for ced-tiny, got 14"),
        ("--front-end ced --layer 8,4,8", "layers must be different ones, got 8 twice"),
        ("--front-end ced --layer -1", "a layer is 0 (the input of the first block) to 13 for ced"),
        ("--front-end ced --layer 8,-1", "a layer is 0 (the input of the first block) to 13"),
        ("--front-end ced --layer x", "a layer is 0 (the input of the first block) to 13"),
        ("--front-end ced --rows-per-band 3", "a divisor of the 4 rows of ced-tiny, got 3"),
        ("--front-end ced --class-token", "class token must be left out: ced-tiny has none"),
        (
            "--front-end ced --sample-rate 8000",
            "sample rate must be 16000 Hz for ced-tiny, got 8000; see --sample-rate",
        ),
        (
            "--front-end ced --clip-seconds 0.5",
            "must be 1 to 30 seconds for ced-tiny, got 0.5; see --clip-seconds",
        ),
        ("--front-end ced --convention s15", "ced has no convention \"s15\"; its forms are layers"),
        (
            "--front-end mfcc --layer 8",
            "--layer has no effect: mfcc is not an encoder; leave it out",
        ),
        (
            "--front-end beats",
            "auscult encoder pull beats-iter3-plus fetches them, --encoder FILE names a file",
        ),
        (
            "--front-end beats-iter3",
            "auscult encoder pull beats-iter3 --from LINK fetches them (auscult encoder list says where the link is), \
             --encoder FILE names a file",
        ),
        (
            "--front-end bees",
            "unknown front end \"bees\"; known: log-mel, mfcc, lpc, modulation, ced-tiny",
        ),
        ("--front-end ced --encoder gone.pt", "cannot read gone.pt"),
        ("--front-end ced+ced", "two different ones or more"),
        (
            "--front-end ced --layer 6 --convention layer-8",
            "both name the layer of ced; leave one out",
        ),
        ("--front-end mfcc:librosa", "a convention follows a colon only where + joins"),
        ("--front-end ced+mfcc --band-width 5", "have bands of their own"),
        ("--front-end ced+mfcc --convention s15", "give that of a member after a colon"),
        (
            "--front-end ced --combine-members min",
            "ced has no members to combine; use several front ends, such as ced+mfcc; leave out --combine-members",
        ),
    ] {
        let length = if options.contains("--clip-seconds") { "" } else { "--clip-seconds 1" };
        run(&sandbox, &format!("fit normal -o m {length} {options}")).exits(2).says(reason);
    }
}

#[test]
fn scoring_with_other_weights_is_refused_with_both_names() {
    let sandbox = with_check();
    run(&sandbox, "encoder convert ced -o ced.safetensors").exits(0);
    let line = "fit normal -o m --clip-seconds 1 --front-end ced --encoder ced.safetensors";
    run(&sandbox, line).exits(0);
    // The converted weights are the bundled ones.
    run(&sandbox, "score m check").exits(0);
    let mut bytes = sandbox.read("ced.safetensors");
    let last = bytes.len() - 1;
    bytes[last] ^= 0x10;
    sandbox.write("other.safetensors", bytes);
    let ran = run(&sandbox, "score m check --encoder other.safetensors").exits(2);
    let ran = ran.says("the model was made with ced-tiny (a765b270756a)");
    assert!(ran.stderr.contains("the weights here are ced-tiny ("), "{ran:#?}");
    assert!(ran.stderr.contains(" in other.safetensors; give the ones"), "{ran:#?}");
}

#[test]
fn a_truncated_file_is_named_with_its_sizes() {
    let sandbox = with_check();
    run(&sandbox, "fit normal -o m --clip-seconds 1 --front-end ced").exits(0);
    run(&sandbox, "encoder convert ced -o ced.safetensors").exits(0);
    let whole = sandbox.read("ced.safetensors");
    sandbox.write("cut.safetensors", &whole[..whole.len() / 2]);
    let said = format!(
        "cut.safetensors: truncated: it has {} bytes, its table of tensors says {}",
        whole.len() / 2,
        whole.len()
    );
    run(&sandbox, "score m check --encoder cut.safetensors").exits(2).says(&said);
    let line = "fit normal -o n --clip-seconds 1 --front-end ced --encoder cut.safetensors";
    run(&sandbox, line).exits(2).says(&said);
    run(&sandbox, "encoder check cut.safetensors").exits(2).says("cut.safetensors: truncated");
}

#[test]
fn a_converted_file_says_what_it_is() {
    let sandbox = Sandbox::new();
    run(&sandbox, "encoder convert ced -o once.safetensors").exits(0);
    run(&sandbox, "encoder convert ced -o twice.safetensors").exits(0);
    assert_eq!(sandbox.read("once.safetensors"), sandbox.read("twice.safetensors"));
    let info = run(&sandbox, "encoder info once.safetensors --json").exits(0).stdout;
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["config"]["embed_dim"], 192);
    assert_eq!(info["source_sha256"].as_str().unwrap().len(), 64);
    let info = run(&sandbox, "encoder info once.safetensors").exits(0).stdout;
    assert!(info.contains("made from    a file with sha256 "), "{info}");
    let info = run(&sandbox, "encoder info ced").exits(0).stdout;
    assert!(!info.contains("made from"), "{info}");
}

#[test]
fn a_model_is_shown_without_the_weights_of_its_encoder() {
    let sandbox = with_check();
    run(&sandbox, "encoder convert ced -o ced.safetensors").exits(0);
    let mut bytes = sandbox.read("ced.safetensors");
    let last = bytes.len() - 1;
    bytes[last] ^= 0x10;
    sandbox.write("own.safetensors", bytes);
    let line = "fit normal -o m --clip-seconds 1 --front-end ced+mfcc --layer 4,6 --rows-per-band 2 \
                --precision int16 --combine-members min --encoder own.safetensors";
    run(&sandbox, line).exits(0);
    let with = run(&sandbox, "inspect m --encoder own.safetensors").exits(0).stdout;
    // The weights it was made with are gone.
    run(&sandbox, "score m check").exits(2).says("the model was made with ced-tiny (");
    let without = run(&sandbox, "inspect m").exits(0).stdout;
    assert_eq!(with, without);
    let model: serde_json::Value =
        serde_json::from_str(&run(&sandbox, "inspect m --json").exits(0).stdout).unwrap();
    let encoder = &model["settings"]["front_end"]["settings"]["members"][0]["settings"];
    let fingerprint = encoder["fingerprint"].as_str().unwrap();
    let said = format!("ced-tiny, fingerprint {fingerprint}, layer 4,6, 2 rows a band, int16\n");
    assert!(without.contains(&said), "{without}");
    assert!(without.contains("ced + mfcc, min of their scores\n"), "{without}");
    assert!(model["bands"][0]["hertz"].is_object(), "{model:#}");
    assert_eq!(model["bands"][0]["member"], "ced");
    let score = run(&sandbox, "score m check --encoder own.safetensors").exits(0);
    assert!(score.stdout.contains("1 anomalous"), "{score:#?}");
}

#[test]
fn several_front_ends_score_together() {
    let sandbox = with_check();
    let line =
        "fit normal -o m --clip-seconds 1 --front-end ced+mfcc:librosa --density-exponent auto";
    let ran = run(&sandbox, line).exits(0);
    assert!(ran.stdout.contains("ced-tiny (layer 8) + mfcc (librosa), 9 bands"), "{ran:#?}");
    let ran = run(&sandbox, "score m check").exits(0);
    assert!(ran.stdout.contains("1 anomalous, 1 normal"), "{ran:#?}");
    let ran = run(&sandbox, "explain m check/odd.wav --json").exits(0);
    assert!(ran.stdout.contains("\"part\": \"ced\"") && ran.stdout.contains("\"part\": \"mfcc\""));
    run(&sandbox, "model verify m").exits(0);
    sandbox.record("more", 4..5, 3);
    run(&sandbox, "model add m more").exits(0);
    run(&sandbox, "model forget m --visit visit_4").exits(0);
    run(&sandbox, "inspect m").exits(0);
    run(&sandbox, "features check --front-end ced+mfcc --clip-seconds 1 --npy f.npy").exits(0);
    run(&sandbox, "features check --front-end ced+mfcc --clip-seconds 1 --view frames --npy g.npy")
        .exits(2)
        .says("have no common frames");
}

#[test]
fn the_raw_and_the_normalised_form_of_a_front_end_score_together() {
    let sandbox = with_check();
    let line = "fit normal -o m --clip-seconds 1 --method beam --density-exponent auto \
                --front-end ced@raw+ced@ldn+mfcc@raw+mfcc@ldn";
    let ran = run(&sandbox, line).exits(0);
    assert!(ran.stdout.contains("ced-tiny (layer 8) + mfcc (kaldi), 18 bands"), "{ran:#?}");
    assert!(ran.stdout.contains("members     ced@raw + ced@ldn + mfcc@raw + mfcc@ldn"), "{ran:#?}");
    let ran = run(&sandbox, "score m check").exits(0);
    assert!(ran.stdout.contains("1 anomalous, 1 normal"), "{ran:#?}");
    let ran = run(&sandbox, "explain m check/odd.wav --json").exits(0);
    for member in ["ced@raw", "ced@ldn", "mfcc@raw", "mfcc@ldn"] {
        assert!(ran.stdout.contains(&format!("\"part\": \"{member}\"")), "{ran:#?}");
    }
    let ran = run(&sandbox, "inspect m --json").exits(0);
    let model: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(model["axis"]["length"], 4 * 192 + 90, "vectors are kept once");
    assert_eq!(model["bands"][4]["member"], "ced@ldn");
    assert_eq!(model["bands"][0]["hertz"], model["bands"][4]["hertz"]);
    let ran = run(&sandbox, "inspect m").exits(0);
    let said = "members      ced@raw + ced@ldn + mfcc@raw + mfcc@ldn, mean of their scores\n";
    assert!(ran.stdout.contains(said), "{ran:#?}");
    run(&sandbox, "calibrate m").exits(0);
    run(&sandbox, "model verify m").exits(0);
    let before = sandbox.read("m");
    sandbox.record("more", 4..5, 3);
    run(&sandbox, "model add m more").exits(0);
    run(&sandbox, "model forget m --visit visit_4").exits(0);
    assert_eq!(sandbox.read("m"), before);
    run(&sandbox, "fit normal -o n --clip-seconds 1 --front-end ced@raw+ced").exits(0);
    let ran = run(&sandbox, "explain n check/odd.wav --json").exits(0);
    assert!(ran.stdout.contains("\"part\": \"ced@raw\""), "{ran:#?}");
    run(&sandbox, "model verify n").exits(0);
    for (options, reason) in [
        (
            "--front-end ced@raw",
            "one front end compares plain distances with 0 neighbours; give --neighbours 0",
        ),
        ("--front-end ced@red+mfcc", "unknown normalisation \"red\"; known: raw, ldn"),
        ("--front-end ced@raw+ced@raw", "two different ones or more, got ced@raw twice"),
        ("--front-end ced@ldn+ced", "must be all different, got ced@ldn and ced"),
        ("--front-end ced@raw+ced@ldn --neighbours 0", "1 or more for ced@ldn, got 0"),
    ] {
        let line = format!("fit normal -o m --clip-seconds 1 {options}");
        run(&sandbox, &line).exits(2).says(reason);
    }
    let line = "features check --clip-seconds 1 --front-end ced@raw+mfcc --npy f.npy";
    run(&sandbox, line).exits(2).says("say how scores are made, not vectors");
}

#[test]
fn recordings_too_short_for_a_clip_are_named() {
    let sandbox = Sandbox::new();
    sandbox.record("normal", 1..3, 2);
    let line = "fit normal -o m --front-end ced --clip-seconds 10";
    let ran = run(&sandbox, line).exits(2);
    assert!(ran.stderr.contains("or choose shorter clips"), "{ran:#?}");
    let ran = run(&sandbox, "fit normal -o m --front-end ced --clip-seconds 1.5").exits(0);
    assert!(ran.stderr.contains("or choose shorter clips"), "{ran:#?}");
}

#[test]
fn encoders_are_listed_described_checked_and_converted() {
    let sandbox = Sandbox::new();
    let list = run(&sandbox, "encoder list").exits(0).stdout;
    assert!(list.contains("ced-tiny") && list.contains("part of this program"), "{list}");
    let list = run(&sandbox, "encoder list --json").exits(0).stdout;
    let list: Vec<serde_json::Value> = serde_json::from_str(&list).unwrap();
    assert!(list.iter().any(|known| known["name"] == "eat-large"));
    let info = run(&sandbox, "encoder info ced --json").exits(0).stdout;
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["encoder"], "ced-tiny");
    assert!(info["load_seconds"].is_f64() && info["weight_bytes"].is_u64());
    let text = run(&sandbox, "encoder info ced").exits(0).stdout;
    assert!(text.contains("layers       0 to 13, 8 if not said otherwise"), "{text}");
    let checked = run(&sandbox, "encoder check ced").exits(0).stdout;
    assert!(checked.contains("works: ced-tiny (a765b270756a)"), "{checked}");
    run(&sandbox, "encoder convert ced -o ced.safetensors").exits(0);
    let converted = run(&sandbox, "encoder check ced.safetensors").exits(0).stdout;
    assert!(converted.contains("ced-tiny (a765b270756a)"), "{converted}");
    sandbox.write("junk.pt", b"PK\x03\x04junk");
    for (line, reason) in [
        ("encoder check junk.pt", "a damaged zip"),
        ("encoder info eat-base", "auscult encoder pull eat-base"),
        ("encoder info beats-iter3", "fetch it: auscult encoder pull beats-iter3 --from LINK"),
        ("encoder check gone.pt", "neither a file nor an encoder"),
        ("encoder pull beats-iter3", "give the link with --from"),
        ("encoder pull bees", "unknown encoder"),
        ("encoder pull ced-mini --from gone", "cannot read gone"),
        ("encoder pull eat-base --from junk.pt", "expected 8623072d"),
        ("encoder pull ced-mini --from junk.pt", "junk.pt is not ced-mini"),
    ] {
        run(&sandbox, line).exits(2).says(reason);
    }
    assert!(!sandbox.path("encoders/ced-mini.safetensors").exists());
}

/// Serves `file` over HTTP, from the byte a range asks for; breaks off the first answer.
fn serve(file: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/model", listener.local_addr().unwrap());
    thread::spawn(move || {
        for (turn, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut from = 0;
            for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                let line = line.unwrap().to_ascii_lowercase();
                if let Some(range) = line.strip_prefix("range: bytes=") {
                    from = range.trim_end_matches('-').parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            let status = match from {
                0 => "200 OK",
                from if from < file.len() => "206 Partial Content",
                _ => "416 Range Not Satisfiable",
            };
            let rest = file.get(from..).unwrap_or_default();
            let (length, whole) = (rest.len(), file.len());
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nContent-Range: bytes */{whole}\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).unwrap();
            let sent = if turn == 0 { length / 3 } else { length };
            stream.write_all(&rest[..sent]).unwrap();
        }
    });
    address
}

#[test]
fn pull_goes_on_where_it_broke_off() {
    let sandbox = with_check();
    run(&sandbox, "encoder convert ced -o ced.safetensors").exits(0);
    let weights = sandbox.read("ced.safetensors");
    let address = serve(weights.clone());
    let plain = format!("encoder pull ced-tiny --from {address}");
    run(&sandbox, &plain)
        .exits(2)
        .says("nobody says which checksum it must have")
        .says("--unverified");
    run(&sandbox, &format!("{plain} --unverified"))
        .exits(2)
        .says("does not begin with https")
        .says("--insecure");
    assert!(!sandbox.path("encoders/ced-tiny.safetensors").exists());
    let line = format!("{plain} --insecure --unverified");
    // The first answer breaks off; another connection brings the rest.
    let ran = run(&sandbox, &line).exits(0);
    assert!(ran.stderr.contains("its sha256 is"), "{ran:#?}");
    assert_eq!(sandbox.read("encoders/ced-tiny.safetensors"), weights, "what was pulled");
    let ran = run(&sandbox, &line).exits(0);
    assert!(ran.stdout.contains("is here already"), "{ran:#?}");
    run(&sandbox, &format!("{line} --sha256 00ff"))
        .exits(2)
        .says("expected 00ff; delete it and pull");
    // What an earlier pull left is taken up, also if it is whole, and not if it is too much.
    let part = "encoders/ced-tiny.safetensors.part";
    for have in [weights.len() / 2, weights.len(), weights.len() + 9] {
        std::fs::remove_file(sandbox.path("encoders/ced-tiny.safetensors")).unwrap();
        let bytes: Vec<u8> = weights.iter().copied().chain([0; 9]).take(have).collect();
        sandbox.write(part, bytes);
        let ran = run(&sandbox, &line).exits(0);
        let is_noted = ran.stderr.contains("ced-tiny: continuing after");
        assert_eq!(is_noted, have < weights.len(), "{ran:#?}");
        assert_eq!(sandbox.read("encoders/ced-tiny.safetensors"), weights, "{have}");
    }
}

#[test]
fn pull_without_a_network_says_what_to_do() {
    let sandbox = Sandbox::new();
    // A port nobody listens on.
    let ran = run(
        &sandbox,
        "encoder pull ced-mini --insecure --unverified --from http://127.0.0.1:9/x.safetensors",
    )
    .exits(2);
    let target = sandbox.path("encoders/ced-mini.safetensors");
    let told = format!(
        "download it with a browser, put it at {} and run auscult encoder check ced-mini",
        target.display()
    );
    ran.says("cannot fetch http://127.0.0.1:9/x.safetensors: ").says(&told);
}

#[test]
fn weights_of_another_size_are_not_taken_under_a_name() {
    let sandbox = with_check();
    run(&sandbox, "encoder convert ced -o ced.safetensors").exits(0);
    let ran = run(&sandbox, "encoder pull ced-mini --from ced.safetensors").exits(2);
    ran.says("encoder must be the weights of ced-mini, got ced-tiny");
    assert!(!sandbox.path("encoders/ced-mini.safetensors").exists());
    sandbox.write("encoders/ced-small.safetensors", sandbox.read("ced.safetensors"));
    let ran = run(&sandbox, "fit normal -o m --clip-seconds 1 --front-end ced-small").exits(2);
    ran.says("encoder must be the weights of ced-small, got ced-tiny");
}

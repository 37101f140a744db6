//! `auscult bench` and `auscult data`.

use auscult_testing::golden;
use serde_json::Value;

use crate::support::{Sandbox, clip, faulty_clip, vectors_below, wav_of, written_below};
use auscult_testing::ClipRecipe;

pub(crate) fn e2e() -> String {
    golden::testdata().join("golden/e2e").display().to_string()
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// 8 normal clips to learn, 4 normal and 4 faulty ones to judge, of 1 s.
pub(crate) fn with_folder() -> Sandbox {
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
    sandbox
}

#[test]
fn official_scores_are_those_of_an_independent_implementation() {
    let expected = json(
        &std::fs::read_to_string(golden::testdata().join("golden/e2e/expected.json")).unwrap(),
    );
    let sandbox = Sandbox::new();
    for (options, name) in [
        ("--method adabeam", "logmel_s15/adabeam_K1"),
        ("--method beam --neighbours 0", "logmel_s15/beam_K0"),
        ("--method global --fuse mean", "logmel_s15/global_dmm_K1"),
        ("--front-end mfcc --method beam", "mfcc/beam_K1"),
        ("--front-end lpc --convention spectrum --method global --neighbours 0", "lpc/global_K0"),
        ("--front-end lpc", "lpc_inv/beam_K1"),
    ] {
        let line = format!(
            "bench eval --data {} --dataset dcase2023 --clip-seconds 2 --json {options}",
            e2e()
        );
        let got = json(&sandbox.run(&line).exits(0).stdout);
        let want = expected["official"][name].as_f64().unwrap();
        assert!(
            (got["official_score"].as_f64().unwrap() - want).abs() < 1e-9,
            "{name}: {} {want}",
            got["official_score"]
        );
        assert_eq!(got["machines"].as_array().unwrap().len(), 2);
        assert_eq!(got["machines"][0]["machine"], "fan");
        assert_eq!(got["machines"][0]["train"], 13);
    }
    let line = format!(
        "bench eval --data {} --dataset dcase2023 --clip-seconds 2 --json --machine valve",
        e2e()
    );
    let got = json(&sandbox.run(&line).exits(0).stdout);
    assert_eq!(got["machines"].as_array().unwrap().len(), 1);
}

#[test]
fn vectors_are_computed_once_and_damaged_ones_again() {
    let sandbox = with_folder();
    let line = "bench eval --data data --dataset folder --clip-seconds 1 --front-end ced --json";
    let first = sandbox.run(line).exits(0).stdout;
    let kept = vectors_below(&sandbox.path("cache"));
    assert_eq!(kept.len(), 16);
    assert_eq!(sandbox.run(line).exits(0).stdout, first);
    for path in &kept {
        std::fs::write(path, b"damaged").unwrap();
    }
    assert_eq!(sandbox.run(line).exits(0).stdout, first);
    assert!(std::fs::metadata(&kept[0]).unwrap().len() > 100, "written again");
    assert_eq!(sandbox.run(&format!("{line} --no-cache --jobs 1")).exits(0).stdout, first);
}

#[test]
fn scores_can_be_judged_again() {
    let sandbox = with_folder();
    let line =
        "bench eval --data data --dataset folder --clip-seconds 1 --json --scores scores.csv";
    let eval = json(&sandbox.run(line).exits(0).stdout);
    let metrics = json(&sandbox.run("metrics scores.csv --json").exits(0).stdout);
    assert_eq!(eval["machines"][0]["auc"], metrics["auc"]);
    assert_eq!(eval["official_score"], metrics["official_scores"]["dcase2020"]);
}

#[test]
fn scores_of_clips_with_the_same_name_are_told_apart() {
    let sandbox = Sandbox::new();
    for take in 0..8 {
        let (normal, faulty) =
            (ClipRecipe { take, ..clip() }, ClipRecipe { take, ..faulty_clip() });
        sandbox.write(&format!("data/pump/normal/{take}.wav"), wav_of(&normal));
        if take < 2 {
            sandbox.write(&format!("data/pump/anomaly/{take}.wav"), wav_of(&faulty));
        }
    }
    let line = "bench eval --data data --dataset folder --clip-seconds 1 --json --scores s.csv";
    let eval = json(&sandbox.run(line).exits(0).stdout);
    let scores = String::from_utf8(sandbox.read("s.csv")).unwrap();
    assert!(scores.contains("\nnormal/0.wav,") && scores.contains("\nanomaly/0.wav,"), "{scores}");
    let metrics = json(&sandbox.run("metrics s.csv --json").exits(0).stdout);
    assert_eq!(eval["machines"][0]["auc"], metrics["auc"]);
}

#[test]
fn every_back_end_finds_bad_bearings() {
    let sandbox = with_folder();
    for back_end in ["nearest", "mahalanobis", "pca-residual", "gmm", "k-means"] {
        let line = format!(
            "bench eval --data data --dataset folder --clip-seconds 1 --json --back-end {back_end}"
        );
        let got = json(&sandbox.run(&line).exits(0).stdout);
        assert!(got["machines"][0]["auc"].as_f64().unwrap() > 0.9, "{back_end}: {got}");
    }
    let line = "bench eval --data data --dataset folder --clip-seconds 1 --json --back-end genrep";
    sandbox.run(line).exits(2).says("needs references of both domains");
}

#[test]
fn several_forms_of_front_ends_are_judged_and_other_back_ends_refuse_them() {
    let sandbox = with_folder();
    let eval = "bench eval --data data --dataset folder --clip-seconds 1 --json";
    let names = "log-mel@raw+log-mel@ldn+mfcc@raw";
    let got =
        json(&sandbox.run(&format!("{eval} --method beam --front-end {names}")).exits(0).stdout);
    assert!(got["machines"][0]["auc"].as_f64().unwrap() > 0.9, "{got}");
    assert_eq!(got["detector"]["ensemble"]["members"][1]["normalisation"], "ldn");
    sandbox.write(
        "forms.toml",
        format!(
            "name = 'forms'\ntitle = 'forms'\ndatasets = ['folder']\nclip_seconds = 1.0\n\
             [[system]]\nname = 'all'\nmethod = 'beam'\nfront_end = '{names}'\n\
             [[system]]\nname = 'plain'\nmethod = 'beam'\nfront_end = 'log-mel+mfcc'\n"
        ),
    );
    let line = "bench run forms.toml --data data --dataset folder --out run --samples 100";
    sandbox.run(line).exits(0);
    let results = json(&String::from_utf8(sandbox.read("run/results.json")).unwrap());
    let scores: Vec<&Value> =
        results["rows"].as_array().unwrap().iter().map(|row| &row["score"]).collect();
    assert_eq!(scores.len(), 2);
    assert_eq!(*scores[0], got["official_score"]);
    for back_end in ["mahalanobis", "pca-residual", "gmm", "k-means"] {
        let line = format!("{eval} --front-end log-mel+mfcc --back-end {back_end}");
        sandbox.run(&line).exits(2).says("front end must be one for this back end");
    }
}

#[test]
fn a_protocol_runs_is_written_and_goes_on_where_it_was() {
    let sandbox = with_folder();
    let line = "bench run my-folder --data data --out run --clip-seconds 1 --samples 100";
    let ran = sandbox.run(line).exits(0);
    assert!(ran.stdout.contains("| log-mel AdaBEAM | "), "{}", ran.stdout);
    for name in [
        "results.json",
        "results.md",
        "results.tex",
        "index.html",
        "scores-folder.parquet",
        "sections/folder_all_pump_.json",
    ] {
        assert!(sandbox.path("run").join(name).is_file(), "{name}");
    }
    let page = String::from_utf8(sandbox.read("run/index.html")).unwrap();
    assert!(
        page.contains("default-src 'none'") && !page.contains("<script") && !page.contains("://"),
        "{page}"
    );
    let results = json(&String::from_utf8(sandbox.read("run/results.json")).unwrap());
    assert!(
        results["rows"].as_array().unwrap().iter().all(|row| row["score"].is_f64()),
        "{results}"
    );
    // A finished section is not computed again.
    let sections = written_below(&sandbox.path("run/sections"));
    assert_eq!(sandbox.run(line).exits(0).stdout, ran.stdout);
    assert_eq!(written_below(&sandbox.path("run/sections")), sections);
}

#[test]
fn sweeps_and_diagnostics_have_their_figures() {
    let sandbox = Sandbox::new();
    let data = e2e();
    let run = |protocol: &str, missing: usize| {
        let line = format!(
            "bench run {protocol} --data {data} --dataset dcase2023 --out {protocol} --clip-seconds 2 --samples 0"
        );
        // BEATs is not on this machine: told, and the rest runs.
        let ran = sandbox.run(&line).exits(2);
        let told =
            format!("- not run: beats-iter3 ({missing} systems): the weights of beats-iter3 are");
        assert_eq!(ran.stdout.matches(&told).count(), 1, "{}", ran.stdout);
        assert!(
            !ran.stdout.contains("| beats")
                && ran.stderr.contains("encoder pull beats-iter3 --from LINK")
        );
        String::from_utf8(sandbox.read(&format!("{protocol}/index.html"))).unwrap()
    };
    let page = run("figure-k", 30);
    assert!(page.contains("<polyline") && page.contains(">32</text>"), "{page}");
    let results = json(&String::from_utf8(sandbox.read("figure-k/results.json")).unwrap());
    assert_eq!(results["rows"].as_array().unwrap().len(), 60);
    let line =
        format!("bench run diagnostics --data {data} --dataset dcase2023 --out d --clip-seconds 2");
    let ran = sandbox.run(&line).exits(2).says("not run: beats-iter3: the weights");
    assert!(ran.stdout.contains("Theorem 1"), "{}", ran.stdout);
    assert!(ran.stdout.contains("- not run: beats-iter3 (diagnostics): "), "{}", ran.stdout);
    let page = String::from_utf8(sandbox.read("d/index.html")).unwrap();
    for figure in
        ["variance ratio", "mean-gap ratio", "d&#39; ratio (LDN, K = 1)", "dcase2023 dev, DMM"]
    {
        assert!(page.contains(figure), "{figure}");
    }
    let results = json(&String::from_utf8(sandbox.read("d/results.json")).unwrap());
    let rows = results["diagnostics"].as_array().unwrap();
    assert_eq!(rows.len(), 28, "five, five and four band sizes, without and with normalisation");
    assert!(rows.iter().all(|row| row["theorem_consistent"] == row["sections"]));
    // Clips of another length are another protocol than the paper's.
    assert!(rows.iter().all(|row| row["paper"].is_null()));
    let line =
        format!("bench run diagnostics --data {data} --dataset dcase2023 --out e --machine fan");
    sandbox.run(&line).exits(2);
    let whole = json(&String::from_utf8(sandbox.read("e/results.json")).unwrap());
    let whole = whole["diagnostics"].as_array().unwrap();
    assert!(whole.iter().any(|row| row["paper"]["d_prime_sub_band"].is_f64()));
    for row in rows {
        // One view of an LPC spectrum has nothing to fuse with.
        let has_two_views = row["front_end"] != "lpc (inverse)";
        assert_eq!(row["d_prime_ratio_both_views"].is_f64(), has_two_views, "{row}");
    }
    // On the whole axis bands are global matching, on both views as well.
    let whole = rows.iter().find(|row| row["front_end"] == "ced" && row["band_width"] == 768);
    let ratio = whole.unwrap()["d_prime_ratio_within_both_views"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
    let page = run("figure-windows", 10);
    assert!(page.contains("dcase2023 dev: mean AUC") && page.contains("dcase2023 dev: score"));
}

#[test]
fn two_systems_on_the_same_clips_are_compared_in_pairs() {
    let sandbox = Sandbox::new();
    let line = format!(
        "bench run genrep --data {} --dataset dcase2023 --out run --clip-seconds 2 --samples 0",
        e2e()
    );
    sandbox.run(&line).exits(2);
    let same = json(&sandbox.run("bench compare run run --json --samples 200").exits(0).stdout);
    assert!(
        same.as_array()
            .unwrap()
            .iter()
            .all(|row| row["difference"] == 0.0 && row["p_value"] == 1.0)
    );
    let words = [
        "bench",
        "compare",
        "run",
        "run",
        "--json",
        "--system",
        "log-mel GenRep, batch",
        "--against",
        "log-mel AdaBEAM",
    ];
    let rows = json(&sandbox.run_words(&words).exits(0).stdout);
    let row = &rows[0];
    assert_eq!(row["clips"], 40);
    let (low, high) =
        (row["interval"]["low"].as_f64().unwrap(), row["interval"]["high"].as_f64().unwrap());
    assert!(low < high && row["p_value"].as_f64().unwrap() <= 1.0, "{row}");
    sandbox
        .run("bench compare run run --system nobody")
        .exits(2)
        .says("there is no system \"nobody\"; there are \"beats AdaBEAM\", \"beats AdaBEAM by domain, batch\"");
    sandbox
        .run("bench submit run --out sub")
        .exits(2)
        .says("name one with --system: \"log-mel AdaBEAM\", \"log-mel AdaBEAM by domain");
    assert!(!sandbox.path("sub").exists());
    sandbox.run("bench compare nowhere run").exits(2).says("is not a run");
}

#[test]
fn runs_that_cannot_be_compared_are_told_apart() {
    let sandbox = with_folder();
    let protocol = |kind: &str| {
        format!("name = 'p'\ntitle = 'P'\ndatasets = ['{kind}']\n[[system]]\nname = 'one'\n")
    };
    sandbox.write("folder.toml", protocol("folder"));
    sandbox.write("dcase.toml", protocol("dcase2023"));
    sandbox
        .run("bench run folder.toml --data data --out mine --clip-seconds 1 --samples 0")
        .exits(0);
    let run = |options: &str| {
        let data = e2e();
        let line =
            format!("bench run dcase.toml --data {data} --clip-seconds 2 --samples 0 {options}");
        sandbox.run(&line).exits(0);
    };
    run("--out fan --machine fan");
    run("--out valve --machine valve");
    sandbox.run("bench compare mine fan").exits(2).says(
        "mine and fan cannot be compared: the first is of a folder or table (pump), the second of dcase2023 dev \
         (fan 00): clips are compared in pairs, and different data sets have none in common",
    );
    sandbox.run("bench compare fan valve").exits(2).says("no machine and section in common");
    sandbox
        .run("bench submit mine --out sub")
        .exits(2)
        .says("folder pump: only DCASE has submission");
    assert!(!sandbox.path("sub").exists());
    // A table of scores is of the data set of the run beside it.
    let line = format!(
        "bench eval --data {} --dataset dcase2023 --machine fan --clip-seconds 2 --scores s.csv",
        e2e()
    );
    sandbox.run(&line).exits(0);
    let line = "bench compare fan s.csv --system one --against scores --json --samples 100";
    let rows = json(&sandbox.run(line).exits(0).stdout);
    assert_eq!((&rows[0]["dataset"], &rows[0]["clips"]), (&"dcase2023".into(), &20.into()));
    let unlabelled = "path,label,score,machine,section,set\nx.wav,,1,fan,00,dev\n";
    sandbox.write("other.csv", unlabelled);
    sandbox
        .run("bench compare fan other.csv --system one --against scores")
        .exits(2)
        .says("no test clip of one has the name of a test clip of the other");
}

#[test]
fn submission_files_have_the_form_of_the_evaluators() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "p.toml",
        "name = 'p'\ntitle = 'P'\ndatasets = ['dcase2023']\n[[system]]\nname = 'one'\n",
    );
    let line = format!("bench run p.toml --data {} --out run --clip-seconds 2 --samples 0", e2e());
    sandbox.run(&line).exits(0);
    let ran = sandbox.run("bench submit run --out sub").exits(0);
    assert!(
        ran.stdout.contains("called anomalous") && ran.stdout.contains("fan 00"),
        "{}",
        ran.stdout
    );
    let text = |name: &str| String::from_utf8(sandbox.read(name)).unwrap();
    let scores = text("sub/anomaly_score_fan_section_00_test.csv");
    assert_eq!(scores.lines().count(), 20);
    let (name, score) = scores.lines().next().unwrap().split_once(',').unwrap();
    assert!(
        std::path::Path::new(name).extension().is_some_and(|end| end == "wav")
            && score.parse::<f64>().is_ok()
            && !scores.contains('\r')
    );
    let decisions = text("sub/decision_result_fan_section_00_test.csv");
    assert!(decisions.lines().all(|line| line.ends_with(",0") || line.ends_with(",1")));
    sandbox
        .run("bench submit run --out other --system two")
        .exits(2)
        .says("there is no system \"two\"; there are \"one\"");
    assert!(!sandbox.path("other").exists(), "nothing to write, no folder");
}

#[test]
fn an_unlabelled_test_set_is_scored_and_said_not_to_be_judged() {
    let sandbox = Sandbox::new();
    for take in 0..4 {
        sandbox.write(
            &format!("d/Vacuum/train/section_00_source_train_normal_000{take}_x.wav"),
            wav_of(&ClipRecipe { take, ..clip() }),
        );
        sandbox.write(
            &format!("d/Vacuum/test/section_00_000{take}.wav"),
            wav_of(&ClipRecipe { take: 9 + take, ..clip() }),
        );
    }
    let line =
        "bench eval --data d --dataset dcase2023 --clip-seconds 1 --json --scores scores.csv";
    let ran = sandbox.run(line).exits(2).says("test clips have no labels: scores only");
    assert!(json(&ran.stdout)["official_score"].is_null());
    assert_eq!(
        crate::support::rows(&String::from_utf8(sandbox.read("scores.csv")).unwrap()).len(),
        4
    );
    for (folder, values) in
        [("ground_truth_data", [0, 1, 0, 1]), ("ground_truth_domain", [0, 0, 1, 1])]
    {
        let rows: Vec<String> = values
            .iter()
            .enumerate()
            .map(|(i, v)| format!("section_00_000{i}.wav,{v}\n"))
            .collect();
        sandbox.write(
            &format!("truth/{folder}/ground_truth_Vacuum_section_00_test.csv"),
            rows.concat(),
        );
    }
    let ran = sandbox.run(&format!("{line} --truth truth")).exits(0);
    assert!(json(&ran.stdout)["official_score"].is_f64());
}

#[test]
fn broken_clips_are_named_and_the_rest_is_judged() {
    let sandbox = with_folder();
    sandbox.write("data/pump/test/normal/broken.wav", b"RIFF");
    let ran = sandbox
        .run("bench eval --data data --dataset folder --clip-seconds 1 --json")
        .exits(2)
        .says("broken.wav");
    let got = json(&ran.stdout);
    assert_eq!(got["machines"][0]["normal"], 4);
    assert!(got["machines"][0]["auc"].is_f64());
}

#[test]
fn clips_cut_off_and_machines_without_test_clips_are_named() {
    let sandbox = with_folder();
    let mut bytes = sandbox.read("data/pump/test/normal/9.wav");
    bytes.truncate(bytes.len() / 2);
    sandbox.write("data/pump/test/normal/9.wav", bytes);
    let line = "bench eval --data data --dataset folder --clip-seconds 1 --json";
    for _ in 0..2 {
        // The second time from the cache.
        let ran = sandbox.run(line).exits(2).says("9.wav: damaged after 0.499 s");
        assert_eq!(ran.stderr.matches("9.wav").count(), 1, "{}", ran.stderr);
        assert_eq!(json(&ran.stdout)["machines"][0]["normal"], 3);
    }
    std::fs::remove_file(sandbox.path("data/pump/test/normal/9.wav")).unwrap();
    sandbox.run(line).exits(0);
    sandbox.write("data/mill/train/0.wav", wav_of(&clip()));
    let told =
        "folder: no test clips, and so no figures: mill; auscult data check says what is there";
    sandbox.run(line).exits(2).says(told);
    sandbox.run(&format!("{line} --machine pump")).exits(0);
    let run = "bench run my-folder --data data --out run --clip-seconds 1 --samples 0";
    let ran = sandbox.run(run).exits(2).says(told);
    assert!(ran.stdout.contains(&format!("- {told}")), "{}", ran.stdout);
    let ran = sandbox.run("data check data").exits(2);
    assert!(ran.stdout.contains("\nmill: no test clips\n"), "{}", ran.stdout);
}

#[test]
fn wrong_roots_and_names_are_told() {
    let sandbox = with_folder();
    let eval = "bench eval --clip-seconds 1";
    sandbox
        .run(&format!("{eval} --data data --dataset dcase2023"))
        .exits(2)
        .says("names like section_00");
    sandbox.run(&format!("{eval} --data nowhere --dataset folder")).exits(2).says("nowhere");
    sandbox.run(&format!("{eval} --data data --dataset dcase2019")).exits(2).says("dcase2020");
    sandbox
        .run(&format!("{eval} --data data --dataset folder --machine fan"))
        .exits(2)
        .says("there is no machine \"fan\"; there are \"pump\"");
    sandbox.run("bench run table-9 --data data --out run").exits(2).says("one of table-1");
    sandbox
        .run("bench run table-3 --data data --out run")
        .exits(2)
        .says("none of dcase2020, dcase2023, dcase2024 is in data");
}

#[test]
fn too_few_draws_for_an_interval_are_refused() {
    let sandbox = with_folder();
    for samples in ["5", "99", "-1", "1000001"] {
        let line = format!("bench run my-folder --data data --out run --samples {samples}");
        sandbox.run(&line).exits(2).says("give 0 for no intervals, or 100 to 1000000");
    }
    assert!(!sandbox.path("run").exists());
}

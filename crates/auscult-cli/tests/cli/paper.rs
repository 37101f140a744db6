//! The paper's tables by their names: what there is, what it needs, and the tables of the data alone.

use auscult::encoders::to_safetensors;
use auscult_testing::{golden, weights};

use crate::{
    bench::{json, with_folder},
    support::Sandbox,
};

fn e2e() -> String {
    golden::testdata().join("golden/e2e").display().to_string()
}

#[test]
fn the_list_has_every_table_and_figure_and_what_is_missing() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("bench list").exits(0);
    for name in [
        "table-1",
        "table-2",
        "table-3",
        "table-4",
        "table-5",
        "table-6",
        "table-7",
        "figure-2",
        "figure-3",
        "figure-4",
        "figure-5",
        "diagnostics",
        "my-folder",
    ] {
        assert!(ran.stdout.contains(name), "{name}: {}", ran.stdout);
    }
    std::fs::create_dir_all(sandbox.path("data/dcase2023")).unwrap();
    let listed = json(&sandbox.run("bench list --data data --json").exits(0).stdout);
    let table = listed.as_array().unwrap().iter().find(|known| known["name"] == "table-3").unwrap();
    let found = |kind: &str, name: &str| {
        let needed = table[kind].as_array().unwrap().iter();
        needed.clone().find(|needed| needed["name"] == name).unwrap()["found"].clone()
    };
    assert_eq!(found("datasets", "dcase2023"), true);
    assert_eq!(found("datasets", "dcase2024"), false);
    assert_eq!(found("front_ends", "log-mel (s15)"), true);
    assert_eq!(found("front_ends", "beats-iter3"), false);
    assert_eq!(found("front_ends", "ced"), true);
    let cost = listed.as_array().unwrap().iter().find(|known| known["name"] == "cost").unwrap();
    assert_eq!(cost["also"], serde_json::json!(["table-6"]));
    assert_eq!(cost["command"], "auscult bench cost");
    let windows = listed.as_array().unwrap().iter().find(|known| known["name"] == "table-2");
    assert_eq!(windows.unwrap()["front_ends"], serde_json::json!([]), "it needs no weights");
    sandbox.run("bench run table-6 --data data --out run").exits(2).says("auscult bench cost");
    let diagnostics =
        listed.as_array().unwrap().iter().find(|known| known["name"] == "diagnostics");
    assert_eq!(diagnostics.unwrap()["also"], serde_json::json!(["table-7", "figure-2"]));
}

#[test]
fn table_1_counts_what_is_there_beside_the_paper() {
    let sandbox = Sandbox::new();
    // Two machines of a year, far fewer clips than published.
    let line = format!("bench run table-1 --dataset dcase2023 --data {} --out run", e2e());
    let ran = sandbox.run(&line).exits(0);
    assert!(ran.stdout.contains("| dcase2023 dev | fan 00 | train | 10 (990) |"), "{}", ran.stdout);
    let results = json(&String::from_utf8(sandbox.read("run/results.json")).unwrap());
    let rows = results["counts"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "train and test of two machines");
    assert!(rows.iter().all(|row| row["as_paper"] == false));
    assert_eq!(rows[0]["paper"]["source_normal"], 990);
}

#[test]
fn table_1_counts_data_that_the_paper_does_not_have() {
    let sandbox = with_folder();
    let ran = sandbox.run("bench run table-1 --dataset folder --data data --out run").exits(0);
    let row =
        |split: &str, cells: &str| format!("| pump | {split} | {cells} | 0 | not in the paper |");
    assert!(ran.stdout.contains(&row("train", "8 | - | - | -")), "{}", ran.stdout);
    assert!(ran.stdout.contains(&row("test", "4 | 4 | - | -")), "{}", ran.stdout);
}

#[test]
fn table_2_needs_no_data_and_has_the_papers_windows() {
    let sandbox = Sandbox::new();
    // Weights of BEATs and EAT are not in this sandbox.
    sandbox.run("bench run table-2 --data nowhere --out run").exits(0);
    let results = json(&String::from_utf8(sandbox.read("run/results.json")).unwrap());
    let rows = results["windows"].as_array().unwrap();
    let row = |front_end: &str, dataset: &str| {
        let same =
            |row: &&serde_json::Value| row["front_end"] == front_end && row["dataset"] == dataset;
        let row = rows.iter().find(same).unwrap();
        [&row["width"], &row["stride"], &row["windows"]].map(|value| value.as_u64().unwrap())
    };
    assert_eq!(row("log-mel (s15)", "dcase2023"), [38, 38, 4]);
    assert_eq!(row("log-mel (s15)", "dcase2024"), [76, 76, 2]);
    assert_eq!(row("lpc (inverse)", "dcase2020"), [3200, 3200, 3]);
    assert_eq!(row("beats-iter3", "dcase2024"), [768, 768, 8]);
    assert_eq!(row("eat-large", "dcase2023"), [1024, 1024, 8]);
    let known = rows.iter().filter(|row| !row["as_paper"].is_null());
    assert!(known.clone().count() > 8 && known.clone().all(|row| row["as_paper"] == true));
    let page = String::from_utf8(sandbox.read("run/index.html")).unwrap();
    assert!(page.contains("76 (76)"), "{page}");
}

#[test]
fn views_are_chosen_and_refused_where_a_front_end_lacks_them() {
    let sandbox = with_folder();
    let line = |options: &str| {
        format!("bench eval --data data --dataset folder --clip-seconds 1 --json {options}")
    };
    let score = |options: &str| {
        let ran = sandbox.run(&line(options)).exits(0);
        json(&ran.stdout)["detector"]["views"].clone()
    };
    assert_eq!(score("--method beam --views max"), serde_json::json!(["max"]));
    assert_eq!(score("--method beam --views mean,max"), serde_json::json!(["mean", "max"]));
    sandbox
        .run(&line("--front-end lpc --views max"))
        .exits(2)
        .says("--views max: lpc has only mean");
    sandbox.run(&line("--views mean,mean")).exits(2).says("names a view twice");
    sandbox.run(&line("--preset fast --views mean")).exits(2).says("is said by the preset");
    sandbox.run(&line("--back-end gmm --views mean")).exits(2).says("--views says how references");
}

#[test]
fn the_cost_of_a_front_end_is_measured_and_one_that_is_not_here_is_named() {
    let sandbox = Sandbox::new();
    let line = "bench cost --front-end mfcc --references 10 --runs 2 --clip-seconds 1 --json";
    let cost = json(&sandbox.run(line).exits(0).stdout);
    let row = &cost["rows"][0];
    assert_eq!((&row["name"], &row["output"]), (&"mfcc".into(), &90.into()));
    assert!(row["features_ms"]["minimum"].as_f64().unwrap() > 0.0);
    assert_eq!(row["paper"]["features_ms"], 3.95);
    let ran = sandbox.run("bench cost --front-end beats --runs 2 --clip-seconds 1").exits(2);
    ran.says("not measured: beats");
}

/// A BEATs of two small blocks, whose weights follow from the names of its tensors.
fn small_beats() -> Vec<u8> {
    let tensor = |(name, shape): (String, Vec<usize>)| {
        let values = weights::tensor(&name, &shape);
        (name, shape, values)
    };
    let tensors: Vec<_> = weights::small_beats_shapes().into_iter().map(tensor).collect();
    to_safetensors(&tensors, Some(&json(weights::SMALL_BEATS))).unwrap()
}

/// The rows of BEATs run where its weights are, and those of other encoders beside them.
#[test]
fn weights_in_a_file_are_for_their_encoder_and_no_other_row_is_lost() {
    let sandbox = Sandbox::new();
    sandbox.write("beats.safetensors", small_beats());
    let data = format!("--data {} --dataset dcase2023 --machine fan", e2e());
    let run = |line: &str| sandbox.run(&format!("{line} --encoder beats.safetensors"));
    let table =
        format!("bench run table-5 {data} --clip-seconds 1 --samples 0 --no-cache --out run");
    run(&table).exits(0);
    let results = json(&String::from_utf8(sandbox.read("run/results.json")).unwrap());
    let rows = results["rows"].as_array().unwrap();
    for front_end in ["beats", "log-mel", "ced"] {
        let named =
            |row: &&serde_json::Value| row["system"].as_str().unwrap().starts_with(front_end);
        let scored = rows.iter().filter(named).filter(|row| row["score"].is_f64()).count();
        assert_eq!(scored, 19, "{front_end}");
    }
    let text = String::from_utf8(sandbox.read("run/results.md")).unwrap();
    assert!(text.contains("encoder: beats-iter3: beats-2x24, fingerprint"), "{text}");
    let listed = json(&run("bench list --json").exits(0).stdout);
    let table = listed.as_array().unwrap().iter().find(|known| known["name"] == "table-3").unwrap();
    for needed in table["front_ends"].as_array().unwrap() {
        let is_eat = needed["name"].as_str().unwrap().starts_with("eat");
        assert_eq!(needed["found"], !is_eat, "{needed}");
    }
    // Nothing in it is a BEATs.
    run(&format!("bench run baselines {data} --out other"))
        .exits(2)
        .says("the weights in beats.safetensors have no effect");
    run("bench cost --front-end mfcc").exits(2).says("have no effect");
    // What is trained begins with these weights; whether it is trained is another matter.
    let ran = run(&format!("bench run table-4 {data} --clip-seconds 0.1 --out trained")).exits(2);
    assert!(!ran.stderr.contains("have no effect"), "{ran:?}");
}

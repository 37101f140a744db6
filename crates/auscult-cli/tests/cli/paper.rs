//! The paper's tables by their names: what there is, what it needs, and the tables of the data alone.

use auscult_testing::golden;

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
fn table_2_needs_no_data_and_has_the_papers_windows() {
    let sandbox = Sandbox::new();
    // Weights of BEATs and EAT are not in this sandbox: told, and nothing else fails.
    let ran = sandbox.run("bench run table-2 --data nowhere --out run").exits(2);
    ran.says("not run: beats-iter3");
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

//! `auscult cache`, and the three commands that share it.

use crate::{
    bench::{json, with_folder},
    support::{Sandbox, vectors_below, written_below},
};

#[test]
fn bench_fit_and_tune_compute_a_clip_once() {
    let sandbox = with_folder();
    let kept = || written_below(&sandbox.path("cache"));
    let eval = "bench eval --data data --dataset folder --clip-seconds 1 --front-end ced --json";
    sandbox.run(eval).exits(0);
    let of_bench = kept();
    assert_eq!(vectors_below(&sandbox.path("cache")).len(), 16);
    sandbox.run("fit data/pump/train -o best.auscult --preset best --clip-seconds 1").exits(0);
    assert_eq!(kept(), of_bench, "the clips were heard before");
    let tune = "tune data/pump/train -o s.json --preset best --clip-seconds 1 --budget 1";
    sandbox.run(tune).exits(0);
    let all = kept();
    assert!(of_bench.iter().all(|(path, time)| all.get(path) == Some(time)), "written twice");
    // A model is the same however its vectors came.
    let line = "fit data/pump/train --preset best --clip-seconds 1 --no-cache -o anew.auscult";
    sandbox.run(line).exits(0);
    assert_eq!(sandbox.read("anew.auscult"), sandbox.read("best.auscult"));
    assert_eq!(kept(), all);
}

#[test]
fn what_is_scored_or_explained_is_not_kept() {
    let sandbox = with_folder();
    sandbox
        .run("fit data/pump/train -o m.auscult --preset best --clip-seconds 1 --no-cache")
        .exits(0);
    sandbox.run("score m.auscult data/pump/test/normal").exits(0);
    sandbox.run("explain m.auscult data/pump/test/anomaly").exits(0);
    assert!(!sandbox.path("cache").exists());
}

#[test]
fn the_cache_is_shown_and_cleared() {
    let sandbox = with_folder();
    let shown = json(&sandbox.run("cache show --json").exits(0).stdout);
    assert_eq!((&shown["entries"], &shown["bytes"]), (&0.into(), &0.into()));
    let bench = "bench eval --data data --dataset folder --clip-seconds 1";
    sandbox.run(&format!("{bench} --front-end ced")).exits(0);
    let shown = json(&sandbox.run("cache show --json").exits(0).stdout);
    assert_eq!(shown["entries"], 16);
    assert_eq!(shown["most_bytes"], 1_u64 << 30);
    assert_eq!(shown["front_ends"][0]["entries"], 16);
    let name = shown["front_ends"][0]["name"].as_str().unwrap();
    let text = sandbox.run("cache show").exits(0).stdout;
    assert!(text.contains("16 vectors in") && text.contains(name), "{text}");
    let cleared = json(&sandbox.run("cache clear --json").exits(0).stdout);
    assert_eq!(cleared["cleared"]["entries"], 16);
    assert!(written_below(&sandbox.path("cache")).is_empty());
    sandbox.run("cache clear").exits(0);
    // A cache of one's own, with something beside the vectors.
    sandbox.run(&format!("{bench} --front-end ced --cache mine")).exits(0);
    assert_eq!(vectors_below(&sandbox.path("mine")).len(), 16);
    sandbox.write("mine/notes.txt", "mine");
    sandbox.run("cache clear --cache mine").exits(0);
    assert_eq!(written_below(&sandbox.path("mine")).len(), 1);
    sandbox.run("cache show --cache nowhere").exits(2).says("nowhere: not a folder");
    assert!(!sandbox.path("nowhere").exists());
}

#[test]
fn a_cache_that_is_no_folder_is_refused() {
    let sandbox = Sandbox::with_recordings();
    sandbox.write("file", "not a folder");
    sandbox
        .run("fit normal --clip-seconds 1 --cache file -o m.auscult")
        .exits(2)
        .says("--cache file: not a folder");
    assert!(!sandbox.path("m.auscult").exists());
}

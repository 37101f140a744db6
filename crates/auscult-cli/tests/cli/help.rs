//! Help texts, word by word: a change of them is a change of the program.

use crate::support::Sandbox;

macro_rules! help_is_as_written {
    ($($name:ident: $line:literal;)*) => {$(
        #[test]
        fn $name() {
            let ran = Sandbox::new().run(concat!($line, " --help")).exits(0);
            insta::assert_snapshot!(ran.stdout);
            assert_eq!(ran.stderr, "");
        }
    )*};
}

help_is_as_written! {
    help_of_the_program: "";
    help_of_demo: "demo";
    help_of_fit: "fit";
    help_of_score: "score";
    help_of_explain: "explain";
    help_of_report: "report";
    help_of_calibrate: "calibrate";
    help_of_tune: "tune";
    help_of_inspect: "inspect";
    help_of_model: "model";
    help_of_model_add: "model add";
    help_of_model_forget: "model forget";
    help_of_model_verify: "model verify";
    help_of_model_coreset: "model coreset";
    help_of_features: "features";
    help_of_encoder: "encoder";
    help_of_encoder_list: "encoder list";
    help_of_encoder_pull: "encoder pull";
    help_of_encoder_check: "encoder check";
    help_of_encoder_info: "encoder info";
    help_of_encoder_convert: "encoder convert";
    help_of_synth: "synth";
    help_of_train: "train";
    help_of_metrics: "metrics";
    help_of_data: "data";
    help_of_data_check: "data check";
    help_of_data_download: "data download";
    help_of_bench: "bench";
    help_of_bench_eval: "bench eval";
    help_of_bench_list: "bench list";
    help_of_bench_run: "bench run";
    help_of_bench_cost: "bench cost";
    help_of_bench_compare: "bench compare";
    help_of_bench_submit: "bench submit";
    help_of_serve: "serve";
    help_of_serve_user: "serve user";
    help_of_serve_token: "serve token";
    help_of_completions: "completions";
}

#[test]
fn every_option_is_documented_in_every_help() {
    for line in [
        "fit",
        "tune",
        "score",
        "explain",
        "report",
        "calibrate",
        "features",
        "synth",
        "demo",
        "model add",
    ] {
        let help = Sandbox::new().run(&format!("{line} --help")).exits(0).stdout;
        for option in help.lines().filter(|text| text.trim_start().starts_with("--")) {
            // Options whose text did not fit stand alone; the text is on the next line.
            let words = option.split_whitespace().count();
            assert!(words > 1 || help.contains(&format!("{option}\n     ")), "{line}: {option}");
        }
    }
}

#[test]
fn short_help_is_one_screen() {
    for line in ["fit", "score", "explain", "report", "tune", "model add", "calibrate"] {
        let help = Sandbox::new().run(&format!("{line} -h")).exits(0).stdout;
        let lines = help.lines().count();
        assert!(lines <= 48, "{line} -h has {lines} lines:\n{help}");
        assert!(help.contains("see more with '--help'"), "{line}: {help}");
    }
    let help = Sandbox::new().run("fit -h").exits(0).stdout;
    for term in ["--density-rule", "--rows-per-band", "--metric", "--storage", "--convention"] {
        assert!(!help.contains(term), "{term} is not for the first screen");
    }
    insta::assert_snapshot!(help);
}

#[test]
fn version_names_the_build() {
    let version = Sandbox::new().run("--version").exits(0).stdout;
    for fact in ["auscult 0.", "commit:", "compiler:   rustc", "target:", "model file: version "] {
        assert!(version.contains(fact), "{version}");
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = Sandbox::new().run(&format!("completions {shell}")).exits(0).stdout;
        assert!(script.contains("features") && script.contains("hop-seconds"), "{shell}");
    }
}

#[test]
fn without_a_command_the_help_is_printed() {
    let ran = Sandbox::new().run("").exits(2);
    assert!(ran.stderr.contains("A first look:      auscult demo"), "{ran:#?}");
}

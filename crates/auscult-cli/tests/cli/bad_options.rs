//! Options with absurd or contradicting values.

use crate::support::Sandbox;

/// Runs each line and looks for its saying; no file may appear and nothing may take long.
#[track_caller]
fn refuses(sandbox: &Sandbox, before: &str, cases: &[(&str, &str)]) {
    for (line, saying) in cases {
        let ran = sandbox.run(&format!("{before} {line}")).exits(2);
        assert!(ran.stderr.contains(saying), "{line}: {ran:#?}");
        assert_eq!(ran.stdout, "", "{line}");
        assert!(!sandbox.path("x.auscult").exists(), "{line}");
    }
}

#[test]
fn absurd_numbers_for_fit_are_refused_with_what_is_allowed() {
    let sandbox = Sandbox::with_recordings();
    let cases = [
        ("--clip-seconds nan", "clip length must be 0.1 to 600 seconds, got NaN"),
        ("--clip-seconds -1", "clip length must be 0.1 to 600 seconds, got -1"),
        ("--clip-seconds inf", "clip length must be 0.1 to 600 seconds, got inf"),
        ("--clip-seconds 601", "clip length must be 0.1 to 600 seconds, got 601"),
        ("--clip-seconds ten", "invalid float"),
        ("--sample-rate 0", "sample rate must be 1000 to 384000 Hz, got 0"),
        ("--sample-rate 4294967295", "sample rate must be 1000 to 384000 Hz"),
        ("--sample-rate -1", "a sample rate is 1000 to 384000 Hz, or native"),
        ("--hop-seconds 0", "clip hop must be at least one sample"),
        ("--hop-seconds -3", "clip hop must be at least one sample"),
        ("--hop-seconds nan", "clip hop must be at least one sample"),
        ("--hop-seconds 1e9", "at most 3600 s, got 1000000000 s"),
        (
            "--channel -1",
            "channel must be a number from 0 to 63, `mean`, or two numbers such as `0-1` (0 is near, 1 hears the hall), got `-1`",
        ),
        (
            "--channel 64",
            "channel must be a number from 0 to 63, `mean`, or two numbers such as `0-1` (0 is near, 1 hears the hall), got `64`",
        ),
        (
            "--channel left",
            "channel must be a number from 0 to 63, `mean`, or two numbers such as `0-1` (0 is near, 1 hears the hall), got `left`",
        ),
        ("--band-width 0", "band width must be in 1..=128, got 0"),
        ("--band-width -5", "invalid value '-5' for '--band-width <C>'"),
        ("--band-stride 0", "band stride must be at least 1, got 0"),
        ("--neighbours -1", "invalid value '-1' for '--neighbours <K>'"),
        ("--density-exponent nan", "density exponent must be 0 to 1, or auto"),
        ("--density-exponent -1", "density exponent must be 0 to 1, or auto, got -1"),
        ("--density-exponent 2", "density exponent must be 0 to 1, or auto, got 2"),
        ("--max-references 0", "--max-references must be at least 1, got 0"),
        ("--false-alarm-rate 0", "false-alarm rate must be above 0 and below 1"),
        ("--false-alarm-rate 100%", "false-alarm rate must be above 0 and below 1"),
        ("--false-alarm-rate nan", "false-alarm rate must be above 0 and below 1"),
        ("--false-alarm-rate rarely", "a number such as 0.05 or 5%"),
        (
            "--epochs 5",
            "--epochs says how an autoencoder is trained; give --method autoencoder too",
        ),
        ("--network mimii", "--network says how an autoencoder is trained"),
        ("--folds 2", "--folds says how an autoencoder is trained"),
        (
            "--method autoencoder --layer 4",
            "--layer has no effect: an autoencoder is not an encoder; leave it out",
        ),
        ("--method autoencoder --front-end mfcc", "--front-end says what sound is turned into"),
        ("--method autoencoder --metric euclidean", "--metric says how references are compared"),
        ("--jobs 0", "0 is not in 1..=512"),
        ("--jobs -1", "-1 is not in 1..=512"),
        ("--jobs 100000", "100000 is not in 1..=512"),
    ];
    refuses(&sandbox, "fit normal -o x.auscult", &cases);
}

#[test]
fn huge_numbers_that_mean_all_are_taken_as_all() {
    let sandbox = Sandbox::with_recordings();
    let huge = usize::MAX;
    for option in ["neighbours", "max-references", "band-width", "band-stride"] {
        let line =
            format!("fit --method adabeam normal -o x.auscult --clip-seconds 1 --{option} {huge}");
        sandbox.run(&line).exits(0);
        sandbox.run("model verify x.auscult").exits(0);
    }
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let sandbox = Sandbox::with_recordings();
    let cases = [
        (
            "--front-end bees",
            "unknown front end \"bees\"; known: log-mel, mfcc, lpc, modulation, ced-tiny",
        ),
        ("--convention x", "known: s15, kaldi, dcase, mimii, beats-input, eat-input"),
        ("--front-end mfcc --convention dcase", "known: kaldi, no-lifter, s15"),
        ("--method knn", "known: global, beam, adabeam"),
        ("--metric l3", "known: cosine, unit-euclidean, euclidean, squared-euclidean"),
        ("--density-rule x", "known: minimum-ratio, at-nearest"),
        ("--aggregate median", "known: mean, max, min"),
        ("--fuse median", "known: mean, max, min"),
        ("--clips last", "possible values: all, first"),
    ];
    refuses(&sandbox, "fit normal -o x.auscult --clip-seconds 1", &cases);
}

#[test]
fn options_that_contradict_each_other_are_refused_with_a_way_out() {
    let sandbox = Sandbox::with_recordings();
    let cases = [
        (
            "--front-end lpc --method adabeam",
            "adabeam compares two views and lpc has one; use beam or global; give --method beam",
        ),
        (
            "--front-end lpc --fuse max",
            "a fusion needs two views and lpc has one; leave it out; leave out --fuse",
        ),
        ("--method beam --fuse max", "give --method adabeam or global, or leave out --fuse"),
        ("--method global --band-width 5", "leave out --band-width and --band-stride"),
    ];
    refuses(&sandbox, "fit normal -o x.auscult --clip-seconds 1", &cases);
}

#[test]
fn contradicting_or_absurd_options_of_score_are_refused() {
    let sandbox = Sandbox::with_model();
    let cases = [
        ("--csv --json", "cannot be used with"),
        ("--csv --explain", "--explain goes with the table, --json or --jsonl"),
        ("--parquet x.parquet --explain", "--explain goes with the table"),
        ("--output x.csv", "--output goes with --csv, --csv-safe, --json or --jsonl"),
        ("--parquet nowhere/x.parquet", "there is no folder nowhere; make it first"),
        ("--csv --output nowhere/x.csv", "cannot write nowhere/x.csv"),
        ("--hop-seconds 0", "clip hop must be at least one sample"),
        ("--channel x", "channel must be a number from 0 to 63, `mean`"),
        ("--false-alarm-rate 1.5", "above 0 and below 1"),
    ];
    refuses(&sandbox, "score model.auscult normal", &cases);
}

#[test]
fn a_channel_the_files_do_not_have_is_said_of_each() {
    let sandbox = Sandbox::with_model();
    let ran = sandbox.run("score model.auscult normal/visit_1 --channel 7").exits(2);
    assert_eq!(ran.stdout, "nothing was scored\n");
    assert_eq!(ran.stderr.lines().count(), 8);
    ran.says("there is no channel 7: the file has 1, numbered from 0; choose a lower channel");
}

#[test]
fn a_model_is_never_written_over_something_else() {
    let sandbox = Sandbox::with_recordings();
    let recording = sandbox.read("normal/visit_1/0.wav");
    let fit = |target: &str| {
        sandbox.run(&format!("fit --preset paper normal --clip-seconds 1 -o {target}"))
    };
    fit("normal/visit_1/0.wav").exits(2).says("exists and is not a model; give another file");
    assert_eq!(sandbox.read("normal/visit_1/0.wav"), recording);
    fit("normal").exits(2).says("cannot write normal: it is a folder; name a file in it");
    fit("nowhere/m.auscult").exits(2).says("there is no folder nowhere; make it first");
    #[cfg(unix)]
    fit("/dev/null").exits(2).says("cannot write /dev/null: it is a device or a pipe");
    // An empty file is what mktemp leaves.
    sandbox.write("empty.auscult", b"");
    fit("empty.auscult").exits(0);
}

#[test]
fn absurd_recipes_of_synthetic_machines_are_refused() {
    let sandbox = Sandbox::new();
    let cases = [
        ("--seconds nan", "seconds must be in 0.05..=120"),
        ("--seconds -1", "seconds must be in 0.05..=120"),
        ("--severity 0", "severity must be in (0, 1], got 0"),
        ("--severity 7", "severity must be in (0, 1], got 7"),
        ("--visits 0", "visits must be in 1..=24, got 0"),
        ("--train 9999999 0", "number of clips must be in 0..=4000"),
        ("--snr-db -1000", "snr_db must be in -30..=60"),
        ("--machine toaster", "use one of fan, pump, valve, slider"),
        ("--fault rust", "use one of bearing_impulses, imbalance"),
        ("--machine fan --fault leak", "a fan has no fault leak; use one of"),
        ("--layout flat", "use one of dcase, visits"),
    ];
    refuses(&sandbox, "synth --out x", &cases);
    assert!(!sandbox.path("x").exists());
}

#[test]
fn options_without_effect_on_a_back_end_are_refused() {
    let sandbox = Sandbox::new();
    let network = "says how an autoencoder is trained; give --back-end autoencoder too";
    for option in ["--epochs 5", "--network mimii", "--error-score mahalanobis", "--seed 1"] {
        let name = option.split(' ').next().unwrap();
        let saying = format!("{name} {network}");
        refuses(&sandbox, "bench eval --data x --dataset folder", &[(option, &saying)]);
        refuses(
            &sandbox,
            "bench eval --data x --dataset folder --back-end gmm",
            &[(option, &saying)],
        );
    }
    let comparing = [
        "--method beam",
        "--band-width 5",
        "--band-stride 5",
        "--neighbours 3",
        "--density-exponent auto",
        "--density-rule at-nearest",
        "--metric euclidean",
        "--aggregate max",
        "--fuse max",
        "--combine-members max",
    ];
    for option in comparing {
        let name = option.split(' ').next().unwrap();
        for back_end in ["mahalanobis", "pca-residual", "gmm", "k-means"] {
            let saying = format!(
                "{name} says how references are compared, and --back-end {back_end} compares with none"
            );
            let line = format!("bench eval --data x --dataset folder --back-end {back_end}");
            refuses(&sandbox, &line, &[(option, &saying)]);
        }
        let saying =
            format!("{name} says how references are compared, and an autoencoder compares");
        let line = "bench eval --data x --dataset folder --back-end autoencoder";
        refuses(&sandbox, line, &[(option, &saying)]);
    }
    let cases = [
        ("--front-end mfcc", "--front-end says what sound is turned into, and an autoencoder"),
        ("--convention s15", "--convention says what sound is turned into, and an autoencoder"),
        ("--layer 4", "--layer has no effect: an autoencoder is not an encoder; leave it out"),
    ];
    refuses(&sandbox, "bench eval --data x --dataset folder --back-end autoencoder", &cases);
}

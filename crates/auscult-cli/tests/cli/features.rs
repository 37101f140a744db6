//! Vectors for other tools.

use std::io::Read;

use auscult::{ClipSettings, ClipVectors, FrontEndSettings, View};
use auscult_testing::golden::{self, Array};

use crate::support::{Sandbox, clip, constant_wav, rows, wav_of_samples};

/// Three clips in `in/`: a normal, a silent and a short one.
fn recordings() -> Sandbox {
    let sandbox = Sandbox::new();
    let samples = clip().render().unwrap();
    sandbox.write("in/a.wav", wav_of_samples(&samples));
    sandbox.write("in/b_silent.wav", constant_wav(0.0));
    sandbox.write("in/c_short.wav", wav_of_samples(&samples[..4_000]));
    sandbox
}

fn features(sandbox: &Sandbox, line: &str) -> Array {
    sandbox.run(&format!("features in --clip-seconds 1 {line} --npy out.npy")).exits(0);
    golden::read_npy(sandbox.path("out.npy")).unwrap()
}

/// What the library makes of the same files: views of each clip, or all frames.
fn by_library(sandbox: &Sandbox, name: &str, convention: Option<&str>) -> [Vec<f64>; 3] {
    let length = ClipSettings { seconds: 1.0, ..Default::default() }.check().unwrap();
    let front_end = FrontEndSettings::named(name, convention).unwrap().build(length).unwrap();
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    let mut found = [const { Vec::new() }; 3];
    for file in ["a.wav", "b_silent.wav", "c_short.wav"] {
        let samples = golden::read_wav_pcm16(sandbox.path("in").join(file)).unwrap();
        extractor.extract_into(&samples, &mut vectors).unwrap();
        let mean = vectors.view(View::Mean).unwrap();
        let max = vectors.view(View::Max).unwrap_or(mean);
        found[0].extend(mean.iter().map(|&value| f64::from(value)));
        found[1].extend(max.iter().map(|&value| f64::from(value)));
        let mut add = |frame: &[f32]| found[2].extend(frame.iter().map(|&value| f64::from(value)));
        extractor.for_each_frame(&samples, &mut add).unwrap();
    }
    found
}

#[test]
fn npy_equals_the_library_bit_for_bit_for_each_front_end_and_view() {
    let sandbox = recordings();
    let cases =
        [("log-mel", None), ("log-mel", Some("kaldi")), ("mfcc", None), ("lpc", Some("inverse"))];
    for (name, convention) in cases {
        let expected = by_library(&sandbox, name, convention);
        let convention = convention.map_or(String::new(), |name| format!("--convention {name}"));
        for (view, expected) in ["mean", "max", "frames"].into_iter().zip(expected) {
            let line = format!("--front-end {name} {convention} --view {view}");
            let array = features(&sandbox, &line);
            assert_eq!(array.shape[0], 3, "{line}: silent and short clips have rows");
            assert_eq!(array.shape.len(), if view == "frames" { 3 } else { 2 }, "{line}");
            assert_eq!(array.values, expected, "{line}");
        }
    }
}

#[test]
fn rows_are_in_input_order_whatever_the_number_of_threads() {
    let sandbox = Sandbox::with_recordings();
    let line = "features normal --clip-seconds 1 --npy";
    sandbox.run(&format!("{line} 1.npy --jobs 1")).exits(0);
    sandbox.run(&format!("{line} 5.npy --jobs 5")).exits(0);
    assert_eq!(sandbox.read("1.npy"), sandbox.read("5.npy"));
    assert_eq!(golden::read_npy(sandbox.path("1.npy")).unwrap().shape, [24, 128]);
}

#[test]
fn clips_that_cannot_be_read_have_no_row_and_are_named() {
    let sandbox = recordings();
    let whole = sandbox.read("in/a.wav");
    sandbox.write("in/a_damaged.wav", &whole[..20_000]);
    sandbox.write("in/a_empty.wav", b"");
    let mut samples = clip().render().unwrap();
    samples[5] = f32::NAN;
    sandbox.write("in/a_nan.wav", crate::support::float_wav(&samples));
    let ran = sandbox.run("features in --clip-seconds 1 --npy out.npy").exits(2);
    assert_eq!(golden::read_npy(sandbox.path("out.npy")).unwrap().shape, [3, 128]);
    ran.says("in/a_damaged.wav: damaged")
        .says("in/a_empty.wav: the file is empty")
        .says("in/a_nan.wav");
}

#[test]
fn csv_and_npz_hold_what_npy_holds() {
    let sandbox = recordings();
    let array = features(&sandbox, "--front-end mfcc");
    let ran = sandbox.run("features in --clip-seconds 1 --front-end mfcc --csv").exits(0);
    assert!(ran.stdout.starts_with("path,start_seconds,frame,f0,f1,"), "{ran:#?}");
    let cells: Vec<f64> = rows(&ran.stdout)
        .iter()
        .flat_map(|row| row.iter().skip(3).map(|cell| cell.parse().unwrap()).collect::<Vec<_>>())
        .collect();
    assert_eq!(cells, array.values);
    sandbox.run("features in --clip-seconds 1 --front-end mfcc --npz out.npz").exits(0);
    let file = std::fs::File::open(sandbox.path("out.npz")).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut bytes = Vec::new();
    archive.by_name("features.npy").unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, sandbox.read("out.npy"));
    assert!(archive.by_name("start_seconds.npy").is_ok());
}

#[test]
fn features_without_a_place_to_go_are_refused() {
    let sandbox = recordings();
    sandbox
        .run("features in")
        .exits(2)
        .says("say where features go: --npy FILE, --npz FILE or --csv");
    sandbox.run("features in --npy nowhere/x.npy").exits(2).says("there is no folder nowhere");
}

//! Forward passes: bits, layers, lengths.

use auscult_core::ClipSettings;
use auscult_encoders::{
    Checkpoint, Encoder, EncoderFrontEnd, EncoderSettings, Precision, Threads, to_safetensors,
};
use auscult_kernels::Isa;

use crate::made::{config, small_beats, tensors};

fn ced() -> Encoder {
    Encoder::load(&Checkpoint::from_static(auscult_ced_tiny::WEIGHTS).unwrap()).unwrap()
}

fn sound(seconds: f64) -> Vec<f32> {
    let count = (seconds * 16_000.0) as usize;
    (0..count).map(|at| (at as f32 * 0.05).sin() * 0.3 + (at as f32 * 0.71).sin() * 0.1).collect()
}

/// The bits of some layers, token after token.
fn bits(encoder: &Encoder, seconds: f64, threads: Threads, layers: &[usize]) -> Vec<Vec<u32>> {
    let length = ClipSettings { seconds, ..ClipSettings::default() }.check().unwrap();
    let mut buffers = encoder.buffers(length).unwrap();
    let mut found = Vec::new();
    let mut run = |found: &mut Vec<Vec<u32>>| {
        encoder
            .run(&sound(seconds), &mut buffers, threads, layers, &mut |tokens| {
                let values = (0..tokens.count()).flat_map(|index| tokens.numbered(index));
                found.push(values.map(|value| value.to_bits()).collect());
            })
            .unwrap();
    };
    run(&mut found);
    // A second clip in the same buffers is the same again.
    let mut again = Vec::new();
    run(&mut again);
    assert_eq!(found, again);
    found
}

#[test]
fn threads_do_not_change_a_bit() {
    for encoder in [ced(), small_beats()] {
        let one = bits(&encoder, 10.0, Threads::One, &[1, 2]);
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| bits(&encoder, 10.0, Threads::Pool, &[1, 2])), one);
        }
    }
}

#[test]
fn instructions_do_not_change_a_bit() {
    let bytes = to_safetensors(&tensors(), Some(&config())).unwrap();
    let run = |isa, precision| {
        let checkpoint = Checkpoint::from_bytes(bytes.clone()).unwrap();
        bits(
            &Encoder::load_for(&checkpoint, isa, precision).unwrap(),
            1.0,
            Threads::One,
            &[0, 1, 2],
        )
    };
    for isa in Isa::available().into_iter().filter(|&isa| isa != Isa::Portable) {
        for &precision in Precision::ALL {
            let plain = run(Isa::Scalar, precision);
            assert_eq!(run(isa, precision), plain, "{} {precision}", isa.name());
        }
    }
}

#[test]
fn a_layer_is_the_same_whatever_else_is_asked_for() {
    let encoder = ced();
    let all = bits(&encoder, 2.0, Threads::One, &[0, 3, 8, 12, 13]);
    for (index, layer) in [0, 3, 8, 12, 13].into_iter().enumerate() {
        assert_eq!(bits(&encoder, 2.0, Threads::One, &[layer]), all[index..=index]);
    }
}

#[test]
fn clips_of_1_to_30_seconds_have_a_column_every_160_milliseconds() {
    for (encoder, seconds, expected) in [
        (ced(), 1.0, vec![6]),
        (ced(), 10.0, vec![62]),
        (ced(), 13.0, vec![63, 18]),
        (ced(), 30.0, vec![63, 63, 61]),
        (small_beats(), 1.0, vec![6]),
        (small_beats(), 30.0, vec![187]),
    ] {
        let length = ClipSettings { seconds, ..ClipSettings::default() }.check().unwrap();
        let mut buffers = encoder.buffers(length).unwrap();
        let mut columns = Vec::new();
        encoder
            .run(&sound(seconds), &mut buffers, Threads::One, &[1], &mut |tokens| {
                columns.push(tokens.columns);
            })
            .unwrap();
        assert_eq!(columns, expected, "{} {seconds} s", encoder.name());
    }
}

#[test]
fn what_an_encoder_cannot_take_is_refused() {
    let encoder = ced();
    let length = |sample_rate, seconds| ClipSettings { sample_rate, seconds }.check().unwrap();
    for (length, expected) in [
        (length(8_000, 10.0), "sample rate must be 16000 Hz for ced-tiny, got 8000"),
        (length(16_000, 0.5), "clip length must be 1 to 30 seconds for ced-tiny, got 0.5"),
        (length(16_000, 31.0), "clip length must be 1 to 30 seconds for ced-tiny, got 31"),
    ] {
        assert_eq!(encoder.buffers(length).unwrap_err().to_string(), expected);
    }
    let mut buffers = encoder.buffers(length(16_000, 1.0)).unwrap();
    let mut run = |samples: &[f32], layers: &[usize]| {
        let ran = encoder.run(samples, &mut buffers, Threads::One, layers, &mut |_| ());
        ran.unwrap_err().to_string()
    };
    assert!(run(&[], &[8]).contains("clip must be at least one sample"));
    assert!(run(&[0.0, f32::NAN], &[8]).contains("samples must be finite numbers, got NaN at 1"));
    assert_eq!(
        run(&[0.1], &[8, 14]),
        "layer must be 0 (the input of the first block) to 12 or 13 (the normalised output) for ced-tiny, got 14"
    );
    for layers in [&[][..], &[8, 8], &[8, 3]] {
        let error = run(&[0.1], layers);
        assert!(error.contains("at least one, in ascending order, each once"), "{error}");
    }
    let settings = EncoderSettings { layers: vec![3], rows_per_band: 1, class_token: false };
    let error = EncoderFrontEnd::new(small_beats().into(), settings, length(16_000, 1.0));
    let said = "layer must be 0 (the input of the first block) to 2 for beats-2x24, got 3";
    assert_eq!(error.unwrap_err().to_string(), said);
}

/// The integers of `--precision int16` keep the tokens of the real CED within 5 thousandths.
#[test]
fn integers_are_near_single_precision() {
    let checkpoint = Checkpoint::from_static(auscult_ced_tiny::WEIGHTS).unwrap();
    let tokens = |precision| {
        let encoder = Encoder::load_for(&checkpoint, Isa::best(), precision).unwrap();
        let layers = bits(&encoder, 10.0, Threads::One, &[8]);
        layers[0].iter().map(|&bits| f64::from(f32::from_bits(bits))).collect::<Vec<f64>>()
    };
    let (exact, rounded) = (tokens(Precision::F32), tokens(Precision::Int16));
    let length = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let difference = length(&mut exact.iter().zip(&rounded).map(|(a, b)| a - b));
    let relative = difference / length(&mut exact.iter().copied());
    assert!(relative > 0.0 && relative < 5e-3, "{relative}");
}

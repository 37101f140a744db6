//! Weights that are a pure function of a tensor's name and index, so that a test can build a
//! checkpoint of any size without storing one.

use auscult_encoders::{Checkpoint, to_safetensors};
use auscult_testing::golden;
use libtest_mimic::Trial;
use serde_json::Value;

fn fnv1a(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    name.bytes().fold(0xCBF2_9CE4_8422_2325, step)
}

/// Uniform in [-1, 1).
fn uniform(key: u64, index: usize) -> f64 {
    let mut z = key.wrapping_add((index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    2.0 * ((z >> 11) as f64 / (1_u64 << 53) as f64) - 1.0
}

/// Offset and scale of a tensor's values.
fn spread(name: &str, shape: &[usize]) -> (f64, f64) {
    let last = name.rsplit('.').next().unwrap_or_default();
    if name.contains("norm") && last == "weight" {
        return (1.0, 0.1);
    }
    match last {
        "weight_g" => (1.2, 0.12),
        "grep_a" => (1.0, 0.1),
        "extra_tokens" => (0.0, 0.5),
        "bias" => (0.0, 0.05),
        _ if name.ends_with("relative_attention_bias.weight") => (0.0, 0.5),
        _ => {
            let inputs: usize =
                if shape.len() > 1 { shape[1..].iter().product() } else { shape[0] };
            (0.0, (3.0 / inputs as f64).sqrt())
        }
    }
}

fn values(name: &str, shape: &[usize]) -> Vec<f32> {
    let (offset, scale) = spread(name, shape);
    let key = fnv1a(name);
    let count = shape.iter().product();
    (0..count).map(|index| (offset + scale * uniform(key, index)) as f32).collect()
}

/// EAT's two-dimensional sine and cosine table: half of the width for each axis, time outermost.
fn positions(shape: &[usize]) -> Vec<f32> {
    let (places, width) = (shape[1], shape[2]);
    let rows = 8;
    let quarter = width / 4;
    let mut table = Vec::with_capacity(places * width);
    for place in 0..places {
        let (time, row) = (place / rows, place % rows);
        for at in [row, time] {
            let angle = |index: usize| at as f64 / 10_000.0_f64.powf(index as f64 / quarter as f64);
            table.extend((0..quarter).map(|index| angle(index).sin() as f32));
            table.extend((0..quarter).map(|index| angle(index).cos() as f32));
        }
    }
    table
}

/// A checkpoint of the tensors a `_tensors.json` lists.
pub(crate) fn checkpoint(list: &Value, config: &Value) -> Checkpoint {
    let list = list.as_object().unwrap();
    let tensors: Vec<(String, Vec<usize>, Vec<f32>)> = list
        .iter()
        .map(|(name, shape)| {
            let shape: Vec<usize> = serde_json::from_value(shape.clone()).unwrap();
            let values = if name.ends_with("fixed_positional_encoder.positions") {
                positions(&shape)
            } else if name.ends_with("relative_attention_bias.weight") {
                values("encoder.layers.0.self_attn.relative_attention_bias.weight", &shape)
            } else {
                values(name, &shape)
            };
            (name.clone(), shape, values)
        })
        .collect();
    let bytes = to_safetensors(&tensors, Some(config)).unwrap();
    Checkpoint::from_bytes(bytes).unwrap()
}

pub(crate) fn trials() -> Vec<Trial> {
    let published = || {
        // detweights_check.json of the golden pack.
        assert_eq!(fnv1a("patch_embedding.weight"), 16_116_459_918_075_687_759);
        let first = uniform(fnv1a("patch_embedding.weight"), 0);
        assert!((first + 0.027_975_438_561_562_482).abs() < 1e-15);
        let fourth = uniform(fnv1a("encoder.layers.0.fc1.bias"), 3);
        assert!((fourth + 0.454_924_886_682_293_6).abs() < 1e-3, "{fourth}");
        Ok(())
    };
    let stored = || {
        // The stored small checkpoint has the table and the weights this file makes.
        let Some(folder) = golden::shared() else { return Ok(()) };
        let path = folder.join("encoders/eat_tiny.safetensors");
        let stored = Checkpoint::open(&path).unwrap();
        for (name, shape) in [
            ("model.fixed_positional_encoder.positions", vec![1, 768, 48]),
            ("model.blocks.1.mlp.fc1.weight", vec![192, 48]),
        ] {
            let made = if shape.len() == 3 { positions(&shape) } else { values(name, &shape) };
            let read = stored.read(name, &shape).unwrap();
            for (index, (made, read)) in made.iter().zip(&read).enumerate() {
                // The stored table was made in f32: its angles have seven digits.
                assert!((made - read).abs() < 1e-5, "{name}[{index}]: {made} for {read}");
            }
        }
        Ok(())
    };
    vec![
        Trial::test("weights::agree_with_the_published_samples", published),
        Trial::test("weights::agree_with_a_stored_checkpoint", stored),
    ]
}

//! Weights that are a pure function of a tensor's name and index, so that a test can build a
//! checkpoint of any size without storing one.

use auscult_encoders::{Checkpoint, to_safetensors};
use auscult_testing::{golden, weights};
use libtest_mimic::Trial;
use serde_json::Value;

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
                weights::tensor("encoder.layers.0.self_attn.relative_attention_bias.weight", &shape)
            } else {
                weights::tensor(name, &shape)
            };
            (name.clone(), shape, values)
        })
        .collect();
    let bytes = to_safetensors(&tensors, Some(config)).unwrap();
    Checkpoint::from_bytes(bytes).unwrap()
}

pub(crate) fn trials() -> Vec<Trial> {
    let stored = || {
        // The stored small checkpoint has the table and the weights this file makes.
        let Some(folder) = golden::shared() else { return Ok(()) };
        let path = folder.join("encoders/eat_tiny.safetensors");
        let stored = Checkpoint::open(&path).unwrap();
        for (name, shape) in [
            ("model.fixed_positional_encoder.positions", vec![1, 768, 48]),
            ("model.blocks.1.mlp.fc1.weight", vec![192, 48]),
        ] {
            let made =
                if shape.len() == 3 { positions(&shape) } else { weights::tensor(name, &shape) };
            let read = stored.read(name, &shape).unwrap();
            for (index, (made, read)) in made.iter().zip(&read).enumerate() {
                // The stored table was made in f32: its angles have seven digits.
                assert!((made - read).abs() < 1e-5, "{name}[{index}]: {made} for {read}");
            }
        }
        Ok(())
    };
    vec![Trial::test("weights::agree_with_a_stored_checkpoint", stored)]
}

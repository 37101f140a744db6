//! Takes training steps when told to and prints their seconds, for bench/training.py.
//!
//! `step_time ced-tiny|ced-small|beats BATCH [LORA_RANK]`: CED-tiny as it is bundled, or CED-small
//! and BEATs of their released size with weights made up here; clips of 10 s of noise. All weights
//! are trained, or additions of a rank to queries and values. The first step warms up; each line
//! of input then asks for one step and is answered with its seconds and its loss.

use std::{error::Error, io::BufRead, ops::ControlFlow, time::Instant};

use auscult_core::ClipSettings;
use auscult_encoders::{Checkpoint, NamedTensor, to_safetensors};
use auscult_finetune::{
    Adaptation, Compute, FinetuneSettings, LabelledClips, LoraTarget, RunEvent, RunPlace, finetune,
};

struct Noise {
    labels: Vec<String>,
}

/// Numbers in [-1, 1) that only their index decides.
fn noise(seed: u64, index: usize) -> f32 {
    let mut z = seed.wrapping_add((index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z >> 40) as f32) / ((1_u64 << 23) as f32) - 1.0
}

impl LabelledClips for Noise {
    fn name(&self, clip: usize) -> String {
        clip.to_string()
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn samples(&self, clip: usize) -> Result<Vec<f32>, String> {
        Ok((0..160_000).map(|at| 0.1 * noise(clip as u64, at)).collect())
    }
}

/// BEATs of the released size.
fn beats() -> Result<Checkpoint, Box<dyn Error>> {
    let (width, hidden, heads) = (768, 3072, 12);
    let mut shapes: Vec<(String, Vec<usize>)> = [
        ("patch_embedding.weight", vec![512, 1, 16, 16]),
        ("layer_norm.weight", vec![512]),
        ("layer_norm.bias", vec![512]),
        ("post_extract_proj.weight", vec![width, 512]),
        ("post_extract_proj.bias", vec![width]),
        ("encoder.pos_conv.0.weight_g", vec![1, 1, 128]),
        ("encoder.pos_conv.0.weight_v", vec![width, 48, 128]),
        ("encoder.pos_conv.0.bias", vec![width]),
        ("encoder.layer_norm.weight", vec![width]),
        ("encoder.layer_norm.bias", vec![width]),
        ("encoder.layers.0.self_attn.relative_attention_bias.weight", vec![320, heads]),
    ]
    .map(|(name, shape)| (name.to_owned(), shape))
    .to_vec();
    for block in 0..12 {
        let mut add = |name: &str, shape: Vec<usize>| {
            shapes.push((format!("encoder.layers.{block}.{name}"), shape));
        };
        for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
            add(&format!("self_attn.{part}.weight"), vec![width, width]);
            add(&format!("self_attn.{part}.bias"), vec![width]);
        }
        add("self_attn.grep_linear.weight", vec![8, width / heads]);
        add("self_attn.grep_linear.bias", vec![8]);
        add("self_attn.grep_a", vec![1, heads, 1, 1]);
        for part in ["self_attn_layer_norm", "final_layer_norm"] {
            add(&format!("{part}.weight"), vec![width]);
            add(&format!("{part}.bias"), vec![width]);
        }
        add("fc1.weight", vec![hidden, width]);
        add("fc1.bias", vec![hidden]);
        add("fc2.weight", vec![width, hidden]);
        add("fc2.bias", vec![width]);
    }
    let config = serde_json::json!({
        "encoder_layers": 12, "encoder_embed_dim": width, "encoder_ffn_embed_dim": hidden,
        "encoder_attention_heads": heads, "activation_fn": "gelu", "layer_norm_first": false,
        "conv_pos": 128, "conv_pos_groups": 16, "relative_position_embedding": true,
        "num_buckets": 320, "max_distance": 800, "gru_rel_pos": true, "deep_norm": true,
        "input_patch_size": 16, "embed_dim": 512,
    });
    made_up(shapes, Some(&config))
}

/// CED-small.
fn ced_small() -> Result<Checkpoint, Box<dyn Error>> {
    let (width, hidden) = (384, 1536);
    let mut shapes: Vec<(String, Vec<usize>)> = [
        ("encoder.init_bn.weight", vec![64]),
        ("encoder.init_bn.bias", vec![64]),
        ("encoder.init_bn.running_mean", vec![64]),
        ("encoder.init_bn.running_var", vec![64]),
        ("encoder.patch_embed.proj.weight", vec![width, 1, 16, 16]),
        ("encoder.patch_embed.proj.bias", vec![width]),
        ("encoder.time_pos_embed", vec![1, width, 1, 63]),
        ("encoder.freq_pos_embed", vec![1, width, 4, 1]),
        ("encoder.norm.weight", vec![width]),
        ("encoder.norm.bias", vec![width]),
    ]
    .map(|(name, shape)| (name.to_owned(), shape))
    .to_vec();
    for block in 0..12 {
        let mut add = |name: &str, outputs: usize, inputs: Option<usize>| {
            let name = format!("encoder.blocks.{block}.{name}");
            let shape = [outputs].into_iter().chain(inputs).collect();
            shapes.push((format!("{name}.weight"), shape));
            shapes.push((format!("{name}.bias"), vec![outputs]));
        };
        add("norm1", width, None);
        add("attn.qkv", 3 * width, Some(width));
        add("attn.proj", width, Some(width));
        add("norm2", width, None);
        add("mlp.fc1", hidden, Some(width));
        add("mlp.fc2", width, Some(hidden));
    }
    made_up(shapes, None)
}

/// Weights of a usual size.
fn made_up(
    shapes: Vec<(String, Vec<usize>)>,
    config: Option<&serde_json::Value>,
) -> Result<Checkpoint, Box<dyn Error>> {
    let tensors: Vec<NamedTensor> = shapes
        .into_iter()
        .enumerate()
        .map(|(seed, (name, shape))| {
            let count: usize = shape.iter().product();
            let inputs: usize = shape[1..].iter().product::<usize>().max(1);
            let is_norm = shape.len() == 1 && name.ends_with("weight");
            let (offset, scale) = if is_norm || name.ends_with("running_var") {
                (1.0, 0.0)
            } else {
                (0.0, 1.0 / (inputs as f32).sqrt())
            };
            let values = (0..count).map(|at| offset + scale * noise(seed as u64, at)).collect();
            (name, shape, values)
        })
        .collect();
    Ok(Checkpoint::from_bytes(to_safetensors(&tensors, config)?)?)
}

#[expect(clippy::print_stdout, reason = "a program that prints what it measured")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (encoder, batch, rank) = match arguments.as_slice() {
        [encoder, batch] => (encoder, batch, None),
        [encoder, batch, rank] => (encoder, batch, Some(rank)),
        _ => return Err("usage: step_time ced-tiny|ced-small|beats BATCH [LORA_RANK]".into()),
    };
    let checkpoint = match encoder.as_str() {
        "ced-tiny" => Checkpoint::from_static(auscult_ced_tiny::WEIGHTS)?,
        "ced-small" => ced_small()?,
        "beats" => beats()?,
        other => return Err(format!("ced-tiny, ced-small or beats, got {other}").into()),
    };
    let batch: usize = batch.parse()?;
    let adaptation = match rank {
        None => Adaptation::Full,
        Some(rank) => Adaptation::Lora {
            rank: rank.parse()?,
            alpha: rank.parse()?,
            targets: vec![LoraTarget::Query, LoraTarget::Value],
        },
    };
    let clips = Noise { labels: (0..batch * 2).map(|clip| (clip % 2).to_string()).collect() };
    let settings = FinetuneSettings {
        steps: 1_000_000,
        batch,
        accumulation: 1,
        warm_up: 0,
        adaptation,
        checkpoint_every: 1_000_000,
        ..FinetuneSettings::default()
    };
    let folder = tempfile::tempdir()?;
    let place = RunPlace {
        folder: folder.path().to_owned(),
        clip: ClipSettings::default(),
        at_most: None,
        compute: Compute::Cpu,
    };
    let mut orders = std::io::stdin().lock().lines();
    let mut begun = Instant::now();
    finetune(&checkpoint, &clips, &settings, &place, &mut |event| {
        let RunEvent::Step(facts) = event else {
            begun = Instant::now();
            return ControlFlow::Continue(());
        };
        println!("{:.5} {:.6}", begun.elapsed().as_secs_f64(), facts.loss);
        let order = orders.next();
        begun = Instant::now();
        if matches!(order, Some(Ok(_))) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    Ok(())
}

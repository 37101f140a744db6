//! Times forward passes, one for each line on standard input, so that a script can take turns with
//! other programs: `bench/encoders.py` runs it.
//!
//! usage: `forward_time beats|eat|ced f32|int16 THREADS [LAYER]`; prints milliseconds.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]

use std::{io::BufRead, time::Instant};

use auscult_core::{ClipSettings, random::Random};
use auscult_encoders::{Checkpoint, Encoder, Precision, Threads, to_safetensors};
use auscult_kernels::Isa;
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let word = |at: usize| words.get(at).map(String::as_str);
    let threads: usize = word(3).unwrap_or("1").parse()?;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let precision: Precision = word(2).unwrap_or("f32").parse()?;
    let checkpoint = match word(1) {
        Some("beats") => made_up_beats()?,
        Some("eat") => made_up_eat()?,
        Some("ced") => Checkpoint::from_static(auscult_ced_tiny::WEIGHTS)?,
        _ => return Err("usage: forward_time beats|eat|ced f32|int16 THREADS [LAYER]".into()),
    };
    let encoder = Encoder::load_for(&checkpoint, Isa::best(), precision)?;
    drop(checkpoint);
    let layer = word(4).map(str::parse).transpose()?.unwrap_or(encoder.default_layer());
    let mut buffers = encoder.buffers(ClipSettings::default().check()?)?;
    let samples: Vec<f32> = (0..160_000).map(|at| (at as f32 * 0.07).sin() * 0.2).collect();
    let how = if threads == 1 { Threads::One } else { Threads::Pool };
    eprintln!("{} with {} on {threads} thread(s)", encoder.name(), encoder.isa().name());
    for line in std::io::stdin().lock().lines() {
        line?;
        let began = Instant::now();
        let mut sum = 0.0;
        encoder.run(&samples, &mut buffers, how, &[layer], &mut |tokens| {
            sum += tokens.numbered(0)[0];
        })?;
        println!("{:.3} {sum}", began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}

/// BEATs' sizes.
fn made_up_beats() -> Result<Checkpoint, Box<dyn std::error::Error>> {
    let config = json!({
        "encoder_layers": 12, "encoder_embed_dim": 768, "encoder_ffn_embed_dim": 3072,
        "encoder_attention_heads": 12, "activation_fn": "gelu", "layer_norm_first": false,
        "conv_pos": 128, "conv_pos_groups": 16, "relative_position_embedding": true,
        "num_buckets": 320, "max_distance": 800, "gru_rel_pos": true, "deep_norm": true,
        "input_patch_size": 16, "embed_dim": 512,
    });
    let mut list: Vec<(String, Vec<usize>)> = vec![
        ("patch_embedding.weight".into(), vec![512, 1, 16, 16]),
        ("layer_norm.weight".into(), vec![512]),
        ("layer_norm.bias".into(), vec![512]),
        ("post_extract_proj.weight".into(), vec![768, 512]),
        ("post_extract_proj.bias".into(), vec![768]),
        ("encoder.pos_conv.0.weight_g".into(), vec![1, 1, 128]),
        ("encoder.pos_conv.0.weight_v".into(), vec![768, 48, 128]),
        ("encoder.pos_conv.0.bias".into(), vec![768]),
        ("encoder.layer_norm.weight".into(), vec![768]),
        ("encoder.layer_norm.bias".into(), vec![768]),
    ];
    for layer in 0..12 {
        let mut add = |name: &str, shape: &[usize]| {
            list.push((format!("encoder.layers.{layer}.{name}"), shape.to_vec()));
        };
        add("self_attn.grep_a", &[1, 12, 1, 1]);
        add("self_attn.grep_linear.weight", &[8, 64]);
        add("self_attn.grep_linear.bias", &[8]);
        add("self_attn.relative_attention_bias.weight", &[320, 12]);
        for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
            add(&format!("self_attn.{part}.weight"), &[768, 768]);
            add(&format!("self_attn.{part}.bias"), &[768]);
        }
        for norm in ["self_attn_layer_norm", "final_layer_norm"] {
            add(&format!("{norm}.weight"), &[768]);
            add(&format!("{norm}.bias"), &[768]);
        }
        add("fc1.weight", &[3072, 768]);
        add("fc1.bias", &[3072]);
        add("fc2.weight", &[768, 3072]);
        add("fc2.bias", &[768]);
    }
    made_up(list, &config)
}

/// EAT base's sizes.
fn made_up_eat() -> Result<Checkpoint, Box<dyn std::error::Error>> {
    let mut list: Vec<(String, Vec<usize>)> = vec![
        ("model.local_encoder.proj.weight".into(), vec![768, 1, 16, 16]),
        ("model.local_encoder.proj.bias".into(), vec![768]),
        ("model.fixed_positional_encoder.positions".into(), vec![1, 6144, 768]),
        ("model.extra_tokens".into(), vec![1, 1, 768]),
        ("model.pre_norm.weight".into(), vec![768]),
        ("model.pre_norm.bias".into(), vec![768]),
    ];
    for block in 0..12 {
        let mut add = |name: &str, outputs: usize, inputs: Option<usize>| {
            let name = format!("model.blocks.{block}.{name}");
            list.push((format!("{name}.weight"), std::iter::once(outputs).chain(inputs).collect()));
            list.push((format!("{name}.bias"), vec![outputs]));
        };
        add("norm1", 768, None);
        add("attn.qkv", 3 * 768, Some(768));
        add("attn.proj", 768, Some(768));
        add("norm2", 768, None);
        add("mlp.fc1", 3072, Some(768));
        add("mlp.fc2", 768, Some(3072));
    }
    made_up(list, &json!({ "num_heads": 12, "norm_eps": 1e-6, "layer_norm_first": false }))
}

/// A checkpoint with made-up weights, always the same ones: times do not depend on them.
fn made_up(
    list: Vec<(String, Vec<usize>)>,
    config: &serde_json::Value,
) -> Result<Checkpoint, Box<dyn std::error::Error>> {
    let mut random = Random::of(1, &[]);
    let mut made = |(name, shape): (String, Vec<usize>)| {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|_| random.symmetric(0.05)).collect();
        (name, shape, values)
    };
    let tensors: Vec<_> = list.into_iter().map(&mut made).collect();
    Ok(Checkpoint::from_bytes(to_safetensors(&tensors, Some(config))?)?)
}

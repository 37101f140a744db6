//! Checkpoints made on the spot: a small BEATs, as safetensors and as a PyTorch zip file.

use std::io::{Cursor, Write};

use auscult_core::random::Random;
use auscult_encoders::{Checkpoint, Encoder, to_safetensors};
use serde_json::{Value, json};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

pub(crate) type Tensors = Vec<(String, Vec<usize>, Vec<f32>)>;

/// The configuration of the small BEATs.
pub(crate) fn config() -> Value {
    json!({
        "encoder_layers": 2, "encoder_embed_dim": 24, "encoder_ffn_embed_dim": 40,
        "encoder_attention_heads": 2, "activation_fn": "gelu", "layer_norm_first": false,
        "conv_pos": 8, "conv_pos_groups": 4, "relative_position_embedding": true,
        "num_buckets": 16, "max_distance": 50, "gru_rel_pos": true, "deep_norm": true,
        "input_patch_size": 16, "embed_dim": 20, "finetuned_model": false,
    })
}

/// Its tensors, with made-up values.
pub(crate) fn tensors() -> Tensors {
    let mut list: Vec<(String, Vec<usize>)> = vec![
        ("patch_embedding.weight".into(), vec![20, 1, 16, 16]),
        ("layer_norm.weight".into(), vec![20]),
        ("layer_norm.bias".into(), vec![20]),
        ("post_extract_proj.weight".into(), vec![24, 20]),
        ("post_extract_proj.bias".into(), vec![24]),
        ("encoder.pos_conv.0.weight_g".into(), vec![1, 1, 8]),
        ("encoder.pos_conv.0.weight_v".into(), vec![24, 6, 8]),
        ("encoder.pos_conv.0.bias".into(), vec![24]),
        ("encoder.layer_norm.weight".into(), vec![24]),
        ("encoder.layer_norm.bias".into(), vec![24]),
    ];
    for layer in 0..2 {
        let mut add = |name: &str, shape: &[usize]| {
            list.push((format!("encoder.layers.{layer}.{name}"), shape.to_vec()));
        };
        add("self_attn.grep_a", &[1, 2, 1, 1]);
        add("self_attn.grep_linear.weight", &[8, 12]);
        add("self_attn.grep_linear.bias", &[8]);
        add("self_attn.relative_attention_bias.weight", &[16, 2]);
        for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
            add(&format!("self_attn.{part}.weight"), &[24, 24]);
            add(&format!("self_attn.{part}.bias"), &[24]);
        }
        for norm in ["self_attn_layer_norm", "final_layer_norm"] {
            add(&format!("{norm}.weight"), &[24]);
            add(&format!("{norm}.bias"), &[24]);
        }
        add("fc1.weight", &[40, 24]);
        add("fc1.bias", &[40]);
        add("fc2.weight", &[24, 40]);
        add("fc2.bias", &[24]);
    }
    let mut random = Random::of(7, &[]);
    list.into_iter()
        .map(|(name, shape)| {
            let count = shape.iter().product();
            let values = (0..count).map(|_| {
                // Multiples of 1/128 below 2: exact in f16 and bf16 too.
                let value = random.below(64) as f32 / 32.0 - 1.0;
                if name.contains("norm.weight") { 1.0 + value / 4.0 } else { value / 2.0 }
            });
            let values = values.collect();
            (name, shape, values)
        })
        .collect()
}

pub(crate) fn small_beats_checkpoint() -> Checkpoint {
    Checkpoint::from_bytes(to_safetensors(&tensors(), Some(&config())).unwrap()).unwrap()
}

pub(crate) fn small_beats() -> Encoder {
    Encoder::load(&small_beats_checkpoint()).unwrap()
}

/// How a storage is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Float,
    Half,
    BFloat16,
}

/// What `torch.save({"cfg": ..., "model": ...})` writes.
pub(crate) fn torch_zip(tensors: &Tensors, config: &Value, kind: Kind) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut put = |name: &str, bytes: &[u8]| {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    };
    put("made/data.pkl", &pickle(tensors, config, kind));
    put("made/byteorder", b"little");
    for (index, (_, _, values)) in tensors.iter().enumerate() {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|&value| match kind {
                Kind::Float => value.to_le_bytes().to_vec(),
                Kind::Half => half::f16::from_f32(value).to_le_bytes().to_vec(),
                Kind::BFloat16 => half::bf16::from_f32(value).to_le_bytes().to_vec(),
            })
            .collect();
        put(&format!("made/data/{index}"), &bytes);
    }
    zip.finish().unwrap().into_inner()
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'X');
    out.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
    out.extend(text.bytes());
}

fn integer(out: &mut Vec<u8>, value: i64) {
    out.push(b'J');
    out.extend(i32::try_from(value).unwrap().to_le_bytes());
}

fn pickle(tensors: &Tensors, config: &Value, kind: Kind) -> Vec<u8> {
    let class = match kind {
        Kind::Float => "FloatStorage",
        Kind::Half => "HalfStorage",
        Kind::BFloat16 => "BFloat16Storage",
    };
    let mut out = b"\x80\x02}q\x00(".to_vec();
    text(&mut out, "cfg");
    out.extend(b"}q\x01(");
    for (name, value) in config.as_object().unwrap() {
        text(&mut out, name);
        match value {
            Value::Bool(value) => out.push(if *value { 0x88 } else { 0x89 }),
            Value::String(value) => text(&mut out, value),
            value => integer(&mut out, value.as_i64().unwrap()),
        }
    }
    out.push(b'u');
    text(&mut out, "model");
    out.extend(b"ccollections\nOrderedDict\n)R(");
    for (index, (name, shape, values)) in tensors.iter().enumerate() {
        text(&mut out, name);
        out.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((");
        text(&mut out, "storage");
        out.extend(format!("ctorch\n{class}\n").bytes());
        text(&mut out, &index.to_string());
        text(&mut out, "cpu");
        integer(&mut out, i64::try_from(values.len()).unwrap());
        out.extend(b"tQ");
        integer(&mut out, 0);
        out.push(b'(');
        for &len in shape {
            integer(&mut out, i64::try_from(len).unwrap());
        }
        out.extend(b"t(");
        for axis in 0..shape.len() {
            let stride: usize = shape[axis + 1..].iter().product();
            integer(&mut out, i64::try_from(stride).unwrap());
        }
        out.extend(b"t\x89ccollections\nOrderedDict\n)RtR");
    }
    out.extend(b"uu.");
    out
}

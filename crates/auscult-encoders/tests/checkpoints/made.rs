//! Checkpoints made on the spot: a small BEATs, as safetensors and as a PyTorch zip file.

use std::io::{Cursor, Write};

use auscult_core::random::Random;
use auscult_encoders::{Checkpoint, Encoder, to_safetensors};
use auscult_testing::weights;
use serde_json::Value;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

pub(crate) type Tensors = Vec<(String, Vec<usize>, Vec<f32>)>;

/// The configuration of the small BEATs.
pub(crate) fn config() -> Value {
    serde_json::from_str(weights::SMALL_BEATS).unwrap()
}

/// Its tensors, with made-up values.
pub(crate) fn tensors() -> Tensors {
    let mut random = Random::of(7, &[]);
    weights::small_beats_shapes()
        .into_iter()
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

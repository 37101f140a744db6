//! What an encoder is.

use auscult::encoders::{Checkpoint, Encoder};
use auscult_eval::cost::peak_memory;
use serde_json::{Value, json};

/// A loaded encoder and where it came from.
pub(crate) struct EncoderFacts<'a> {
    pub(crate) name: String,
    pub(crate) checkpoint: &'a Checkpoint,
    pub(crate) encoder: &'a Encoder,
    pub(crate) load_seconds: f64,
}

impl EncoderFacts<'_> {
    /// Everything, for programs.
    pub(crate) fn as_json(&self) -> Value {
        let Self { name, checkpoint, encoder, load_seconds } = self;
        json!({
            "file": name,
            "container": checkpoint.container().to_string(),
            "file_bytes": checkpoint.bytes(),
            "tensors": checkpoint.names().count(),
            "front_end": encoder.architecture().name(),
            "encoder": encoder.name(),
            "fingerprint": encoder.fingerprint(),
            "config": encoder.config(),
            "source_sha256": checkpoint.description().source_sha256,
            "preprocessing": encoder.preprocessing(),
            "layers": encoder.last_layer(),
            "default_layer": encoder.default_layer(),
            "width": encoder.width(),
            "heads": encoder.heads(),
            "rows": encoder.rows(),
            "class_token": encoder.has_class_token(),
            "parameters": encoder.parameters(),
            "weight_bytes": encoder.weight_bytes(),
            "instructions": encoder.isa().name(),
            "load_seconds": load_seconds,
            "peak_memory_bytes": peak_memory(),
        })
    }

    /// A line a fact.
    pub(crate) fn describe(&self) -> String {
        let Self { name, checkpoint, encoder, load_seconds } = self;
        let peak = peak_memory();
        let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
        let rows = [
            ("file", name.clone()),
            (
                "container",
                format!("{}, {}", checkpoint.container(), megabytes(checkpoint.bytes() as f64)),
            ),
            ("encoder", encoder.name()),
            ("fingerprint", encoder.fingerprint().to_owned()),
            (
                "made from",
                match &checkpoint.description().source_sha256 {
                    Some(sum) => format!("a file with sha256 {sum}"),
                    None => String::new(),
                },
            ),
            ("input", encoder.preprocessing().to_owned()),
            (
                "layers",
                format!(
                    "0 to {}, {} if not said otherwise",
                    encoder.last_layer(),
                    encoder.default_layer()
                ),
            ),
            (
                "tokens",
                format!(
                    "{} values, {} heads, {} frequency rows{}",
                    encoder.width(),
                    encoder.heads(),
                    encoder.rows(),
                    if encoder.has_class_token() { ", a class token" } else { "" }
                ),
            ),
            ("parameters", format!("{:.1} million", encoder.parameters() as f64 / 1e6)),
            (
                "in memory",
                format!("{} of packed weights", megabytes(encoder.weight_bytes() as f64)),
            ),
            ("loaded in", format!("{load_seconds:.2} s")),
            (
                "peak memory",
                peak.map_or_else(|| "unknown here".to_owned(), |bytes| megabytes(bytes as f64)),
            ),
            ("runs with", encoder.isa().name().to_owned()),
        ];
        let rows = rows.iter().filter(|(_, value)| !value.is_empty());
        let lines: Vec<String> = rows.map(|(name, value)| format!("{name:<13}{value}\n")).collect();
        lines.concat()
    }
}

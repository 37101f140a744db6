//! Every layer of small configurations, from every container.

use std::path::{Path, PathBuf};

use auscult_encoders::{Checkpoint, Encoder};
use auscult_testing::golden;
use libtest_mimic::Trial;

use crate::{CLIPS, compare, layers, pooled, samples};

/// Tokens of small configurations agree to this.
const TOLERANCE: f64 = 2e-4;

/// File, whose outputs it must give.
const FILES: [(&str, &str); 7] = [
    ("beats_tiny.pt", "beats_tiny"),
    ("beats_tiny.safetensors", "beats_tiny"),
    ("beats_tiny_with_head.pt", "beats_tiny"),
    ("beats_tiny3.pt", "beats_tiny3"),
    ("beats_tiny3.safetensors", "beats_tiny3"),
    ("eat_tiny.safetensors", "eat_tiny"),
    ("eat_tiny_fairseq_keys.pt", "eat_tiny"),
];

pub(crate) fn trials(folder: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (file, outputs) in FILES {
        for clip in CLIPS {
            let folder: PathBuf = folder.to_owned();
            trials.push(Trial::test(format!("small::{file}::{clip}"), move || {
                check(&folder, file, outputs, clip)
            }));
        }
    }
    trials
}

/// Opens a small checkpoint, with its configuration where the file has none.
fn open(folder: &Path, file: &str, outputs: &str) -> Encoder {
    let mut checkpoint = Checkpoint::open(&folder.join(file)).unwrap();
    if checkpoint.config().is_none() {
        let text = std::fs::read_to_string(folder.join(format!("{outputs}_cfg.json"))).unwrap();
        checkpoint = checkpoint.with_config(serde_json::from_str(&text).unwrap());
    }
    Encoder::load(&checkpoint).unwrap()
}

fn check(
    folder: &Path,
    file: &str,
    outputs: &str,
    clip: &str,
) -> Result<(), libtest_mimic::Failed> {
    let encoder = open(folder, file, outputs);
    let all: Vec<usize> = (0..=encoder.depth()).collect();
    let (mut tokens, mut poolings, mut class) = (Vec::new(), Vec::new(), None);
    layers(&encoder, &samples(folder, clip), &all, |layer| {
        for index in 0..layer.count() {
            tokens.extend_from_slice(layer.numbered(index));
        }
        poolings.push((layer.layer, pooled(layer)));
        class = layer.class_token().map(<[f32]>::to_vec);
    });
    let read = |part: &str| golden::read_npy(folder.join(format!("{outputs}__{clip}__{part}.npy")));
    compare("layers", &tokens, &read("layers")?, TOLERANCE)?;
    for (layer, [mean, max]) in poolings {
        if let (Ok(want_mean), Ok(want_max)) =
            (read(&format!("L{layer}_tmean")), read(&format!("L{layer}_tmax")))
        {
            compare("mean view", &mean, &want_mean, TOLERANCE)?;
            compare("max view", &max, &want_max, TOLERANCE)?;
        }
    }
    if let Some(class) = class {
        compare("class token", &class, &read("cls")?, TOLERANCE)?;
    }
    Ok(())
}

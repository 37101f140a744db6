//! The real sizes, with weights made from their tensors' names.

use std::path::{Path, PathBuf};

use auscult_encoders::Encoder;
use auscult_testing::golden;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::{CLIPS, compare, deterministic, layers, pooled, samples};

/// Pooled outputs of real sizes agree to this.
const TOLERANCE: f64 = 5e-4;

pub(crate) fn trials(folder: &Path) -> Vec<Trial> {
    ["beats_iter3_det", "eat_base_det", "eat_large_det"]
        .map(|name| {
            let folder: PathBuf = folder.to_owned();
            Trial::test(format!("real_size::{name}"), move || check(&folder, name))
        })
        .into()
}

fn json(folder: &Path, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

fn check(folder: &Path, name: &str) -> Result<(), libtest_mimic::Failed> {
    let config = json(folder, &format!("{name}_cfg.json"));
    let checkpoint =
        deterministic::checkpoint(&json(folder, &format!("{name}_tensors.json")), &config);
    let encoder = Encoder::load(&checkpoint).unwrap();
    drop(checkpoint);
    let mut compared = 0;
    for clip in CLIPS {
        let file = |part: &str| folder.join(format!("{name}__{clip}__{part}.npy"));
        let all: Vec<usize> = (1..=encoder.depth())
            .filter(|layer| file(&format!("L{layer}_tmean")).exists())
            .collect();
        if all.is_empty() {
            continue;
        }
        let mut outputs = Vec::new();
        layers(&encoder, &samples(folder, clip), &all, |layer| {
            let class = layer.class_token().map(<[f32]>::to_vec);
            outputs.push((layer.layer, pooled(layer), class));
        });
        for (layer, [mean, max], class) in outputs {
            for (part, got) in [("tmean", mean), ("tmax", max)] {
                let want = golden::read_npy(file(&format!("L{layer}_{part}")))?;
                compare(&format!("{clip} layer {layer} {part}"), &got, &want, TOLERANCE)?;
                compared += 1;
            }
            if let (Some(class), true) = (class, layer == encoder.depth()) {
                compare("class token", &class, &golden::read_npy(file("cls"))?, TOLERANCE)?;
            }
        }
    }
    if compared == 0 { Err("nothing was compared".into()) } else { Ok(()) }
}
